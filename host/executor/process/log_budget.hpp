// The budget of all pods' output together. Each runner keeps to its pod's own (LineLog); what the
// host does now and then is here: logs of pods that ended are deleted, the oldest first, and while
// that is not enough no log gets further lines.
//
// Functions of the files below the executor's folder; for the executor's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

struct LogBudget {
  std::int64_t pod_bytes = 32 << 20;
  std::int64_t all_bytes = 4LL << 30;
  std::int64_t keep_free = 0;  ///< bytes of the disk that are not for logs
};

/// The budget on the disk where `folder` lies: all logs get a tenth of it at most, and a twentieth,
/// at most 256 MiB, stays free of them.
LogBudget budget_on_disk(LogBudget wanted, const std::filesystem::path& folder);

/// Bytes of all logs, after what had to go went. `ended`: UIDs of pods that ended.
std::int64_t keep_log_budget(const std::filesystem::path& root, const LogBudget& budget,
                             const std::vector<std::string>& ended);

}  // namespace sluice::host

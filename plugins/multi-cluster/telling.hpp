// What one cluster says of one workload, as sentences for whoever asks why it is where it is.
//
// Pure functions; any thread. They name the cluster, which the workload's status names too, and
// nothing of it that its own object keeps from others: neither address nor credentials.
#pragma once

#include <sluice/plugin.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"

namespace clusters {

struct Telling {
  std::string cluster;
  bool chosen = false;  ///< it has the workload; else it was asked beside others
  bool reachable = false;
  std::optional<std::int64_t> lost_since, given_up_at;  ///< ns; when it is not reachable
  std::optional<sluice::Json> workload, job;            ///< as they are there
  Writing workload_write, job_write;
};

std::vector<std::string> told_by(const Telling& cluster);

/// Whether a copy waits for quota where it is.
bool waits(const sluice::Json& workload);
/// What a cluster's own explanation of a copy that waits says of places and flavors: never of other
/// workloads there, which who asks here may not know.
std::vector<std::string> explained_by(const std::string& cluster, const sluice::Json& explanation);

/// How many of a check's clusters nobody has asked yet; empty: none.
std::string not_asked(std::size_t clusters);

}  // namespace clusters

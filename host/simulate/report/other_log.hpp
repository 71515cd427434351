// OtherLog: the decision log of another run, with which a report compares its own. Read before that
// begins, so that a wrong file is reported at once; joined with it when its workloads are known.
// Belongs to one thread.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "host/simulate/report/run_record.hpp"

namespace sluice::host {

class OtherLog {
 public:
  /// JSON Lines as `--log` writes them (docs/simulate.md); Summary, State and Skipped count for
  /// nothing. An error names file and line, the value and what is allowed.
  static Result<OtherLog> read(const std::string& path, ReportTables& tables);
  static Result<OtherLog> read(std::istream& in, const std::string& path, ReportTables& tables);

  /// Its events, about the workloads of the run. Those that the run does not have are added to it,
  /// with no shape and, as the time at which they came, that of their first record. A log has no
  /// deletions: a workload that is deleted in this run is taken to be deleted at that time in the
  /// other, too.
  std::vector<RunEvent> join(RunRecord& run, ReportTables& tables) &&;

  const std::string& path() const { return path_; }

 private:
  Result<void> take_line(std::string_view line, ReportTables& tables);
  std::uint32_t workload(std::string_view key);
  std::vector<RunEvent> with_deletions(const RunRecord& run) const;

  std::string path_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<RunEvent> events_;  // workload and by: indexes in keys_
};

}  // namespace sluice::host

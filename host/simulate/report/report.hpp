// Report: the file that `sluice simulate --report` writes, from the first look at its place to the
// last byte. Whatever can be wrong with its options is found when it is opened, before anything is
// simulated. Belongs to the simulation's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/simulate/output.hpp"
#include "host/simulate/report/collector.hpp"
#include "host/simulate/report/other_log.hpp"

namespace sluice::host {

class Report {
 public:
  /// `against`: a decision log of another run; empty: none.
  static Result<std::unique_ptr<Report>> open(const std::string& path, const std::string& against);

  /// The sink of the simulation that begins at `start`.
  RecordSink& begin(Time start);

  /// After the simulation. The file appears.
  Result<void> write(const std::vector<std::string>& inputs, Duration end,
                     const std::string& endless);

 private:
  explicit Report(PendingOutput output) : output_(std::move(output)) {}

  PendingOutput output_;
  ReportTables tables_;
  std::optional<OtherLog> other_;
  Time start_ = 0;
  std::unique_ptr<ReportCollector> collector_;
};

}  // namespace sluice::host

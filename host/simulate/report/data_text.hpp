// ReportData: what a report's page reads: columns of numbers and the texts that they name, as JSON
// that is safe inside an HTML element whatever objects are called. docs/simulate.md describes it.
// Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/simulate/report/run_record.hpp"

namespace sluice::host {

struct ReportData {
  struct Other {
    std::string path;
    std::vector<RunEvent> events;
    UseRecord use;
  };

  std::vector<std::string> inputs;  ///< paths, as they were given
  Time start = 0;
  Duration end = 0;     ///< offset of the last instant at which anything changed
  std::string endless;  ///< why it was stopped; empty: it came to its end
  const ReportTables* tables = nullptr;
  const RunRecord* run = nullptr;
  std::vector<std::pair<StringId, StringId>> queues, cohorts;  ///< name, cohort above; 0: none
  std::optional<Other> other;
};

/// Appends it as one JSON object that holds no `<`.
void append_report_data(const ReportData& data, std::string& out);

}  // namespace sluice::host

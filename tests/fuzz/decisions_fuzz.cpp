// A decision log of another run, as a report reads it: it is refused with its line, or becomes
// events that a report can hold, whatever it says of the workloads that the run has.
#include <boost/json/parse.hpp>
#include <cstdint>
#include <sstream>

#include "core/base/check.hpp"
#include "host/simulate/report/data_text.hpp"
#include "host/simulate/report/other_log.hpp"

namespace {

using namespace sluice;
using namespace sluice::host;

/// A run with one workload, of which logs may speak.
RunRecord one_workload(ReportTables& tables) {
  RunRecord run;
  ReportShape shape;
  shape.pods.push_back(
      {tables.texts.intern("main"), 1, {{tables.texts.intern("cpu"), 4'000'000'000'000'000'000}}});
  run.workloads.push_back({"ns/a", 0, 0, 0, kNotThere, tables.shape(std::move(shape))});
  return run;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (1U << 14)) return 0;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  ReportTables tables;
  auto log = OtherLog::read(in, "log", tables);
  if (!log) {
    SLUICE_CHECK(log.error().text.starts_with("log:"), log.error().text);
    return 0;
  }
  RunRecord run = one_workload(tables);
  auto events = std::move(*log).join(run, tables);
  ReportData report;
  report.tables = &tables;
  report.run = &run;
  report.other = {"log", events, use_of_events(events, run.workloads, tables)};
  std::string text;
  append_report_data(report, text);
  SLUICE_CHECK(text.find('<') == std::string::npos, text);
  boost::json::error_code error;
  const auto parsed = boost::json::parse(text, error);
  SLUICE_CHECK(!error, text);
  const auto& columns = parsed.at("other").at("events");
  SLUICE_CHECK(columns.at("at").as_array().size() == events.size(), text);
  SLUICE_CHECK(columns.at("what").as_array().size() == events.size(), text);
  return 0;
}

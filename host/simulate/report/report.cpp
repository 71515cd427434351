#include "host/simulate/report/report.hpp"

#include "host/simulate/report/data_text.hpp"
#include "host/simulate/report/page.hpp"

namespace sluice::host {

Result<std::unique_ptr<Report>> Report::open(const std::string& path, const std::string& against) {
  auto output = PendingOutput::open(path);
  if (!output) return output.error().context("--report");
  std::unique_ptr<Report> report(new Report(std::move(*output)));
  if (against.empty()) return report;
  auto other = OtherLog::read(against, report->tables_);
  if (!other) return other.error().context("--against");
  report->other_ = std::move(*other);
  return report;
}

RecordSink& Report::begin(Time start) {
  start_ = start;
  collector_ = std::make_unique<ReportCollector>(start, tables_);
  return *collector_;
}

Result<void> Report::write(const std::vector<std::string>& inputs, Duration end,
                           const std::string& endless) {
  ReportData data;
  data.inputs = inputs;
  data.start = start_;
  data.end = end;
  data.endless = endless;
  RunRecord& run = collector_->record();
  if (other_) {
    const std::string path = other_->path();
    auto events = std::move(*other_).join(run, tables_);
    auto use = use_of_events(events, run.workloads, tables_);
    data.other = {path, std::move(events), std::move(use)};
  }
  data.tables = &tables_;
  data.run = &run;
  data.queues = collector_->cohorts_of_queues();
  data.cohorts = collector_->parents_of_cohorts();
  const ReportPage page = report_page();
  output_.append(page.before);
  append_report_data(data, output_.buffer());
  output_.append(page.after);
  return output_.commit();
}

}  // namespace sluice::host

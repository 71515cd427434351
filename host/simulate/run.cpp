#include "host/simulate/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "host/base/log.hpp"
#include "host/config/config.hpp"
#include "host/machine/machine.hpp"
#include "host/plugins/watchdog.hpp"
#include "host/simulate/checks.hpp"
#include "host/simulate/decision_log.hpp"
#include "host/simulate/dump.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/job_warnings.hpp"
#include "host/simulate/output.hpp"
#include "host/simulate/progress_notes.hpp"
#include "host/simulate/report/report.hpp"
#include "host/simulate/simulated_jobs.hpp"
#include "host/simulate/simulation.hpp"
#include "host/simulate/story.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {
namespace {

using Clock = std::chrono::steady_clock;

std::string summary(const SimulationTotals& totals, Clock::time_point began) {
  std::string out =
      fmt::format(R"({{"type":"Summary","workloads":{},"admitted":{},"evictions":{},"cycles":{})",
                  totals.workloads, totals.admissions, totals.evictions, totals.cycles);
  out += ",\"virtualSeconds\":";
  append_seconds(out, totals.last_change);
  const std::chrono::duration<double> wall = Clock::now() - began;
  return out + fmt::format(",\"wallSeconds\":{:.3f}{}}}\n", wall.count(),
                           totals.endless.empty() ? "" : ",\"endless\":true");
}

Result<Configuration> configuration_of(const SimulateOptions& options) {
  auto config = load_configuration(options.config_file);
  if (config && options.threads) config->engine.threads = *options.threads;
  return config;
}

/// All parts of one simulation, in the order in which they need each other.
class SimulationRun {
 public:
  explicit SimulationRun(const SimulateOptions& options)
      : options_(options), began_(Clock::now()) {}

  Result<SimulationEnd> run() {
    if (auto prepared = prepare(); !prepared) return prepared.error();
    const auto totals = simulation_->run(*machine_, *jobs_, options_.until);
    notes_.reset();
    job_warnings_.finish();
    if (!totals) return totals.error();
    if (story_) story_->tables(simulation_->offset(), machine_->kernel());
    if (!options_.dump.empty()) {
      auto dumped = write_dump(options_.dump, machine_->kernel(), simulation_->start(),
                               simulation_->offset());
      if (!dumped) return dumped.error();
    }
    if (report_) {
      auto written = report_->write(options_.paths, totals->last_change, totals->endless);
      if (!written) return written.error();
    }
    if (auto written = output_->commit(); !written) return written.error();
    auto last = PendingOutput::open("-");
    if (!last) return last.error();
    last->append(summary(*totals, began_));
    if (auto written = last->commit(); !written) return written.error();
    if (totals->endless.empty()) return SimulationEnd::kDone;
    fmt::print(stderr, "warning: stopped at {}, because it would go on for ever: {}.\n",
               offset_text(simulation_->offset()), totals->endless);
    return SimulationEnd::kEndless;
  }

 private:
  Result<void> prepare() {
    auto config = configuration_of(options_);
    if (!config) return config.error();
    auto output = PendingOutput::open(options_.log.empty() ? "-" : options_.log);
    if (!output) return output.error().context("--log");
    output_ = std::make_unique<PendingOutput>(std::move(*output));
    if (!options_.report.empty()) {
      auto report = Report::open(options_.report, options_.against);
      if (!report) return report.error();
      report_ = std::move(*report);
    }
    config_ = std::move(*config);
    auto rules = Rules::load(config_.plugins, options_.plugins, clock_);
    if (!rules) return rules.error();
    rules_ = std::move(*rules);
    ManifestLimits limits;
    limits.max_file_bytes = options_.max_file_bytes;
    rules_->declare(find_pages(options_.paths, limits));
    auto input = load_input(options_.paths, limits, *rules_->intake, config_.engine.threads);
    if (!input) return input.error();
    if (!config_.managed_jobs.without_queue) warn_of_unqueued_jobs(*input);
    warn_of_left_out_jobs(*input, config_.managed_jobs);
    for (const auto& warning : input->warnings)
      write_above_it(fmt::format("warning: {}\n", warning));
    if (options_.log.empty()) {
      story_ = std::make_unique<Story>(*output_, options_.states);
    } else {
      log_ = std::make_unique<DecisionLog>(*output_, options_.states);
    }
    sinks_.add(story_ ? static_cast<RecordSink&>(*story_) : *log_);
    if (report_) sinks_.add(report_->begin(input->start));
    const bool as_host = options_.as_host;
    if (as_host) {
      store_ = std::make_unique<LiveStore>(rules_->scheme, nullptr);
    } else {
      store_ = std::make_unique<MemoryStore>();
    }
    simulation_ = std::make_unique<Simulation>(
        std::move(*input), clock_, sinks_, *notes_,
        as_host ? TimelineClient::Bodies::kTrees : TimelineClient::Bodies::kSealed,
        config_.engine.requeue.backoff_limit);
    jobs_ = std::make_unique<SimulatedJobs>(rules_->scheme);
    machine_ = std::make_unique<Machine>(
        config_, *rules_,
        MachineEdges{.store = *store_,
                     .ids = *jobs_,
                     .pods = jobs_->pods(),
                     .events = as_host ? nullptr : &job_warnings_,
                     .upkeep = as_host ? Upkeep::kAlways : Upkeep::kOnDemand});
    jobs_->join(*machine_);
    return {};
  }

  const SimulateOptions& options_;
  Clock::time_point began_;
  /// Gone before the story is shown.
  std::optional<ProgressNotes> notes_{ProgressNotes::output(
      std::chrono::seconds(10), [](const std::string& line) { fmt::print(stderr, "{}\n", line); })};
  JobWarnings job_warnings_{[](const std::string& line) { write_above_it(line); }};
  std::unique_ptr<PendingOutput> output_;
  VirtualClock clock_;
  Configuration config_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<Story> story_;  // one of the two
  std::unique_ptr<DecisionLog> log_;
  std::unique_ptr<Report> report_;  // where one is wanted
  RecordSinks sinks_;
  std::unique_ptr<ObjectStore> store_;
  std::unique_ptr<SimulatedJobs> jobs_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace

Result<SimulationEnd> run_simulation(const SimulateOptions& options) {
  const Watchdog watchdog;  // says which call into a plugin does not come back
  auto run = std::make_unique<SimulationRun>(options);
  auto done = run->run();
  if (!done) return done;
  // The process ends soon: freeing every object one by one would only take time.
  static SimulationRun* kept = nullptr;
  delete std::exchange(kept, run.release());
  return done;
}

}  // namespace sluice::host

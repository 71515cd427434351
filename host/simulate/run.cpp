#include "host/simulate/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "host/config/config.hpp"
#include "host/controllers/plugin_controller.hpp"
#include "host/kernel/kernel.hpp"
#include "host/kernel/plugin_runtime.hpp"
#include "host/simulate/decision_log.hpp"
#include "host/simulate/dump.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/job_host.hpp"
#include "host/simulate/output.hpp"
#include "host/simulate/simulation.hpp"
#include "host/simulate/story.hpp"

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
  return out + fmt::format(",\"wallSeconds\":{:.3f}}}\n", wall.count());
}

Result<Configuration> configuration_of(const SimulateOptions& options) {
  Configuration config;
  if (!options.config_file.empty()) {
    auto loaded = load_configuration(options.config_file);
    if (!loaded) return loaded;
    config = std::move(*loaded);
  }
  if (options.threads) config.engine.threads = *options.threads;
  return config;
}

/// Is there, or comes, an object that the plugin wants to be told of?
bool any_concerns(const WatchedKind& watched, const std::string& plugin,
                  const SimulationInput& input) {
  if (!watched.claimed && watched.has.empty()) return true;
  const auto concerns = [&](const StoredObject& object) {
    return object.kind && object.kind->kind == watched.kind &&
           (!watched.claimed || claims(object, plugin)) &&
           (watched.has.empty() || may_have(object, watched.has));
  };
  const std::string_view member = std::string_view(watched.has).substr(watched.has.rfind('.') + 1);
  return std::any_of(input.objects.begin(), input.objects.end(),
                     [&](const InitialObject& each) { return concerns(each.object.stored); }) ||
         std::any_of(input.events.begin(), input.events.end(), [&](const TimelineEvent& event) {
           if (event.type == TimelineEvent::Type::kApply) return concerns(event.object.stored);
           return event.type == TimelineEvent::Type::kPatch && !member.empty() &&
                  event.target->merge.find(member) != std::string::npos;
         });
}

/// Whether a plugin may write objects in this simulation: it watches a kind of the input, answers
/// for checks of the input, or is called at times of its own.
bool plugins_take_part(PluginSet& plugins, const SimulationInput& input) {
  std::set<const api::KindInfo*> kinds;
  for (const InitialObject& initial : input.objects) kinds.insert(initial.object.stored.kind);
  for (const TimelineEvent& event : input.events)
    if (event.type == TimelineEvent::Type::kApply) kinds.insert(event.object.stored.kind);
  const auto holds = [&](std::string_view version, std::string_view name) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const api::KindInfo* kind) {
      const std::string_view group = version.substr(0, std::min(version.find('/'), version.size()));
      return kind->kind == name && (kind->group.empty() || kind->group == group);
    });
  };
  for (const ControllerBridge& controller : plugins.controllers())
    for (const WatchedKind& watched : controller.kinds())
      if (holds(watched.api_version, watched.kind) &&
          any_concerns(watched, controller.plugin(), input))
        return true;
  for (const PluginStatus& plugin : plugins.status()) {
    const auto provides = [&](std::string_view id) {
      return std::find(plugin.extensions.begin(), plugin.extensions.end(), id) !=
             plugin.extensions.end();
    };
    const bool by_kinds = provides("check-controller/1") || provides("controller/1");
    if (provides("check-controller/1") && holds("kueue.x-k8s.io", "AdmissionCheck")) return true;
    if (!by_kinds && (provides("post-admit/1") || provides("timers/1"))) return true;
  }
  return false;
}

/// All parts of one simulation, in the order in which they need each other.
class SimulationRun {
 public:
  explicit SimulationRun(const SimulateOptions& options)
      : options_(options), began_(Clock::now()) {}

  Result<void> run() {
    if (auto prepared = prepare(); !prepared) return prepared;
    const auto totals = simulation_->run(*kernel_, jobs_.get(), options_.until);
    if (!totals) return totals.error();
    if (story_) story_->tables(simulation_->offset(), *kernel_);
    if (!options_.dump.empty()) {
      auto dumped =
          write_dump(options_.dump, *kernel_, simulation_->start(), simulation_->offset());
      if (!dumped) return dumped;
    }
    if (auto written = output_->commit(); !written) return written;
    auto last = PendingOutput::open("-");
    if (!last) return last.error();
    last->append(summary(*totals, began_));
    return last->commit();
  }

 private:
  Result<void> prepare() {
    auto config = configuration_of(options_);
    if (!config) return config.error();
    auto output = PendingOutput::open(options_.log.empty() ? "-" : options_.log);
    if (!output) return output.error().context("--log");
    output_ = std::make_unique<PendingOutput>(std::move(*output));
    auto plugins =
        PluginRuntime::load(config->plugins.directory,
                            chosen_plugins(config->plugins, options_.plugins), clock_, scheme_);
    if (!plugins) return plugins.error();
    plugins_ = std::move(*plugins);
    intake_ = std::make_unique<Intake>(scheme_, plugins_.get());
    ManifestLimits limits;
    limits.max_file_bytes = options_.max_file_bytes;
    auto input = load_input(options_.paths, limits, *intake_);
    if (!input) return input.error();
    for (const auto& warning : input->warnings) fmt::print(stderr, "warning: {}\n", warning);
    if (options_.log.empty()) {
      story_ = std::make_unique<Story>(*output_, options_.states);
    } else {
      log_ = std::make_unique<DecisionLog>(*output_, options_.states);
    }
    const bool needs_controllers =
        input->needs_controllers || plugins_take_part(plugins_->plugins(), *input);
    RecordSink& sink = story_ ? static_cast<RecordSink&>(*story_) : *log_;
    simulation_ = std::make_unique<Simulation>(std::move(*input), clock_, sink);
    kernel_ = std::make_unique<Kernel>(config->engine, plugins_->hooks(), *intake_, store_,
                                       plugins_.get(), *simulation_);
    if (needs_controllers)
      jobs_ = std::make_unique<JobHost>(*kernel_, plugins_->hooks(), plugins_->plugins(),
                                        config->manage_jobs_without_queue_name);
    return {};
  }

  const SimulateOptions& options_;
  Clock::time_point began_;
  std::unique_ptr<PendingOutput> output_;
  api::Scheme scheme_;
  VirtualClock clock_;
  std::unique_ptr<PluginRuntime> plugins_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<Story> story_;  // one of the two
  std::unique_ptr<DecisionLog> log_;
  MemoryStore store_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<JobHost> jobs_;  // nullptr when the input needs no controllers
};

}  // namespace

Result<void> run_simulation(const SimulateOptions& options) {
  auto run = std::make_unique<SimulationRun>(options);
  auto done = run->run();
  if (!done) return done;
  // The process ends soon: freeing every object one by one would only take time.
  static SimulationRun* kept = nullptr;
  delete std::exchange(kept, run.release());
  return done;
}

}  // namespace sluice::host

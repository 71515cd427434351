#include "host/machine/machine.hpp"

#include <utility>

namespace sluice::host {
namespace {

EngineConfig engine_config(const Configuration& config, const MachineEdges& edges) {
  EngineConfig out = config.engine;
  out.jobs_end_later = edges.jobs_end_later;
  return out;
}

}  // namespace

Machine::Machine(const Configuration& config, Rules& rules, const MachineEdges& edges)
    : config_(config),
      rules_(rules),
      kernel_(engine_config(config, edges), rules.hooks, *rules.intake, edges.store, *rules.plugins,
              decisions_),
      objects_(kernel_, index_, edges.ids),
      events_(objects_, edges.ids),
      loop_(objects_, index_),
      writer_(objects_),
      wiring_(rules.plugins->plugins(), kernel_, objects_) {
  const bool always = edges.upkeep == Upkeep::kAlways;
  EventSink* sink = edges.events;
  if (!sink && always) sink = &events_;
  objects_.require_namespaces();
  objects_.set_event_sink(sink);
  if (edges.controllers) {
    setup_ = std::make_unique<ControllerSetup>(config, rules.hooks, *rules.checks, kernel_,
                                               objects_, rules.pages(), edges.other_pages);
    if (edges.makes_pods) setup_->make_pods_here();
    if (edges.makes_pods && edges.jobs_end_later) setup_->hold_for_pods(objects_);
    setup_->add_jobs(loop_);
    if (edges.jobs_end_later) setup_->add_ends(loop_);
  }
  if (edges.pods) edges.pods(loop_, setup_ ? setup_->gates_of_new_pods() : GatesOfNewPods());
  if (setup_) {
    if (edges.asks_checks) setup_->add_checks(loop_);
    if (always) setup_->add_upkeep(loop_, objects_);
    if (always) decisions_.add(setup_->decision_events());
  }
  wiring_.join(loop_);
  if (edges.resumes) loop_.resume();
  kernel_.listen(&loop_);
  kernel_.born_by(edges.births);
  if (always) kernel_.pace_requests();
  kernel_.write_statuses(always ? Statuses::kAll : Statuses::kFollowed);
}

// The owner of the plugins may keep them for the next machine: they reach no object meanwhile.
Machine::~Machine() = default;

void Machine::load(WorkloadReader* read, std::optional<int> threads) {
  rules_.plugins->hold_timers(true);
  kernel_.load(threads.value_or(config_.engine.threads), read);
  wiring_.connect();
  rules_.plugins->hold_timers(false);
}

void Machine::set_guard(const WriteGuard& guard) {
  writer_.set_guard(guard);
  wiring_.objects().set_guard(guard);
}

}  // namespace sluice::host

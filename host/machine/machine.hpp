// Machine: a whole Sluice but for its edges: store, intake, engine, writes, controllers and
// plugins, wired here and nowhere else.
//
// `serve` is a Machine with the system's clock, a durable store, the API server and processes;
// `simulate` is one with a virtual clock, a store in memory, simulated pods and a client that plays
// manifests and Timelines. All of them come in by the same door, write(), and what they are told is
// what the machine did. Tests and benchmarks build the same.
//
//   auto rules = Rules::load(config.plugins, std::nullopt, clock);
//   Machine machine(config, **rules, {.store = store, .ids = ids, …});
//   machine.begin_instant(now);
//   machine.load();                       // what the store holds; plugins reach objects from now
//   machine.write(request);               // as often as there are requests in the instant
//   machine.run_to_rest();
//
// Invariant: between calls store and engine know the same objects. Belongs to one thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "host/config/config.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/controllers/jobs/pod_gates.hpp"
#include "host/controllers/plugin_wiring.hpp"
#include "host/controllers/setup.hpp"
#include "host/kernel/kernel.hpp"
#include "host/kernel/object_index.hpp"
#include "host/machine/rules.hpp"
#include "host/writes/event_writer.hpp"
#include "host/writes/ids.hpp"
#include "host/writes/object_writer.hpp"
#include "host/writes/writer.hpp"

namespace sluice::host {

/// Hands each decision to all observers, in order.
class DecisionFanout final : public DecisionObserver {
 public:
  void add(DecisionObserver& observer) { observers_.push_back(&observer); }
  void decided(Time now, const Decision& decision) override {
    for (DecisionObserver* observer : observers_) observer->decided(now, decision);
  }
  void cycled(const CycleReport& cycle) override {
    for (DecisionObserver* observer : observers_) observer->cycled(cycle);
  }
  void pods_ready(Time now, WorkloadId workload) override {
    for (DecisionObserver* observer : observers_) observer->pods_ready(now, workload);
  }

 private:
  std::vector<DecisionObserver*> observers_;
};

/// What is kept up for readers.
enum class Upkeep : std::uint8_t {
  kAlways,    ///< every status is written with the step that changed it; Events; retention
  kOnDemand,  ///< statuses of workloads are written where a controller follows them, else rendered
              ///< when they are read; no Events, no statuses of queues, nothing is cleared away
};

/// Adds the controllers that make and end the pods of jobs. The gates: those of a new pod.
using AddPods = std::function<void(ControllerLoop& loop, GatesOfNewPods gates)>;

/// What stands around a machine. All must outlive it.
struct MachineEdges {
  ObjectStore& store;
  IdSource& ids;
  AddPods pods = {};            ///< empty: jobs have no pods here
  EventSink* events = nullptr;  ///< nullptr: Events are objects, or dropped with Upkeep::kOnDemand
  Upkeep upkeep = Upkeep::kAlways;
  bool asks_checks = true;  ///< false: plugins get no admission check; others answer them
  /// The store holds what another machine has brought to rest: controllers look at nothing again
  /// but at what they know by looking.
  bool resumes = false;
  Births* births = nullptr;  ///< where new objects come to be; nullptr: in the store, at once
  /// The host itself makes the pods of jobs: those whose pods it cannot make are held back.
  bool makes_pods = false;
  /// Pods of jobs take their time to end: evicted workloads keep their quota until that is seen.
  /// With makes_pods also those of jobs that are deleted, made smaller or changed.
  bool jobs_end_later = false;
  /// Called when the objects JobKind differ from those of the rules: a machine with other rules is
  /// wanted. Empty: none is made.
  std::function<void()> other_pages = {};
  bool controllers = true;  ///< false: only what is added to controllers(); for tests of a part
};

class Machine {
 public:
  /// `config` and `rules` must outlive it.
  Machine(const Configuration& config, Rules& rules, const MachineEdges& edges);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Takes over what the store holds. After the first begin_instant(), before all else. `read`: the
  /// reader that saw the store being loaded, or nullptr. `threads`: how many decode, when not as
  /// many as decide (EngineConfig::threads).
  void load(WorkloadReader* read = nullptr, std::optional<int> threads = {});

  /// The door: whatever a client wants to be changed. A refusal changes nothing.
  ApiResult<WriteOutcome> write(WriteRequest request) {
    return writer_.execute(std::move(request));
  }
  /// The same of one that may wait for plugins (WriteRequest::may_wait): while the outcome is
  /// `later` it is attempted again, when hear_plugins() brought an answer.
  ApiResult<WriteOutcome> attempt(WriteRequest& request) { return writer_.attempt(request); }
  void hear_plugins() { rules_.plugins->plugins().go_on(); }
  /// The same, most of it beforehand; see Writer. Any thread, while nothing but write() is called.
  std::shared_ptr<Draft> draft(const WriteRequest& request, const DraftView& view) const {
    return writer_.draft(request, view);
  }
  /// Whether the request brings a draft that holds.
  bool holds(const WriteRequest& request) const { return writer_.holds(request); }
  /// What clients and plugins may not give to others. Before the first write.
  void set_guard(const WriteGuard& guard);

  /// Sets the time of the instant that begins.
  void begin_instant(Time now) { kernel_.begin_instant(now); }
  /// At most `steps` cycles; whether the instant is at rest.
  bool run(std::size_t steps) { return kernel_.run(steps); }
  void run_to_rest() { kernel_.run_to_rest(); }
  Time now() const { return kernel_.now(); }
  Time next_timer() const { return kernel_.next_timer(); }

  /// Called for each decision, after the commit, in order. It must outlive the machine.
  void observe(DecisionObserver& observer) { decisions_.add(observer); }

  const Engine& engine() const { return kernel_.engine(); }
  const ObjectStore& store() const { return kernel_.store(); }
  const api::Scheme& scheme() const { return rules_.scheme; }
  Rules& rules() { return rules_; }
  /// The objects as controllers see and change them.
  ObjectWriter& objects() { return objects_; }
  ControllerLoop& controllers() { return loop_; }
  Kernel& kernel() { return kernel_; }
  /// Whence new objects have their identity.
  IdSource& ids() const { return objects_.view().ids(); }
  const ObjectIndex& index() const { return index_; }
  const EventWriter& events() const { return events_; }

 private:
  const Configuration& config_;
  Rules& rules_;
  DecisionFanout decisions_;
  Kernel kernel_;
  ObjectIndex index_{ObjectIndex::Uids::kKept};
  ObjectWriter objects_;
  EventWriter events_;
  ControllerLoop loop_;
  Writer writer_;
  std::unique_ptr<ControllerSetup> setup_;  // nullptr without controllers
  PluginWiring wiring_;
};

}  // namespace sluice::host

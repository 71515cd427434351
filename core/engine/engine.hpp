// Engine: the deterministic state machine that decides which workload starts, when and on what.
//
// Inputs are object changes, the traits of workloads, ends of workloads and the time of an instant;
// outputs are decisions (decision.hpp). The same inputs in the same order give the same decisions
// for any number of threads. No I/O, no clock, no randomness; hooks are called within step() only,
// never while an input is taken.
//
// How a host drives one instant (semantics 2):
//
//   engine.begin_instant(now);        // timers that are due fire
//   engine.apply(...), remove_...     // all changes of the instant
//   for (id : engine.moved())         // a new queue may mean new traits
//     engine.traits_of_moved(id, ...);
//   while (engine.step(out)) {        // wakes trees, runs one cycle, completes its evictions
//     commit(out); notify plugins;    // what they write comes back through apply()
//   }
//
// Single-threaded to its caller: one thread at a time may call anything here; the engine itself
// uses worker threads inside step(). Objects that were handed over are immutable from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/engine/decision.hpp"
#include "core/engine/explanation.hpp"
#include "core/engine/memory.hpp"
#include "core/engine/stats.hpp"
#include "core/engine/workload_views.hpp"
#include "core/hooks/hooks.hpp"
#include "core/types/engine_config.hpp"
#include "core/types/kinds.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

class Engine {
 public:
  Engine(EngineConfig config, const hooks::Hooks& hooks);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Sets the time of the instant that begins and fires the timers that are due.
  /// REQUIRES: now is not before the last instant.
  void begin_instant(Time now);

  // Each creates the object or replaces its earlier form.
  void apply(const api::Namespace& object);
  void apply(const api::ResourceFlavor& object);
  /// The queue's number, by which hooks know it.
  hooks::QueueId apply(const api::ClusterQueue& object);
  void apply(const api::Cohort& object);
  void apply(const api::LocalQueue& object);
  void apply(const api::AdmissionCheck& object);

  /// On creation the status is respected: one with an admission and its conditions starts out as
  /// reserved or admitted. On a change only the spec, metadata, status.reclaimablePods, a condition
  /// DeactivationTarget, and the states of its admission checks count, these while it holds quota;
  /// the rest of the status is the engine's. `priority` is already resolved from its class.
  /// `traits`: what plugins say of it. The object is the engine's from here on, which keeps the
  /// texts of its conditions elsewhere.
  WorkloadId apply(std::shared_ptr<api::Workload> object, hooks::Traits traits = {});

  /// After workloads of a store were applied, before the first step: a reason to wait that a status
  /// says already is not told again. O(workloads).
  void take_statuses_as_told();

  /// No-op when there is no such object.
  void remove(api::ObjectKind kind, std::string_view key);

  /// The workload ended, in whatever state it is: `at` that time, where whoever tells of it knows
  /// better than the present instant. An error, and nothing changes, when it does not exist or is
  /// finished already.
  Result<void> finish(std::string_view key, std::string_view reason, std::string_view message,
                      std::optional<Time> at = {});

  /// Nothing of a workload that was evicted, and kept its quota because it ends later, runs any
  /// more. No-op for all others.
  void ended(std::string_view key);

  /// One of the workload's admission checks has this state now. An error, and nothing changes, when
  /// it does not exist, holds no quota, or has no such check.
  Result<void> report(std::string_view key, const api::AdmissionCheckState& check);

  /// The workload's traits from now on. REQUIRES: it exists.
  void traits_changed(WorkloadId id, hooks::Traits traits);
  /// Waiting workloads whose LocalQueue, or the ClusterQueue behind it, came, went or was written
  /// since the last step: their traits may have changed. O(open workloads) after such a write, else
  /// O(1).
  std::vector<WorkloadId> moved() const;
  /// The traits of one of moved(). The next step queues it anew when it may belong elsewhere; when
  /// its LocalQueue leads where it did, it moves only by other traits.
  void traits_of_moved(WorkloadId id, hooks::Traits traits);
  /// LocalQueues that came, went or were written since the last step, or whose ClusterQueue was.
  const std::set<std::string>& changed_local_queues() const;
  /// What a plugin says of the place of all that wait in this LocalQueue, from now on.
  void order(const std::string& local_queue, hooks::Ordering said);
  /// Its status, as it is now, was put where others read it. When the reason to wait in it is
  /// another once the instant is at rest, that is a decision, told before or not. O(reasons).
  void note_shown(WorkloadId id);
  /// Its object says that it is off where others read it: its status need not any more.
  void target_reached(WorkloadId id);
  /// Puts a parked workload back into its queue (a plugin's veto may have ended). `retry_is_over`:
  /// it waits no longer because an admission check said Retry, either.
  void requeue(std::string_view key, bool retry_is_over = false);

  /// Wakes what the changes since the last step woke, and runs one cycle. Decisions since the last
  /// call, those of apply() and begin_instant() included, are appended to `out` (cleared first).
  /// False when the instant is at rest; `out` may hold decisions even then. `faulted` gets those
  /// that had their turn and were not nominated, because a plugin had no answer: they wait until
  /// something changes.
  bool step(std::vector<Decision>& out, std::vector<WorkloadId>* faulted = nullptr);

  /// When the next timer fires; kNever without one.
  Time next_timer() const;

  std::optional<WorkloadId> find(std::string_view key) const;
  const std::string& key(WorkloadId id) const;
  /// Stable until the workload is removed.
  std::shared_ptr<const api::Workload> object(WorkloadId id) const;
  WorkloadView view(WorkloadId id) const;
  /// The state without the text: O(1).
  WorkloadState state(WorkloadId id) const;
  /// The status as the API shows it: conditions, admission, requeue state.
  api::WorkloadStatus status(WorkloadId id) const;
  bool holds_quota(WorkloadId id) const;
  /// All workloads that exist, in order of namespace/name.
  std::vector<WorkloadId> workloads() const;
  EngineStats stats() const;
  /// What the free functions of workload_views.hpp, queue_views.hpp, cohort_views.hpp and tally.hpp
  /// look at.
  const Model& model() const;
  /// As explanation.hpp says.
  Explanation explain(WorkloadId id, const MayKnow& may_know = {}) const;

  /// From now on every workload that wakes is looked at, also where nothing could come of it. For
  /// tests that compare.
  void look_at_everybody();

  /// What it remembers beside the objects, for an engine that is to decide as this one would next.
  /// As memory_of().
  EngineMemory memory() const;
  /// Takes that over: after the same objects were applied, before the first step.
  void recall(const EngineMemory& memory);

  /// Recomputes every usage from the holders, and what each part keeps from the records; aborts
  /// when they differ. For tests.
  void verify() const;

 private:
  struct Joined;
  Result<WorkloadId> existing(std::string_view key) const;

  std::unique_ptr<Joined> all_;
};

}  // namespace sluice

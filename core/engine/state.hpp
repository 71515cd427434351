// EngineState: everything behind Engine, in the parts that the .cpp files of this folder write.
//
// Order within an instant: changes of objects only note what they touch; sync() then rebuilds the
// quota tree if its shape changed and wakes trees once; a cycle decides on the synced model; its
// decisions are committed here, one by one, each keeping the ledger and the records in step.
// Belongs to the engine's thread, except inside ParallelFor.
#pragma once

#include <functional>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/engine/relations.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "core/model/queue_order.hpp"
#include "core/scheduling/cycle.hpp"

namespace sluice {

class EngineState {
 public:
  EngineState(EngineConfig config, hooks::Hooks hooks);

  // objects.cpp: configuration objects
  void apply(const api::Namespace& object);
  void apply(const api::ResourceFlavor& object);
  void apply(const api::ClusterQueue& object);
  void apply(const api::Cohort& object);
  void apply(const api::LocalQueue& object);
  void apply(const api::AdmissionCheck& object);
  void remove(std::string_view kind, std::string_view key);

  // workloads.cpp: workloads come, change and go
  WorkloadId apply(std::shared_ptr<const api::Workload> object);
  void remove_workload(WorkloadId id);
  void traits_changed(WorkloadId id);
  void requeue(WorkloadId id);
  // loading.cpp
  void take_statuses_as_told();

  // transitions.cpp: what can happen to a workload
  void reserve(const Entry& entry);
  void evict(WorkloadId id, const Decision& why);
  Result<void> finish(WorkloadId id, std::string_view reason, std::string_view message);
  Result<void> conclude(WorkloadId id, std::string_view reason, std::string_view message);

  // checks.cpp
  Result<void> report(WorkloadId id, const api::AdmissionCheckState& check);

  // timers.cpp
  void begin_instant(Time now);
  Time next_timer() const { return timers_.empty() ? kNever : timers_.top().at; }

  // step.cpp
  bool step(std::vector<Decision>& out);

  // views.cpp
  void verify_ledger();

  /// Existing workloads in order of key. O(n log n) after a change, O(1) else.
  const std::vector<WorkloadId>& in_order() const;

  Model model;
  EngineStats stats;

 private:
  enum class TimerKind : std::uint8_t { kBackoff, kPodsReady, kRecovery, kMaximumExecution };
  struct Timer {
    Time at;
    WorkloadId id;
    std::uint32_t epoch;
    TimerKind kind;
    bool operator>(const Timer& other) const {
      return std::tie(at, id, kind) > std::tie(other.at, other.id, other.kind);
    }
  };

  // structure.cpp
  QueueId queue_id(std::string_view name);
  void note_queue_change(QueueId id, bool generation);
  void sync();
  void rebuild();
  void count_all();
  void rebuild_groups(QueueRecord& queue);
  std::vector<NodeSpec> node_specs();
  std::vector<QuotaSpec> quota_specs(const std::vector<api::ResourceGroup>& groups);
  void set_activity();
  void set_activity_by_checks(QueueRecord& queue);
  void bump_generation(QueueId id);
  void wake_tree_of(QueueId id) {
    if (model.queues[id].dirty) return;
    model.queues[id].dirty = true;
    dirty_queues_.push_back(id);
  }
  void wake_dirty_trees();
  void drain_stopped();
  void tell_restarted(const std::set<QueueId>& queues);

  // workloads.cpp
  void describe_pod_sets(WorkloadRecord& w);
  const PodShape* pod_shape(const std::shared_ptr<const api::PodTemplate>& pod);
  std::uint32_t shape_of(const WorkloadRecord& w);
  void load_status(WorkloadRecord& w, WorkloadId id);
  void load_admission(WorkloadRecord& w, WorkloadId id, const api::Admission& admission);
  void change(WorkloadRecord& w, WorkloadId id, std::shared_ptr<const api::Workload> object);
  void change_holder(WorkloadRecord& w, WorkloadId id,
                     const std::vector<PodSetRecord>& old_pod_sets, std::int32_t old_priority);
  void ask_traits(WorkloadRecord& w, WorkloadId id, bool holds_quota);
  void mark(WorkloadRecord& w, WorkloadId id, const hooks::Traits& traits, bool asked);
  bool all_loaded(const std::vector<std::string>& plugins) const;
  void refresh_traits(WorkloadRecord& w, WorkloadId id);
  void follow_part(WorkloadRecord& w, WorkloadId id, bool was_aside);
  std::shared_ptr<PendingReason> why_not_queued(const WorkloadRecord& w, QueueId& queue);
  void enqueue(WorkloadId id);
  void dequeue(WorkloadId id);
  void reorder_anchored(const std::string& key);

  // checks.cpp
  void note_check_change(const std::string& name);
  void rebuild_checks(QueueRecord& queue);
  void list_checks(WorkloadId id);
  void list_checks_of(const std::set<QueueId>& queues);
  void reset_checks(WorkloadRecord& w, bool all);
  void take_check_reports(WorkloadId id, const api::WorkloadStatus& status);
  void take_check_report(WorkloadId id, api::AdmissionCheckState& check,
                         const api::AdmissionCheckState& report);
  void settle_checks(WorkloadId id);
  static bool all_ready(const WorkloadRecord& w);
  bool lets_preempt(const WorkloadRecord& w) const;
  void retry(WorkloadId id, const std::string& names);
  void settle_loaded();

  // rechecks.cpp
  void plan(WorkloadId id, const std::vector<WorkloadId>& victims);
  void drop_plan(WorkloadId id);
  void find_rechecks();
  void commit(Recheck& recheck);
  void lose_reservation(WorkloadId id, const std::string& message,
                        std::shared_ptr<PendingReason> why);
  void plan_loaded();

  // transitions.cpp
  void admit(WorkloadId id);
  void start(WorkloadId id);
  static void count_ended_reservation(WorkloadRecord& w, const std::string& reason,
                                      const std::string& cause);
  void hold(WorkloadId id, std::unique_ptr<Holding> holding);
  std::unique_ptr<Holding> let_go(WorkloadId id);
  void recount(WorkloadId id);
  void vacate(WorkloadId id, const Decision& why);
  bool complete_evictions();
  void end_replaced(const WorkloadRecord& w);
  void end(WorkloadId id, std::string_view reason, std::string_view message);
  void deactivate(WorkloadId id, std::string_view reason, std::string_view message);
  void set_condition(WorkloadRecord& w, ConditionRecord::Type type, bool value,
                     std::string_view reason, std::string_view message);
  void set_condition(WorkloadRecord& w, ConditionRecord::Type type, bool value, StringId reason,
                     StringId message);
  Decision& decide(DecisionType type, WorkloadId id);
  void set_pending(WorkloadRecord& w, WorkloadId id, std::shared_ptr<PendingReason> why);
  void drop_claim(WorkloadId id);

  // timers.cpp
  void start_timers(WorkloadId id);
  void watch_recovery(WorkloadId id);
  bool is_recovering(const WorkloadRecord& w) const;
  bool all_pods_ready();
  void back_off(WorkloadId id, std::string_view cause);
  void fire(const Timer& timer);

  // step.cpp
  void find_heads();
  void take_head(QueueRecord& queue, WorkloadId id);
  const char* not_nominated_because(const QueueRecord& queue, const WorkloadRecord& w) const;
  void commit(Entry& entry);
  void preempt(WorkloadId id, QueueId queue, std::span<const Victim> victims);
  void claim_after(const Entry& entry, int times);
  void record_scan(Entry& entry);
  void settle_claims();
  bool skip_idle_cycles();
  std::shared_ptr<PendingReason> explain(Entry& entry) const;
  void tell_pending();

  EngineConfig config_;
  hooks::Hooks hooks_;
  ParallelFor parallel_for_;
  Relations relations_{model};

  std::map<std::string, api::Cohort> cohorts_;

  std::unordered_map<const api::PodTemplate*, std::unique_ptr<PodShape>> shapes_;

  std::set<QueueId> changed_queues_;     // wake after the rebuild
  std::set<QueueId> generation_queues_;  // and their trees' generations grow
  std::set<std::string> changed_cohorts_;
  std::vector<QueueId> dirty_queues_;  // trees to wake; each once (QueueRecord::dirty)
  std::set<std::string> changed_local_queues_;
  std::vector<std::uint8_t> maybe_head_;  // by QueueId: its heap may have a head
  bool drain_pending_ = false;
  std::optional<bool> pods_ready_;  // of all that hold quota; unknown: to be counted
  bool held_back_ = false;          // somebody waits for the pods of others
  mutable std::vector<WorkloadId> in_order_;
  mutable bool in_order_stale_ = false;
  /// Texts that every admission uses.
  struct Texts {
    StringId quota_reserved, admitted, is_admitted, pending;
  } texts_;

  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<WorkloadId> evicting_;  // loaded in the middle of an eviction
  std::vector<WorkloadId> loaded_;    // loaded with a reservation, and not looked at yet
  std::set<QueueId> relist_;          // queues whose checks changed
  std::set<WorkloadId> recheck_due_, recheck_waiting_;
  std::vector<Recheck> rechecks_;  // of the running cycle
  std::vector<Decision> decisions_;
  std::vector<Entry> entries_;       // of the running cycle; kept for their memory
  std::span<Entry> heads_;           // those in use
  std::vector<WorkloadId> touched_;  // pending reasons that may have changed; may repeat
  std::set<QueueId> touched_queues_;
  std::size_t blocked_heads_ = 0;  // heads of StrictFIFO queues that may not be nominated
  int idle_cycles_ = 0;
  bool moved_ = false;     // between heap and parking lot, or by input
  bool progress_ = false;  // somebody was admitted or evicted in this cycle
};

}  // namespace sluice

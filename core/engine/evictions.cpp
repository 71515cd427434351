// How a workload loses its quota: at once, or, where what it runs ends later, when that is told.
//
// In between it is Evicted and Admitted: it counts as it did, is the first candidate of everybody
// who looks for victims, and is evicted no second time. All of it stands in its conditions, so that
// whoever reads them after a restart goes on from there.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/checks.hpp"
#include "core/engine/lifecycle.hpp"
#include "core/engine/workload_views.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

bool Lifecycle::ends_later(WorkloadId id) const {
  return model_.ends_later(id, config_.jobs_end_later);
}

bool Lifecycle::is_ending(WorkloadId id) const {
  return model_.in_eviction(id) && ends_later(model_.runs_as(id));
}

void Lifecycle::evict(WorkloadId id, const Decision& why) {
  if (is_ending(id)) return;
  tell_begun(id, why);
  if (ends_later(id)) return begin_eviction(id, why);
  end_at_once(id, why);
}

/// The decision, which is told once, whether or not the quota comes back later.
void Lifecycle::tell_begun(WorkloadId id, const Decision& why) {
  WorkloadRecord& w = model_.workloads[id];
  Decision& decision = turn_.decisions.emplace_back(why);
  decision.admitted = w.state == WorkloadState::kAdmitted;
  decision.type = DecisionType::kEvicted;
  decision.workload = id;
  ++turn_.stats.evictions;
  turn_.progress = true;
  count_ended_reservation(w, why.reason, why.cause);
}

void Lifecycle::end_at_once(WorkloadId id, const Decision& why) {
  if (model_.workloads[id].state == WorkloadState::kAdmitted) representation_.lost(id, why);
  vacate(id, why);
}

void Lifecycle::begin_eviction(WorkloadId id, const Decision& why) {
  WorkloadRecord& w = model_.workloads[id];
  representation_.lost(id, why);
  ++w.epoch;  // it runs out of time no more
  w.evicting = true;
  set_condition(model_, w, Type::kEvicted, true, why.reason, why.message);
  if (!why.preemption.empty())
    set_condition(model_, w, Type::kPreempted, true, why.preemption, why.message);
}

void Lifecycle::make_way(WorkloadId id, const Decision& why) {
  if (!is_ending(id)) tell_begun(id, why);
  end_at_once(id, why);
}

void Lifecycle::ended(WorkloadId id) {
  if (is_ending(id)) end_eviction(model_.runs_as(id));
}

void Lifecycle::review_eviction(WorkloadId id) {
  const auto review = [this](WorkloadId each) {
    const WorkloadRecord& w = model_.workloads[each];
    if (w.evicting && w.holds_quota() && !ends_later(each)) evicting_.push_back(each);
  };
  review(id);
  const auto members = model_.anchored.find(model_.key(id));
  if (members == model_.anchored.end()) return;
  for (const WorkloadId each : members->second) review(each);
}

/// Why it was evicted, its conditions say.
void Lifecycle::end_eviction(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const ConditionRecord* evicted = w.condition(Type::kEvicted);
  const ConditionRecord* preempted = w.if_true(Type::kPreempted);
  Decision why;
  why.reason = evicted->reason.text();
  why.message = evicted->message.text();
  if (why.reason == eviction_reason::kPreempted && preempted)
    why.preemption = preempted->reason.text();
  end_at_once(id, why);
  const auto backs_off = [](const WorkloadRecord& of) {
    return of.extras && of.extras->backing_off;
  };
  if (ends_in_backoff(why.reason) && !backs_off(w) &&
      !backs_off(model_.workloads[model_.counted_as(id)]))  // that ended meanwhile
    say_backoff_finished(model_, w);
  if (w.object->active) {
    forget_used_up_time(w);  // it was turned on again meanwhile
  } else {
    turn_off(id, off_message(why));
    waiting_.enqueue_members(id);
  }
  decide(DecisionType::kStatus, id);
}

/// The quota is released, and the workload is back where it waits.
void Lifecycle::vacate(WorkloadId id, const Decision& why) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.holds_quota(), w.key, " is evicted and holds nothing");
  const QueueId queue = w.holding->queue;
  const bool admitted = w.state == WorkloadState::kAdmitted;
  if (admitted && w.object->maximum_execution_seconds)
    w.more().past_execution_seconds = seconds_run(w);
  holdings_.let_go(id);
  if (!w.evicting) ++w.epoch;  // else that was done, and a timer of its delay may run
  w.evicting = false;
  w.scan.reset();
  w.state = WorkloadState::kPending;
  structure_.released_in(queue);
  tell_eviction(model_, w, why, admitted);
  auto reason = std::make_shared<PendingReason>();
  reason->reason = WaitReason::kPending;
  reason->text = why.message;
  waiting_.set_pending(id, std::move(reason));
  // A preempted workload queues at once; others when what stopped them has ended.
  const bool at_once = !why.preemption.empty();
  set_condition(model_, w, Type::kRequeued, at_once, why.reason, why.message);
  reset_checks(model_, w, false);
  if (w.object->active) waiting_.enqueue(id);
  waiting_.reorder_anchored(w.key);
  representation_.touch(id);
  turn_.moved = true;  // a preemptor may wait for it in its heap
}

bool Lifecycle::complete_evictions() {
  std::vector<WorkloadId> ids;
  std::swap(ids, evicting_);
  bool any = false;
  for (const WorkloadId id : ids) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || !w.evicting || !w.holds_quota() || ends_later(id)) continue;
    end_eviction(id);
    any = true;
  }
  return any;
}

}  // namespace sluice

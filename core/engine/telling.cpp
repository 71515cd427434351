// Reasons to wait: that of a cycle's answer, and one decision for each new one.
#include <algorithm>
#include <utility>

#include "core/engine/parked_reasons.hpp"
#include "core/engine/rounds.hpp"
#include "core/engine/workload_views.hpp"

namespace sluice {

std::shared_ptr<PendingReason> Rounds::reason_of(const Entry& entry) const {
  auto why = std::make_shared<PendingReason>();
  const Nomination& n = entry.nomination;
  why->cycle = model_.cycle;
  why->flavors = n.assignment.reasons;
  why->object = model_.workloads[entry.id].object;
  why->reason = rank_reasons(why->flavors);
  if (!n.assignment.fault.empty()) {
    why->reason = WaitReason::kPending;
    why->flavors.clear();
    why->text = n.assignment.fault;
  } else if (n.vetoed) {
    why->text = n.veto_reason;
    why->by = n.vetoed_by;
  } else if (entry.status == EntryStatus::kPreempting) {
    why->reason = WaitReason::kWaitingForPreemptedWorkloads;
    why->text = "Pending the preemption of " + std::to_string(n.victims.size()) + " workload(s)";
  } else if (entry.status == EntryStatus::kWaiting) {
    why->reason = WaitReason::kWaitingForPreemptedWorkloads;
    why->text = "Workload has overlapping preemption targets with another workload";
  } else if (entry.status == EntryStatus::kBehind) {
    why->reason = WaitReason::kWaitingForPreemptedWorkloads;
    why->text =
        "Workload fits only on capacity that still runs workloads to be preempted by others";
    why->flavors.clear();
  } else if (entry.status == EntryStatus::kSkipped) {
    why->reason = WaitReason::kWaitingForQuota;
    why->text = "Workload no longer fits after processing another workload";
    why->flavors.clear();
  }
  return why;
}

/// A former head of a StrictFIFO queue, which waits behind another workload now, has another
/// reason.
void Rounds::touch_former_heads() {
  if (told_heads_.size() < model_.queues.size()) told_heads_.resize(model_.queues.size(), kNone);
  for (const QueueId id : turn_.touched_queues) {
    const QueueRecord& queue = model_.queues[id];
    const WorkloadId head = queue.best_effort() ? kNone : queue.pending.head().value_or(kNone);
    const WorkloadId former = std::exchange(told_heads_[id], head);
    if (former != kNone && former != head) turn_.touched.push_back(former);
  }
}

/// At rest in an active queue, and not looked at before those in front of it are gone: all but the
/// head of a StrictFIFO queue, and in any queue a workload that was never looked at.
bool Rounds::waits_for_its_turn(WorkloadId id) const {
  const WorkloadRecord& w = model_.workloads[id];
  if (w.queue == kNone) return false;
  const QueueRecord& queue = model_.queues[w.queue];
  if (!queue.active() || !queue.pending.contains(id) || queue.pending.parked(id)) return false;
  if (queue.pending.head() == id) return false;
  return !queue.best_effort() || (!w.pending && !queue.pending.class_reason(id));
}

/// At rest: a decision for every workload whose reason to wait differs from the last one decided.
void Rounds::tell_pending() {
  touch_former_heads();
  for (const QueueId id : turn_.touched_queues) {
    tell_as_of_wake(model_, model_.queues[id]);
    model_.queues[id].pending.collect_untold(turn_.touched);
  }
  turn_.touched_queues.clear();
  const std::set<WorkloadId> shown = std::exchange(turn_.shown, {});
  turn_.touched.insert(turn_.touched.end(), shown.begin(), shown.end());
  std::sort(turn_.touched.begin(), turn_.touched.end());
  turn_.touched.erase(std::unique(turn_.touched.begin(), turn_.touched.end()), turn_.touched.end());
  // Equals share one reason: its text is made once.
  std::shared_ptr<const PendingReason> last;
  std::uint64_t digest = 0;
  std::string message;
  for (const WorkloadId id : turn_.touched) {
    WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || w.state != WorkloadState::kPending) continue;
    w.for_its_turn = waits_for_its_turn(id);
    if (w.for_its_turn && model_.queues[w.queue].best_effort())
      model_.queues[w.queue].pending.note_untold(id);
    std::shared_ptr<const PendingReason> why = pending_reason(model_, w, id);
    if (!why) continue;
    if (why != last) {
      digest = why->digest();
      message.clear();
    }
    last = std::move(why);
    if (digest == w.logged_pending) {
      // In the middle of the instant it was another, and a client may have read that.
      if (shown.contains(id)) turn_.decide(DecisionType::kStatus, id);
      continue;
    }
    if (message.empty()) message = last->message(model_.frs);
    const bool told = w.logged_pending == WorkloadRecord::kToldInStatus &&
                      told_in_status(w, to_string(last->reason), message);
    w.logged_pending = digest;
    if (told && !shown.contains(id)) continue;
    // Its members have decisions of their own, which say what happens.
    const bool represented = w.stands_aside() && !model_.members_for(w).empty();
    Decision& decision =
        turn_.decide(represented || told ? DecisionType::kStatus : DecisionType::kPending, id);
    decision.reason = to_string(last->reason);
    decision.message = message;
  }
  turn_.touched.clear();
}

}  // namespace sluice

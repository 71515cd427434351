// What those that wait are told: the reason of a cycle's answer, and one decision per new reason.
#include <algorithm>

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

/// At rest: a decision for every workload whose reason to wait is another than it was told last.
void Rounds::tell_pending() {
  for (const QueueId id : turn_.touched_queues)
    model_.queues[id].pending.collect_untold(turn_.touched);
  turn_.touched_queues.clear();
  std::sort(turn_.touched.begin(), turn_.touched.end());
  turn_.touched.erase(std::unique(turn_.touched.begin(), turn_.touched.end()), turn_.touched.end());
  // Equals share one reason: its text is made once.
  std::shared_ptr<const PendingReason> last;
  std::uint64_t digest = 0;
  std::string message;
  for (const WorkloadId id : turn_.touched) {
    WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || w.state != WorkloadState::kPending) continue;
    std::shared_ptr<const PendingReason> why = pending_reason(model_, w, id);
    if (!why) continue;
    if (why != last) {
      digest = why->digest();
      message.clear();
    }
    last = std::move(why);
    if (digest == w.logged_pending) continue;
    if (message.empty()) message = last->message(model_.frs);
    const bool told = w.logged_pending == WorkloadRecord::kToldInStatus &&
                      told_in_status(model_, w, to_string(last->reason), message);
    w.logged_pending = digest;
    if (told) continue;
    Decision& decision = turn_.decide(DecisionType::kPending, id);
    decision.reason = to_string(last->reason);
    decision.message = message;
  }
  turn_.touched.clear();
}

}  // namespace sluice

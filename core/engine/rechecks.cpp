// Between reservation and admission (mechanisms 4): held preemptions, the second look when all
// checks are Ready, and reservations that end there.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/checks.hpp"
#include "core/engine/lifecycle.hpp"
#include "core/model/queue_order.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

void Lifecycle::find_rechecks(std::vector<Recheck>& out) {
  out.clear();
  for (const WorkloadId id : recheck_due_) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || !w.holds_quota() || w.state != WorkloadState::kQuotaReserved) continue;
    if (!model_.queues[w.holding->queue].active()) {
      recheck_waiting_.insert(id);
      continue;
    }
    Recheck& recheck = out.emplace_back();
    recheck.id = id;
    recheck.key = order_key(model_, id);
    recheck.admits = all_ready(w);
  }
  recheck_due_.clear();
  std::sort(out.begin(), out.end(),
            [](const Recheck& a, const Recheck& b) { return a.key < b.key; });
}

bool Lifecycle::wake_rechecks() {
  const bool any = !recheck_waiting_.empty();
  recheck_due_.merge(recheck_waiting_);
  return any;
}

void Lifecycle::commit(Recheck& recheck) {
  const WorkloadId id = recheck.id;
  WorkloadRecord& w = model_.workloads[id];
  if (!w.holds_quota() || w.state != WorkloadState::kQuotaReserved) return;  // ended in this cycle
  Nomination& n = recheck.nomination;
  switch (recheck.status) {
    case RecheckStatus::kWaits:
      recheck_waiting_.insert(id);
      return;
    case RecheckStatus::kLost: {
      auto why = std::make_shared<PendingReason>();
      why->flavors = n.assignment.reasons;
      why->object = w.object;
      why->reason = rank_reasons(why->flavors);
      if (!recheck.why.empty() || why->flavors.empty()) {
        why->flavors.clear();
        why->reason = WaitReason::kPending;
        why->text = recheck.why.empty() ? "Its preemptions would not make room" : recheck.why;
      }
      const std::string message = why->message(model_.frs);
      return lose_reservation(id, message, std::move(why));
    }
    case RecheckStatus::kPasses:
      holdings_.drop_plan(id);
      preempt(id, w.holding->queue, n.victims);
      if (const bool waits = plan_on_ends(id, n.victims); waits && recheck.admits) {
        recheck_waiting_.insert(id);
        return;
      }
      if (recheck.admits) return admit(id);
      settle_checks(id);
      return;
  }
}

/// Its plan is now to wait for those of its victims that run still; whether there are any.
bool Lifecycle::plan_on_ends(WorkloadId id, std::span<const Victim> victims) {
  std::vector<WorkloadId> ending;
  for (const Victim& victim : victims)
    if (is_ending(victim.id)) ending.push_back(victim.id);
  holdings_.plan(id, ending);
  return !ending.empty();
}

/// Before it was admitted: nothing ran, so nothing is stopped. It queues at once.
void Lifecycle::lose_reservation(WorkloadId id, const std::string& message,
                                 std::shared_ptr<PendingReason> why) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.state == WorkloadState::kQuotaReserved, w.key, " loses its reservation in state ",
               static_cast<int>(w.state));
  const QueueId queue = w.holding->queue;
  Decision& decision = decide(DecisionType::kReservationLost, id);
  decision.reason = to_string(why->reason);
  decision.message = message;
  count_ended_reservation(w, "ReservationLost", "");
  turn_.progress = true;
  holdings_.let_go(id);
  ++w.epoch;
  w.scan.reset();
  w.state = WorkloadState::kPending;
  structure_.released_in(queue);
  reset_checks(model_, w, false);
  set_condition(model_, w, Type::kQuotaReserved, false, decision.reason, message);
  waiting_.set_pending(id, std::move(why));
  waiting_.enqueue(id);
  waiting_.reorder_anchored(w.key);
}

}  // namespace sluice

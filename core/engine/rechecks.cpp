// Between reservation and admission (mechanisms 4): held preemptions, the second look when all
// checks are Ready, and reservations that end there.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/state.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

/// The workload's preemptions are held back: its victims run on, and count for nobody.
void EngineState::plan(WorkloadId id, const std::vector<WorkloadId>& victims) {
  WorkloadRecord& w = model.workloads[id];
  SLUICE_CHECK(w.holds_quota(), w.key, " plans to evict others and holds no quota");
  for (const WorkloadId victim : victims) {
    WorkloadRecord& v = model.workloads[victim];
    if (!v.holds_quota() || v.promised_to != kNone || victim == id) continue;
    v.promised_to = id;
    w.holding->planned.push_back(victim);
    if (!model.tree_stale) model.settle(victim);
  }
  if (!w.holding->planned.empty()) model.held.insert(id);
}

void EngineState::drop_plan(WorkloadId id) {
  model.held.erase(id);
  std::vector<WorkloadId> planned;
  std::swap(planned, model.workloads[id].holding->planned);
  for (const WorkloadId victim : planned) {
    model.workloads[victim].promised_to = kNone;
    if (!model.tree_stale) model.settle(victim);
  }
}

/// Those whose turn it is, in the order of their queue keys. One whose queue may not admit waits.
void EngineState::find_rechecks() {
  rechecks_.clear();
  for (const WorkloadId id : recheck_due_) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || !w.holds_quota() || w.state != WorkloadState::kQuotaReserved) continue;
    if (!model.queues[w.holding->queue].active()) {
      recheck_waiting_.insert(id);
      continue;
    }
    Recheck& recheck = rechecks_.emplace_back();
    recheck.id = id;
    recheck.key = order_key(model, id);
    recheck.admits = all_ready(w);
  }
  recheck_due_.clear();
  std::sort(rechecks_.begin(), rechecks_.end(),
            [](const Recheck& a, const Recheck& b) { return a.key < b.key; });
}

void EngineState::commit(Recheck& recheck) {
  const WorkloadId id = recheck.id;
  WorkloadRecord& w = model.workloads[id];
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
      const std::string message = why->message(model.frs);
      return lose_reservation(id, message, std::move(why));
    }
    case RecheckStatus::kPasses:
      drop_plan(id);
      preempt(id, w.holding->queue, n.victims);
      if (recheck.admits) return admit(id);
      settle_checks(id);
      return;
  }
}

/// Before it was admitted: nothing ran, so nothing is stopped. It queues at once.
void EngineState::lose_reservation(WorkloadId id, const std::string& message,
                                   std::shared_ptr<PendingReason> why) {
  WorkloadRecord& w = model.workloads[id];
  const QueueId queue = w.holding->queue;
  Decision& decision = decide(DecisionType::kReservationLost, id);
  decision.reason = to_string(why->reason);
  decision.message = message;
  count_ended_reservation(w, "ReservationLost", "");
  progress_ = true;
  let_go(id);
  ++w.epoch;
  w.scan.reset();
  w.state = WorkloadState::kPending;
  wake_tree_of(queue);
  reset_checks(w, false);
  set_condition(w, Type::kQuotaReserved, false, decision.reason, message);
  set_pending(w, id, std::move(why));
  enqueue(id);
  reorder_anchored(w.key);
}

/// Reservations of a dump, or from before a restart, whose preemptions are held back: only the
/// checks tell, so whoever does not fit beside the others, the earlier ones first, plans anew.
void EngineState::plan_loaded() {
  std::vector<WorkloadId> ids;
  for (const WorkloadId id : loaded_) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || !w.holds_quota() || w.state != WorkloadState::kQuotaReserved) continue;
    if (!lets_preempt(w)) ids.push_back(id);
  }
  if (ids.empty()) return;
  std::sort(ids.begin(), ids.end(), [this](WorkloadId a, WorkloadId b) {
    const WorkloadRecord& left = model.workloads[a];
    const WorkloadRecord& right = model.workloads[b];
    return std::tie(left.holding->reserved_at, left.uid, left.key) <
           std::tie(right.holding->reserved_at, right.uid, right.key);
  });
  std::vector<std::unique_ptr<Removal>> later;
  for (std::size_t i = ids.size(); i-- > 0;) {
    later.push_back(std::make_unique<Removal>(model));
    later.back()->remove(ids[i]);
  }
  Nominator nominator(model, config_, hooks_);
  for (const WorkloadId id : ids) {
    Nomination nomination;
    nominator.nominate_holder(id, true, nomination);
    later.pop_back();  // it counts from here on
    std::vector<WorkloadId> victims;
    for (const Victim& victim : nomination.victims) victims.push_back(victim.id);
    plan(id, victims);
  }
}

}  // namespace sluice

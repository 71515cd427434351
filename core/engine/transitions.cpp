// What can happen to a workload: reserved, admitted, evicted, deactivated, finished. Each keeps the
// ledger, the records and the conditions in step, and says so with a decision.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/state.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

Decision& EngineState::decide(DecisionType type, WorkloadId id) {
  Decision& decision = decisions_.emplace_back();
  decision.type = type;
  decision.workload = id;
  return decision;
}

void EngineState::set_condition(WorkloadRecord& w, Type type, bool value, std::string_view reason,
                                std::string_view message) {
  set_condition(w, type, value, model.texts.intern(reason), model.texts.intern(message));
}

void EngineState::set_condition(WorkloadRecord& w, Type type, bool value, StringId reason,
                                StringId message) {
  ConditionRecord* at = nullptr;
  for (ConditionRecord& c : w.conditions)
    if (c.type == type) at = &c;
  if (!at) {
    if (w.conditions.empty()) w.conditions.reserve(3);  // most end with three
    at = &w.conditions.emplace_back(ConditionRecord{type, !value, 0, 0, model.now});
  }
  if (at->is_true != value) at->time = model.now;
  at->is_true = value;
  if (type == Type::kPodsReady) pods_ready_.reset();
  at->reason = reason;
  at->message = message;
}

void EngineState::set_pending(WorkloadRecord& w, WorkloadId id,
                              std::shared_ptr<PendingReason> why) {
  why->cycle = model.cycle;
  w.pending = std::move(why);
  touched_.push_back(id);
}

/// Counts a reservation. `holding` needs queue, pod sets and time; usage and index are set here.
void EngineState::hold(WorkloadId id, std::unique_ptr<Holding> holding) {
  WorkloadRecord& w = model.workloads[id];
  SLUICE_CHECK(!w.holds_quota(), w.key, " holds quota already");
  QueueRecord& queue = model.queues[holding->queue];
  holding->usage.clear();
  for (std::size_t i = 0; i < holding->pod_sets.size(); ++i) {
    const AssignedPodSet& assigned = holding->pod_sets[i];
    const PodSetRecord& p = w.pod_sets[i];
    const std::int32_t counted = std::max(0, std::min(assigned.count, p.count - p.reclaimable));
    for (const auto& [resource, flavor] : assigned.flavors) {
      const FrId fr = model.frs.intern(flavor, resource);
      const Amount amount = model.amount_of(w, i, resource, counted, queue);
      bool merged = false;
      for (FrAmount& u : holding->usage) {
        if (u.fr != fr) continue;
        u.amount = add_saturating(u.amount, amount);
        merged = true;
      }
      if (!merged) holding->usage.push_back({fr, amount});
    }
  }
  holding->index = queue.holders.size();
  queue.holders.push_back(id);
  holding->priority = w.priority;
  ++queue.holder_priorities[w.priority];
  w.queue = holding->queue;
  w.holding = std::move(holding);
  if (const ConditionRecord* ready = w.condition(Type::kPodsReady); !ready || !ready->is_true)
    pods_ready_ = false;
  if (model.frs.size() != model.tree.fr_count()) model.tree_stale = true;
  if (!model.tree_stale) model.settle(id);
}

/// The reverse of hold(); the holding is handed back.
std::unique_ptr<Holding> EngineState::let_go(WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  SLUICE_CHECK(w.holds_quota(), w.key, " holds no quota");
  if (model.frs.size() != model.tree.fr_count()) model.tree_stale = true;
  if (!model.tree_stale && w.counted) model.ledger.release(id, w);
  w.counted = false;
  drop_plan(id);
  if (w.promised_to != kNone) {
    WorkloadRecord& planner = model.workloads[w.promised_to];
    std::erase(planner.holding->planned, id);
    if (planner.holding->planned.empty()) model.held.erase(w.promised_to);
    w.promised_to = kNone;
  }
  QueueRecord& queue = model.queues[w.holding->queue];
  const WorkloadId last = queue.holders.back();
  queue.holders[w.holding->index] = last;
  model.workloads[last].holding->index = w.holding->index;
  queue.holders.pop_back();
  pods_ready_.reset();
  const auto priority = queue.holder_priorities.find(w.holding->priority);
  if (--priority->second == 0) queue.holder_priorities.erase(priority);
  bump_generation(queue.id);
  // Members of an exclusive group wait for each other, in whatever tree they are.
  if (const hooks::Traits* traits = w.traits(); traits && traits->group.exclusive)
    for (const WorkloadId sibling : model.siblings[traits->group.id])
      if (const QueueId at = model.workloads[sibling].queue; at != kNone && sibling != id)
        wake_tree_of(at);
  return std::move(w.holding);
}

/// The counts or the priority changed while quota is held.
void EngineState::recount(WorkloadId id) {
  const std::vector<WorkloadId> planned = model.workloads[id].holding->planned;
  const WorkloadId planner = model.workloads[id].promised_to;
  hold(id, let_go(id));
  plan(id, planned);
  if (planner != kNone) plan(planner, {id});
}

void EngineState::reserve(const Entry& entry) {
  const WorkloadId id = entry.id;
  WorkloadRecord& w = model.workloads[id];
  QueueRecord& queue = model.queues[entry.queue];
  queue.pending.erase(id);
  queue.pending.free_place(id);
  drop_claim(id);
  w.scan.reset();
  w.pending.reset();
  w.logged_pending = 0;
  ++w.epoch;

  auto holding = std::make_unique<Holding>();
  holding->queue = entry.queue;
  holding->reserved_at = model.now;
  bool borrowing = false;
  const Assignment& assignment = entry.nomination.assignment;
  holding->pod_sets.resize(assignment.counts.size());
  for (std::size_t i = 0; i < assignment.counts.size(); ++i)
    holding->pod_sets[i].count = assignment.counts[i];
  for (const ResourceChoice& r : assignment.choices) {
    holding->pod_sets[r.pod_set].flavors.emplace_back(r.resource, model.frs.flavor_of(r.fr));
    borrowing |= r.level > 0;
  }
  const bool at_once =
      std::none_of(queue.checks.begin(), queue.checks.end(),
                   [&](const QueueCheck& check) { return check.applies_to(*holding); });
  if (at_once) end_replaced(w);
  hold(id, std::move(holding));
  if (entry.status == EntryStatus::kHeld) {
    std::vector<WorkloadId> victims;
    for (const Victim& victim : entry.nomination.victims) victims.push_back(victim.id);
    plan(id, victims);
  }
  bump_generation(entry.queue);
  w.state = WorkloadState::kQuotaReserved;
  if (queue.reserved_message == 0)
    queue.reserved_message = model.texts.intern("Quota reserved in ClusterQueue " + queue.name);
  set_condition(w, Type::kQuotaReserved, true, texts_.quota_reserved, queue.reserved_message);
  for (const Type type : {Type::kEvicted, Type::kPreempted})
    if (const ConditionRecord* c = w.condition(type); c && c->is_true)
      set_condition(w, type, false, "QuotaReserved", "Previously: " + model.texts.text(c->message));
  decide(DecisionType::kQuotaReserved, id).borrowing = borrowing;
  progress_ = true;
  list_checks(id);
  if (!at_once) return settle_checks(id);
  start(id);
}

void EngineState::admit(WorkloadId id) {
  end_replaced(model.workloads[id]);
  start(id);
}

void EngineState::start(WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  w.state = WorkloadState::kAdmitted;
  set_condition(w, Type::kAdmitted, true, texts_.admitted, texts_.is_admitted);
  decide(DecisionType::kAdmitted, id);
  ++stats.admissions;
  progress_ = true;
  start_timers(id);
}

/// Its admission ends what it replaces, in the same commit, as its traits say (mechanisms 1); also
/// one that lost its quota in the meantime and waits.
void EngineState::end_replaced(const WorkloadRecord& w) {
  const WorkloadId replaced = model.replaced_by(w);
  if (replaced == kNone) return;
  const hooks::Replaces how = w.extras->traits.replaces;
  WorkloadRecord& r = model.workloads[replaced];
  if (r.state == WorkloadState::kFinished || r.state == WorkloadState::kInactive) return;
  switch (how.how) {
    case hooks::ReplacedEnds::kFinished:
      return end(replaced, how.reason, how.message);
    case hooks::ReplacedEnds::kDeactivated:
      return deactivate(replaced, how.reason, how.message);
    case hooks::ReplacedEnds::kEvicted:
      break;
  }
  if (!r.holds_quota()) return;
  Decision why;
  why.reason = how.reason;
  why.message = how.message;
  model.history.evicted(model.ids.at(w.key), replaced, model.now);
  evict(replaced, why);
  // It waits again and is no part of what took its place.
  relations_.leave_unit(replaced);
}

/// `DeactivatedDueToX` counts as Deactivated with the cause X.
void EngineState::count_ended_reservation(WorkloadRecord& w, const std::string& why,
                                          const std::string& why_cause) {
  constexpr std::string_view kDeactivated = "Deactivated";
  constexpr std::string_view kDueTo = "DeactivatedDueTo";
  const bool due = why.starts_with(kDueTo);
  const std::string reason = due ? std::string(kDeactivated) : why;
  const std::string cause = due ? why.substr(kDueTo.size()) : why_cause;
  for (api::EvictionCount& e : w.more().evictions) {
    if (e.reason != reason || e.underlying_cause != cause) continue;
    ++e.count;
    return;
  }
  w.more().evictions.push_back({reason, cause, 1});
}

void EngineState::evict(WorkloadId id, const Decision& why) {
  WorkloadRecord& w = model.workloads[id];
  Decision& decision = decisions_.emplace_back(why);
  decision.admitted = w.state == WorkloadState::kAdmitted;
  decision.type = DecisionType::kEvicted;
  decision.workload = id;
  ++stats.evictions;
  progress_ = true;
  count_ended_reservation(w, why.reason, why.cause);
  vacate(id, why);
}

/// Ends an eviction: the quota is released, and the workload is back where it waits.
void EngineState::vacate(WorkloadId id, const Decision& why) {
  WorkloadRecord& w = model.workloads[id];
  const QueueId queue = w.holding->queue;
  const bool admitted = w.state == WorkloadState::kAdmitted;
  if (admitted && w.object->maximum_execution_seconds) {
    const ConditionRecord* since = w.condition(Type::kAdmitted);
    const Duration ran = since ? model.now - since->time : 0;
    w.more().past_execution_seconds += static_cast<std::int32_t>(ran / kSecond);
  }
  let_go(id);
  ++w.epoch;
  w.evicting = false;
  w.scan.reset();
  w.state = WorkloadState::kPending;
  wake_tree_of(queue);
  const StringId reason_text = model.texts.intern(why.reason);
  const StringId message = model.texts.intern(why.message);
  set_condition(w, Type::kQuotaReserved, false, texts_.pending, message);
  if (admitted)
    set_condition(w, Type::kAdmitted, false, "NoReservation", "The workload has no reservation");
  if (const ConditionRecord* ready = w.condition(Type::kPodsReady); ready && ready->is_true)
    set_condition(w, Type::kPodsReady, false, "WaitForStart",
                  "Not all pods are ready or succeeded");
  set_condition(w, Type::kEvicted, true, reason_text, message);
  if (!why.preemption.empty())
    set_condition(w, Type::kPreempted, true, model.texts.intern(why.preemption), message);
  auto reason = std::make_shared<PendingReason>();
  reason->reason = WaitReason::kPending;
  reason->text = why.message;
  set_pending(w, id, std::move(reason));
  // Who was preempted queues at once; others when what stopped them has ended.
  const bool at_once = !why.preemption.empty();
  set_condition(w, Type::kRequeued, at_once, reason_text, message);
  reset_checks(w, false);
  if (w.object->active) enqueue(id);
  reorder_anchored(w.key);
}

/// Evictions that were decided before a dump was taken end after the first cycle, as all do. In
/// that cycle they are the first candidates. True when there were any.
bool EngineState::complete_evictions() {
  std::vector<WorkloadId> ids;
  std::swap(ids, evicting_);
  bool any = false;
  for (const WorkloadId id : ids) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || !w.evicting || !w.holds_quota()) continue;
    const ConditionRecord* evicted = w.condition(Type::kEvicted);
    Decision why;
    why.reason = model.texts.text(evicted->reason);
    why.message = model.texts.text(evicted->message);
    vacate(id, why);
    any = true;
  }
  moved_ |= any;
  return any;
}

void EngineState::deactivate(WorkloadId id, std::string_view reason, std::string_view message) {
  WorkloadRecord& w = model.workloads[id];
  if (w.holds_quota()) {
    Decision why;
    why.reason = reason;
    why.message = message;
    evict(id, why);
  } else if (w.queue != kNone) {
    wake_tree_of(w.queue);
  }
  dequeue(id);
  drop_claim(id);
  if (w.object->active) {
    auto object = std::make_shared<api::Workload>(*w.object);
    object->active = false;
    w.object = std::move(object);
  }
  w.state = WorkloadState::kInactive;
  w.pending.reset();
  set_condition(w, Type::kQuotaReserved, false, "Deactivated", message);
  Decision& decision = decide(DecisionType::kDeactivated, id);
  decision.reason = reason;
  decision.message = message;
}

Result<void> EngineState::finish(WorkloadId id, std::string_view reason, std::string_view message) {
  WorkloadRecord& w = model.workloads[id];
  if (w.state == WorkloadState::kFinished) return Error{w.key + " is finished already"};
  if (w.state != WorkloadState::kAdmitted)
    return Error{w.key + " is not admitted, so it cannot finish"};
  end(id, reason, message);
  return {};
}

Result<void> EngineState::conclude(WorkloadId id, std::string_view reason,
                                   std::string_view message) {
  WorkloadRecord& w = model.workloads[id];
  if (w.state == WorkloadState::kFinished) return Error{w.key + " is finished already"};
  end(id, reason, message);
  return {};
}

/// Finished: what it holds is released, and it is queued no more.
void EngineState::end(WorkloadId id, std::string_view reason, std::string_view message) {
  WorkloadRecord& w = model.workloads[id];
  if (w.queue != kNone) wake_tree_of(w.queue);
  dequeue(id);
  if (w.queue != kNone) model.queues[w.queue].pending.free_place(id);
  drop_claim(id);
  if (w.holds_quota()) w.ended = let_go(id);
  ++w.epoch;
  w.state = WorkloadState::kFinished;
  w.pending.reset();
  model.history.forget(id);
  set_condition(w, Type::kFinished, true, reason, message);
  Decision& decision = decide(DecisionType::kFinished, id);
  decision.reason = reason;
  decision.message = message;
  moved_ = true;
}

void EngineState::drop_claim(WorkloadId id) {
  const auto it = model.claims.find(id);
  if (it == model.claims.end()) return;
  if (!model.tree_stale) model.ledger.subtract(it->second.queue, it->second.usage);
  model.claims.erase(it);
}

}  // namespace sluice

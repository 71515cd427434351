// A workload that comes with a status starts out where that says: reserved, admitted, backing off,
// finished, or in the middle of an eviction.
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/engine/checks.hpp"
#include "core/engine/lifecycle.hpp"
#include "core/engine/workload_views.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {

void Lifecycle::load_conditions(WorkloadRecord& w) {
  for (const api::Condition& c : w.object->status.conditions) {
    const auto type = condition_type(c.type);
    if (!type) continue;
    set_condition(model_, w, *type, c.is_true(), c.reason, c.message);
    ConditionRecord& loaded = *w.condition(*type);  // not always the last: a type may come twice
    loaded.time = c.last_transition_time;
    loaded.generation = static_cast<std::int32_t>(c.observed_generation);
  }
}

void Lifecycle::load_status(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const api::WorkloadStatus& status = w.object->status;
  load_conditions(w);
  if (status.requeue_state) w.more().requeue = *status.requeue_state;
  if (!status.evictions.empty()) w.more().evictions = status.evictions;
  if (!status.admission_checks.empty()) w.more().checks = status.admission_checks;
  if (status.accumulated_past_execution_seconds > 0)
    w.more().past_execution_seconds = status.accumulated_past_execution_seconds;
  if (w.is_true(ConditionRecord::Type::kFinished)) {
    w.state = WorkloadState::kFinished;
    return;
  }
  const bool part = !w.stands_aside();
  if (part && status.admission && w.is_true(ConditionRecord::Type::kQuotaReserved)) {
    load_admission(id, *status.admission);
    w.state = w.is_true(ConditionRecord::Type::kAdmitted) ? WorkloadState::kAdmitted
                                                          : WorkloadState::kQuotaReserved;
    count_holding(model_, id);
    w.evicting = w.is_true(ConditionRecord::Type::kEvicted);
    if (w.state == WorkloadState::kAdmitted && !w.evicting) start_timers(id);
    if (w.state == WorkloadState::kQuotaReserved || !status.admission_checks.empty())
      loaded_.push_back(id);
    if (w.extras) loaded_with_ties_.push_back(id);
    if (w.evicting) load_eviction(id);
    structure_.drain_soon();  // its queue may be stopped already
    return;
  }
  // What was let go of by another than this engine.
  const bool admitted = part && w.is_true(ConditionRecord::Type::kAdmitted);
  if (admitted) say_unadmitted(model_, w);
  if ((part && say_unready(model_, w)) || admitted) decide(DecisionType::kStatus, id);
  // A wait that ended meanwhile ends now.
  const ConditionRecord* requeued = w.condition(ConditionRecord::Type::kRequeued);
  const bool waits = requeued && !requeued->is_true;
  if (w.extras && w.extras->requeue.requeue_at &&
      (waits || *w.extras->requeue.requeue_at > model_.now)) {
    w.extras->backing_off = true;
    const Time due = std::max(*w.extras->requeue.requeue_at, model_.now);
    timers_.push({due, id, w.epoch, TimerKind::kBackoff});
  }
}

/// In the middle of it: the delay that follows may have begun.
void Lifecycle::load_eviction(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  if (!ends_later(id)) evicting_.push_back(id);
  if (!w.extras || w.extras->requeue.requeue_at.value_or(0) <= model_.now) return;
  w.extras->backing_off = true;
  timers_.push({*w.extras->requeue.requeue_at, id, w.epoch, TimerKind::kBackoff});
}

void Lifecycle::take_part(WorkloadId id, WorkloadId speaker) {
  WorkloadRecord& w = model_.workloads[id];
  if (w.state == WorkloadState::kFinished) return;
  const bool goes_on = speaker != kNone && w.object->active && !model_.workloads[speaker].evicting;
  if (!goes_on) {
    representation_.tell_loss(id, speaker);
    auto object = std::make_shared<api::Workload>(*w.object);
    object->status = status_of(model_, id);
    w.object = std::move(object);
    w.conditions.clear();
    w.state = WorkloadState::kPending;
    load_status(id);
    if (w.object->active) return;
    // Its status shows no quota then; or else it has to be given back.
    if (w.holds_quota())
      return deactivate(id, eviction_reason::kDeactivated, "The workload is deactivated");
    if (w.state == WorkloadState::kPending) w.state = WorkloadState::kInactive;
    return;
  }
  const WorkloadRecord& member = model_.workloads[speaker];
  auto holding = std::make_unique<Holding>();
  holding->queue = member.holding->queue;
  holding->pod_sets = member.holding->pod_sets;
  holding->reserved_at = member.holding->reserved_at;
  const auto checks = member.checks();
  w.more().checks.assign(checks.begin(), checks.end());
  relations_.join_holders(id);
  holdings_.hold(id, std::move(holding));
  w.state = WorkloadState::kAdmitted;
  count_holding(model_, id);
  start_timers(id);
}

void Lifecycle::load_admission(WorkloadId id, const api::Admission& admission) {
  WorkloadRecord& w = model_.workloads[id];
  auto holding = std::make_unique<Holding>();
  holding->queue = structure_.queue_id(admission.cluster_queue);
  holding->pod_sets.resize(w.pod_sets.size());
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    for (const api::PodSetAssignment& from : admission.pod_sets) {
      if (from.name != w.object->pod_sets[i].name) continue;
      AssignedPodSet& to = holding->pod_sets[i];
      to.count = from.count;
      for (const auto& [resource, flavor] : from.flavors) {
        const FlavorId flavor_id = model_.frs.intern_flavor(flavor);
        if (model_.flavors.size() <= flavor_id) model_.flavors.resize(flavor_id + 1);
        to.flavors.emplace_back(model_.frs.intern_resource(resource), flavor_id);
      }
    }
  }
  const ConditionRecord* reserved = w.condition(ConditionRecord::Type::kQuotaReserved);
  holding->reserved_at = reserved ? reserved->time : model_.now;
  if (w.extras) relations_.join_holders(id);
  holdings_.hold(id, std::move(holding));
}

/// Reservations of a dump, or from before a restart, whose preemptions are held back. Only the
/// checks show that, so a workload that does not fit beside the others, earliest first, plans anew.
void Lifecycle::plan_loaded() {
  std::vector<WorkloadId> ids;
  for (const WorkloadId id : loaded_) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || !w.holds_quota() || w.state != WorkloadState::kQuotaReserved) continue;
    if (!lets_preempt(model_, w)) ids.push_back(id);
  }
  if (ids.empty()) return;
  std::sort(ids.begin(), ids.end(), [this](WorkloadId a, WorkloadId b) {
    const WorkloadRecord& left = model_.workloads[a];
    const WorkloadRecord& right = model_.workloads[b];
    return std::tie(left.holding->reserved_at, left.uid, left.key) <
           std::tie(right.holding->reserved_at, right.uid, right.key);
  });
  std::vector<std::unique_ptr<Removal>> later;
  for (std::size_t i = ids.size(); i-- > 0;) {
    later.push_back(std::make_unique<Removal>(model_));
    later.back()->remove(ids[i]);
  }
  Nominator nominator(model_, config_, hooks_);
  for (const WorkloadId id : ids) {
    Nomination nomination;
    nominator.nominate_holder(id, true, nomination);
    later.pop_back();  // it counts from here on
    std::vector<WorkloadId> victims;
    for (const Victim& victim : nomination.victims) victims.push_back(victim.id);
    holdings_.plan(id, victims);
  }
}

void Lifecycle::settle_loaded() {
  for (const WorkloadId id : std::exchange(loaded_with_ties_, {})) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.exists()) continue;
    complete_replacement(id);
    for (const WorkloadId other : relations_.replacements_of(w)) complete_replacement(other);
  }
  if (loaded_.empty()) return;
  plan_loaded();
  std::vector<WorkloadId> ids;
  std::swap(ids, loaded_);
  for (const WorkloadId id : ids) {
    if (!model_.workloads[id].exists() || !model_.workloads[id].holds_quota()) continue;
    waiting_.list_checks(id);
    settle_checks(id);
  }
}

}  // namespace sluice

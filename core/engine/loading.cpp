// A workload that comes with a status starts out where that says: reserved, admitted, backing off,
// finished, or in the middle of an eviction.
#include <algorithm>
#include <array>

#include "core/engine/state.hpp"

namespace sluice {

void EngineState::load_status(WorkloadRecord& w, WorkloadId id) {
  const api::WorkloadStatus& status = w.object->status;
  static constexpr std::pair<std::string_view, ConditionRecord::Type> kTypes[] = {
      {"QuotaReserved", ConditionRecord::Type::kQuotaReserved},
      {"Admitted", ConditionRecord::Type::kAdmitted},
      {"Evicted", ConditionRecord::Type::kEvicted},
      {"Preempted", ConditionRecord::Type::kPreempted},
      {"Requeued", ConditionRecord::Type::kRequeued},
      {"PodsReady", ConditionRecord::Type::kPodsReady},
      {"Finished", ConditionRecord::Type::kFinished},
      {"DeactivationTarget", ConditionRecord::Type::kDeactivationTarget},
  };
  for (const api::Condition& c : status.conditions) {
    for (const auto& [name, type] : kTypes) {
      if (c.type != name) continue;
      set_condition(w, type, c.status == "True", c.reason, c.message);
      w.conditions.back().time = c.last_transition_time;
    }
  }
  if (status.requeue_state) w.more().requeue = *status.requeue_state;
  if (!status.evictions.empty()) w.more().evictions = status.evictions;
  if (!status.admission_checks.empty()) w.more().checks = status.admission_checks;
  if (status.accumulated_past_execution_seconds > 0)
    w.more().past_execution_seconds = status.accumulated_past_execution_seconds;
  const auto is_true = [&](ConditionRecord::Type type) {
    const ConditionRecord* c = w.condition(type);
    return c && c->is_true;
  };
  if (is_true(ConditionRecord::Type::kFinished)) {
    w.state = WorkloadState::kFinished;
    return;
  }
  const bool part = !w.stands_aside();
  if (part && w.object->active && status.admission &&
      is_true(ConditionRecord::Type::kQuotaReserved)) {
    load_admission(w, id, *status.admission);
    w.state = is_true(ConditionRecord::Type::kAdmitted) ? WorkloadState::kAdmitted
                                                        : WorkloadState::kQuotaReserved;
    if (w.state == WorkloadState::kAdmitted) start_timers(id);
    if (w.state == WorkloadState::kQuotaReserved || !status.admission_checks.empty())
      loaded_.push_back(id);
    w.evicting = is_true(ConditionRecord::Type::kEvicted);
    if (w.evicting) evicting_.push_back(id);
    drain_pending_ = true;  // its queue may be stopped already
    return;
  }
  // A wait that ended meanwhile ends now.
  const ConditionRecord* requeued = w.condition(ConditionRecord::Type::kRequeued);
  const bool waits = requeued && !requeued->is_true;
  if (w.extras && w.extras->requeue.requeue_at &&
      (waits || *w.extras->requeue.requeue_at > model.now)) {
    w.extras->backing_off = true;
    const Time due = std::max(*w.extras->requeue.requeue_at, model.now);
    timers_.push({due, id, w.epoch, TimerKind::kBackoff});
  }
}

void EngineState::take_statuses_as_told() {
  for (WorkloadRecord& w : model.workloads)
    if (const ConditionRecord* reserved = w.condition(ConditionRecord::Type::kQuotaReserved);
        reserved && !reserved->is_true && w.state == WorkloadState::kPending)
      w.logged_pending = WorkloadRecord::kToldInStatus;
}

void EngineState::load_admission(WorkloadRecord& w, WorkloadId id,
                                 const api::Admission& admission) {
  auto holding = std::make_unique<Holding>();
  holding->queue = queue_id(admission.cluster_queue);
  holding->pod_sets.resize(w.pod_sets.size());
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    for (const api::PodSetAssignment& from : admission.pod_sets) {
      if (from.name != w.object->pod_sets[i].name) continue;
      AssignedPodSet& to = holding->pod_sets[i];
      to.count = from.count;
      for (const auto& [resource, flavor] : from.flavors) {
        const FlavorId flavor_id = model.frs.intern_flavor(flavor);
        if (model.flavors.size() <= flavor_id) model.flavors.resize(flavor_id + 1);
        to.flavors.emplace_back(model.frs.intern_resource(resource), flavor_id);
      }
    }
  }
  const ConditionRecord* reserved = w.condition(ConditionRecord::Type::kQuotaReserved);
  holding->reserved_at = reserved ? reserved->time : model.now;
  if (w.extras) relations_.join_holders(id);
  hold(id, std::move(holding));
}

}  // namespace sluice

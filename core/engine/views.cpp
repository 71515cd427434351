// What a person may know: states, reasons and statuses, rendered on demand.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/state.hpp"

namespace sluice {
namespace {

const char* type_name(ConditionRecord::Type type) {
  switch (type) {
    case ConditionRecord::Type::kQuotaReserved:
      return "QuotaReserved";
    case ConditionRecord::Type::kAdmitted:
      return "Admitted";
    case ConditionRecord::Type::kEvicted:
      return "Evicted";
    case ConditionRecord::Type::kPreempted:
      return "Preempted";
    case ConditionRecord::Type::kRequeued:
      return "Requeued";
    case ConditionRecord::Type::kPodsReady:
      return "PodsReady";
    case ConditionRecord::Type::kFinished:
      return "Finished";
    case ConditionRecord::Type::kDeactivationTarget:
      break;
  }
  return "DeactivationTarget";
}

std::shared_ptr<const PendingReason> queue_reason(const QueueRecord& queue) {
  auto why = std::make_shared<PendingReason>();
  why->reason = WaitReason::kMisconfigured;
  why->text = "ClusterQueue " + queue.name;
  switch (queue.inactive) {
    case Inactive::kNo:
      return nullptr;
    case Inactive::kMissing:
      why->text += " doesn't exist";
      break;
    case Inactive::kStopped:
      why->reason = WaitReason::kSuspended;
      why->text += " is stopped";
      break;
    case Inactive::kFlavorNotFound:
      why->text += " is inactive: references missing ResourceFlavor(s): " + queue.inactive_detail;
      break;
    case Inactive::kCohortCycle:
      why->text += " is inactive: its cohort " + queue.spec->cohort + " is part of a cycle";
      break;
    case Inactive::kCheckNotFound:
      why->text += " is inactive: references missing AdmissionCheck(s): " + queue.inactive_detail;
      break;
    case Inactive::kCheckInactive:
      why->text += " is inactive: references inactive AdmissionCheck(s): " + queue.inactive_detail;
      break;
  }
  return why;
}

}  // namespace

std::optional<WorkloadId> EngineState::find(std::string_view key) const {
  const auto it = model.ids.find(key);
  if (it == model.ids.end()) return std::nullopt;
  return it->second;
}

const std::vector<WorkloadId>& EngineState::in_order() const {
  if (!in_order_stale_) return in_order_;
  in_order_.clear();
  for (const auto& [key, id] : model.ids) in_order_.push_back(id);
  std::sort(in_order_.begin(), in_order_.end(),
            [this](WorkloadId a, WorkloadId b) { return model.key(a) < model.key(b); });
  in_order_stale_ = false;
  return in_order_;
}

/// Its own reason, or that of the equals it is parked with, whichever is fresher.
std::shared_ptr<const PendingReason> EngineState::pending_reason(const WorkloadRecord& w,
                                                                 WorkloadId id) const {
  if (w.queue == kNone || !model.queues[w.queue].pending.contains(id)) return w.pending;
  const QueueRecord& queue = model.queues[w.queue];
  // Before the first step after a start nothing is known of the queues.
  if (!queue.active() && !structure_dirty_) return queue_reason(queue);
  std::shared_ptr<const PendingReason> shared = queue.pending.class_reason(id);
  if (!shared) return w.pending;
  if (!w.pending || w.pending->cycle <= shared->cycle) return shared;
  return w.pending;
}

WorkloadView EngineState::view(WorkloadId id) const {
  const WorkloadRecord& w = model.workloads[id];
  WorkloadView out;
  out.state = w.state;
  if (stands_aside(w) && !w.holds_quota()) {
    out.admission = w.object->status.admission;
    const api::Condition* told = w.object->status.condition("QuotaReserved");
    const bool by_plugin = w.traits() && !w.traits()->takes_part && w.traits()->conflict.empty();
    if (by_plugin && w.state == WorkloadState::kPending && told && told->status == "False") {
      out.reason = told->reason;
      out.message = told->message;
      return out;
    }
  }
  if (w.holds_quota()) {
    out.admission.emplace();
    out.admission->cluster_queue = model.queues[w.holding->queue].name;
    out.admission->pod_sets = assignment(id);
  }
  if (w.state != WorkloadState::kPending) return out;
  if (const auto why = pending_reason(w, id)) {
    out.reason = to_string(why->reason);
    out.message = why->message(model.frs);
  }
  return out;
}

std::vector<api::PodSetAssignment> EngineState::assignment(WorkloadId id) const {
  const WorkloadRecord& w = model.workloads[id];
  if (w.holds_quota()) return assignment_of(w, *w.holding);
  if (!stands_aside(w) || !w.object->status.admission) return {};
  return w.object->status.admission->pod_sets;
}

std::vector<api::PodSetAssignment> EngineState::assignment_of(const WorkloadRecord& w,
                                                              const Holding& holding) const {
  std::vector<api::PodSetAssignment> out;
  const QueueRecord& queue = model.queues[holding.queue];
  const std::size_t count = std::min(holding.pod_sets.size(), w.object->pod_sets.size());
  for (std::size_t i = 0; i < count; ++i) {
    const AssignedPodSet& from = holding.pod_sets[i];
    api::PodSetAssignment& to = out.emplace_back();
    to.name = w.object->pod_sets[i].name;
    to.count = from.count;
    for (const auto& [resource, flavor] : from.flavors) {
      const std::string& name = model.frs.resource_name(resource);
      to.flavors.set(name, model.frs.flavor_name(flavor));
      to.usage.push_back({name, amount_for(w, i, resource, from.count, queue)});
    }
  }
  return out;
}

/// Of one that takes no part: what its plugin wrote; until then why it waits. That it has ended is
/// the engine's to say.
api::WorkloadStatus EngineState::status(WorkloadId id) const {
  const WorkloadRecord& w = model.workloads[id];
  if (!stands_aside(w) || w.holds_quota()) return own_status(w, id);
  api::WorkloadStatus out = w.object->status;
  const auto take = [&](std::string_view type) {
    const api::WorkloadStatus own = own_status(w, id);
    const api::Condition* said = own.condition(type);
    if (!said) return;
    std::erase_if(out.conditions, [&](const api::Condition& c) { return c.type == type; });
    out.conditions.push_back(*said);
  };
  if (w.state == WorkloadState::kPending) take("QuotaReserved");
  if (w.state == WorkloadState::kFinished && !out.condition("Finished")) take("Finished");
  return out;
}

/// As the engine's own records say.
api::WorkloadStatus EngineState::own_status(const WorkloadRecord& w, WorkloadId id) const {
  api::WorkloadStatus out;
  for (const ConditionRecord& c : w.conditions)
    out.conditions.push_back({type_name(c.type), c.is_true ? "True" : "False",
                              model.texts.text(c.reason), model.texts.text(c.message), c.time, 0});
  const WorkloadView seen = view(id);
  out.admission = seen.admission;
  if (w.state == WorkloadState::kFinished) {  // where it ran stays to be seen
    out.admission = w.object->status.admission;
    if (w.ended)
      out.admission = api::Admission{model.queues[w.ended->queue].name, assignment_of(w, *w.ended)};
  }
  if (w.state == WorkloadState::kPending && !seen.reason.empty()) {
    api::Condition* at = nullptr;
    for (api::Condition& c : out.conditions)
      if (c.type == "QuotaReserved") at = &c;
    if (!at) {
      at = &out.conditions.emplace_back();
      at->type = "QuotaReserved";
      at->last_transition_time = w.object->meta.creation_time.value_or(model.now);
    }
    at->status = "False";
    at->reason = seen.reason;
    at->message = seen.message;
  }
  out.reclaimable_pods = w.object->status.reclaimable_pods;
  if (!w.extras) return out;
  out.admission_checks = w.extras->checks;
  out.evictions = w.extras->evictions;
  out.accumulated_past_execution_seconds = w.extras->past_execution_seconds;
  if (w.extras->requeue.count > 0 || w.extras->backing_off) out.requeue_state = w.extras->requeue;
  return out;
}

std::optional<WorkloadId> EngineState::counted_as(WorkloadId id) const {
  const hooks::Traits* traits = model.workloads[id].traits();
  if (!traits || traits->counted_as == hooks::CountedAs::kItself) return id;
  if (traits->counted_as == hooks::CountedAs::kNobody) return std::nullopt;
  return find(traits->counted_as_workload).value_or(id);
}

/// Rebuilds the tree from the holders and compares every cell with what was kept incrementally.
void EngineState::verify_ledger() {
  if (structure_dirty_ || model.frs.size() != model.tree.fr_count()) return;
  std::vector<Wide> kept;
  for (NodeId n = 0; n < model.tree.node_count(); ++n)
    for (FrId fr = 0; fr < model.tree.fr_count(); ++fr) kept.push_back(model.tree.usage(n, fr));
  model.tree.build(node_specs(), model.frs);
  count_all();
  std::size_t i = 0;
  for (NodeId n = 0; n < model.tree.node_count(); ++n)
    for (FrId fr = 0; fr < model.tree.fr_count(); ++fr, ++i)
      SLUICE_CHECK(kept[i] == model.tree.usage(n, fr), "usage of ", model.tree.name(n), " in fr ",
                   fr, ": kept ", static_cast<std::int64_t>(kept[i]), ", recomputed ",
                   static_cast<std::int64_t>(model.tree.usage(n, fr)));
}

}  // namespace sluice

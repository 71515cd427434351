#include "core/engine/workload_views.hpp"

#include <algorithm>

#include "core/engine/activity.hpp"
#include "core/engine/parked_reasons.hpp"
#include "core/model/model.hpp"

namespace sluice {
namespace {

/// What is said of all that wait in an inactive queue.
std::shared_ptr<const PendingReason> queue_reason(const QueueRecord& queue) {
  const bool stopped = queue.inactive == Inactive::kStopped;
  const bool short_of_something =
      !stopped && queue.inactive != Inactive::kMissing && queue.inactive != Inactive::kTerminating;
  auto why = std::make_shared<PendingReason>();
  why->reason = stopped ? WaitReason::kSuspended : WaitReason::kMisconfigured;
  why->text = "ClusterQueue " + queue.name + (short_of_something ? " is inactive: " : " ") +
              inactivity(queue, true);
  return why;
}

/// Of workloads whose turn has not come. One text for all of them, without names and positions: it
/// is written once, when they begin to wait, and stays true when those in front come and go.
const std::shared_ptr<const PendingReason>& turn_reason(bool best_effort) {
  const auto make = [](const char* text) {
    auto why = std::make_shared<PendingReason>();
    why->reason = WaitReason::kPendingEvaluation;
    why->text = text;
    return std::shared_ptr<const PendingReason>(std::move(why));
  };
  static const auto kStrict =
      make("Waits behind the head of its StrictFIFO queue: nobody but the head is looked at");
  static const auto kBestEffort =
      make("Waits for its turn: workloads in front of it in the queue are looked at first");
  return best_effort ? kBestEffort : kStrict;
}

std::vector<api::PodSetAssignment> granted(const Model& model, const WorkloadRecord& w,
                                           const Holding& holding) {
  std::vector<api::PodSetAssignment> out;
  const std::size_t count = std::min(holding.pod_sets.size(), w.object->pod_sets.size());
  for (std::size_t i = 0; i < count; ++i) {
    const AssignedPodSet& from = holding.pod_sets[i];
    api::PodSetAssignment& to = out.emplace_back();
    to.name = w.object->pod_sets[i].name;
    to.count = from.count;
    for (const auto& [resource, flavor] : from.flavors) {
      const std::string& name = model.frs.resource_name(resource);
      to.flavors.set(name, model.frs.flavor_name(flavor));
      to.usage.push_back({name, model.amount_of(w, i, resource, from.count)});
    }
  }
  return out;
}

/// The workload that holds its quota: itself, or the one that stands for it; nullptr: none.
const WorkloadRecord* holder_for(const Model& model, const WorkloadRecord& w) {
  if (w.holds_quota()) return &w;
  const WorkloadId speaker = w.stands_aside() ? model.speaker_for(w) : kNone;
  return speaker == kNone ? nullptr : &model.workloads[speaker];
}

/// It came with an admission, and the member that stands for it is not known.
bool ran_when_it_came(const WorkloadRecord& w) {
  return w.state == WorkloadState::kAdmitted || w.state == WorkloadState::kQuotaReserved;
}

}  // namespace

std::shared_ptr<const PendingReason> pending_reason(const Model& model, const WorkloadRecord& w,
                                                    WorkloadId id) {
  if (w.queue == kNone || !model.queues[w.queue].pending.contains(id)) return w.pending;
  const QueueRecord& queue = model.queues[w.queue];
  // Before the first step of a queue nothing is known of it; an edit since then changes it with the
  // next step, and until then the reason is the one that was told.
  const bool known = queue.inactive != Inactive::kMissing || !queue.spec;
  if (!queue.active() && known) return queue_reason(queue);
  if (w.for_its_turn && !queue.pending.parked(id)) return turn_reason(queue.best_effort());
  std::shared_ptr<const PendingReason> shared = class_reason(model, queue, id);
  if (!shared) return w.pending;
  if (!w.pending || w.pending->cycle <= shared->cycle) return shared;
  return w.pending;
}

WorkloadView view_of(const Model& model, WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  WorkloadView out;
  out.state = w.state;
  if (const WorkloadRecord* holder = holder_for(model, w))
    out.admission = api::Admission{model.queues[holder->holding->queue].name,
                                   granted(model, *holder, *holder->holding)};
  else if (ran_when_it_came(w))
    out.admission = w.object->status.admission;
  if (w.state != WorkloadState::kPending) return out;
  if (const auto why = pending_reason(model, w, id)) {
    out.reason = to_string(why->reason);
    out.message = why->message(model.frs);
  }
  return out;
}

std::vector<api::PodSetAssignment> assignment_of(const Model& model, WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  if (const WorkloadRecord* holder = holder_for(model, w))
    return granted(model, *holder, *holder->holding);
  if (!ran_when_it_came(w) || !w.object->status.admission) return {};
  return w.object->status.admission->pod_sets;
}

Milestones milestones_of(const Model& model, WorkloadId id) {
  using Condition = ConditionRecord::Type;
  const WorkloadRecord& w = model.workloads[id];
  Milestones out;
  const auto changed = [&](Condition type) {
    const ConditionRecord* c = w.condition(type);
    return c ? std::optional(c->time) : std::nullopt;
  };
  out.reserved = changed(Condition::kQuotaReserved);
  out.admitted = changed(Condition::kAdmitted);
  out.evicted = changed(Condition::kEvicted);
  out.requeued = changed(Condition::kRequeued);
  out.is_evicted = w.is_true(Condition::kEvicted);
  const WorkloadRecord* holder = holder_for(model, w);
  const bool finished = w.state == WorkloadState::kFinished;
  if (holder)
    out.cluster_queue = model.queues[holder->holding->queue].name;
  else if (finished && w.ended)
    out.cluster_queue = model.queues[w.ended->queue].name;
  else if ((finished || ran_when_it_came(w)) && w.object->status.admission)
    out.cluster_queue = w.object->status.admission->cluster_queue;
  const WorkloadRecord& checked = holder && holder->extras ? *holder : w;
  out.has_checks = w.extras && checked.extras && !checked.extras->checks.empty();
  return out;
}

api::WorkloadStatus status_of(const Model& model, WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  api::WorkloadStatus out;
  for (const ConditionRecord& c : w.conditions)
    out.conditions.push_back({std::string(condition_name(c.type)), c.is_true ? "True" : "False",
                              c.reason.text(), c.message.text(), c.time, c.generation});
  const WorkloadView seen = view_of(model, id);
  out.admission = seen.admission;
  if (w.state == WorkloadState::kFinished) {  // where it ran stays to be seen
    out.admission = w.object->status.admission;
    if (w.ended)
      out.admission =
          api::Admission{model.queues[w.ended->queue].name, granted(model, w, *w.ended)};
  }
  if (w.state == WorkloadState::kPending && !seen.reason.empty()) {
    constexpr std::string_view kReserved = condition_name(ConditionRecord::Type::kQuotaReserved);
    api::Condition* at = nullptr;
    for (api::Condition& c : out.conditions)
      if (c.type == kReserved) at = &c;
    if (!at) {
      at = &out.conditions.emplace_back();
      at->type = kReserved;
      at->last_transition_time = w.object->meta.creation_time.value_or(model.now);
    }
    at->status = "False";
    at->observed_generation = w.object->meta.generation;
    at->reason = seen.reason;
    at->message = seen.message;
  }
  out.reclaimable_pods = w.object->status.reclaimable_pods;
  if (!w.extras) return out;
  const WorkloadRecord* holder = holder_for(model, w);
  out.admission_checks = holder && holder->extras ? holder->extras->checks : w.extras->checks;
  out.evictions = w.extras->evictions;
  out.accumulated_past_execution_seconds = w.extras->past_execution_seconds;
  if (w.extras->requeue.count > 0 || w.extras->backing_off) out.requeue_state = w.extras->requeue;
  return out;
}

bool status_may_have(const Model& model, WorkloadId id, std::string_view member) {
  const WorkloadRecord& w = model.workloads[id];
  if (member == "reclaimablePods") return !w.object->status.reclaimable_pods.empty();
  const bool noted = member == "schedulingStats" || member == "requeueState" ||
                     member == "accumulatedPastExecutionTimeSeconds";
  if (noted) return w.extras != nullptr;
  return member != "admissionChecks" || milestones_of(model, id).has_checks;
}

WorkloadState reported_state(const WorkloadRecord& w) {
  using Condition = ConditionRecord::Type;
  if (w.is_true(Condition::kFinished)) return WorkloadState::kFinished;
  if (!w.object->active) return WorkloadState::kInactive;
  if (w.is_true(Condition::kAdmitted)) return WorkloadState::kAdmitted;
  return w.is_true(Condition::kQuotaReserved) ? WorkloadState::kQuotaReserved
                                              : WorkloadState::kPending;
}

bool told_in_status(const WorkloadRecord& w, std::string_view reason, std::string_view message) {
  const ConditionRecord* c = w.condition(ConditionRecord::Type::kQuotaReserved);
  return c && !c->is_true && c->reason == reason && c->message == message;
}

bool takes_part(const Model& model, WorkloadId id) { return !model.workloads[id].stands_aside(); }

bool may_lower_counts(const Model& model, WorkloadId id) {
  const hooks::Traits* traits = model.workloads[id].traits();
  return traits && traits->may_lower_counts;
}

std::uint64_t attempt_of(const Model& model, WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  std::uint64_t ended = 0;
  if (w.extras)
    for (const api::EvictionCount& each : w.extras->evictions)
      ended += static_cast<std::uint64_t>(std::max(0, each.count));
  const bool is_ending = w.evicting && w.holds_quota();  // it is counted when it begins
  return is_ending ? ended : ended + 1;
}

std::vector<std::string> planned_victims(const Model& model, WorkloadId id) {
  std::vector<std::string> out;
  if (const Holding* holding = model.workloads[id].holding.get())
    for (const WorkloadId victim : holding->planned) out.push_back(model.key(victim));
  return out;
}

}  // namespace sluice

#include "core/engine/arrivals.hpp"

#include <algorithm>
#include <tuple>

#include "core/base/check.hpp"
#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {
namespace {

bool same_pods(const api::PodSet& one, const api::PodSet& other) {
  return one.name == other.name && one.count == other.count && one.min_count == other.min_count &&
         one.group == other.group && (one.pod == other.pod || one.pod->shape == other.pod->shape);
}

bool same_class(const api::PriorityClassRef* one, const api::PriorityClassRef* other) {
  return one && other ? *one == *other : one == other;
}

/// All that is asked for is the same, by the object itself and to those that may read it.
bool asks_the_same(const api::Workload& one, const api::Workload& other) {
  const auto asked = [](const api::Workload& of) {
    return std::tie(of.queue_name, of.priority, of.active, of.maximum_execution_seconds,
                    of.held_because, of.is_gated, of.extensions, of.meta.labels,
                    of.meta.annotations, of.meta.deletion_time, of.status.reclaimable_pods);
  };
  return asked(one) == asked(other) &&
         same_class(one.priority_class.get(), other.priority_class.get()) &&
         one.meta.controller_uid() == other.meta.controller_uid() &&
         std::equal(one.pod_sets.begin(), one.pod_sets.end(), other.pod_sets.begin(),
                    other.pod_sets.end(), same_pods);
}

/// The object with the pod sets that were granted; with `may_lower` smaller counts of the new form
/// are taken over (mechanisms 3), anything else that differs is not.
std::shared_ptr<const api::Workload> with_granted_pod_sets(
    const api::Workload& granted, std::shared_ptr<const api::Workload> object, bool may_lower) {
  auto out = std::make_shared<api::Workload>(*object);
  out->pod_sets = granted.pod_sets;
  for (std::size_t i = 0; may_lower && i < out->pod_sets.size(); ++i)
    for (const api::PodSet& wanted : object->pod_sets)
      if (wanted.name == out->pod_sets[i].name)
        out->pod_sets[i].count = std::min(wanted.count, out->pod_sets[i].count);
  return out;
}

/// The engine has them interned; plugins are told the type and the status of a condition only.
void let_go_of_texts(std::vector<api::Condition>& conditions) {
  for (api::Condition& each : conditions) {
    std::string().swap(each.reason);  // an assignment would keep the memory
    std::string().swap(each.message);
  }
}

}  // namespace

WorkloadId Arrivals::apply(std::shared_ptr<api::Workload> object, hooks::Traits said) {
  const std::string key = object->meta.key();
  if (const auto existing = model_.find(key)) {
    WorkloadRecord& w = model_.workloads[*existing];
    if (w.object->meta.uid == object->meta.uid) {
      lifecycle_.take_reports(*existing, object->status);
      if (w.holds_quota() && object->active) lifecycle_.take_pods_ready(*existing, object->status);
      lifecycle_.take_requeue(*existing, object->status);
      change(*existing, object, std::move(said));
      pass_on(*existing);
      lifecycle_.settle_checks(*existing);
      lifecycle_.take_target(*existing, object->status);
      let_go_of_texts(object->status.conditions);
      return *existing;
    }
    remove(*existing);
  }
  const WorkloadId id = model_.workloads.add();
  WorkloadRecord& w = model_.workloads[id];
  w.key = key;
  w.uid = Uid(object->meta.uid);
  w.object = object;
  w.priority = w.object->priority;
  const bool fresh = model_.ids.emplace(w.key, id).second;
  SLUICE_CHECK(fresh, w.key, " comes twice");
  ++model_.ids_version;
  w.local_queue = model_.number_of_local_queue(Model::local_queue_name(*w.object));
  describe_pod_sets(w);
  take_traits(id, std::move(said));
  lifecycle_.load_status(id);
  w.shape = shapes_.of_workload(w);
  // Deactivated while no engine ran: its quota has to be taken back here, with a decision. Or it
  // was to be, by an engine that had not written all of it.
  const bool targeted = w.is_true(ConditionRecord::Type::kDeactivationTarget) &&
                        w.state != WorkloadState::kFinished && !w.stands_aside();
  const bool to_end = targeted || (!w.object->active && w.holds_quota());
  if (!w.object->active && !to_end && w.state != WorkloadState::kFinished) {
    w.state = WorkloadState::kInactive;
    tell_why_inactive(id);
  }
  if (w.stands_aside()) w.state = reported_state(w);
  count_workload(model_, id);
  if (w.state == WorkloadState::kPending && !queues_are_followed(w)) waiting_.enqueue(id);
  waiting_.reorder_anchored(w.key);
  if (w.extras && w.extras->backing_off) waiting_.enqueue_members(id);  // those that came before it
  if (to_end) deactivate(id);
  representation_.touch(id);
  let_go_of_texts(object->status.conditions);
  return id;
}

void Arrivals::deactivate(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  const std::string told = w.traits() ? w.traits()->inactive_because : std::string();
  if (const ConditionRecord* target = w.if_true(ConditionRecord::Type::kDeactivationTarget);
      target && told.empty())
    return lifecycle_.deactivate_due_to(id, target->reason.text(), target->message.text());
  lifecycle_.deactivate(id, eviction_reason::kDeactivated,
                        told.empty() ? "The workload is deactivated" : told);
  if (!told.empty()) representation_.give_up(id, told);
}

void Arrivals::tidy() {
  shapes_.tidy();
  if (!model_.names_pace.due()) return;
  std::vector<bool> used(model_.names.size());
  for (const auto& [key, id] : model_.ids) {
    used[model_.workloads[id].local_queue] = true;
    used[model_.workloads[id].tallied_in] = true;
  }
  for (const QueueRecord& queue : model_.queues)
    queue.pending.each_lane([&used](std::uint32_t lane) { used[lane] = true; });
  const std::size_t bytes = model_.names.retain(used);
  model_.names_pace.swept(model_.names.known(), bytes);
}

void Arrivals::describe_pod_sets(WorkloadRecord& w) {
  const api::Workload& object = *w.object;
  w.pod_sets.assign(object.pod_sets.size(), {});
  for (std::size_t i = 0; i < object.pod_sets.size(); ++i) {
    const api::PodSet& from = object.pod_sets[i];
    PodSetRecord& to = w.pod_sets[i];
    to.shape = shapes_.of_pod(from.pod);
    to.count = from.count;
    if (from.min_count && *from.min_count < from.count) to.min_count = *from.min_count;
    to.group_leader = static_cast<std::uint32_t>(i);
    for (std::size_t j = 0; j < i && !from.group.empty(); ++j) {
      if (object.pod_sets[j].group != from.group) continue;
      to.group_leader = static_cast<std::uint32_t>(j);
      break;
    }
    for (const api::ReclaimablePods& r : object.status.reclaimable_pods)
      if (r.pod_set == from.name) to.reclaimable = std::clamp(r.count, 0, from.count);
  }
}

/// Whether the change says nothing that decides: another text of its status, say, which may be our
/// own that comes back from where it was stored. It keeps its place then, in the heap or parked;
/// looked at again it could start because of what happened to others meanwhile.
bool Arrivals::waits_as_before(WorkloadId id, const api::Workload& now,
                               const hooks::Traits& said) const {
  const WorkloadRecord& w = model_.workloads[id];
  if (w.state != WorkloadState::kPending || w.queue == kNone ||
      !model_.queues[w.queue].pending.contains(id))
    return false;
  const hooks::Traits* known = w.traits();
  return asks_the_same(*w.object, now) && as_known(w, said) == (known ? *known : hooks::Traits());
}

void Arrivals::change(WorkloadId id, std::shared_ptr<const api::Workload> object,
                      hooks::Traits said) {
  WorkloadRecord& w = model_.workloads[id];
  if (waits_as_before(id, *object, said)) {
    w.object = std::move(object);
    return;
  }
  const Before before{w.object->active, w.priority, w.shape, w.pod_sets};
  if (w.holds_quota())
    object = with_granted_pod_sets(*w.object, std::move(object),
                                   w.extras && w.extras->traits.may_lower_counts);
  SLUICE_CHECK(!w.holds_quota() || object->pod_sets.size() == w.pod_sets.size(), w.key,
               " holds quota for ", w.pod_sets.size(), " pod sets and changes to ",
               object->pod_sets.size());
  waiting_.dequeue(id);  // it waits where its priority and queue put it, which change now
  w.object = object;
  w.priority = w.object->priority;
  w.local_queue = model_.number_of_local_queue(Model::local_queue_name(*w.object));
  describe_pod_sets(w);
  renew_traits(id, std::move(said));
  w.shape = shapes_.of_workload(w);
  waiting_.reorder_anchored(w.key);
  if (w.state == WorkloadState::kFinished) return;
  if (!w.object->active) {
    if (!before.active) return tell_why_inactive(id);
    return deactivate(id);
  }
  if (!before.active) lifecycle_.reactivate(id);
  if (w.holds_quota()) return change_holder(id, before);
  if (before.shape != w.shape || before.priority != w.priority) w.logged_pending = 0;
  if (w.state == WorkloadState::kPending) waiting_.enqueue(id);
}

/// What is reported of a represented workload is reported of the member that stands for it, too.
void Arrivals::pass_on(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const WorkloadId speaker = w.stands_aside() ? model_.speaker_for(w) : kNone;
  if (speaker == kNone) return;
  WorkloadRecord& member = model_.workloads[speaker];
  const api::WorkloadStatus& said = w.object->status;
  const api::Condition* ready = said.condition("PodsReady");
  if (ready)
    set_condition(model_, w, ConditionRecord::Type::kPodsReady, ready->is_true(), ready->reason,
                  ready->message);
  const ConditionRecord* known = member.condition(ConditionRecord::Type::kPodsReady);
  // A condition that was never True is not passed on.
  const bool news =
      ready && (known ? known->is_true != ready->is_true() || known->reason != ready->reason
                      : ready->is_true());
  const bool given_back = !said.reclaimable_pods.empty() &&
                          said.reclaimable_pods != member.object->status.reclaimable_pods;
  if (!news && !given_back) return;
  const Before before{member.object->active, member.priority, member.shape, member.pod_sets};
  auto object = std::make_shared<api::Workload>(*member.object);
  if (given_back) object->status.reclaimable_pods = said.reclaimable_pods;
  std::erase_if(object->status.conditions,
                [](const api::Condition& c) { return c.type == "PodsReady"; });
  if (news) object->status.conditions.push_back(*ready);
  member.object = std::move(object);
  describe_pod_sets(member);
  member.shape = shapes_.of_workload(member);
  if (news) lifecycle_.take_pods_ready(speaker, said);
  change_holder(speaker, before);
  turn_.decide(DecisionType::kStatus, speaker);
}

/// With the plugin's reason; without one, the condition keeps its own.
void Arrivals::tell_why_inactive(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  if (w.state != WorkloadState::kInactive || !w.traits()) return;
  const std::string& because = w.traits()->inactive_because;
  const char* reason = to_string(WaitReason::kDeactivated);
  if (because.empty() || told_in_status(w, reason, because)) return;
  set_condition(model_, w, ConditionRecord::Type::kQuotaReserved, false, reason, because);
  turn_.decide(DecisionType::kStatus, id);
}

/// What a change means for a workload that holds quota.
void Arrivals::change_holder(WorkloadId id, const Before& before) {
  WorkloadRecord& w = model_.workloads[id];
  if (w.stands_aside()) {
    Decision why;
    why.reason = "OnHold";
    why.message = w.extras->traits.takes_no_part_because;
    return lifecycle_.evict(id, why);
  }
  bool recounted = false;
  bool lowered = false;
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetRecord& now = w.pod_sets[i];
    std::int32_t& granted = w.holding->pod_sets[i].count;
    recounted |=
        now.reclaimable != before.pod_sets[i].reclaimable || now.count != before.pod_sets[i].count;
    if (now.count < before.pod_sets[i].count) granted = std::min(granted, now.count);
    lowered |= now.count < before.pod_sets[i].count;
  }
  if (!recounted && before.priority == w.priority) return;
  if (lowered) turn_.decide(DecisionType::kLowered, id);
  holdings_.recount(id);
  structure_.bump_generation(w.holding->queue);
  structure_.released_in(w.holding->queue);
  turn_.moved = true;
}

void Arrivals::remove(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const QueueId queue = w.queue;
  const bool pending = queue != kNone && model_.queues[queue].pending.contains(id);
  waiting_.dequeue(id);
  if (pending) structure_.released_in(queue);
  lifecycle_.forget(id);
  relations_.forget(id);
  model_.ids.erase(w.key);
  ++model_.ids_version;
  lifecycle_.review_eviction(id);
  waiting_.reorder_anchored(w.key);
  SLUICE_CHECK(!w.holds_quota() && !model_.earmarks.contains(id), w.key, " leaves capacity");
  w.object.reset();
  count_workload(model_, id);
  model_.workloads.remove(id);
  turn_.moved = true;
}

void Arrivals::traits_changed(WorkloadId id, hooks::Traits said) {
  change(id, model_.workloads[id].object, std::move(said));
}

/// Its LocalQueue came or changed, too, as all of a store do: it is queued by
/// follow_local_queues(), once.
bool Arrivals::queues_are_followed(const WorkloadRecord& w) const {
  const std::set<std::string>& changed = structure_.changes().local_queues;
  return !changed.empty() && changed.contains(model_.local_queue_name(w));
}

void Arrivals::follow_local_queues(const std::set<std::string>& local_queues) {
  for (const WorkloadId id : waiting_in(model_, local_queues)) waiting_.enqueue(id);
}

}  // namespace sluice

// Workloads come, change and go; and what decides whether one is queued.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/state.hpp"
#include "core/model/queue_order.hpp"

namespace sluice {
namespace {

/// The first name in a comma-separated list that is not among the loaded plugins.
std::string first_absent(std::string_view list, const std::vector<std::string>& loaded) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string name(list.substr(0, comma));
    if (!name.empty() && std::find(loaded.begin(), loaded.end(), name) == loaded.end()) return name;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return {};
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

std::shared_ptr<PendingReason> plain_reason(WaitReason reason, std::string text) {
  auto out = std::make_shared<PendingReason>();
  out->reason = reason;
  out->text = std::move(text);
  return out;
}

}  // namespace

WorkloadId EngineState::apply(std::shared_ptr<const api::Workload> object) {
  const std::string key = object->meta.key();
  if (const auto existing = model.find(key)) {
    WorkloadRecord& w = model.workloads[*existing];
    if (w.object->meta.uid == object->meta.uid) {
      take_check_reports(*existing, object->status);
      change(w, *existing, std::move(object));
      settle_checks(*existing);
      return *existing;
    }
    remove_workload(*existing);
  }
  const auto id = static_cast<WorkloadId>(model.workloads.size());
  WorkloadRecord& w = model.workloads.emplace_back();
  w.key = key;
  w.uid = object->meta.uid;
  w.object = std::move(object);
  w.priority = w.object->priority;
  model.ids.emplace(w.key, id);
  in_order_stale_ = true;
  describe_pod_sets(w);
  const api::Condition* reserved = w.object->status.condition("QuotaReserved");
  ask_traits(w, id, reserved && reserved->status == "True" && w.object->status.admission);
  load_status(w, id);
  w.shape = shape_of(w);
  if (!w.object->active && w.state != WorkloadState::kFinished) w.state = WorkloadState::kInactive;
  if (w.stands_aside()) w.state = reported_state(w);
  if (w.state == WorkloadState::kPending) enqueue(id);
  reorder_anchored(w.key);
  return id;
}

const PodShape* EngineState::pod_shape(const std::shared_ptr<const api::PodTemplate>& pod) {
  std::unique_ptr<PodShape>& shape = shapes_[pod.get()];
  if (shape) return shape.get();
  shape = std::make_unique<PodShape>();
  shape->pod = pod;
  shape->text = model.texts.intern(pod->shape);
  for (const api::ResourceRequest& r : pod->requests)
    shape->requests.push_back({model.frs.intern_resource(r.resource), r.amount});
  return shape.get();
}

void EngineState::describe_pod_sets(WorkloadRecord& w) {
  const api::Workload& object = *w.object;
  w.pod_sets.assign(object.pod_sets.size(), {});
  for (std::size_t i = 0; i < object.pod_sets.size(); ++i) {
    const api::PodSet& from = object.pod_sets[i];
    PodSetRecord& to = w.pod_sets[i];
    to.shape = pod_shape(from.pod);
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

std::uint32_t EngineState::shape_of(const WorkloadRecord& w) {
  std::string text;
  const auto add = [&text](std::uint64_t number) {
    for (; number >= 128; number >>= 7U) text += static_cast<char>(number | 128U);
    text += static_cast<char>(number);
  };
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetRecord& p = w.pod_sets[i];
    const std::string& name = w.object->pod_sets[i].name;
    add(name.size());
    text += name;
    add(static_cast<std::uint64_t>(p.count - p.reclaimable));
    add(static_cast<std::uint64_t>(p.min_count));
    add(p.shape->text);
    add(p.group_leader);
  }
  add(0);  // no pod set has an empty name
  if (w.extras) text += w.extras->traits.shape_key;
  return model.texts.intern(text);
}

void EngineState::change(WorkloadRecord& w, WorkloadId id,
                         std::shared_ptr<const api::Workload> object) {
  const bool was_active = w.object->active;
  const std::int32_t old_priority = w.priority;
  const std::uint32_t old_shape = w.shape;
  const std::vector<PodSetRecord> old_pod_sets = w.pod_sets;
  if (w.holds_quota())
    object = with_granted_pod_sets(*w.object, std::move(object),
                                   w.extras && w.extras->traits.may_lower_counts);
  const bool was_aside = w.stands_aside();
  dequeue(id);
  relations_.unlink(id);
  w.object = std::move(object);
  w.priority = w.object->priority;
  describe_pod_sets(w);
  ask_traits(w, id, w.holds_quota());
  follow_part(w, id, was_aside);
  w.shape = shape_of(w);
  reorder_anchored(w.key);
  if (w.state == WorkloadState::kFinished) return;
  if (!w.object->active) {
    if (was_active) deactivate(id, "Deactivated", "The workload is deactivated");
    return;
  }
  if (!was_active) {
    w.state = WorkloadState::kPending;
    if (w.extras) {
      w.extras->requeue = {};
      w.extras->backing_off = false;
    }
    reset_checks(w, true);
    set_condition(w, ConditionRecord::Type::kRequeued, true, "Reactivated",
                  "The workload was reactivated");
  }
  if (w.holds_quota()) return change_holder(w, id, old_pod_sets, old_priority);
  if (old_shape != w.shape || old_priority != w.priority) w.logged_pending = 0;
  enqueue(id);
}

/// What a change means for a workload that holds quota.
void EngineState::change_holder(WorkloadRecord& w, WorkloadId id,
                                const std::vector<PodSetRecord>& old_pod_sets,
                                std::int32_t old_priority) {
  if (const api::Condition* ready = w.object->status.condition("PodsReady")) {
    const ConditionRecord* before = w.condition(ConditionRecord::Type::kPodsReady);
    const bool was_ready = before && before->is_true;
    const bool is_ready = ready->status == "True";
    set_condition(w, ConditionRecord::Type::kPodsReady, is_ready, ready->reason, ready->message);
    if (was_ready && !is_ready) watch_recovery(id);
    moved_ |= is_ready && !was_ready && config_.block_admission;
  }
  if (!w.traits_ok_with_quota()) {
    Decision why;
    why.reason = "OnHold";
    why.message = w.extras->traits.takes_no_part_because;
    return evict(id, why);
  }
  bool recounted = false;
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetRecord& now = w.pod_sets[i];
    std::int32_t& granted = w.holding->pod_sets[i].count;
    recounted |=
        now.reclaimable != old_pod_sets[i].reclaimable || now.count != old_pod_sets[i].count;
    if (now.count < old_pod_sets[i].count) granted = std::min(granted, now.count);
  }
  if (!recounted && old_priority == w.priority) return;
  recount(id);
  bump_generation(w.holding->queue);
  wake_tree_of(w.holding->queue);
  moved_ = true;
}

void EngineState::remove_workload(WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  const QueueId queue = w.queue;
  const bool pending = queue != kNone && model.queues[queue].pending.contains(id);
  dequeue(id);
  if (w.holds_quota()) {
    wake_tree_of(w.holding->queue);
    let_go(id);
  } else if (pending) {
    wake_tree_of(queue);
  }
  if (queue != kNone) model.queues[queue].pending.free_place(id);
  drop_claim(id);
  model.history.forget(id);
  relations_.unlink(id);
  model.ids.erase(w.key);
  in_order_stale_ = true;
  reorder_anchored(w.key);
  std::string key = std::move(w.key);
  w = WorkloadRecord();
  w.key = std::move(key);  // decisions that were not handed out yet name it
  moved_ = true;
}

void EngineState::traits_changed(WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  change(w, id, w.object);
}

void EngineState::requeue(WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  if (w.queue == kNone || !model.queues[w.queue].pending.contains(id)) return;
  wake_tree_of(w.queue);
}

std::shared_ptr<PendingReason> EngineState::why_not_queued(const WorkloadRecord& w,
                                                           QueueId& queue) {
  const api::Workload& object = *w.object;
  if (const hooks::Traits* traits = w.traits()) {
    if (!traits->conflict.empty())
      return plain_reason(WaitReason::kMisconfigured, traits->conflict);
    if (!traits->takes_part)
      return plain_reason(WaitReason::kOnHold, traits->takes_no_part_because);
  }
  if (const std::string* mark = object.meta.annotations.find(kClaimedBy)) {
    const std::string absent = first_absent(*mark, hooks_.plugins);
    if (!absent.empty())
      return plain_reason(WaitReason::kOnHold,
                          "Plugin " + absent + ", which manages this workload, is not loaded");
  }
  if (w.extras && w.extras->backing_off)
    return plain_reason(WaitReason::kPending, "The workload waits for its requeue backoff");
  if (object.queue_name.empty())
    return plain_reason(WaitReason::kMisconfigured, "The workload names no LocalQueue");
  const auto local = model.local_queues.find(object.meta.ns + "/" + object.queue_name);
  if (local == model.local_queues.end())
    return plain_reason(WaitReason::kMisconfigured,
                        "LocalQueue " + object.queue_name + " doesn't exist");
  queue = queue_id(local->second.cluster_queue);
  if (local->second.stop != api::StopPolicy::kNone)
    return plain_reason(WaitReason::kSuspended, "LocalQueue " + object.queue_name + " is stopped");
  if (!model.queues[queue].spec)
    return plain_reason(WaitReason::kMisconfigured,
                        "ClusterQueue " + local->second.cluster_queue + " doesn't exist");
  return nullptr;
}

/// Puts a pending workload where it belongs: into its queue, or nowhere with a reason.
void EngineState::enqueue(WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  QueueId queue = kNone;
  std::shared_ptr<PendingReason> why = why_not_queued(w, queue);
  if (w.queue != kNone && (w.queue != queue || why)) model.queues[w.queue].pending.erase(id);
  w.queue = queue;
  if (why) return set_pending(w, id, std::move(why));
  QueueRecord& q = model.queues[queue];
  if (const ConditionRecord* held = w.condition(ConditionRecord::Type::kRequeued);
      held && !held->is_true && model.texts.text(held->reason) == "LocalQueueStopped")
    set_condition(w, ConditionRecord::Type::kRequeued, true, "LocalQueueRestarted",
                  "The LocalQueue was restarted after being stopped");
  q.pending.insert(order_key(model, id), {w.shape, w.priority});
  maybe_head_[queue] = 1;
  touched_.push_back(id);
  touched_queues_.insert(queue);
  moved_ = true;
  list_checks(id);
  reorder_anchored(w.key);
}

/// Whoever is ordered as this workload moves with it.
void EngineState::reorder_anchored(const std::string& key) {
  const auto members = model.anchored.find(key);
  if (members == model.anchored.end()) return;
  for (const WorkloadId member : members->second) {
    const WorkloadRecord& m = model.workloads[member];
    if (m.queue != kNone) model.queues[m.queue].pending.reorder(order_key(model, member));
  }
}

void EngineState::dequeue(WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  if (w.queue != kNone) model.queues[w.queue].pending.erase(id);
}

}  // namespace sluice

// Configuration objects: each change is noted here and takes effect in sync() (structure.cpp).
#include "core/engine/state.hpp"

namespace sluice {

void EngineState::apply(const api::Namespace& object) {
  api::LabelMap& labels = model.namespaces[object.meta.name];
  if (labels == object.meta.labels) return;
  labels = object.meta.labels;
  // Workloads that did not match may do so now.
  for (const QueueRecord& queue : model.queues)
    if (queue.pending.anything_parked()) wake_tree_of(queue.id);
}

void EngineState::apply(const api::ResourceFlavor& object) {
  const FlavorId id = model.frs.intern_flavor(object.meta.name);
  if (model.flavors.size() <= id) model.flavors.resize(id + 1);
  FlavorRecord& flavor = model.flavors[id];
  flavor.exists = true;
  flavor.node_labels = object.node_labels;
  flavor.node_taints = object.node_taints;
  flavor.tolerations = object.tolerations;
  model.tree_stale = true;
  for (const QueueRecord& queue : model.queues)
    for (const ResourceGroupRecord& group : queue.groups)
      for (const FlavorId used : group.flavors)
        if (used == id) changed_queues_.insert(queue.id);
}

void EngineState::apply(const api::ClusterQueue& object) {
  const QueueId id = queue_id(object.meta.name);
  QueueRecord& queue = model.queues[id];
  if (queue.spec && queue.spec->json == object.json && !object.json.empty()) return;
  const bool new_shape =
      !queue.spec || queue.spec->cohort != object.cohort ||
      quota_specs(queue.spec->resource_groups) != quota_specs(object.resource_groups);
  if (queue.spec && new_shape) generation_queues_.insert(id);
  note_queue_change(id, new_shape);
  queue.spec = std::make_unique<const api::ClusterQueue>(object);
  if (!queue.best_effort()) queue.pending.clear_place();
  if (hooks_.flavor_search) hooks_.flavor_search->queue_changed(id, *queue.spec);
  if (object.stop_policy != api::StopPolicy::kNone) drain_pending_ = true;
  // Workloads of its LocalQueues waited for a queue that did not exist.
  for (const auto& [key, local] : model.local_queues)
    if (local.cluster_queue == object.meta.name) changed_local_queues_.insert(key);
}

void EngineState::apply(const api::Cohort& object) {
  cohorts_[object.meta.name] = object;
  changed_cohorts_.insert(object.meta.name);
  model.tree_stale = true;
}

void EngineState::apply(const api::LocalQueue& object) {
  const std::string key = object.meta.key();
  LocalQueueRecord& record = model.local_queues[key];
  record.cluster_queue = object.cluster_queue;
  record.stop = object.stop_policy;
  queue_id(object.cluster_queue);
  changed_local_queues_.insert(key);
  if (record.stop != api::StopPolicy::kNone) drain_pending_ = true;
}

void EngineState::remove(std::string_view kind, std::string_view key) {
  const std::string name(key);
  if (kind == "Workload") {
    if (const auto id = model.find(key)) remove_workload(*id);
  } else if (kind == "LocalQueue") {
    if (model.local_queues.erase(name) > 0) changed_local_queues_.insert(name);
  } else if (kind == "Cohort") {
    if (cohorts_.erase(name) > 0) {
      changed_cohorts_.insert(name);
      model.tree_stale = true;
    }
  } else if (kind == "ClusterQueue") {
    const auto it = model.queue_ids.find(name);
    if (it == model.queue_ids.end()) return;
    note_queue_change(it->second, true);
    model.queues[it->second].spec.reset();
    for (const auto& [local_key, local] : model.local_queues)
      if (local.cluster_queue == name) changed_local_queues_.insert(local_key);
  } else if (kind == "ResourceFlavor") {
    const FlavorId id = model.frs.intern_flavor(key);
    if (id < model.flavors.size()) model.flavors[id] = FlavorRecord();
    model.tree_stale = true;
  } else if (kind == "AdmissionCheck") {
    if (model.checks.erase(name) > 0) note_check_change(name);
  } else if (kind == "Namespace") {
    model.namespaces.erase(name);
  }
}

}  // namespace sluice

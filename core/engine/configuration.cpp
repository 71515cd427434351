// Configuration objects: each change is noted here and takes effect when the tree is built.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/structure.hpp"

namespace sluice {

QueueId Structure::queue_id(std::string_view name) {
  if (const QueueId known = model_.known_queue(name); known != kNone) {
    SLUICE_CHECK(model_.queues[known].name == name, "queue ", known, " is called ",
                 model_.queues[known].name, ", not ", name);
    return known;
  }
  const auto id = static_cast<QueueId>(model_.queues.size());
  QueueRecord& queue = model_.queues.emplace_back();
  queue.id = id;
  queue.name = name;
  queue.pending.list_in(model_.noted, id);
  model_.queue_ids.emplace(name, id);
  model_.tree_stale = true;
  return id;
}

void Structure::note_queue_change(QueueId id, bool generation) {
  model_.tree_stale = true;
  changes_.queues.insert(id);
  if (generation) generation_queues_.insert(id);
}

void Structure::note_locals_of(const std::string& cluster_queue) {
  if (const auto locals = locals_.find(cluster_queue); locals != locals_.end())
    for (const std::string& key : locals->second) note_local(key);
}

void Structure::note_local(const std::string& key) {
  changes_.local_queues.insert(key);
  changes_.asked.insert(key);
}

void Structure::apply(const api::AdmissionCheck& object) {
  const CheckRecord now{object.active, object.why_inactive, object.preempt_after_check,
                        object.retry_delay_seconds};
  const auto [it, fresh] = model_.checks.emplace(object.meta.name, now);
  if (!fresh && it->second == now) return;
  it->second = now;
  note_check_change(object.meta.name);
}

/// Queues that name the check may become active or inactive.
void Structure::note_check_change(const std::string& name) {
  for (const QueueRecord& queue : model_.queues) {
    if (!queue.spec) continue;
    for (const api::AdmissionCheckRule& rule : queue.spec->admission_checks)
      if (rule.name == name) note_queue_change(queue.id, false);
  }
}

void Structure::apply(const api::Namespace& object) {
  api::LabelMap& labels = model_.namespaces[object.meta.name];
  if (labels == object.meta.labels) return;
  labels = object.meta.labels;
  // Workloads that did not match may do so now.
  for (const QueueRecord& queue : model_.queues)
    if (queue.pending.anything_parked()) wake_tree_of(queue.id);
}

void Structure::apply(const api::ResourceFlavor& object) {
  const FlavorId id = model_.frs.intern_flavor(object.meta.name);
  if (model_.flavors.size() <= id) model_.flavors.resize(id + 1);
  FlavorRecord& flavor = model_.flavors[id];
  flavor.exists = true;
  flavor.node_labels = object.node_labels;
  flavor.node_taints = object.node_taints;
  flavor.tolerations = object.tolerations;
  model_.tree_stale = true;
  for (const QueueRecord& queue : model_.queues)
    for (const ResourceGroupRecord& group : queue.groups)
      for (const FlavorId used : group.flavors)
        if (used == id) changes_.queues.insert(queue.id);
}

QueueId Structure::apply(const api::ClusterQueue& object) {
  const QueueId id = queue_id(object.meta.name);
  QueueRecord& queue = model_.queues[id];
  if (queue.spec && queue.spec->json == object.json && !object.json.empty()) return id;
  const bool new_shape =
      !queue.spec || queue.spec->cohort != object.cohort ||
      quota_specs(queue.spec->resource_groups) != quota_specs(object.resource_groups);
  if (queue.spec && new_shape) generation_queues_.insert(id);
  note_queue_change(id, new_shape);
  queue.spec = std::make_unique<const api::ClusterQueue>(object);
  if (!queue.best_effort()) queue.pending.clear_place();
  if (object.stop_policy != api::StopPolicy::kNone) changes_.drain = true;
  note_locals_of(queue.name);  // their workloads waited for a queue that did not exist
  return id;
}

void Structure::apply(const api::Cohort& object) {
  cohorts_[object.meta.name] = object;
  changed_cohorts_.insert(object.meta.name);
  model_.tree_stale = true;
}

void Structure::apply(const api::LocalQueue& object) {
  const std::string key = object.meta.key();
  const auto [it, fresh] = model_.local_queues.try_emplace(key);
  LocalQueueRecord& record = it->second;
  const bool same = !fresh && record.cluster_queue == object.cluster_queue &&
                    record.stop == object.stop_policy &&
                    record.generation == object.meta.generation;
  if (same) {
    changes_.asked.insert(key);  // plugins may read its labels
    return;
  }
  if (!fresh) unlist_local(record.cluster_queue, key);
  record.cluster_queue = object.cluster_queue;
  record.stop = object.stop_policy;
  record.generation = object.meta.generation;
  locals_[object.cluster_queue].insert(key);
  note_local(key);
  if (record.stop != api::StopPolicy::kNone) changes_.drain = true;
}

void Structure::remove(api::ObjectKind kind, const std::string& name) {
  switch (kind) {
    case api::ObjectKind::kLocalQueue:
      return remove_local_queue(name);
    case api::ObjectKind::kClusterQueue:
      return remove_cluster_queue(name);
    case api::ObjectKind::kCohort:
      if (cohorts_.erase(name) == 0) return;
      changed_cohorts_.insert(name);
      model_.tree_stale = true;
      return;
    case api::ObjectKind::kResourceFlavor: {
      const FlavorId id = model_.frs.intern_flavor(name);
      if (id < model_.flavors.size()) model_.flavors[id] = FlavorRecord();
      model_.tree_stale = true;
      return;
    }
    case api::ObjectKind::kAdmissionCheck:
      if (model_.checks.erase(name) > 0) note_check_change(name);
      return;
    case api::ObjectKind::kNamespace:
      model_.namespaces.erase(name);
      ++model_.epoch;
      return;
    case api::ObjectKind::kWorkload:
      break;
  }
  SLUICE_CHECK(false, "workload ", name, " is no part of the structure");
}

void Structure::remove_local_queue(const std::string& key) {
  const auto it = model_.local_queues.find(key);
  if (it == model_.local_queues.end()) return;
  unlist_local(it->second.cluster_queue, key);
  model_.local_queues.erase(it);
  note_local(key);
}

void Structure::unlist_local(const std::string& cluster_queue, const std::string& key) {
  const auto locals = locals_.find(cluster_queue);
  SLUICE_CHECK(locals != locals_.end() && locals->second.erase(key) == 1, "LocalQueue ", key,
               " is not listed with ClusterQueue ", cluster_queue);
  if (locals->second.empty()) locals_.erase(locals);
}

void Structure::remove_cluster_queue(const std::string& name) {
  const QueueId id = model_.known_queue(name);
  if (id == kNone) return;
  note_queue_change(id, true);
  if (!model_.queues[id].holders.empty()) left_.insert(id);
  model_.queues[id].spec.reset();
  note_locals_of(name);
}

}  // namespace sluice

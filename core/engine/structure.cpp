// From configuration objects to the quota tree, and which trees wake because of a change.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/state.hpp"

namespace sluice {
namespace {

using Type = ConditionRecord::Type;

Amount engine_amount(const std::string& resource, const api::Quantity& quantity) {
  return std::clamp(resource == "cpu" ? quantity.milli() : quantity.units(), -kMaxAmount,
                    kMaxAmount);
}

}  // namespace

QueueId EngineState::queue_id(std::string_view name) {
  const auto [it, fresh] =
      model.queue_ids.emplace(std::string(name), static_cast<QueueId>(model.queues.size()));
  if (fresh) {
    QueueRecord& queue = model.queues.emplace_back();
    queue.id = it->second;
    queue.name = it->first;
    maybe_head_.push_back(0);
    model.tree_stale = true;
  }
  return it->second;
}

void EngineState::note_queue_change(QueueId id, bool generation) {
  model.tree_stale = true;
  changed_queues_.insert(id);
  if (generation) generation_queues_.insert(id);
}

std::vector<QuotaSpec> EngineState::quota_specs(const std::vector<api::ResourceGroup>& groups) {
  std::vector<QuotaSpec> out;
  for (const api::ResourceGroup& group : groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      const FlavorId flavor_id = model.frs.intern_flavor(flavor.flavor);
      if (model.flavors.size() <= flavor_id) model.flavors.resize(flavor_id + 1);
      for (const api::ResourceQuota& quota : flavor.resources) {
        QuotaSpec spec;
        spec.fr = model.frs.intern(flavor_id, model.frs.intern_resource(quota.resource));
        spec.nominal = engine_amount(quota.resource, quota.nominal);
        if (quota.borrowing_limit)
          spec.borrowing_limit = engine_amount(quota.resource, *quota.borrowing_limit);
        if (quota.lending_limit)
          spec.lending_limit = engine_amount(quota.resource, *quota.lending_limit);
        out.push_back(spec);
      }
    }
  }
  return out;
}

void EngineState::sync() {
  const bool rebuilt = model.tree_stale || model.frs.size() != model.tree.fr_count();
  const std::set<QueueId> changed = changed_queues_;
  if (rebuilt) rebuild();
  if (!changed.empty()) tell_restarted(changed);
  if (!changed_local_queues_.empty()) {
    for (WorkloadId id = 0; id < model.workloads.size(); ++id) {
      WorkloadRecord& w = model.workloads[id];
      if (!w.exists()) continue;
      if (!changed_local_queues_.contains(w.object->meta.ns + "/" + w.object->queue_name) ||
          w.holds_quota() || w.state != WorkloadState::kPending)
        continue;
      if (hooks_.workload_traits) refresh_traits(w, id);
      if (w.state == WorkloadState::kPending) enqueue(id);
    }
    changed_local_queues_.clear();
  }
  if (drain_pending_) drain_stopped();
  if (!relist_.empty()) {
    const std::set<QueueId> relisted = std::move(relist_);
    relist_.clear();
    list_checks_of(relisted);
  }
  if (!loaded_.empty()) {
    plan_loaded();
    settle_loaded();
  }
  wake_dirty_trees();
}

void EngineState::rebuild() {
  // The trees as they were count too when a queue or cohort moved between them.
  const auto grow = [this] {
    std::set<NodeId> roots;
    for (const QueueId id : generation_queues_)
      if (id < model.tree.node_count()) roots.insert(model.tree.root(id));
    for (NodeId n = 0; n < model.tree.node_count(); ++n)
      if (!model.tree.is_queue(n) && changed_cohorts_.contains(model.tree.name(n)))
        roots.insert(model.tree.root(n));
    for (NodeId n = 0; n < model.tree.node_count(); ++n)
      if (model.tree.is_queue(n) && roots.contains(model.tree.root(n))) bump_generation(n);
  };
  grow();
  for (QueueRecord& queue : model.queues) rebuild_groups(queue);
  std::vector<NodeSpec> specs = node_specs();
  model.tree_generations.assign(specs.size(), 0);
  model.tree.build(std::move(specs), model.frs);
  model.tree_stale = false;
  grow();
  for (const QueueRecord& queue : model.queues)
    model.tree_generations[model.tree.root(queue.id)] += queue.generation;

  count_all();

  for (const QueueId id : changed_queues_) wake_tree_of(id);
  for (NodeId n = 0; n < model.tree.node_count(); ++n) {
    if (model.tree.is_queue(n) || !changed_cohorts_.contains(model.tree.name(n))) continue;
    const NodeId root = model.tree.root(n);
    for (const QueueRecord& queue : model.queues)
      if (model.tree.root(queue.id) == root) wake_tree_of(queue.id);
  }
  changed_queues_.clear();
  generation_queues_.clear();
  changed_cohorts_.clear();
}

/// Fills the empty tree with everybody's usage.
void EngineState::count_all() {
  model.ledger.clear();
  for (const QueueRecord& queue : model.queues)
    for (const WorkloadId id : queue.holders) model.workloads[id].counted = false;
  for (const QueueRecord& queue : model.queues)
    for (const WorkloadId id : queue.holders) model.settle(id);
  for (const auto& [id, claim] : model.claims) model.ledger.add(claim.queue, claim.usage);
}

void EngineState::rebuild_groups(QueueRecord& queue) {
  queue.groups.clear();
  queue.group_of_resource.clear();
  queue.pods_resource = kNone;
  if (!queue.spec) return;
  quota_specs(queue.spec->resource_groups);  // interns all names
  for (const api::ResourceGroup& group : queue.spec->resource_groups) {
    ResourceGroupRecord record;
    for (const std::string& name : group.covered_resources) {
      const ResourceId resource = model.frs.intern_resource(name);
      record.resources.push_back(resource);
      if (queue.group_of_resource.size() <= resource)
        queue.group_of_resource.resize(resource + 1, kNone);
      if (queue.group_of_resource[resource] == kNone)
        queue.group_of_resource[resource] = static_cast<std::uint32_t>(queue.groups.size());
      if (name == "pods") queue.pods_resource = resource;
    }
    for (const api::FlavorQuotas& flavor : group.flavors) {
      const FlavorId id = model.frs.intern_flavor(flavor.flavor);
      record.flavors.push_back(id);
      record.flavor_names.push_back(model.frs.flavor_name(id));
      std::vector<FrId>& frs = record.frs.emplace_back();
      for (const ResourceId resource : record.resources)
        frs.push_back(model.frs.intern(id, resource));
    }
    queue.groups.push_back(std::move(record));
  }
  rebuild_checks(queue);
}

/// Queues first, numbered as QueueId; then all cohorts that exist or are named by someone.
std::vector<NodeSpec> EngineState::node_specs() {
  std::map<std::string, NodeId> cohort_ids;
  const auto cohort_id = [&](const std::string& name) {
    return cohort_ids.emplace(name, kNone).first;
  };
  for (const QueueRecord& queue : model.queues)
    if (queue.spec && !queue.spec->cohort.empty()) cohort_id(queue.spec->cohort);
  for (const auto& [name, cohort] : cohorts_) {
    cohort_id(name);
    if (!cohort.parent.empty()) cohort_id(cohort.parent);
  }
  NodeId next = static_cast<NodeId>(model.queues.size());
  for (auto& [name, id] : cohort_ids) id = next++;

  // A cohort whose way up enters a cycle becomes a root; its queues are inactive.
  const auto parent_of = [&](const std::string& name) {
    const auto it = cohorts_.find(name);
    return it == cohorts_.end() ? std::string() : it->second.parent;
  };
  const auto in_cycle = [&](const std::string& name) {
    std::set<std::string> seen;
    for (std::string at = name; !at.empty(); at = parent_of(at))
      if (!seen.insert(at).second) return true;
    return false;
  };

  std::vector<NodeSpec> specs(next);
  for (QueueRecord& queue : model.queues) {
    NodeSpec& spec = specs[queue.id];
    spec.name = queue.name;
    spec.is_queue = true;
    queue.inactive = Inactive::kMissing;
    if (!queue.spec) {
      spec.active = false;
      continue;
    }
    queue.inactive = Inactive::kNo;
    if (!queue.spec->cohort.empty()) {
      spec.parent = cohort_ids.at(queue.spec->cohort);
      if (in_cycle(queue.spec->cohort)) queue.inactive = Inactive::kCohortCycle;
    }
    spec.weight_milli = queue.spec->fair_weight.milli();
    spec.quotas = quota_specs(queue.spec->resource_groups);
  }
  set_activity();
  for (const QueueRecord& queue : model.queues) specs[queue.id].active = queue.active();
  for (const auto& [name, id] : cohort_ids) {
    specs[id].name = name;
    const auto it = cohorts_.find(name);
    if (it == cohorts_.end()) continue;
    if (!it->second.parent.empty() && !in_cycle(name))
      specs[id].parent = cohort_ids.at(it->second.parent);
    specs[id].weight_milli = it->second.fair_weight.milli();
    specs[id].quotas = quota_specs(it->second.resource_groups);
  }
  return specs;
}

void EngineState::set_activity() {
  for (QueueRecord& queue : model.queues) {
    queue.inactive_detail.clear();
    if (!queue.active()) continue;
    if (queue.spec->stop_policy != api::StopPolicy::kNone) queue.inactive = Inactive::kStopped;
    for (const ResourceGroupRecord& group : queue.groups) {
      for (const FlavorId flavor : group.flavors) {
        if (model.flavors[flavor].exists) continue;
        queue.inactive = Inactive::kFlavorNotFound;
        queue.inactive_detail += (queue.inactive_detail.empty() ? "" : ",");
        queue.inactive_detail += model.frs.flavor_name(flavor);
      }
    }
    if (queue.active()) set_activity_by_checks(queue);
  }
  std::fill(maybe_head_.begin(), maybe_head_.end(), std::uint8_t{1});
}

void EngineState::set_activity_by_checks(QueueRecord& queue) {
  std::string missing, inactive;
  const auto list = [](std::string& names, const std::string& name) {
    names += (names.empty() ? "" : ",") + name;
  };
  for (const api::AdmissionCheckRule& rule : queue.spec->admission_checks) {
    const auto known = model.checks.find(rule.name);
    if (known == model.checks.end()) {
      list(missing, rule.name);
    } else if (!known->second.active) {
      const std::string& why = known->second.why_inactive;
      list(inactive, why.empty() ? rule.name : rule.name + " (" + why + ")");
    }
  }
  if (missing.empty() && inactive.empty()) return;
  queue.inactive = missing.empty() ? Inactive::kCheckInactive : Inactive::kCheckNotFound;
  queue.inactive_detail = missing.empty() ? inactive : missing;
}

/// Workloads that were evicted because these queues were stopped: those that go on.
void EngineState::tell_restarted(const std::set<QueueId>& queues) {
  const bool any = std::any_of(queues.begin(), queues.end(),
                               [this](QueueId id) { return model.queues[id].active(); });
  for (WorkloadRecord& w : model.workloads) {
    if (!any) return;
    if (!w.exists() || w.queue == kNone || !queues.contains(w.queue)) continue;
    const ConditionRecord* held = w.condition(Type::kRequeued);
    if (!held || held->is_true || !model.queues[w.queue].active()) continue;
    if (model.texts.text(held->reason) == "ClusterQueueStopped")
      set_condition(w, Type::kRequeued, true, "ClusterQueueRestarted",
                    "The ClusterQueue was restarted after being stopped");
  }
}

void EngineState::bump_generation(QueueId id) {
  QueueRecord& queue = model.queues[id];
  ++queue.generation;
  if (id < model.tree.node_count() && !model.tree_generations.empty())
    ++model.tree_generations[model.tree.root(id)];
}

void EngineState::wake_dirty_trees() {
  if (dirty_queues_.empty()) return;
  std::set<NodeId> roots;
  for (const QueueId id : dirty_queues_) {
    model.queues[id].dirty = false;
    roots.insert(model.tree.root(id));
  }
  dirty_queues_.clear();
  const auto wake = [this](QueueId id) {
    QueueRecord& queue = model.queues[id];
    if (!queue.pending.anything_parked()) return;
    maybe_head_[id] = 1;
    if (queue.pending.wake()) moved_ = true;
  };
  moved_ |= !recheck_waiting_.empty();
  recheck_due_.merge(recheck_waiting_);
  std::vector<NodeId> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (model.tree.is_queue(node)) wake(node);
    for (const NodeId child : model.tree.children(node)) open.push_back(child);
  }
}

/// A stopped ClusterQueue or LocalQueue: who is not admitted yet loses the reservation, and with
/// HoldAndDrain running workloads are evicted too.
void EngineState::drain_stopped() {
  drain_pending_ = false;
  std::vector<std::pair<WorkloadId, bool>> out;  // and whether its ClusterQueue is stopped
  for (WorkloadId id = 0; id < model.workloads.size(); ++id) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.holds_quota()) continue;
    const auto stops = [&](api::StopPolicy policy) {
      return policy == api::StopPolicy::kHoldAndDrain ||
             (policy == api::StopPolicy::kHold && w.state == WorkloadState::kQuotaReserved);
    };
    const QueueRecord& queue = model.queues[w.holding->queue];
    if (queue.spec && stops(queue.spec->stop_policy)) {
      out.emplace_back(id, true);
      continue;
    }
    const auto local = model.local_queues.find(w.object->meta.ns + "/" + w.object->queue_name);
    if (local != model.local_queues.end() && stops(local->second.stop)) out.emplace_back(id, false);
  }
  for (const auto& [id, cluster_queue] : out) {
    Decision why;
    why.reason = cluster_queue ? "ClusterQueueStopped" : "LocalQueueStopped";
    why.message = cluster_queue ? "The ClusterQueue is stopped" : "The LocalQueue is stopped";
    evict(id, why);
  }
}

/// Rebuilds the tree from the holders and compares every cell with what was kept incrementally.
void EngineState::verify_ledger() {
  relations_.verify();
  if (model.tree_stale || model.frs.size() != model.tree.fr_count()) return;
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

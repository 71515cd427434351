#include "core/engine/structure.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/engine/parked_reasons.hpp"

namespace sluice {
namespace {

Amount engine_amount(const std::string& resource, const api::Quantity& quantity) {
  return std::clamp(resource == "cpu" ? quantity.milli() : quantity.units(), -kMaxAmount,
                    kMaxAmount);
}

}  // namespace

Structure::Changes Structure::rebuild() {
  if (model_.tree_stale || model_.frs.size() != model_.tree.fr_count()) build();
  return std::exchange(changes_, {});
}

void Structure::build() {
  for (QueueRecord& queue : model_.queues) tell_as_of_wake(model_, queue);
  ++model_.epoch;
  wake_left();
  grow_generations();
  for (QueueRecord& queue : model_.queues) rebuild_groups(queue);
  std::vector<std::pair<Inactive, std::string>> before;
  for (const QueueRecord& queue : model_.queues)
    before.emplace_back(queue.inactive, queue.inactive_detail);
  std::vector<NodeSpec> specs = node_specs();
  for (const QueueRecord& queue : model_.queues)
    if (before[queue.id] != std::pair(queue.inactive, queue.inactive_detail))
      changes_.activity.insert(queue.id);
  model_.tree_generations.assign(specs.size(), 0);
  model_.tree.build(std::move(specs), model_.frs);
  model_.quiet_cycles.assign(model_.tree.node_count(), 0);
  model_.tree_stale = false;
  SLUICE_CHECK(model_.tree.node_count() >= model_.queues.size(), model_.tree.node_count(),
               " nodes for ", model_.queues.size(), " queues");
  grow_generations();
  for (const QueueRecord& queue : model_.queues)
    model_.tree_generations[model_.tree.root(queue.id)] += queue.generation;
  count_all();
  wake_changed();
  generation_queues_.clear();
  changed_cohorts_.clear();
}

/// Of the trees that these queues stand in, as far as they stand anywhere yet.
std::set<NodeId> Structure::roots_of(const std::set<QueueId>& queues) const {
  std::set<NodeId> roots;
  for (const QueueId id : queues)
    if (id < model_.tree.node_count()) roots.insert(model_.tree.root(id));
  return roots;
}

/// And of those that changed cohorts stand in.
std::set<NodeId> Structure::changed_roots(const std::set<QueueId>& queues) const {
  const QuotaTree& tree = model_.tree;
  std::set<NodeId> roots = roots_of(queues);
  for (NodeId n = 0; n < tree.node_count(); ++n)
    if (!tree.is_queue(n) && changed_cohorts_.contains(tree.name(n))) roots.insert(tree.root(n));
  return roots;
}

/// Before and after: the trees as they were count too when a queue or cohort moved between them.
void Structure::grow_generations() {
  for (const QueueId id : queues_below(changed_roots(generation_queues_))) bump_generation(id);
}

/// What a deleted queue held is free in the tree that it was in; nothing that ends will say so.
void Structure::wake_left() {
  for (const QueueId id : queues_below(roots_of(left_))) wake_tree_of(id);
  left_.clear();
}

/// Of what moved, the tree is the one after the change (semantics 4).
void Structure::wake_changed() {
  for (const QueueId id : queues_below(changed_roots(changes_.queues))) wake_tree_of(id);
}

std::vector<QueueId> Structure::queues_below(const std::set<NodeId>& roots) const {
  const QuotaTree& tree = model_.tree;
  std::vector<QueueId> out;
  for (NodeId n = 0; n < tree.node_count(); ++n)
    if (tree.is_queue(n) && roots.contains(tree.root(n))) out.push_back(n);
  return out;
}

/// Fills the empty tree with the usage of all holders.
void Structure::count_all() {
  model_.ledger.clear();
  for (const QueueRecord& queue : model_.queues)
    for (const WorkloadId id : queue.holders) model_.workloads[id].counted = false;
  for (const QueueRecord& queue : model_.queues)
    for (const WorkloadId id : queue.holders) model_.settle(id);
  for (const auto& [id, earmark] : model_.earmarks) model_.ledger.add(earmark.queue, earmark.usage);
}

void Structure::rebuild_groups(QueueRecord& queue) {
  queue.groups.clear();
  queue.covered.clear();
  queue.pods_resource = kNone;
  if (!queue.spec) return;
  quota_specs(queue.spec->resource_groups);  // interns all names
  for (const api::ResourceGroup& group : queue.spec->resource_groups) {
    ResourceGroupRecord record;
    for (const std::string& name : group.covered_resources) {
      const ResourceId resource = model_.frs.intern_resource(name);
      record.resources.push_back(resource);
      queue.covered.emplace_back(resource, static_cast<std::uint32_t>(queue.groups.size()));
      if (name == "pods") queue.pods_resource = resource;
    }
    for (const api::FlavorQuotas& flavor : group.flavors) {
      const FlavorId id = model_.frs.intern_flavor(flavor.flavor);
      record.flavors.push_back(id);
      record.flavor_names.push_back(model_.frs.flavor_name(id));
      std::vector<FrId>& frs = record.frs.emplace_back();
      for (const ResourceId resource : record.resources)
        frs.push_back(model_.frs.intern(id, resource));
    }
    queue.groups.push_back(std::move(record));
  }
  std::sort(queue.covered.begin(), queue.covered.end());
  rebuild_checks(queue);
}

void Structure::rebuild_checks(QueueRecord& queue) {
  std::vector<QueueCheck> checks;
  if (queue.spec) {
    for (const api::AdmissionCheckRule& rule : queue.spec->admission_checks) {
      QueueCheck& check = checks.emplace_back();
      check.name = rule.name;
      for (const std::string& flavor : rule.on_flavors)
        check.flavors.push_back(model_.frs.intern_flavor(flavor));
      std::sort(check.flavors.begin(), check.flavors.end());
      for (const ResourceGroupRecord& group : queue.groups)
        for (const FlavorId flavor : group.flavors)
          check.all_flavors &=
              rule.on_flavors.empty() ||
              std::binary_search(check.flavors.begin(), check.flavors.end(), flavor);
      const auto known = model_.checks.find(rule.name);
      check.preempt_after_check = known != model_.checks.end() && known->second.preempt_after_check;
    }
  }
  if (checks == queue.checks) return;
  queue.checks = std::move(checks);
  changes_.relisted.insert(queue.id);
}

std::vector<QuotaSpec> Structure::quota_specs(const std::vector<api::ResourceGroup>& groups) {
  std::vector<QuotaSpec> out;
  for (const api::ResourceGroup& group : groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      const FlavorId flavor_id = model_.frs.intern_flavor(flavor.flavor);
      if (model_.flavors.size() <= flavor_id) model_.flavors.resize(flavor_id + 1);
      for (const api::ResourceQuota& quota : flavor.resources) {
        QuotaSpec spec;
        spec.fr = model_.frs.intern(flavor_id, model_.frs.intern_resource(quota.resource));
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

/// Queues first, numbered as QueueId; then all cohorts that exist or are named by an object.
std::vector<NodeSpec> Structure::node_specs() {
  std::map<std::string, NodeId> cohort_ids;
  const auto name_cohort = [&](const std::string& name) {
    if (!name.empty()) cohort_ids.emplace(name, kNone);
  };
  for (const QueueRecord& queue : model_.queues)
    if (queue.spec) name_cohort(queue.spec->cohort);
  for (const auto& [name, cohort] : cohorts_) {
    name_cohort(name);
    name_cohort(cohort.parent);
  }
  NodeId next = static_cast<NodeId>(model_.queues.size());
  for (auto& [name, id] : cohort_ids) id = next++;

  std::vector<NodeSpec> specs(next);
  for (const auto& [name, cohort] : cohorts_)
    if (!cohort.parent.empty()) specs[cohort_ids.at(name)].parent = cohort_ids.at(cohort.parent);
  const std::vector<CohortChain> chains = cut_chains(specs);
  add_queue_specs(specs, cohort_ids, chains);
  for (const auto& [name, id] : cohort_ids) {
    specs[id].name = name;
    const auto it = cohorts_.find(name);
    if (it == cohorts_.end()) continue;
    specs[id].weight_milli = it->second.fair_weight.milli();
    specs[id].quotas = quota_specs(it->second.resource_groups);
  }
  return specs;
}

/// Says too which queues are active.
void Structure::add_queue_specs(std::vector<NodeSpec>& specs,
                                const std::map<std::string, NodeId>& cohort_ids,
                                const std::vector<CohortChain>& chains) {
  for (QueueRecord& queue : model_.queues) {
    NodeSpec& spec = specs[queue.id];
    spec.name = queue.name;
    spec.is_queue = true;
    queue.inactive = Inactive::kMissing;
    if (!queue.spec) continue;
    queue.inactive = Inactive::kNo;
    if (!queue.spec->cohort.empty()) {
      spec.parent = cohort_ids.at(queue.spec->cohort);
      if (chains[spec.parent] == CohortChain::kCycle) queue.inactive = Inactive::kCohortCycle;
      if (chains[spec.parent] == CohortChain::kTooDeep) queue.inactive = Inactive::kCohortTooDeep;
    }
    spec.weight_milli = queue.spec->fair_weight.milli();
    spec.quotas = quota_specs(queue.spec->resource_groups);
  }
  set_activity();
  for (const QueueRecord& queue : model_.queues) specs[queue.id].active = queue.active();
}

void Structure::set_activity() {
  for (QueueRecord& queue : model_.queues) {
    queue.inactive_detail.clear();
    if (!queue.active()) continue;
    if (queue.spec->meta.deletion_time) {
      queue.inactive = Inactive::kTerminating;
      continue;
    }
    if (queue.spec->stop_policy != api::StopPolicy::kNone) queue.inactive = Inactive::kStopped;
    for (const ResourceGroupRecord& group : queue.groups) {
      for (const FlavorId flavor : group.flavors) {
        if (model_.flavors[flavor].exists) continue;
        queue.inactive = Inactive::kFlavorNotFound;
        queue.inactive_detail += (queue.inactive_detail.empty() ? "" : ",");
        queue.inactive_detail += model_.frs.flavor_name(flavor);
      }
    }
    if (queue.active()) set_activity_by_checks(queue);
  }
  for (const QueueRecord& queue : model_.queues) model_.maybe_head.insert(queue.id);
}

void Structure::set_activity_by_checks(QueueRecord& queue) {
  std::string missing, inactive;
  const auto list = [](std::string& names, const std::string& name) {
    names += (names.empty() ? "" : ",") + name;
  };
  for (const api::AdmissionCheckRule& rule : queue.spec->admission_checks) {
    const auto known = model_.checks.find(rule.name);
    if (known == model_.checks.end()) {
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

void Structure::bump_generation(QueueId id) {
  SLUICE_CHECK(id < model_.queues.size(), "queue ", id, " of ", model_.queues.size());
  QueueRecord& queue = model_.queues[id];
  ++queue.generation;
  if (id < model_.tree.node_count()) ++model_.tree_generations[model_.tree.root(id)];
}

void Structure::mark_dirty(QueueId id, QueueRecord::Dirty why) {
  QueueRecord& queue = model_.queues[id];
  if (queue.dirty == QueueRecord::Dirty::kNo) dirty_queues_.push_back(id);
  queue.dirty = std::max(queue.dirty, why);
}

std::vector<Structure::DirtyTree> Structure::take_dirty_trees() {
  std::map<NodeId, bool> roots;
  for (const QueueId id : dirty_queues_) {
    SLUICE_CHECK(model_.queues[id].dirty != QueueRecord::Dirty::kNo, "queue ", id,
                 " is woken and was not marked");
    const auto why = std::exchange(model_.queues[id].dirty, QueueRecord::Dirty::kNo);
    roots[model_.tree.root(id)] |= why == QueueRecord::Dirty::kChanged;
  }
  dirty_queues_.clear();
  std::vector<DirtyTree> out;
  for (const auto& [root, changed] : roots) out.push_back({root, changed});
  return out;
}

/// Rebuilds the tree from the holders and compares every cell with what was kept incrementally,
/// which stays.
void Structure::verify() {
  if (model_.tree_stale || model_.frs.size() != model_.tree.fr_count()) return;
  QuotaTree kept = model_.tree;
  model_.tree.build(node_specs(), model_.frs);
  count_all();
  for (NodeId n = 0; n < model_.tree.node_count(); ++n)
    for (FrId fr = 0; fr < model_.tree.fr_count(); ++fr)
      SLUICE_CHECK(kept.usage(n, fr) == model_.tree.usage(n, fr), "usage of ", kept.name(n),
                   " in fr ", fr, ": kept ", static_cast<std::int64_t>(kept.usage(n, fr)),
                   ", recomputed ", static_cast<std::int64_t>(model_.tree.usage(n, fr)));
  model_.tree = std::move(kept);
}

}  // namespace sluice

// What each flavor has for a workload that waits, and who holds what it lacks.
#include "core/engine/explanation.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/engine/state.hpp"
#include "core/scheduling/flavor_match.hpp"

namespace sluice {
namespace {

constexpr std::size_t kMostHolders = 20;

std::string unsuitable(const Model& model, FlavorId flavor, const api::PodTemplate& pod) {
  if (flavor >= model.flavors.size() || !model.flavors[flavor].exists)
    return "flavor " + model.frs.flavor_name(flavor) + " not found";
  const FlavorRecord& record = model.flavors[flavor];
  if (const api::Taint* taint = untolerated_taint(record, pod))
    return "untolerated taint " + taint->key;
  if (!matches_labels(record, pod)) return "the pods' node selector or affinity excludes it";
  return {};
}

FlavorAnswer answer_of(const Model& model, const QueueRecord& queue, FlavorId flavor,
                       ResourceId resource, Amount requested, const api::PodTemplate& pod,
                       std::set<FrId>& lacking) {
  FlavorAnswer out;
  out.flavor = model.frs.flavor_name(flavor);
  out.unsuitable = unsuitable(model, flavor, pod);
  const FrId fr = model.frs.find(flavor, resource);
  if (fr != kNone && fr < model.tree.fr_count() && queue.id < model.tree.node_count()) {
    out.available = model.tree.available(queue.id, fr);
    out.maximum = model.tree.potential(queue.id, fr);
    out.nominal = model.tree.nominal(queue.id, fr);
  }
  out.missing = std::max<std::int64_t>(0, requested - out.available);
  out.never = requested > out.maximum;
  if (out.missing > 0 && out.unsuitable.empty() && !out.never && fr != kNone) lacking.insert(fr);
  return out;
}

std::vector<QuotaHolder> holders_of(const Model& model, QueueId queue,
                                    const std::set<FrId>& lacking) {
  std::vector<QuotaHolder> out;
  for (const QueueRecord& other : model.queues) {
    if (other.id >= model.tree.node_count() || model.tree.root(other.id) != model.tree.root(queue))
      continue;
    for (const WorkloadId id : other.holders) {
      const WorkloadRecord& w = model.workloads[id];
      for (const FrAmount& used : w.holding->usage)
        if (used.amount > 0 && lacking.contains(used.fr))
          out.push_back({w.key, other.name, model.frs.flavor_name(model.frs.flavor_of(used.fr)),
                         model.frs.resource_name(model.frs.resource_of(used.fr)), used.amount,
                         w.priority, w.holding->reserved_at});
    }
  }
  std::sort(out.begin(), out.end(), [](const QuotaHolder& a, const QuotaHolder& b) {
    return std::tie(b.amount, a.workload, a.flavor, a.resource) <
           std::tie(a.amount, b.workload, b.flavor, b.resource);
  });
  return out;
}

}  // namespace

Explanation EngineState::explain(WorkloadId id) const {
  const WorkloadRecord& w = model.workloads[id];
  Explanation out;
  std::set<FrId> lacking;
  const QueueId queue_id = w.holds_quota() ? w.holding->queue : w.queue;
  const QueueRecord* queue = queue_id == kNone ? nullptr : &model.queues[queue_id];
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetRecord& pods = w.pod_sets[i];
    PodSetAnswer& set = out.pod_sets.emplace_back();
    set.name = w.object->pod_sets[i].name;
    set.count = pods.count - pods.reclaimable;
    for (const ResourceAmount& wanted : pods.shape->requests) {
      ResourceAnswer& resource = set.resources.emplace_back();
      resource.resource = model.frs.resource_name(wanted.resource);
      resource.requested = multiply_saturating(wanted.amount, set.count);
      const std::uint32_t group = queue && wanted.resource < queue->group_of_resource.size()
                                      ? queue->group_of_resource[wanted.resource]
                                      : kNone;
      resource.covered = group != kNone;
      if (!resource.covered) continue;
      for (const FlavorId flavor : queue->groups[group].flavors)
        resource.flavors.push_back(answer_of(model, *queue, flavor, wanted.resource,
                                             resource.requested, *pods.shape->pod, lacking));
    }
  }
  if (!queue || w.state != WorkloadState::kPending) return out;
  out.holders = holders_of(model, queue_id, lacking);
  if (out.holders.size() > kMostHolders) {
    out.more_holders = out.holders.size() - kMostHolders;
    out.holders.resize(kMostHolders);
  }
  return out;
}

}  // namespace sluice

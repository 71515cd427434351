// Counts over all workloads and cohorts.
#include "core/engine/tally.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/engine/state.hpp"

namespace sluice {
namespace {

/// LocalQueues as they stand in workloads; the texts are the workloads'.
using Local = std::pair<std::string_view, std::string_view>;

std::string key_of(const Local& local) {
  return std::string(local.first) + "/" + std::string(local.second);
}

const char* reason_of(const WorkloadRecord& w, const PendingReason* pending) {
  switch (w.state) {
    case WorkloadState::kQuotaReserved:
      return "UnsatisfiedAdmissionChecks";
    case WorkloadState::kInactive:
      return "Deactivated";
    default:
      return to_string(pending ? pending->reason : WaitReason::kPending);
  }
}

}  // namespace

WorkloadTally EngineState::tally() const {
  std::map<std::tuple<Local, std::string_view>, std::size_t> unadmitted;
  std::map<Local, std::size_t> finished;
  std::map<std::pair<QueueId, ResourceId>, Amount> requested;
  for (WorkloadId id = 0; id < model.workloads.size(); ++id) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || w.state == WorkloadState::kAdmitted || counted_as(id) != id) continue;
    const Local local{w.object->meta.ns, w.object->queue_name};
    if (w.state == WorkloadState::kFinished) {
      ++finished[local];
      continue;
    }
    const bool pending = w.state == WorkloadState::kPending;
    const auto why = pending ? pending_reason(w, id) : nullptr;
    std::string_view reason = reason_of(w, why.get());
    if (const api::Condition* told = w.object->status.condition("QuotaReserved");
        pending && told && stands_aside(w))
      reason = told->reason;
    ++unadmitted[{local, reason}];
    if (!pending || w.queue == kNone) continue;
    for (const PodSetRecord& pods : w.pod_sets)
      for (const ResourceAmount& wanted : pods.shape->requests) {
        Amount& sum = requested[{w.queue, wanted.resource}];
        sum = add_saturating(sum, multiply_saturating(wanted.amount, pods.count));
      }
  }
  WorkloadTally out;
  for (const auto& [at, count] : unadmitted) {
    const auto& [local, reason] = at;
    const std::string key = key_of(local);
    out.unadmitted.push_back({cluster_queue_of(key), key, std::string(reason), count});
  }
  for (const auto& [local, count] : finished) {
    const std::string key = key_of(local);
    out.finished.push_back({cluster_queue_of(key), key, count});
  }
  for (const auto& [at, amount] : requested)
    out.requested.push_back(
        {model.queues[at.first].name, model.frs.resource_name(at.second), amount});
  for (const QueueRecord& queue : model.queues) {
    if (!queue.spec) continue;
    const PendingQueue::ClassCounts counts = queue.pending.class_counts();
    out.shapes.push_back({queue.name, counts.open, counts.parked});
  }
  return out;
}

std::vector<std::string> EngineState::cohorts_above(std::string_view cluster_queue) const {
  std::vector<std::string> out;
  const auto found = queue_ids_.find(std::string(cluster_queue));
  if (structure_dirty_ || found == queue_ids_.end()) return out;
  NodeId node = found->second;
  if (node >= model.tree.node_count()) return out;
  while (model.tree.has_parent(node)) {
    node = model.tree.parent(node);
    out.push_back(model.tree.name(node));
  }
  return out;
}

std::vector<CohortView> EngineState::cohort_views() const {
  std::vector<CohortView> out;
  if (structure_dirty_) return out;
  const std::size_t frs = model.tree.fr_count();
  std::vector<std::size_t> admitted(model.tree.node_count());
  std::vector<Wide> reserved(model.tree.node_count() * frs);
  for (const QueueRecord& queue : model.queues) {
    if (queue.id >= model.tree.node_count()) continue;
    const auto count = static_cast<std::size_t>(
        std::count_if(queue.holders.begin(), queue.holders.end(), [this](WorkloadId id) {
          return model.workloads[id].state == WorkloadState::kAdmitted &&
                 counted_as(id).has_value();
        }));
    NodeId node = queue.id;
    // A cycle of cohorts is broken in the tree, so this ends.
    while (model.tree.has_parent(node)) {
      node = model.tree.parent(node);
      admitted[node] += count;
      for (FrId fr = 0; fr < frs; ++fr) reserved[node * frs + fr] += model.tree.usage(queue.id, fr);
    }
  }
  for (NodeId node = 0; node < model.tree.node_count(); ++node) {
    if (model.tree.is_queue(node)) continue;
    CohortView& view = out.emplace_back();
    view.name = model.tree.name(node);
    if (model.tree.has_parent(node)) view.parent = model.tree.name(model.tree.parent(node));
    view.root = model.tree.name(model.tree.root(node));
    view.weighted_share = cohort_share(view.name).value_or(0);
    view.admitted = admitted[node];
    for (FrId fr = 0; fr < frs; ++fr) {
      const Wide used = reserved[node * frs + fr];
      const Amount quota = model.tree.subtree(node, fr);
      if (used == 0 && quota == 0) continue;
      view.subtree.push_back({model.frs.flavor_name(model.frs.flavor_of(fr)),
                              model.frs.resource_name(model.frs.resource_of(fr)), quota,
                              saturate(used), 0});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const CohortView& a, const CohortView& b) { return a.name < b.name; });
  return out;
}

}  // namespace sluice

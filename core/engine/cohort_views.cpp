#include "core/engine/cohort_views.hpp"

#include <algorithm>

#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "core/quota/fair_share.hpp"

namespace sluice {

std::map<std::string, std::int64_t> cohort_shares(const Model& model) {
  std::map<std::string, std::int64_t> out;
  if (model.tree_stale) return out;
  for (NodeId node = 0; node < model.tree.node_count(); ++node)
    if (!model.tree.is_queue(node))
      out.emplace(model.tree.name(node), shown_share(share_of(model.tree, node)));
  return out;
}

std::vector<std::string> cohorts_above(const Model& model, std::string_view cluster_queue) {
  std::vector<std::string> out;
  const QueueId queue = model.known_queue(cluster_queue);
  if (model.tree_stale || queue == kNone) return out;
  for (NodeId node = queue; model.tree.has_parent(node);) {
    node = model.tree.parent(node);
    out.push_back(model.tree.name(node));
  }
  return out;
}

std::vector<CohortView> cohort_views(const Model& model) {
  std::vector<CohortView> out;
  if (model.tree_stale) return out;
  const std::size_t frs = model.tree.fr_count();
  std::vector<std::size_t> admitted(model.tree.node_count());
  std::vector<Wide> reserved(model.tree.node_count() * frs);
  for (const QueueRecord& queue : model.queues) {
    const auto count = static_cast<std::size_t>(std::count_if(
        queue.holders.begin(), queue.holders.end(),
        [&model](WorkloadId id) { return model.workloads[id].state == WorkloadState::kAdmitted; }));
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
    view.measured_share = measured_share(share_of(model.tree, node));
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

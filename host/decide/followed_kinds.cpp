#include "host/decide/followed_kinds.hpp"

#include <algorithm>

#include "host/machine/machine.hpp"
#include "host/objects/kinds.hpp"
#include "host/observe/mirror.hpp"
#include "host/outbox/quota_shown.hpp"
#include "host/writes/ids.hpp"

namespace sluice::host {

std::vector<FollowedKind> followed_kinds(const api::Scheme& scheme, const ControllerLoop& loop) {
  std::vector<FollowedKind> out;
  const auto watched = loop.watched();
  const auto decided_on = kinds_to_follow(scheme, true);
  // What a plugin asks others for refers to templates of pods, which it makes and never watches.
  const auto kinds = scheme.kinds();
  const bool asks_others = std::any_of(kinds.begin(), kinds.end(), [](const api::KindInfo* kind) {
    return !kind->contributed_by.empty() && !kind->is_followed_only() && kind->group != kQueueGroup;
  });
  for (const api::KindInfo* kind : kinds) {
    const std::string name = kind->group_kind();
    const bool whole = (asks_others && is_kind(*kind, "", "PodTemplate")) ||
                       std::any_of(decided_on.begin(), decided_on.end(),
                                   [kind](const FollowedKind& each) { return each.kind == kind; });
    if (!whole && (!watched.contains(name) || kind->is_hidden() || is_event(*kind))) continue;
    FollowedKind& followed = out.emplace_back(FollowedKind{kind, {kind->hub_api_version()}});
    if (!whole) followed.labels = loop.selector(name);
  }
  return out;
}

std::vector<FollowedKind> followed_kinds(const Configuration& config, Rules& rules) {
  MemoryStore nothing;
  CountingIds ids;
  Machine machine(config, rules, MachineEdges{.store = nothing, .ids = ids, .other_pages = [] {}});
  return followed_kinds(rules.scheme, machine.controllers());
}

Writing writing_of(const api::KindInfo& kind) {
  if (kind.internal) return Writing::kNothing;
  if (is_workload(kind)) return Writing::kAll;
  // A page is told whether its kind is served, and kept while there are jobs of it.
  if (kind.job || is_job_page(kind)) return Writing::kJob;
  if (is_pod(kind)) return Writing::kGates;
  if (decides_about_pods(kind)) return Writing::kNothing;
  if (is_namespace(kind) || is_priority_class(kind) || is_node(kind)) return Writing::kNothing;
  // What the cluster has anyway (Secrets, ConfigMaps) is written as plugins declare it, or not.
  if (kind.group != kQueueGroup)
    return kind.contributed_by.empty() ? Writing::kNothing : Writing::kAll;
  const bool let_go = kind.kind == "ClusterQueue" || kind.kind == "ResourceFlavor";
  if (kind.kind == "AdmissionCheck" || let_go) return Writing::kMarked;
  return kind.status_subresource ? Writing::kStatus : Writing::kNothing;
}

}  // namespace sluice::host

#include "core/scheduling/flavor_match.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool tolerated(const api::Taint& taint, const std::vector<api::Toleration>& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const api::Toleration& t) { return t.tolerates(taint); });
}

/// An affinity term, looking only at the flavor's own keys; without any left it matches everything.
bool term_matches(const api::NodeSelectorTerm& term, const api::LabelMap& labels) {
  return std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const api::NodeSelectorRequirement& requirement) {
                       return !labels.find(requirement.key) || requirement.matches(labels);
                     });
}

}  // namespace

const api::Taint* untolerated_taint(const FlavorRecord& flavor, const api::PodTemplate& pod) {
  for (const api::Taint& taint : flavor.node_taints) {
    if (taint.effect == api::TaintEffect::kPreferNoSchedule) continue;
    if (!tolerated(taint, pod.tolerations) && !tolerated(taint, flavor.tolerations)) return &taint;
  }
  return nullptr;
}

const api::LabelMap::Entry* unmatched_selector(const FlavorRecord& flavor,
                                               const api::PodTemplate& pod) {
  for (const api::LabelMap::Entry& wanted : pod.node_selector) {
    const std::string* label = flavor.node_labels.find(wanted.first);
    if (label && *label != wanted.second) return &wanted;
  }
  return nullptr;
}

bool matches_labels(const FlavorRecord& flavor, const api::PodTemplate& pod) {
  if (flavor.node_labels.empty()) return true;
  if (unmatched_selector(flavor, pod)) return false;
  if (!pod.required_affinity || pod.required_affinity->empty()) return true;
  return std::any_of(
      pod.required_affinity->begin(), pod.required_affinity->end(),
      [&](const api::NodeSelectorTerm& term) { return term_matches(term, flavor.node_labels); });
}

}  // namespace sluice

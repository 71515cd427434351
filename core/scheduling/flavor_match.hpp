// May a pod run on a flavor's nodes? Taints, node selector and required affinity (semantics 4.1).
//
// Only the label keys that the flavor itself defines are looked at, so a flavor without labels
// takes every pod. Pure functions.
#pragma once

#include "core/model/model.hpp"
#include "core/types/pod.hpp"

namespace sluice {

/// The first NoSchedule or NoExecute taint that neither the pod nor the flavor tolerates; nullptr:
/// none.
const api::Taint* untolerated_taint(const FlavorRecord& flavor, const api::PodTemplate& pod);

/// The first label of the pod's node selector that the flavor has with another value; nullptr:
/// none.
const api::LabelMap::Entry* unmatched_selector(const FlavorRecord& flavor,
                                               const api::PodTemplate& pod);

bool matches_labels(const FlavorRecord& flavor, const api::PodTemplate& pod);

}  // namespace sluice

// What would have to finish, or to grow, for a workload to be admitted: sentences for a person,
// made from the numbers of an Explanation. A pure function.
#pragma once

#include <string>
#include <vector>

#include "core/engine/explanation.hpp"

namespace sluice::host {

/// One sentence per pod set, group of resources and flavor that could serve these and does not,
/// with all that it lacks of them; none when nothing is missing. Where several pod sets lack
/// something, each needs what its own sentences say.
std::vector<std::string> advice_of(const Explanation& explanation);

/// Of these sentences those that hold whatever ends, and whatever else keeps the workload: it asks
/// for more than there ever is, or for what no flavor has.
std::vector<std::string> lasting_advice_of(const Explanation& explanation);

/// What its numbers say at this moment, in one sentence; empty for one that is in no ClusterQueue.
/// The message of its condition says what they were when its turn came last.
std::string now_text(const Explanation& explanation);

/// An amount with its resource, as people say it: `2 cpu`, `500m cpu`, `2Gi memory`, `1 pod`.
std::string amount_of(const std::string& resource, std::int64_t amount);

}  // namespace sluice::host

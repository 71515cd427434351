// Chains of cohorts, from one to its parent and on, are what users write: they may run in a circle,
// or have any length. A tree has neither.
//
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/quota/quota_tree.hpp"

namespace sluice {

/// How many cohorts may stand one below the other. What walks a tree costs as much as it is deep.
inline constexpr int kMaxCohortDepth = 64;

/// What the chain that begins with a cohort comes to.
enum class CohortChain : std::uint8_t {
  kEnds,     ///< in a cohort without a parent
  kCycle,    ///< in a cycle
  kTooDeep,  ///< behind more than kMaxCohortDepth cohorts
};

/// By node. Those whose chain does not end in time become roots. O(nodes).
std::vector<CohortChain> cut_chains(std::vector<NodeSpec>& nodes);

}  // namespace sluice

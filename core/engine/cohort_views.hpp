// What a person, or a metric, may know about cohorts: shares and what their queues hold.
//
// Pure functions of the model, on the engine's thread between its calls; the answers are copies.
// While the tree is stale nothing is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/queue_views.hpp"

namespace sluice {

struct CohortView {
  std::string name;
  std::string parent;         ///< empty: none
  std::string root;           ///< itself when it has no parent
  double measured_share = 0;  ///< as QueueView has it
  std::size_t admitted = 0;   ///< workloads in its subtree
  /// nominal: the quota of the whole subtree; reserved: what its queues hold; used is not set.
  std::vector<FlavorUse> subtree;
};

/// The weighted share of each Cohort, as QueueView has it, by name. O(cohorts).
std::map<std::string, std::int64_t> cohort_shares(const Model& model);
/// All cohorts, in order of name. O(cohorts × flavors and resources + holders).
std::vector<CohortView> cohort_views(const Model& model);
/// The cohorts that a ClusterQueue is in, from the nearest up. O(depth).
std::vector<std::string> cohorts_above(const Model& model, std::string_view cluster_queue);

}  // namespace sluice

#include "core/preemption/victims.hpp"

#include "core/base/check.hpp"
#include "core/preemption/search.hpp"

namespace sluice {

const char* to_string(VictimReason reason) {
  switch (reason) {
    case VictimReason::kInClusterQueue:
      return "InClusterQueue";
    case VictimReason::kInCohortReclamation:
      return "InCohortReclamation";
    case VictimReason::kInCohortReclaimWhileBorrowing:
      return "InCohortReclaimWhileBorrowing";
    case VictimReason::kInCohortFairSharing:
      break;
  }
  return "InCohortFairSharing";
}

const char* describe(VictimReason reason) {
  switch (reason) {
    case VictimReason::kInClusterQueue:
      return "prioritization in the ClusterQueue";
    case VictimReason::kInCohortReclamation:
      return "reclamation within the cohort";
    case VictimReason::kInCohortReclaimWhileBorrowing:
      return "reclamation within the cohort while borrowing";
    case VictimReason::kInCohortFairSharing:
      break;
  }
  return "Fair Sharing within the cohort";
}

std::vector<Victim> VictimFinder::find(const VictimQuery& query) const {
  if (config_.fair_sharing) return find_fair(model_, hooks_, config_.fair_strategies, query);
  return find_classical(model_, hooks_, query);
}

void SearchState::take(const Candidate& candidate, VictimReason reason) {
  SLUICE_CHECK(!taken(candidate.id) && candidate.id != query_.preemptor, model_.key(candidate.id),
               " is taken twice, or by itself");
  steps_.push_back(victims_.size());
  const auto add = [&](WorkloadId id) {
    removal_.remove(id);
    victims_.push_back({id, reason});
  };
  add(candidate.id);
  for (const WorkloadId id : model_.evicted_together_with(candidate.id))
    if (!taken(id)) add(id);
}

bool SearchState::fits(bool borrowing) const {
  const QuotaTree& tree = model_.tree;
  for (const FrAmount& r : query_.request) {
    if (r.amount <= 0) continue;
    if (!tree.fits(query_.queue, r.fr, r.amount)) return false;
    if (!borrowing && tree.borrows_with(query_.queue, r.fr, r.amount)) return false;
  }
  return true;
}

}  // namespace sluice

// The two searches behind VictimFinder, and what they share: test, take, and add back.
//
// Private to core/preemption.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/model/removal.hpp"
#include "core/preemption/candidates.hpp"

namespace sluice {

/// What a search does to the model until it is destroyed: the victims taken so far are gone.
class SearchState {
 public:
  SearchState(Model& model, const VictimQuery& query)
      : model_(model), query_(query), removal_(model) {}

  /// Takes the candidate, and the workloads that must be evicted together with it.
  void take(const Candidate& candidate, VictimReason reason);
  bool taken(WorkloadId id) const { return model_.workloads[id].gone; }

  /// v ≤ available for every fr of the request, and without borrowing also usage + v ≤ nominal.
  bool fits(bool borrowing) const;

  /// Puts back, latest first, every victim but the last that the request does not need; `fits` is
  /// asked after each.
  template <typename Fits>
  std::vector<Victim> minimal(const Fits& fits_now) {
    std::vector<Victim> kept;  // latest step first
    std::size_t end = victims_.size();
    for (std::size_t i = steps_.size(); i-- > 0; end = steps_[i]) {
      const std::span step = std::span(victims_).subspan(steps_[i], end - steps_[i]);
      if (i + 1 < steps_.size()) {
        for (const Victim& v : step) removal_.put_back(v.id);
        if (fits_now()) continue;
        for (const Victim& v : step) removal_.remove(v.id);
      }
      kept.insert(kept.end(), step.rbegin(), step.rend());
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
  }

  void reset() {
    removal_.restore();
    victims_.clear();
    steps_.clear();
  }

 private:
  Model& model_;
  const VictimQuery& query_;
  Removal removal_;
  std::vector<Victim> victims_;     // in the order taken
  std::vector<std::size_t> steps_;  // where each candidate's victims begin: itself and its partners
};

std::vector<Victim> find_classical(Model& model, const hooks::Hooks& hooks,
                                   const VictimQuery& query);
std::vector<Victim> find_fair(Model& model, const hooks::Hooks& hooks,
                              const std::vector<FairStrategy>& strategies,
                              const VictimQuery& query);

}  // namespace sluice

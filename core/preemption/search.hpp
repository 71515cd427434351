// The two searches behind VictimFinder, and what they share: test, take, and add back.
//
// Private to core/preemption.
#pragma once

#include <vector>

#include "core/model/removal.hpp"
#include "core/preemption/candidates.hpp"

namespace sluice {

/// What a search does to the model until it is destroyed: the victims taken so far are gone.
class SearchState {
 public:
  SearchState(Model& model, const VictimQuery& query)
      : model_(model), query_(query), removal_(model) {}

  /// Takes the candidate, and who must be evicted together with it.
  void take(const Candidate& candidate, VictimReason reason);
  bool taken(WorkloadId id) const { return model_.workloads[id].gone; }

  /// v ≤ available for every fr of the request, and without borrowing also usage + v ≤ nominal.
  bool fits(bool borrowing) const;

  /// Puts back, latest first, every victim but the last that the request does not need; `fits` is
  /// asked after each.
  template <typename Fits>
  std::vector<Victim> minimal(const Fits& fits_now) {
    for (std::size_t i = steps_.size() - 1; i-- > 0;) {
      for (const Victim& v : steps_[i]) removal_.put_back(v.id);
      if (fits_now()) {
        steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        for (const Victim& v : steps_[i]) removal_.remove(v.id);
      }
    }
    std::vector<Victim> victims;
    for (const auto& step : steps_) victims.insert(victims.end(), step.begin(), step.end());
    return victims;
  }

  void reset() {
    removal_.restore();
    steps_.clear();
  }

 private:
  Model& model_;
  const VictimQuery& query_;
  Removal removal_;
  std::vector<std::vector<Victim>> steps_;  // one step per candidate taken
};

std::vector<Victim> find_classical(Model& model, const hooks::Hooks& hooks,
                                   const VictimQuery& query);
std::vector<Victim> find_fair(Model& model, const hooks::Hooks& hooks,
                              const std::vector<FairStrategy>& strategies,
                              const VictimQuery& query);

}  // namespace sluice

// Assignment: which flavors a workload would get, how well they serve it, and what is missing.
//
// The result of one walk over the flavors for one set of pod counts. Value type; clear() keeps the
// memory, so that one object serves many nominations without allocating.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "core/model/workload_record.hpp"
#include "core/queueing/grounds.hpp"
#include "core/reasons/reasons.hpp"

namespace sluice {

using hooks::Mode;

/// One resource of one pod set on the flavor that was chosen.
struct ResourceChoice {
  ResourceId resource = 0;
  FrId fr = kNone;
  Amount amount = 0;  ///< of this pod set
  Mode mode = Mode::kFit;
  int level = 0;
  std::uint32_t pod_set = 0;
};

struct Assignment {
  std::vector<std::int32_t> counts;     ///< pods per pod set
  std::vector<ResourceChoice> choices;  ///< of the pod sets before the one that failed, with NoFit
  std::vector<FrAmount> usage;          ///< summed over choices
  Mode mode = Mode::kFit;               ///< the worst of all resources
  int level = 0;                        ///< the highest of all resources
  std::vector<std::int16_t> positions;  ///< as ScanPosition::positions
  std::vector<FlavorReason> reasons;
  std::vector<Look> looks;     ///< the comparisons with what the queue may have, in order
  bool other_grounds = false;  ///< more than these decided: a filter of a plugin, or victims
  std::string fault;           ///< a hook did not answer: no nomination

  void clear() {
    counts.clear();
    choices.clear();
    usage.clear();
    mode = Mode::kFit;
    level = 0;
    positions.clear();
    reasons.clear();
    looks.clear();
    other_grounds = false;
    fault.clear();
  }

  /// The frs that do not fit as they are.
  std::vector<FrId> contested() const {
    std::vector<FrId> frs;
    for (const ResourceChoice& r : choices)
      if (r.mode != Mode::kFit && std::find(frs.begin(), frs.end(), r.fr) == frs.end())
        frs.push_back(r.fr);
    return frs;
  }
  bool scan_exhausted() const {
    return std::none_of(positions.begin(), positions.end(), [](std::int16_t p) { return p >= 0; });
  }
  Amount used(FrId fr) const {
    for (const FrAmount& u : usage)
      if (u.fr == fr) return u.amount;
    return 0;
  }
  void use(FrId fr, Amount amount) {
    for (FrAmount& u : usage) {
      if (u.fr != fr) continue;
      u.amount = add_saturating(u.amount, amount);
      return;
    }
    usage.push_back({fr, amount});
  }
};

}  // namespace sluice

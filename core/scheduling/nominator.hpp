// Nominator: what one head would get against the state as it stands (semantics 3.2 and 4).
//
// Assigns flavors, looks for victims, and tries smaller counts where partial admission allows it.
// Leaves the model as it was. Safe on many threads at once for heads of different roots.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/preemption/victims.hpp"
#include "core/scheduling/assignment.hpp"

namespace sluice {

struct Nomination {
  Assignment assignment;
  std::vector<Victim> victims;
  bool vetoed = false;  ///< a plugin forbids it to preempt
  std::string veto_reason;

  bool fits() const { return assignment.mode == Mode::kFit; }
  bool preempts() const { return !victims.empty(); }
};

class Nominator {
 public:
  Nominator(Model& model, const EngineConfig& config, const hooks::Hooks& hooks)
      : model_(model), config_(config), hooks_(hooks) {}

  /// Goes on from the scan position when that still holds.
  Nomination nominate(WorkloadId id, QueueId queue) const;

  /// Nominates again, on the flavors of the first nomination only, from the first flavor on.
  Nomination nominate_again(WorkloadId id, QueueId queue, const Assignment& first) const;

 private:
  struct Attempt;
  Nomination run(WorkloadId id, QueueId queue, const ScanPosition* resume,
                 const Assignment* only) const;
  bool position_holds(const WorkloadRecord& workload, const QueueRecord& queue,
                      std::string& fault) const;
  bool find_partial(Attempt& attempt, Nomination& best) const;

  Model& model_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
};

}  // namespace sluice

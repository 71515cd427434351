// Nominator: what one head would get against the state as it stands (semantics 3.2 and 4).
//
// Assigns flavors, looks for victims, and tries smaller counts where partial admission allows it.
// Leaves the model as it was. One object per thread; many threads for different roots.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/preemption/victims.hpp"
#include "core/scheduling/assignment.hpp"
#include "core/scheduling/flavor_assigner.hpp"

namespace sluice {

struct Nomination {
  Assignment assignment;
  std::vector<Victim> victims;
  /// It may not be nominated, or not with preemption: a plugin's veto, or an admitted sibling.
  bool vetoed = false;
  std::string veto_reason, vetoed_by;

  bool fits() const { return assignment.mode == Mode::kFit; }
  bool preempts() const { return !victims.empty(); }
};

class Nominator {
 public:
  Nominator(Model& model, const EngineConfig& config, const hooks::Hooks& hooks)
      : model_(model),
        hooks_(hooks),
        assigner_(model, config, hooks),
        finder_(model, config, hooks) {}

  /// Goes on from the scan position when that still holds. `out` is overwritten.
  void nominate(WorkloadId id, QueueId queue, Nomination& out);

  /// Nominates a workload that holds quota, with the pods that it got, as if it held nothing;
  /// `same_flavors`: on the flavors that it has only. REQUIRES: its holding does not count now.
  void nominate_holder(WorkloadId id, bool same_flavors, Nomination& out);

  /// Nominates again, on the flavors of the first nomination only, from the first flavor on.
  void nominate_again(WorkloadId id, QueueId queue, const Assignment& first, Nomination& out);

 private:
  void run(WorkloadId id, QueueId queue, const ScanPosition* resume, const Assignment* only,
           Nomination& out);
  hooks::VetoAnswer ask_veto(const WorkloadRecord& workload, QueueId queue) const;
  void attempt(WorkloadId id, QueueId queue, const AssignOptions& options, Nomination& out);
  bool position_holds(const WorkloadRecord& workload, const QueueRecord& queue,
                      std::string& fault) const;
  void refuse_unless_better(const WorkloadRecord& workload, QueueId queue, Nomination& out) const;
  bool find_partial(WorkloadId id, QueueId queue, const AssignOptions& options, Nomination& best);

  Model& model_;
  const hooks::Hooks& hooks_;
  FlavorAssigner assigner_;
  const VictimFinder finder_;
  std::vector<std::int32_t> counts_;
  Nomination tried_;
};

}  // namespace sluice

// FlavorAssigner: walks over the flavors of each resource group for each pod set (semantics 4).
//
// Reads the model as it stands and simulates preemptions on it, leaving it as it was. One object
// per nomination, on one thread; many threads for different roots.
#pragma once

#include <span>

#include "core/model/model.hpp"
#include "core/preemption/victims.hpp"
#include "core/scheduling/assignment.hpp"

namespace sluice {

struct AssignOptions {
  /// Where the walk goes on; nullptr: from the first flavors on.
  const ScanPosition* resume = nullptr;
  /// Only the flavors that this assignment chose, per pod set and group; nullptr: all.
  const Assignment* only = nullptr;
  /// A plugin forbids all preemption: nothing is simulated.
  bool may_preempt = true;
};

class FlavorAssigner {
 public:
  FlavorAssigner(Model& model, const EngineConfig& config, const hooks::Hooks& hooks,
                 WorkloadId workload, QueueId queue);

  /// `counts`: pods per pod set.
  Assignment assign(std::span<const std::int32_t> counts, const AssignOptions& options);

 private:
  struct Request {
    ResourceId resource;
    Amount total;  ///< over the pod sets that share flavors
  };
  /// The pod sets that share flavors, and what they ask of one resource group.
  struct Ask {
    std::vector<std::uint32_t> pod_sets;
    std::uint32_t group = 0;
    std::vector<Request> requests;
  };
  struct Tried {
    std::uint32_t flavor = 0;  ///< index in the group
    hooks::FlavorOutcome outcome;
    std::vector<ResourceChoice> resources;
  };

  bool assign_pod_sets(std::uint32_t leader, std::span<const std::int32_t> counts);
  bool split_requests(const std::vector<std::uint32_t>& pod_sets,
                      std::span<const std::int32_t> counts, std::vector<Ask>& asks);
  bool find_flavor(const Ask& ask, Tried& best, std::int16_t& position);
  bool passes_filters(const Ask& ask, std::uint32_t flavor);
  void ask_plugin_filters(const Ask& ask);
  Tried try_flavor(const Ask& ask, std::uint32_t flavor);
  ResourceChoice evaluate(const Ask& ask, FrId fr, const Request& request);
  bool preemption_may_help(FrId fr, Amount amount, bool reclaim_possible) const;
  void simulate(FrId fr, Amount amount, ResourceChoice& choice) const;
  bool better(const hooks::FlavorOutcome& a, const hooks::FlavorOutcome& b);
  hooks::SearchVerdict after_flavor(const Tried& tried, const Tried* best);
  std::uint32_t first_flavor(const Ask& ask) const;
  void take(const Ask& ask, const Tried& tried, std::span<const std::int32_t> counts,
            std::int16_t position);
  Amount request_of(std::uint32_t pod_set, ResourceId resource, std::int32_t count) const;
  void explain(FlavorReason reason, const Ask& ask);

  Model& model_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
  const WorkloadId id_;
  const QueueId queue_id_;
  const WorkloadRecord& workload_;
  const QueueRecord& queue_;
  VictimFinder finder_;
  AssignOptions options_;
  Assignment result_;
  std::vector<std::uint8_t> skipped_;  // by plugin filters, of the current ask
  std::vector<std::string> skip_reasons_;
};

}  // namespace sluice

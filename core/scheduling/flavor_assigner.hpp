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
  FlavorAssigner(Model& model, const EngineConfig& config, const hooks::Hooks& hooks)
      : model_(model), config_(config), hooks_(hooks), finder_(model, config, hooks) {}

  /// `counts`: pods per pod set. `out` is overwritten.
  void assign(WorkloadId workload, QueueId queue, std::span<const std::int32_t> counts,
              const AssignOptions& options, Assignment& out);

  struct Simulated {
    FrAmount request;
    std::vector<Victim> victims;
    VetoNote note;
  };
  /// What the last assign() found for exactly this one request; nullptr: it did not look.
  const Simulated* simulated_for(const FrAmount& request) const;

 private:
  struct Request {
    ResourceId resource;
    Amount total;  ///< over the pod sets that share flavors
  };
  /// What one flavor gave.
  struct Tried {
    hooks::FlavorOutcome outcome;
    std::vector<ResourceChoice> resources;
  };
  /// What the pod sets that share flavors ask of one resource group, and the best flavor so far.
  struct Ask {
    std::uint32_t group = 0;
    std::vector<Request> requests;
    Tried best;
    bool found = false;
    std::int16_t position = ScanPosition::kUnset;
  };

  bool assign_pod_sets(std::uint32_t leader);
  bool split_requests();
  bool add_request(ResourceId resource, Amount amount);
  Ask& ask_of(std::uint32_t group);
  bool find_flavor(Ask& ask);
  bool allowed_again(const Ask& ask, FlavorId flavor) const;
  bool passes_filters(const Ask& ask, std::uint32_t flavor);
  void ask_plugin_filters(const Ask& ask);
  void try_flavor(const Ask& ask, std::uint32_t flavor);
  ResourceChoice evaluate(const Ask& ask, FrId fr, const Request& request);
  bool preemption_may_help(FrId fr, Amount amount, bool reclaim_possible) const;
  void simulate(FrId fr, Amount amount, ResourceChoice& choice);
  bool better(const hooks::FlavorOutcome& a, const hooks::FlavorOutcome& b);
  hooks::SearchVerdict after_flavor(const Ask& ask);
  std::uint32_t first_flavor(const Ask& ask) const;
  void take(const Ask& ask);
  FlavorReason& explain(const Ask& ask, FlavorReason::Kind kind, FlavorId flavor);

  Model& model_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
  const VictimFinder finder_;

  // Of the running assign(); members keep their memory from one to the next.
  const WorkloadRecord* workload_ = nullptr;
  const QueueRecord* queue_ = nullptr;
  WorkloadId id_ = 0;
  AssignOptions options_;
  Assignment* result_ = nullptr;
  std::vector<std::uint32_t> members_;  // the pod sets that share flavors with the current one
  std::vector<Ask> asks_;
  std::size_t ask_count_ = 0;
  Tried tried_;
  std::vector<Simulated> simulated_;
  std::vector<std::uint8_t> skipped_;  // by plugin filters, of the current ask
  std::vector<std::string> skip_reasons_, skipped_by_;
  std::vector<hooks::FlavorFacts> facts_;
};

}  // namespace sluice

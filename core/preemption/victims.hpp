// Looking for victims: which workloads to evict so that a request fits (semantics 5 and 6).
//
// find() answers with the workloads to evict, or with none when no allowed set of victims makes
// room. The model is as before when it returns. Pure otherwise; callable from many threads for
// different roots.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "core/model/model.hpp"
#include "core/types/engine_config.hpp"

namespace sluice {

enum class VictimReason : std::uint8_t {
  kInClusterQueue,
  kInCohortReclamation,
  kInCohortReclaimWhileBorrowing,
  kInCohortFairSharing,
};

/// `InClusterQueue`, …: the reason of condition Preempted.
const char* to_string(VictimReason reason);
/// How messages put it: `prioritization in the ClusterQueue`, …
const char* describe(VictimReason reason);

struct Victim {
  WorkloadId id = 0;
  VictimReason reason = VictimReason::kInClusterQueue;
};

/// What plugins said about the candidates of a search.
struct VetoNote {
  bool hands_off = false;  ///< some candidate was protected
  std::string reason, by;
  hooks::Fault fault;  ///< the hook gave no valid answer: all were protected
};

struct VictimQuery {
  WorkloadId preemptor = 0;
  QueueId queue = 0;
  std::span<const FrAmount> request;  ///< all frs asked for; amounts of 0 are ignored
  std::span<const FrId> contested;    ///< those that do not fit
  VetoNote* note = nullptr;           ///< filled when not null
};

class VictimFinder {
 public:
  VictimFinder(Model& model, const EngineConfig& config, const hooks::Hooks& hooks)
      : model_(model), config_(config), hooks_(hooks) {}

  std::vector<Victim> find(const VictimQuery& query) const;

 private:
  Model& model_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
};

}  // namespace sluice

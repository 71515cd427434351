// RunTimes: how long jobs run, as far as that is known: what they say themselves (an annotation, a
// limit of their time), else what others of their queue took.
//
// Plain values once made; draw() changes only what it is given.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "host/simulate/simulated_jobs.hpp"

namespace sluice::host {

/// Where a run time comes from, the surest first.
enum class RunTimeSource : std::uint8_t {
  kSaid,     ///< the annotation sluice.dev/runtime: exactly so long
  kPast,     ///< what others of the same LocalQueue took
  kLimit,    ///< spec.maximumExecutionTimeSeconds: at most so long
  kUnknown,  ///< it may run for ever
};

/// What chance decides with, and whether it did.
struct Draws {
  std::mt19937_64 random;
  bool any = false;  ///< chance decided
};

/// How long workloads took that succeeded, by LocalQueue (`namespace/name`).
using PastRunTimes = std::map<std::string, std::vector<Duration>>;

class RunTimes {
 public:
  /// Looks at what has finished. O(workloads). `kept`: what is known beyond the objects that are
  /// there. `jobs` must outlive it.
  RunTimes(const Engine& engine, const SimulatedJobs& jobs, const PastRunTimes& kept);

  /// Of a workload that has run for so long.
  RunTimeSource source(const Engine& engine, WorkloadId id, Duration ran) const;
  /// How long it runs in all, at least `ran`: one of the times that are possible, each as likely as
  /// it was. nullopt: no end is known; a limit is kept by the engine.
  std::optional<Duration> draw(const Engine& engine, WorkloadId id, Duration ran,
                               Draws& draws) const;

 private:
  std::optional<Duration> said(const Engine& engine, WorkloadId id) const;
  /// Of those that took longer than `ran`; empty: too few are known.
  std::pair<std::size_t, const std::vector<Duration>*> longer(const Engine& engine, WorkloadId id,
                                                              Duration ran) const;

  const SimulatedJobs& jobs_;
  PastRunTimes past_;  // the shortest first
};

}  // namespace sluice::host

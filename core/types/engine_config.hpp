// EngineConfig: how an engine decides, as far as an operator chooses it.
//
// Plain values, fixed for the life of an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/resource_rules.hpp"

namespace sluice {

enum class FairStrategy : std::uint8_t { kLessThanOrEqualToFinalShare, kLessThanInitialShare };

struct RequeueConfig {
  bool by_eviction_time = true;  ///< else by creation time, after PodsReadyTimeout
  Duration backoff_base = 60 * kSecond;
  Duration backoff_max = 3600 * kSecond;
  std::optional<std::int32_t> backoff_limit;
};

struct EngineConfig {
  int threads = 0;  ///< 0: all cores
  bool fair_sharing = false;
  std::vector<FairStrategy> fair_strategies = {FairStrategy::kLessThanOrEqualToFinalShare,
                                               FairStrategy::kLessThanInitialShare};
  Duration progress_window = 300 * kSecond;  ///< semantics 8: earmarks and "no way back"
  bool ignore_undeclared_resources = false;
  ResourceRules resources;
  std::optional<Duration> pods_ready_timeout;  ///< absent: waitForPodsReady is off
  /// How long pods that were ready once may be missing; absent: for ever.
  std::optional<Duration> pods_recovery_timeout;
  /// No workload gets quota while pods of one that holds quota are not ready.
  bool block_admission = false;
  RequeueConfig requeue;
  /// Pods of jobs take their time to end: evicted, their workloads keep their quota until that is
  /// told (Engine::ended).
  bool jobs_end_later = false;
};

}  // namespace sluice

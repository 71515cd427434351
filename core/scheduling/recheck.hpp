// Recheck: a workload that holds quota is looked at again, against the state as it is now.
//
// Two reasons (mechanisms 4, KEP-993): its admission checks are all Ready and it is to be admitted;
// or the checks that kept its preemptions back let them go. Rechecks run before the heads of a
// cycle, in the order of their queue keys, each against what the ones before it took and evicted.
// Made by the engine, decided by the Cycle, committed by the engine; its thread only.
#pragma once

#include <cstdint>
#include <string>

#include "core/queueing/order_key.hpp"
#include "core/scheduling/nominator.hpp"

namespace sluice {

enum class RecheckStatus : std::uint8_t {
  kWaits,   ///< what it was promised still runs, or another of its group is admitted
  kPasses,  ///< its victims are evicted; then it is admitted if that is what it was looked at for
  kLost,    ///< its reservation ends
};

struct Recheck {
  WorkloadId id = 0;
  OrderKey key;
  bool admits = false;  ///< else only its preemptions are let go
  Nomination nomination;
  RecheckStatus status = RecheckStatus::kWaits;
  std::string why;  ///< kLost, where no flavor's reason says it
};

}  // namespace sluice

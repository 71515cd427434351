// Grounds: what a head was compared with when it was parked.
//
// From them the engine can tell, without looking at the head anew, that the answer would be the
// same (engine/waking.hpp). Value type.
#pragma once

#include <cstdint>
#include <vector>

#include "core/quota/flavor_resource.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

/// One comparison of a request with what its queue may have.
struct Look {
  FrId fr = kNone;
  Amount amount = 0;  ///< asked for, earlier pod sets included
  bool fits = false;
};

struct Grounds {
  static constexpr WorkloadId kNobody = static_cast<WorkloadId>(-1);

  WorkloadId of = kNobody;      ///< the workload that was looked at, for all its equals
  std::uint64_t epoch = 0;      ///< Model::epoch then
  std::uint64_t own_usage = 0;  ///< QueueRecord::own_usage then
  std::vector<Look> looks;
  bool steady = false;  ///< nothing but these comparisons, its queue and its rights decided
};

}  // namespace sluice

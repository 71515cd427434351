// Whether a Workload holds quota, as its status says to everybody: the question of those who act
// on what is stored, and not on what the engine decided last. Pure functions, any thread.
#pragma once

#include "host/objects/parts.hpp"

namespace sluice::host {

/// It was given some, and has not ended. `status`: its tree, or its conditions as texts.
template <typename Status>
bool holds_quota(const Status& status) {
  return has_condition(status, "QuotaReserved") && !has_condition(status, "Finished");
}

/// It ran and is being evicted: until nothing of it runs any more it keeps what it has.
template <typename Status>
bool is_ending(const Status& status) {
  return has_condition(status, "Evicted") && has_condition(status, "Admitted") &&
         !has_condition(status, "Finished");
}

}  // namespace sluice::host

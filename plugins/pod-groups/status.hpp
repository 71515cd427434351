// What a workload's status says of its pods: conditions, and pods that are not needed again.
//
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan.hpp"

namespace pods {

struct Condition {
  std::string type;
  bool value = false;
  std::string reason, message;
};

/// A patch of the object's status with the condition in its list of them. Times are nanoseconds
/// since 1970.
sluice::Json with_condition(const sluice::Json& object, const Condition& condition,
                            std::int64_t now);

/// A patch of the workload's status; empty: it says so already. `ready`: nullopt, nothing is said
/// of it.
sluice::Json status_of(const sluice::Json& workload, const Plan& plan, std::optional<bool> ready,
                       std::int64_t now);

}  // namespace pods

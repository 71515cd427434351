// What the command's answer means for the status of a ProvisioningRequest: pure functions, any
// thread. Conditions that others wrote stay as they are.
#pragma once

#include <sluice/cpp/json.hpp>

#include <cstdint>

#include "command.hpp"

namespace provisioning {

/// How the command's run changes the status of `request`.
struct StatusChange {
  sluice::Json status;                ///< to be merged into the object's status
  std::int64_t again_in_seconds = 0;  ///< 0: the command has said all; else it is run again
};
StatusChange status_of(const sluice::Json& request, const Command& command,
                       const CommandResult& result, std::int64_t now);

}  // namespace provisioning

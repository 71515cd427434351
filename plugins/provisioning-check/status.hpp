// What the command's answer means for the status of a ProvisioningRequest: pure functions, any
// thread. Conditions that others wrote stay as they are.
#pragma once

#include <sluice/cpp/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "command.hpp"

namespace provisioning {

/// RFC 3339 with seconds, UTC.
std::string time_text(std::int64_t ns);

/// `conditions` with this one in it; the transition time changes with the status only.
void set_condition(sluice::Json& conditions, std::string_view type, bool status,
                   std::string_view reason, std::string_view message, std::int64_t now);

/// How the command's run changes the status of `request`.
struct StatusChange {
  sluice::Json status;                ///< to be merged into the object's status
  std::int64_t again_in_seconds = 0;  ///< 0: the command has said all; else it is run again
};
StatusChange status_of(const sluice::Json& request, const Command& command,
                       const CommandResult& result, std::int64_t now);

}  // namespace provisioning

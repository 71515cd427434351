// The tables of host services that plugins find by id (sdk/include/sluice/svc/).
//
// Thin: each function turns C arguments into calls of HostSide. No exception leaves them.
#pragma once

#include "sluice/abi.h"

namespace sluice::host {

/// The table, or nullptr when there is no service of that id.
const void* find_service(const sluice_host_t* host, sluice_str_t id) noexcept;

}  // namespace sluice::host

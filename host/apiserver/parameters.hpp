// Parameters of a query, as values: what cannot be read is refused with the name, the value and
// what is allowed. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/apiserver/exchange.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// Booleans: absent, "0" and "false" are false, anything else is true.
bool flag(const Request& request, std::string_view parameter);

/// An integer of `least` (0 or 1) or more; absent or empty: nullopt.
ApiResult<std::optional<std::int64_t>> number_parameter(const Request& request,
                                                        std::string_view parameter,
                                                        std::int64_t least = 0);

/// 400: `PARAMETER: Invalid value: "VALUE": must be ALLOWED`.
ApiError wrong_parameter(std::string_view parameter, std::string_view value,
                         std::string_view allowed);

}  // namespace sluice::host

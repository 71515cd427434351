// The paths that are open to all: is it alive, is it ready, which version is it.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "host/apiserver/exchange.hpp"

namespace sluice::host {

/// /healthz, /livez, /readyz and /version, and what is below the first three.
bool is_open_path(std::string_view path);

/// The answer to such a path. `failure`: why requests cannot be served; empty: they can.
Reply open_reply(const Request& request, std::string_view failure);

}  // namespace sluice::host

// The paths that are open to all: is it alive, is it ready, which version is it.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/apiserver/exchange.hpp"
#include "host/base/pulse.hpp"

namespace sluice::host {

/// /healthz, /livez, /readyz and /version, and what is below the first three.
bool is_open_path(std::string_view path);

/// What the answer depends on.
struct HealthState {
  std::string failure;     ///< why requests cannot be served; empty: they can
  std::vector<Busy> busy;  ///< what has not come back for long
  LivenessLimits limits = {};
  bool known = false;  ///< the asker is known: details of the store and of workloads, too
};

/// The answer to such a path.
Reply open_reply(const Request& request, const HealthState& state);

}  // namespace sluice::host

// Readings of the remotes of plugins: whether they are connected, what they hold, what was written.
//
// Pure function, any thread.
#pragma once

#include <vector>

#include "host/metrics/metrics.hpp"
#include "host/remotes/remote.hpp"

namespace sluice::host {

/// Empty without a remote.
std::vector<Reading> remote_readings(const std::vector<RemoteHealth>& remotes);

}  // namespace sluice::host

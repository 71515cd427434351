// The moment from which a question about a Machine that lives forks: what it has decided by now,
// once all of that is published.
#pragma once

#include "host/serve/control_loop.hpp"
#include "host/whatif/fork.hpp"

namespace sluice::host {

/// Waits for a turn and for its end. `control` and `store`: of the machine. Any thread but the
/// kernel's.
Result<ForkMoment> live_moment(Machine& machine, ControlLoop& control, const LiveStore& store);

}  // namespace sluice::host

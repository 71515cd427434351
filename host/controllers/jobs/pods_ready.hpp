// The condition PodsReady of a workload, as its reasons tell the story: Started or WaitForStart,
// and once the pods were ready, WaitForRecovery and Recovered. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>

#include "core/base/time.hpp"

namespace sluice::host {

/// Says in a workload's status whether all of its pods are ready; false when it says so already.
bool set_pods_ready(boost::json::object& status, bool ready, Time now);

}  // namespace sluice::host

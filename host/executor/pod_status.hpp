// The status of a Pod, as its processes are: phase, conditions, containers. What the processes do
// not decide stays as it is. Pure, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "core/base/time.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {

/// The status that follows from `state`; what it does not decide (PodScheduled, quality of service,
/// start time) is kept from the pod.
boost::json::object pod_status(const boost::json::object& pod, const RunState& state, Time now);

/// Whether the pod has its node (Binder); one that only names a node waits for room there.
bool is_scheduled(const boost::json::object& status);

/// Sets a condition; the time of transition moves only when the status does. Whether it changed.
bool set_pod_condition(boost::json::object& status, std::string_view type, bool on,
                       std::string_view reason, std::string_view message, Time now);

}  // namespace sluice::host

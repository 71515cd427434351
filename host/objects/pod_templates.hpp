// What has to be done to a pod template before it is part of a Workload.
//
// Pure; any thread.
#pragma once

#include <boost/json/object.hpp>

namespace sluice::host {

/// Of variables and ports of a container that have one name the last one counts, as for the
/// container itself: an API server takes such a template in a job or a pod, with a warning, and
/// refuses it in a Workload, where the name tells entries apart. O(n log n).
void drop_doubles(boost::json::object& pod_template);

/// The same in all pod sets of a Workload.
void drop_doubles_in_pod_sets(boost::json::object& workload);

}  // namespace sluice::host

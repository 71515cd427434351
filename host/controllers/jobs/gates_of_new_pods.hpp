// GatesOfNewPods: which scheduling gates a job's new pods get, as the controllers that make pods
// ask for it (hook pod-gate/1, with the job's workloads around it; mechanisms 5). The
// PodGateController lifts them.
//
// Belongs to the kernel's thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/objects/object_access.hpp"

namespace sluice::host {

/// Names for spec.schedulingGates, beside those of the template. May be empty: there are none.
using GatesOfNewPods =
    std::function<std::vector<std::string>(const ObjectRef& job, const ObjectAccess& objects)>;

}  // namespace sluice::host

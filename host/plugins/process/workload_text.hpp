// A workload that a plugin sees by accessors, as the JSON of its object: what decides about it, in
// the fields of kueue.x-k8s.io/v1beta2. What the object holds beside that (images, commands) is not
// there: a container `pod` stands for what a pod of the set asks for.
//
// For notifications, which come without the object. Pure; any thread.
#pragma once

#include <string>

#include "sluice/workload.h"

namespace sluice::host {

/// REQUIRES: a workload of this host (workload_api.hpp).
std::string workload_text(const sluice_workload_ref_t& workload);

}  // namespace sluice::host

// A workload that a plugin sees by accessors, as the JSON of its object: what decides about it, in
// the fields of kueue.x-k8s.io/v1beta2. What the object holds beside that (images, commands) is not
// there: a container `pod` stands for what a pod of the set asks for.
//
// For notifications, which come without the object, and for plugins that ask for it. Pure; any
// thread.
#pragma once

#include <string>

#include "core/types/kinds.hpp"

namespace sluice::host {

std::string workload_text(const api::Workload& workload);

}  // namespace sluice::host

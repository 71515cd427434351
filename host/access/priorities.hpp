// Who may give a Workload which priority. A priority decides who is preempted for whom, so it is
// not for whoever may write the Workload to choose: it is that of a class, which an administrator
// made.
//
// Called by the code that carries out writes, with the object as it was and as it would be stored.
// Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "host/access/rbac_index.hpp"
#include "host/objects/api_error.hpp"
#include "host/objects/intake.hpp"

namespace sluice::host {

/// Why `who` may not give this Workload its priority; nullopt when it may, and for all other kinds.
/// Whoever may write it may leave the priority as it is, or make it at most that of its class, or 0
/// where it names none; more takes the verb `prioritize` on workloads. Plugins act for the system.
std::optional<ApiError> refuses_priority(const RbacIndex& index, const PriorityClasses& classes,
                                         const Identity& who, const api::KindInfo& kind,
                                         const boost::json::object* before,
                                         const boost::json::object& after);

}  // namespace sluice::host

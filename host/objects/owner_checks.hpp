// check_owners(): what a user may not do to the owner references of a workload.
//
// The owner of a workload decides when it ends, and stops when it loses its quota. So a user cannot
// make a Workload that an object of the host's own kinds controls, and takes no job or pod away
// from it while that is there: it would run on without quota. Kinds that the host does not know
// have controllers of their own. A pure function; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "api/schema/walk.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// What it is called on a cluster by which dependents lose the owner that leaves them behind
/// (`--cascade=orphan`): it is the one who may.
inline constexpr std::string_view kGarbageCollector =
    "system:serviceaccount:kube-system:generic-garbage-collector";

/// Of a user's write of metadata; `before` is nullptr: the object is new. `objects` tells which
/// owners are there. O(owners before × owners after), both bounded by the schema.
void check_owners(const ObjectReader& objects, const api::KindInfo& kind,
                  const boost::json::object* before, const boost::json::object& after,
                  std::vector<api::Problem>& problems);

}  // namespace sluice::host

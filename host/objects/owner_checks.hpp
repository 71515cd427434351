// check_owners(): what a user may not do to the owner references of workloads and pods.
//
// The owner of a workload decides when it ends, and stops when it loses its quota; a job counts the
// pods that it controls, and its quota is theirs. So a user makes neither a Workload nor a pod that
// a job controls, and takes no job (or pod of a group) away from a workload, and no job from a pod,
// while it is there: what runs would run on without quota. Nor does he give what a job controls a
// further owner, which would keep it when the job goes. Kinds that the host does not know have
// controllers of their own. A pure function; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "api/schema/walk.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// Of a write of metadata by `user`; `before` is nullptr: the object is new. `objects` tells which
/// owners are there. Controllers make pods, and a cluster's garbage collector takes owners away
/// from what they leave behind. O(owners before × owners after), both bounded by the schema.
void check_owners(const ObjectReader& objects, const api::KindInfo& kind, std::string_view user,
                  const boost::json::object* before, const boost::json::object& after,
                  std::vector<api::Problem>& problems);

}  // namespace sluice::host

// From what a cluster has of an object and what it should have, to the requests that make it so.
//
// Pure functions, any thread. Requests carry the version that they were made against, so that the
// API server refuses them (409) when somebody else has written meanwhile.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>

#include "host/kube/sender.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

/// What differs: labels, annotations, owners, finalizers and all but the status, …
boost::json::object main_patch(const StoredObject& before, const StoredObject& after);
/// … or the status.
boost::json::object status_patch(const StoredObject& before, const StoredObject& after);
/// Of such a patch what takes something away.
boost::json::object removals_in(const boost::json::object& patch);

/// Where the object is: in the version in which Sluice keeps its kind.
std::string path_of(const api::KindInfo& kind, std::string_view key);

/// `version`: that of the cluster's object which the patch was made against.
ClusterRequest patch_request(const StoredObject& base, std::uint64_t version,
                             boost::json::object patch, bool status);
/// Of a workload that is given quota: its status by server-side apply, under the name that Kueue
/// has for that, so that Kueue can take it away where the cluster is given back to it: what another
/// name owns stays. All of the status: what this name owned and is not in it would go. What another
/// name owns and goes (removals_in) has to be gone before.
ClusterRequest admission_request(const StoredObject& base, std::uint64_t version,
                                 const StoredObject& after);
ClusterRequest create_request(const StoredObject& object);
ClusterRequest delete_request(const StoredObject& base);
ClusterRequest read_request(const api::KindInfo& kind, std::string_view key);

}  // namespace sluice::host

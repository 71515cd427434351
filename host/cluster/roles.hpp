// Roles in a cluster: what its users may do with the kinds that are defined there, and what
// `sluice observe` and `sluice controller` may.
//
// Pure functions over a filled Scheme; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/config/config.hpp"
#include "host/kube/follower.hpp"
#include "host/plugins/declarations.hpp"

namespace sluice::host {

/// The ClusterRoles for users that a host of its own has, too, as far as something serves what they
/// are about, kinds of `scheme` and of the groups `also`; and for each of `defined` that has none
/// there, an editor and a viewer.
std::vector<boost::json::object> user_roles(const api::Scheme& scheme,
                                            const std::vector<const api::KindInfo*>& defined,
                                            const std::vector<std::string>& also);

/// The rules of a role that may follow exactly these kinds.
boost::json::array rules_to_follow(const std::vector<FollowedKind>& kinds);

/// What keeping objects for a while needs beside deciding: jobs go with their deactivated
/// workloads.
std::vector<ObjectRight> rights_to_retain(const RetentionConfig& config, const api::Scheme& scheme);

/// The rules of a role that may decide on these kinds, and write of them what `rights` say beside
/// that, those of plugins and of retention; and of one in the namespace of its Lease.
boost::json::array rules_to_decide(const std::vector<FollowedKind>& kinds,
                                   const std::vector<ObjectRight>& rights);
boost::json::array rules_to_lead();

/// What keeping a webhook needs more: to have these configurations, definitions and APIServices
/// trust it, and, in its namespace, a Secret of this name.
boost::json::array rules_to_be_trusted(const std::string& configuration,
                                       const std::vector<std::string>& definitions,
                                       const std::vector<std::string>& api_services);
boost::json::array rules_to_keep_keys(const std::string& secret);

/// A ClusterRole with these rules.
boost::json::object cluster_role(const std::string& name, boost::json::object labels,
                                 boost::json::array rules);

}  // namespace sluice::host

// The roles and bindings that exist from the first start on.
//
// Data (bootstrap.json), created at the start of a host where they are missing; administrators may
// change them. Pure function, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <vector>

namespace sluice::host {

/// ClusterRoles and ClusterRoleBindings in hub form: cluster-admin, admin, edit, view; system:… for
/// discovery and questions about oneself; kueue-batch-admin-role, kueue-batch-user-role and the
/// roles that these two are made of.
std::vector<boost::json::object> bootstrap_objects();

}  // namespace sluice::host

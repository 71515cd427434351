// Grants: which users may hand out which rights: none hands out more than it has.
//
// Called by the code that carries out writes, with the object as it would be stored. Pure functions
// of the index, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "host/access/rbac_index.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// Why `who` may not write this Role, ClusterRole, RoleBinding or ClusterRoleBinding (create or
/// change it to this form); nullopt when it may, and for all other kinds. It may when it holds all
/// the rights that the object gives, or has the verb `escalate` on the role or `bind` on the bound
/// role.
std::optional<ApiError> refuses_grant(const RbacIndex& index, const Identity& who,
                                      const api::KindInfo& kind, const boost::json::object& object);

}  // namespace sluice::host

// Owners: which object a reference to an owner means, for those who let dependents go with it.
// A pure function; any thread.
#pragma once

#include <string_view>

#include "host/objects/header.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// The owner, in the namespace `ns` of what names it or in none; no kind: there is no such kind. It
/// need not be there, and what is there may be its namesake: the UID tells.
ObjectRef owner_named(const api::Scheme& scheme, const OwnerReference& owner, std::string_view ns);

}  // namespace sluice::host

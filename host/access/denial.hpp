// The texts of refusals, in one place, because clients and users search for them. Pure functions,
// any thread.
#pragma once

#include <string>
#include <string_view>

#include "host/access/authorizer.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// `User "jane" cannot list resource "pods" in API group "" in the namespace "default"`.
std::string denial_text(const Identity& who, const AccessRequest& request);

/// 403 for a request that the Authorizer denied.
ApiError access_denied(const Identity& who, const AccessRequest& request,
                       std::string_view why = {});

/// 401: credentials are missing or wrong. Does not say which.
ApiError unauthorized();

}  // namespace sluice::host

// Whether somebody has a right in a cluster: the question to its API server (authorization.k8s.io),
// and what the answer says.
//
// Pure functions, any thread.
#pragma once

#include <optional>
#include <string>

#include "host/kube/sender.hpp"

namespace sluice::host {

struct AccessQuestion {
  std::string user = {};  ///< as API servers call it; empty: whoever asks
  std::string verb, group;
  std::string resource;  ///< PLURAL or PLURAL/SUBRESOURCE
  std::string ns = {};   ///< empty: anywhere
};

ClusterRequest access_request(const AccessQuestion& question);

/// nullopt: it says nothing of that.
std::optional<bool> access_told(const ClusterAnswer& answer);

}  // namespace sluice::host

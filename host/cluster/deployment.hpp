// Deployment: `sluice observe` as a pod of the cluster that it looks at, with a ServiceAccount that
// may do exactly that.
//
// Pure functions; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "host/kube/follower.hpp"

namespace sluice::host {

struct ObserverDeployment {
  std::string ns = "sluice-system";
  std::string image;
  std::string config;                ///< text of the configuration file; empty: the defaults
  std::vector<std::string> options;  ///< more arguments of `sluice observe`
};

/// Namespace, ServiceAccount, role and binding, ConfigMap if there is a configuration, Deployment,
/// Service: in the order in which they can be created.
std::vector<boost::json::object> observer_objects(const ObserverDeployment& deployment,
                                                  const std::vector<FollowedKind>& kinds);

}  // namespace sluice::host

// Whether an account of a cluster has the rights that a controller there needs.
//
// lacking() asks, a request for each verb on each resource, and changes nothing. Pure but for what
// `ask` does; one thread.
#pragma once

#include <boost/json/array.hpp>
#include <functional>
#include <string>
#include <vector>

#include "host/config/config.hpp"
#include "host/kube/sender.hpp"
#include "host/machine/rules.hpp"

namespace sluice::host {

using AskCluster = std::function<ClusterAnswer(ClusterRequest request)>;

/// Rules of roles: anywhere, and in the namespace of the controllers.
struct ControllerRights {
  boost::json::array anywhere, own;
};

/// What deciding with this configuration and these plugins needs, without what keeping webhooks
/// and serving the visibility API need more.
ControllerRights rights_to_decide(const Configuration& config, Rules& rules);

struct Lacking {
  std::vector<std::string> rights;  ///< "list, watch jobs.batch"; a line per resource
  std::string unseen;               ///< why it could not be asked; empty: it could
};

/// `ns` empty: anywhere. `user` as API servers call it: system:serviceaccount:NAMESPACE:NAME.
Lacking lacking(const boost::json::array& rules, const std::string& user, const std::string& ns,
                const AskCluster& ask);

}  // namespace sluice::host

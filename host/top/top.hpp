// Looking at queues and their workloads: once, or live on the terminal. What `sluice top` does.
//
// Both follow the cluster by lists and watches, read only, and block the calling (main) thread.
#pragma once

#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "host/client/kubeconfig.hpp"
#include "host/kube/follower.hpp"
#include "host/top/layout.hpp"

namespace sluice::host {

/// What is followed to know of queues and their workloads: of kinds that lie in namespaces only
/// `ns`, if it is not empty.
std::vector<FollowedKind> queue_kinds(const api::Scheme& scheme, const std::string& ns);

struct TopGlance {
  TopView view;
  Time now = 0;
  std::vector<std::string> missing;  ///< what may not be read or does not come
};

/// As it is now. An error when nothing can be read.
Result<TopGlance> glance(Kubeconfig config, const TopQuery& query);

/// Until the user has seen enough; the exit status. REQUIRES: Terminal::usable().
Result<int> look_on(Kubeconfig config, const TopQuery& query);

}  // namespace sluice::host

// Registrar: learns how the API servers of a cluster pass requests on, and, on the replica that
// decides, tells them where it is: by the EndpointSlice of a Service that selects no pods.
//
// One object names one replica, so that no request goes to one that does not know the order, and
// one write moves all of them. It has a thread of its own, on which the hooks are called. What goes
// wrong is logged once and tried again; what stands there already is not written. start() and
// stop() are for one thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/aggregation/front_proxy.hpp"
#include "host/base/lookout.hpp"
#include "host/base/trouble_log.hpp"
#include "host/kube/caller.hpp"

namespace sluice::host {

/// Where API servers reach a replica.
struct AdvertisedPlace {
  std::string ip;  ///< empty: they are not told
  std::uint16_t port = 0;
};

struct RegistrarHooks {
  std::function<Result<void>(const FrontProxy&)> trust;  ///< from now on
  std::function<bool()> decides;
  std::function<AdvertisedPlace()> place;
};

/// The slice that leads to this place; `present`: what stands there now, may be empty. nullopt: it
/// says so already.
std::optional<boost::json::object> slice_to(const AdvertisedPlace& place, const std::string& ns,
                                            const boost::json::object& present);

class Registrar {
 public:
  /// `ns`: of Service and slice.
  Registrar(LinkTarget target, const Kubeconfig& config, std::string ns, RegistrarHooks hooks);
  ~Registrar() { stop(); }

  void start();
  void stop();
  /// Something changed, such as which replica decides. Any thread.
  void look_now() { lookout_.look_now(); }

 private:
  Duration look();
  Result<void> learn();
  Result<void> publish();

  const std::string ns_;
  const RegistrarHooks hooks_;
  ClusterCaller caller_;
  std::optional<FrontProxy> known_;  // the thread's, as the next
  TroubleLog trouble_{"visibility"};
  Lookout lookout_;
};

}  // namespace sluice::host

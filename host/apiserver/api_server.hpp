// ApiServer: the Kubernetes API over one or more Listeners: authentication, authorization, routing,
// and then the verb.
//
//   ApiServer api(authenticator, limits);
//   auto listener = Listener::open(options, api.handler(), api.head_check());
//   api.attach({.scheme = &scheme, .store = &store, …});   // ready
//   …
//   api.detach();   // no thread uses the backend any more; another may be attached
//
// Belongs to the process: clients keep their connections while backends come and go. Without one,
// requests are answered 503 with Retry-After, which clients obey; /livez answers always. Must
// outlive the listeners. attach() and detach() are for one thread, no I/O thread; the rest for any.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "host/apiserver/backend.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/apiserver/health.hpp"

namespace sluice::host {

struct ApiCounters {
  std::size_t requests = 0;  ///< being carried out now
  std::size_t watches = 0;   ///< open now
};

class ApiServer {
 public:
  explicit ApiServer(const Authenticator& authenticator, ApiLimits limits = {});
  ~ApiServer();  ///< detach()

  /// What the health paths tell apart from the store. Before the listeners open.
  void set_liveness(std::function<HealthState()> liveness);

  Handler handler();
  HeadCheck head_check();

  /// REQUIRES: none is attached.
  void attach(ApiBackend backend);
  /// Of what is attached from now on. REQUIRES: none is attached.
  void set_limits(const ApiLimits& limits);
  /// Ends all watches and logs in order, waits for requests that run, and releases the backend. The
  /// backend must go on to carry out writes until then.
  void detach();

  ApiCounters counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host

// Seeing: what the process shows of itself: the metrics, their listener, and /metrics of the API.
//
// Belongs to the process; Worlds come and go. Counters go on over a reload; while there is no World
// its gauges are absent. listen(), enter(), leave() and stop() are for the main thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "host/apiserver/api_server.hpp"
#include "host/apiserver/listener.hpp"
#include "host/metrics/http.hpp"
#include "host/metrics/metrics.hpp"
#include "host/serve/world.hpp"

namespace sluice::host {

class Seeing {
 public:
  /// `api` must outlive it.
  explicit Seeing(ApiServer& api);

  HostMetrics& metrics() { return metrics_; }

  /// What a listener of the API gets: requests are counted, and GET /metrics is answered for whom
  /// RBAC allows that path.
  MeteredApi api();

  /// Plain HTTP without credentials: /metrics, /healthz, /livez, /readyz. The address is checked by
  /// the configuration: loopback.
  Result<void> listen(const std::string& address);
  /// Counted with the API's own: connections. Until stop().
  void watch(const Listener& listener);

  void enter(World& world);
  /// No request looks at the World any more, once it has stopped.
  void leave();
  void stop(std::int64_t grace_ms);

 private:
  void take(const std::function<void(std::vector<Reading>)>& done);
  std::vector<Reading> of_process();

  ApiServer& api_;
  HostMetrics metrics_;
  std::mutex mutex_;
  World* world_ = nullptr;                  // guarded by mutex_
  std::vector<const Listener*> listeners_;  // guarded by mutex_
  std::unique_ptr<Listener> listener_;
};

}  // namespace sluice::host

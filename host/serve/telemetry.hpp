// Telemetry: what the process shows of itself: the metrics, their listener, and /metrics of the
// API.
//
// Belongs to the process; Machines come and go. Counters go on over a reload; without a Machine the
// gauges of queues are absent. listen(), enter(), leave() and stop() are for one thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/apiserver/api_server.hpp"
#include "host/apiserver/listener.hpp"
#include "host/metrics/http.hpp"
#include "host/metrics/metrics.hpp"

namespace sluice::host {

class Telemetry {
 public:
  using Done = std::function<void(std::vector<Reading>)>;
  /// Has the gauges of the moment taken, on the thread that may, and handed to `done`.
  using Source = std::function<void(Done done)>;

  /// `api` must outlive it.
  explicit Telemetry(ApiServer& api);

  HostMetrics& metrics() { return metrics_; }

  /// What a listener of the API gets: requests are counted, and GET /metrics is answered for users
  /// that RBAC allows that path.
  MeteredApi api();

  /// Plain HTTP without credentials: /metrics, /healthz, /livez, /readyz. The address is checked by
  /// the configuration: loopback.
  Result<void> listen(const std::string& address);
  /// Counted with the API's own: connections. Until stop().
  void watch(const Listener& listener);

  void enter(Source source);
  /// The source is not called any more; what it was asked before it may still answer.
  void leave();
  void stop(std::int64_t grace_ms);

 private:
  void take(const Done& done);
  std::vector<Reading> of_process();

  ApiServer& api_;
  HostMetrics metrics_;
  std::mutex mutex_;
  Source source_;                           // guarded by mutex_
  std::vector<const Listener*> listeners_;  // guarded by mutex_
  std::unique_ptr<Listener> listener_;
};

}  // namespace sluice::host

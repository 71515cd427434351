// Requests of the API in metrics, and /metrics as an answer: what stands between a Listener and
// HostMetrics. Handlers are called on I/O threads.
#pragma once

#include <functional>
#include <vector>

#include "host/apiserver/exchange.hpp"
#include "host/metrics/metrics.hpp"

namespace sluice::host {

struct MeteredApi {
  Handler handler;
  HeadCheck check;
};

/// The two, with each request counted and timed when it is answered:
/// sluice_api_requests_total{verb,resource,code} and sluice_api_request_duration_seconds. Watches
/// and other streams count when they begin. What the check refused is in sluice_api_refused_total
/// alone. `metrics` must outlive both.
MeteredApi metered(Handler handler, HeadCheck check, HostMetrics& metrics);

/// Takes the readings of the moment, on whatever thread, and hands them on; may drop the request
/// when the host ends.
using TakeReadings = std::function<void(std::function<void(std::vector<Reading>)>)>;

/// GET /metrics; other paths go to `others`.
Handler metrics_handler(const HostMetrics& metrics, TakeReadings take, Handler others);

/// 404, with where to look.
Handler nothing_here();

/// The verb and resource of a request, as the labels show them: `list`, `workloads`.
std::pair<std::string, std::string> verb_and_resource(const Request& request);

}  // namespace sluice::host

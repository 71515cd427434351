// Requests of the API in metrics, and /metrics as an answer: what stands between a Listener and
// HostMetrics. Handlers are called on I/O threads.
#pragma once

#include <functional>
#include <vector>

#include "host/apiserver/exchange.hpp"
#include "host/metrics/metrics.hpp"

namespace sluice::host {

/// `inner`, with each request counted and timed when it is answered:
/// sluice_api_requests_total{verb,resource,code} and sluice_api_request_duration_seconds. `metrics`
/// must outlive it. Watches and other streams count when they begin.
Handler metered(Handler inner, HostMetrics& metrics);

/// Takes the readings of the moment, on whatever thread, and hands them on; may drop the request
/// when the host ends.
using TakeReadings = std::function<void(std::function<void(std::vector<Reading>)>)>;

/// GET /metrics. Everything else is 404.
Handler metrics_handler(const HostMetrics& metrics, TakeReadings take);

/// The verb and resource of a request, as the labels show them: `list`, `workloads`.
std::pair<std::string, std::string> verb_and_resource(const Request& request);

}  // namespace sluice::host

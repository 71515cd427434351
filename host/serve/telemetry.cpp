#include "host/serve/telemetry.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "host/apiserver/health.hpp"
#include "host/base/log.hpp"
#include "host/metrics/readings.hpp"

namespace sluice::host {
namespace {

double resident_bytes() {
  double pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%*s %lf", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

Reading by_listener(std::string name, std::string help, bool counter) {
  return {std::move(name), std::move(help), counter, {}};
}

}  // namespace

Telemetry::Telemetry(ApiServer& api) : api_(api) {}

MeteredApi Telemetry::api() {
  MeteredApi out = metered(api_.handler(), api_.head_check(), metrics_);
  out.handler = metrics_handler(
      metrics_, [this](const auto& done) { take(done); }, std::move(out.handler));
  return out;
}

Result<void> Telemetry::listen(const std::string& address) {
  if (address.empty()) return {};
  ListenerOptions options;
  options.name = "metrics";
  options.address = address;
  options.read_only = true;
  options.threads = 1;
  options.limits.connections = 64;
  const Handler open = [inner = api_.handler(),
                        none = nothing_here()](const std::shared_ptr<Exchange>& exchange) {
    (is_open_path(exchange->request().path) ? inner : none)(exchange);
  };
  auto listener =
      Listener::open(options, metrics_handler(
                                  metrics_, [this](const auto& done) { take(done); }, open));
  if (!listener) return listener.error().context("metrics.address");
  listener_ = std::move(*listener);
  watch(*listener_);
  log(LogLevel::kInfo, "metrics", "listening",
      {{"url", "http://" + listener_->address() + "/metrics"}});
  return {};
}

void Telemetry::watch(const Listener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(&listener);
}

void Telemetry::enter(Source source) {
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
}

void Telemetry::leave() { enter({}); }

void Telemetry::stop(std::int64_t grace_ms) {
  if (listener_) listener_->stop(grace_ms);
  const std::lock_guard lock(mutex_);
  listeners_.clear();
}

void Telemetry::take(const Done& done) {
  std::vector<Reading> process = of_process();
  {
    // Held while asking: a source that is asked here is there.
    const std::lock_guard lock(mutex_);
    if (source_)
      return source_([done, process = std::move(process)](std::vector<Reading> readings) mutable {
        for (Reading& each : process) readings.push_back(std::move(each));
        done(std::move(readings));
      });
  }
  done(std::move(process));
}

std::vector<Reading> Telemetry::of_process() {
  const ApiCounters api = api_.counters();
  std::vector<Reading> out{
      build_reading(),
      reading("sluice_api_requests_in_flight", "Requests that are being carried out",
              static_cast<double>(api.requests)),
      reading("sluice_api_watches", "Watches that are open", static_cast<double>(api.watches)),
      reading("process_resident_memory_bytes", "Memory of the process", resident_bytes())};
  Reading open = by_listener("sluice_connections", "Connections that are open", false);
  Reading accepted = by_listener("sluice_connections_total", "Connections that came", true);
  Reading refused = by_listener("sluice_connections_refused_total",
                                "Connections over the limit that were turned away", true);
  Reading slow = by_listener("sluice_connections_timed_out_total",
                             "Connections that were too slow in sending or taking", true);
  Reading http2 = by_listener("sluice_http2_connections", "Connections that speak HTTP/2", false);
  Reading streams =
      by_listener("sluice_http2_streams", "Requests on them that are not answered yet", false);
  Reading misbehaved =
      by_listener("sluice_http2_misbehaved_total",
                  "HTTP/2 connections that were ended for breaking a limit of the protocol", true);
  Reading given_up = by_listener("sluice_streams_given_up_total",
                                 "Watches and logs whose client fell too far behind", true);
  const std::lock_guard lock(mutex_);
  for (const Listener* listener : listeners_) {
    const ListenerCounters counters = listener->counters();
    const MetricLabels labels{{"listener", listener->name()}};
    open.samples.push_back({labels, static_cast<double>(counters.open_connections)});
    accepted.samples.push_back({labels, static_cast<double>(counters.accepted)});
    refused.samples.push_back({labels, static_cast<double>(counters.turned_away)});
    slow.samples.push_back({labels, static_cast<double>(counters.timed_out)});
    http2.samples.push_back({labels, static_cast<double>(counters.http2_connections)});
    streams.samples.push_back({labels, static_cast<double>(counters.http2_streams)});
    misbehaved.samples.push_back({labels, static_cast<double>(counters.misbehaved)});
    given_up.samples.push_back({labels, static_cast<double>(counters.given_up)});
  }
  for (Reading* each :
       {&open, &accepted, &refused, &slow, &http2, &streams, &misbehaved, &given_up})
    out.push_back(std::move(*each));
  return out;
}

}  // namespace sluice::host

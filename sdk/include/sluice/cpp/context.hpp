// Context: the host's services and the plugin's configuration, in C++ terms.
//
// A plugin class that wants it takes `const sluice::Context&` in its constructor and may keep a
// copy; it stays valid until the plugin object is destroyed. A service that the host does not have
// is simply silent (log, events), or says so (the functions that return bool).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/cpp/checks.hpp"
#include "sluice/cpp/json.hpp"
#include "sluice/cpp/objects.hpp"
#include "sluice/cpp/remotes.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/svc/clock.h"
#include "sluice/svc/events.h"
#include "sluice/svc/log.h"
#include "sluice/svc/metrics.h"
#include "sluice/svc/requeue.h"

namespace sluice {

/// Thrown by a constructor or activate(): the plugin is refused with this sentence.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A metric of the plugin's own, by number; add() and set() go through Context.
struct Metric {
  std::uint32_t number = 0;
};

class Context {
 public:
  Context(const sluice_host_t* host, Json config)
      : host_(host),
        config_(std::move(config)),
        log_(find<sluice_log_t>(SLUICE_SVC_LOG)),
        clock_(find<sluice_clock_t>(SLUICE_SVC_CLOCK)),
        metrics_(find<sluice_metrics_t>(SLUICE_SVC_METRICS)),
        events_(find<sluice_events_t>(SLUICE_SVC_EVENTS)),
        requeue_(find<sluice_requeue_t>(SLUICE_SVC_REQUEUE)),
        checks_(find<sluice_check_reporter_t>(SLUICE_SVC_CHECK_REPORTER)),
        objects_(find<sluice_objects_t>(SLUICE_SVC_OBJECTS)),
        state_(find<sluice_state_t>(SLUICE_SVC_STATE)),
        remotes_(find<sluice_remotes_t>(SLUICE_SVC_REMOTES)) {}

  /// Checked against the plugin's schema, defaults filled in.
  const Json& config() const { return config_; }
  const sluice_host_t* host() const { return host_; }

  void debug(std::string_view text) const { log(SLUICE_LOG_DEBUG, text); }
  void info(std::string_view text) const { log(SLUICE_LOG_INFO, text); }
  void warn(std::string_view text) const { log(SLUICE_LOG_WARNING, text); }
  void error(std::string_view text) const { log(SLUICE_LOG_ERROR, text); }

  /// ns since 1970 UTC, on the host's clock.
  std::int64_t now() const { return clock_ != nullptr ? clock_->now(host_) : 0; }
  /// The plugin's timer(number, now) is called at `at`. False: no clock, or no timer() in the
  /// class.
  bool set_timer(std::uint64_t number, std::int64_t at) const {
    return clock_ != nullptr && clock_->set_timer(host_, number, at) == SLUICE_OK;
  }
  void cancel_timer(std::uint64_t number) const {
    if (clock_ != nullptr) clock_->cancel_timer(host_, number);
  }

  /// In a simulation nothing outside is real: start no program, send nothing.
  bool simulated() const {
    return clock_ != nullptr && SLUICE_HAS(clock_, is_virtual) && clock_->is_virtual(host_) == 1;
  }

  /// The host's objects, and the plugin's own keys and values.
  Objects objects() const { return {host_, objects_}; }
  State state() const { return {host_, state_}; }
  /// The objects of other places.
  Remotes remotes() const { return {host_, remotes_}; }

  /// A parked workload (`namespace/name`) gets another turn.
  void requeue(std::string_view workload) const {
    if (requeue_ != nullptr) requeue_->requeue(host_, to_abi(workload));
  }
  void traits_changed(std::string_view workload) const {
    if (requeue_ != nullptr) requeue_->traits_changed(host_, to_abi(workload));
  }
  /// The key of a LocalQueue (`namespace/name`) is another one now.
  void order_changed(std::string_view local_queue) const {
    if (requeue_ != nullptr && SLUICE_HAS(requeue_, order_changed))
      requeue_->order_changed(host_, to_abi(local_queue));
  }
  /// Nothing runs any more of an evicted workload (`namespace/name`) that ends later.
  void ended(std::string_view workload) const {
    if (requeue_ != nullptr && SLUICE_HAS(requeue_, ended))
      requeue_->ended(host_, to_abi(workload));
  }

  /// What became of an attempt; on any thread. False: there is no such service, or the host refuses
  /// the report as invalid (and logs why; `refused` gets the sentence).
  bool report(const CheckAttempt& attempt, const CheckAnswer& answer,
              std::string* refused = nullptr) const {
    if (checks_ == nullptr) return false;
    const sluice_check_report_t raw{sizeof(sluice_check_report_t),
                                    answer.requeue_after_seconds.value_or(-1),
                                    attempt.attempt,
                                    to_abi(attempt.workload_namespace),
                                    to_abi(attempt.workload),
                                    to_abi(attempt.uid),
                                    to_abi(attempt.check),
                                    to_abi(answer.state_name()),
                                    to_abi(answer.preemption_required ? "PreemptionRequired" : ""),
                                    to_abi(answer.message),
                                    to_abi(answer.pod_set_updates)};
    std::string why;
    const sluice_sink_t sink = Sink::into(why);
    const bool taken = checks_->report(host_, &raw, &sink) == SLUICE_OK;
    if (!taken && refused != nullptr) *refused = std::move(why);
    return taken;
  }

  /// An event about a Workload.
  void event(bool warning, std::string_view ns, std::string_view workload, std::string_view reason,
             std::string_view message) const {
    event(warning,
          ObjectRef{"kueue.x-k8s.io/v1beta2", "Workload", std::string(ns), std::string(workload)},
          reason, message);
  }
  /// An event about any object.
  void event(bool warning, const ObjectRef& about, std::string_view reason,
             std::string_view message) const {
    if (events_ == nullptr) return;
    const sluice_event_t event{sizeof(sluice_event_t), warning ? 1 : 0,  to_abi(about.api_version),
                               to_abi(about.kind),     to_abi(about.ns), to_abi(about.name),
                               to_abi(reason),         to_abi(message)};
    events_->emit(host_, &event);
  }

  /// Throws Refused when the host refuses the name or the labels.
  Metric counter(std::string_view name, std::string_view help,
                 const std::vector<std::string_view>& labels = {}) const {
    return register_metric(SLUICE_METRIC_COUNTER, name, help, labels);
  }
  /// Exported under this very name, which others know already; see svc/metrics.h.
  Metric counter_in_full(std::string_view name, std::string_view help,
                         const std::vector<std::string_view>& labels = {}) const {
    return register_metric(SLUICE_METRIC_COUNTER | SLUICE_METRIC_NAMED_IN_FULL, name, help, labels);
  }
  Metric gauge(std::string_view name, std::string_view help,
               const std::vector<std::string_view>& labels = {}) const {
    return register_metric(SLUICE_METRIC_GAUGE, name, help, labels);
  }
  /// The same.
  Metric gauge_in_full(std::string_view name, std::string_view help,
                       const std::vector<std::string_view>& labels = {}) const {
    return register_metric(SLUICE_METRIC_GAUGE | SLUICE_METRIC_NAMED_IN_FULL, name, help, labels);
  }
  void add(Metric metric, std::int64_t delta, std::span<const std::string_view> values = {}) const {
    if (metrics_ == nullptr) return;
    const auto texts = to_abi_list(values);
    metrics_->add(host_, metric.number, texts.data(), static_cast<std::uint32_t>(texts.size()),
                  delta);
  }
  void set(Metric metric, std::int64_t value, std::span<const std::string_view> values = {}) const {
    if (metrics_ == nullptr) return;
    const auto texts = to_abi_list(values);
    metrics_->set(host_, metric.number, texts.data(), static_cast<std::uint32_t>(texts.size()),
                  value);
  }

 private:
  template <typename Table>
  const Table* find(std::string_view id) const {
    return static_cast<const Table*>(host_->service(host_, to_abi(id)));
  }
  void log(std::int32_t level, std::string_view text) const {
    if (log_ != nullptr) log_->write(host_, level, to_abi(text));
  }
  static std::vector<sluice_str_t> to_abi_list(std::span<const std::string_view> texts) {
    std::vector<sluice_str_t> out;
    for (const auto text : texts) out.push_back(to_abi(text));
    return out;
  }
  Metric register_metric(std::int32_t kind, std::string_view name, std::string_view help,
                         const std::vector<std::string_view>& labels) const {
    Metric metric;
    if (metrics_ == nullptr) return metric;
    const auto texts = to_abi_list(labels);
    const sluice_metric_spec_t spec{sizeof(sluice_metric_spec_t),
                                    kind,
                                    SLUICE_UNIT_NONE,
                                    static_cast<std::uint32_t>(texts.size()),
                                    to_abi(name),
                                    to_abi(help),
                                    texts.data()};
    if (metrics_->register_metric(host_, &spec, &metric.number) != SLUICE_OK)
      throw Refused("the host refuses the metric " + std::string(name));
    return metric;
  }

  const sluice_host_t* host_;
  Json config_;
  const sluice_log_t* log_;
  const sluice_clock_t* clock_;
  const sluice_metrics_t* metrics_;
  const sluice_events_t* events_;
  const sluice_requeue_t* requeue_;
  const sluice_check_reporter_t* checks_;
  const sluice_objects_t* objects_;
  const sluice_state_t* state_;
  const sluice_remotes_t* remotes_;
};

}  // namespace sluice

#include "host/plugins/services.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "host/plugins/check_service.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/object_service.hpp"
#include "host/plugins/remote_service.hpp"
#include "sluice/svc/clock.h"
#include "sluice/svc/config.h"
#include "sluice/svc/events.h"
#include "sluice/svc/log.h"
#include "sluice/svc/metrics.h"
#include "sluice/svc/requeue.h"

namespace sluice::host {

namespace {

void log_write(const sluice_host_t* host, std::int32_t level, sluice_str_t text) noexcept {
  HostSide::serve(host, 0, [&](const HostSide& side) {
    const bool known = level >= SLUICE_LOG_DEBUG && level <= SLUICE_LOG_ERROR;
    if (side.services().log)
      side.services().log(known ? level : SLUICE_LOG_INFO, side.plugin(),
                          shown_text(text, kLogBytes));
    return 0;
  });
}

std::int64_t clock_now(const sluice_host_t* host) noexcept {
  return HostSide::serve<std::int64_t>(
      host, 0, [](const HostSide& side) { return side.services().clock->now(); });
}

std::int32_t clock_set_timer(const sluice_host_t* host, std::uint64_t timer,
                             std::int64_t at) noexcept {
  return HostSide::serve<std::int32_t>(host, SLUICE_FAILED, [&](HostSide& side) {
    return side.set_timer(timer, at) ? SLUICE_OK : SLUICE_FAILED;
  });
}

std::int32_t clock_is_virtual(const sluice_host_t* host) noexcept {
  return HostSide::serve<std::int32_t>(
      host, 0, [](const HostSide& side) { return side.services().clock->is_virtual() ? 1 : 0; });
}

void clock_cancel_timer(const sluice_host_t* host, std::uint64_t timer) noexcept {
  HostSide::serve(host, 0, [&](HostSide& side) {
    side.cancel_timer(timer);
    return 0;
  });
}

const boost::json::value* config_at(const HostSide& side, sluice_str_t pointer) {
  boost::system::error_code error;
  return side.config().find_pointer(view_of(pointer), error);
}

std::int32_t config_get_string(const sluice_host_t* host, sluice_str_t pointer,
                               const sluice_sink_t* out) noexcept {
  return HostSide::serve<std::int32_t>(host, 0, [&](const HostSide& side) {
    const auto* value = config_at(side, pointer);
    if (value == nullptr || !value->is_string()) return 0;
    out->write(out->context, abi_of(value->get_string()));
    return 1;
  });
}

std::int32_t config_get_int(const sluice_host_t* host, sluice_str_t pointer,
                            std::int64_t* out) noexcept {
  return HostSide::serve<std::int32_t>(host, 0, [&](const HostSide& side) {
    const auto* value = config_at(side, pointer);
    if (value == nullptr || !value->is_int64()) return 0;
    *out = value->get_int64();
    return 1;
  });
}

std::int32_t config_get_bool(const sluice_host_t* host, sluice_str_t pointer,
                             std::int32_t* out) noexcept {
  return HostSide::serve<std::int32_t>(host, 0, [&](const HostSide& side) {
    const auto* value = config_at(side, pointer);
    if (value == nullptr || !value->is_bool()) return 0;
    *out = value->get_bool() ? 1 : 0;
    return 1;
  });
}

std::int32_t config_get_json(const sluice_host_t* host, sluice_str_t pointer,
                             const sluice_sink_t* out) noexcept {
  return HostSide::serve<std::int32_t>(host, 0, [&](const HostSide& side) {
    const auto* value = config_at(side, pointer);
    if (value == nullptr) return 0;
    out->write(out->context, abi_of(boost::json::serialize(*value)));
    return 1;
  });
}

/// Names of labels are judged again by the registry; their values are for people.
std::vector<std::string> texts_of(const sluice_str_t* texts, std::uint32_t count) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(shown_text(texts[i]));
  return all;
}

/// What is refused is told once, whatever the plugin goes on to do.
std::int32_t refuse_metric(const HostSide& side) {
  using Limits = MetricsRegistry;
  if (side.services().metrics->first_refusal(side.plugin()) && side.services().log)
    side.services().log(
        SLUICE_LOG_WARNING, side.plugin(),
        fmt::format("one of its metrics is refused: the name or the labels are wrong or another's, "
                    "or they are too many; allowed are {} metrics, {} labels, {} series of each, "
                    "{} bytes of a label's value and {} MiB of all series; told once",
                    Limits::kMaxMetricsPerPlugin, Limits::kMaxLabels, Limits::kMaxSeriesPerMetric,
                    Limits::kMaxValueBytes, Limits::kMaxBytesPerPlugin >> 20));
  return SLUICE_REFUSED;
}

std::int32_t metrics_register(const sluice_host_t* host, const sluice_metric_spec_t* spec,
                              std::uint32_t* metric) noexcept {
  return HostSide::serve<std::int32_t>(
      host, SLUICE_FAILED, [&](const HostSide& side) -> std::int32_t {
        if (!SLUICE_HAS(spec, labels)) return refuse_metric(side);
        const bool in_full = (spec->kind & SLUICE_METRIC_NAMED_IN_FULL) != 0;
        const std::int32_t kind = in_full ? spec->kind - SLUICE_METRIC_NAMED_IN_FULL : spec->kind;
        if (spec->label_count > MetricsRegistry::kMaxLabels ||
            (kind != SLUICE_METRIC_COUNTER && kind != SLUICE_METRIC_GAUGE) ||
            (spec->unit != SLUICE_UNIT_NONE && spec->unit != SLUICE_UNIT_NANOSECONDS))
          return refuse_metric(side);
        const auto number = side.services().metrics->add_metric(
            {kind == SLUICE_METRIC_GAUGE, spec->unit == SLUICE_UNIT_NANOSECONDS, side.plugin(),
             shown_text(spec->name), shown_text(spec->help),
             texts_of(spec->labels, spec->label_count), in_full});
        if (!number) return refuse_metric(side);
        *metric = *number;
        return SLUICE_OK;
      });
}

using ChangeMetric = bool (MetricsRegistry::*)(std::uint32_t, const std::string&,
                                               std::vector<std::string>, std::int64_t);

std::int32_t change_metric(ChangeMetric change, const sluice_host_t* host, std::uint32_t metric,
                           const sluice_str_t* values, std::uint32_t count,
                           std::int64_t amount) noexcept {
  return HostSide::serve<std::int32_t>(
      host, SLUICE_FAILED, [&](const HostSide& side) -> std::int32_t {
        if (count > MetricsRegistry::kMaxLabels) return refuse_metric(side);
        const bool done = (side.services().metrics->*change)(metric, side.plugin(),
                                                             texts_of(values, count), amount);
        return done ? SLUICE_OK : refuse_metric(side);
      });
}

std::int32_t metrics_add(const sluice_host_t* host, std::uint32_t metric,
                         const sluice_str_t* values, std::uint32_t count,
                         std::int64_t delta) noexcept {
  return change_metric(&MetricsRegistry::add, host, metric, values, count, delta);
}

std::int32_t metrics_set(const sluice_host_t* host, std::uint32_t metric,
                         const sluice_str_t* values, std::uint32_t count,
                         std::int64_t value) noexcept {
  return change_metric(&MetricsRegistry::set, host, metric, values, count, value);
}

void events_emit(const sluice_host_t* host, const sluice_event_t* event) noexcept {
  HostSide::serve(host, 0, [&](HostSide& side) {
    if (!SLUICE_HAS(event, message)) return 0;
    Nonsense nonsense;
    PluginEvent made{side.plugin(),
                     event->warning == 1,
                     name_of(event->api_version, "its apiVersion", nonsense),
                     name_of(event->kind, "its kind", nonsense),
                     name_of(event->namespace_of, "its namespace", nonsense),
                     name_of(event->name, "its name", nonsense),
                     shown_text(event->reason, 128),
                     shown_text(event->message)};
    if (nonsense && side.services().log)
      side.services().log(2, side.plugin(), "its event is dropped: " + nonsense.sentence());
    if (!nonsense) side.add_event(std::move(made));
    return 0;
  });
}

void request(const sluice_host_t* host, EngineRequest::Type type, sluice_str_t workload) noexcept {
  HostSide::serve(host, 0, [&](HostSide& side) {
    Nonsense nonsense;
    std::string key = required_name_of(workload, "the workload", nonsense);
    if (!nonsense) side.add_request({type, std::move(key), side.plugin()});
    return 0;
  });
}

void requeue_requeue(const sluice_host_t* host, sluice_str_t workload) noexcept {
  request(host, EngineRequest::Type::kRequeue, workload);
}

void requeue_traits_changed(const sluice_host_t* host, sluice_str_t workload) noexcept {
  request(host, EngineRequest::Type::kTraitsChanged, workload);
}

void requeue_order_changed(const sluice_host_t* host, sluice_str_t local_queue) noexcept {
  request(host, EngineRequest::Type::kOrderChanged, local_queue);
}

void requeue_ended(const sluice_host_t* host, sluice_str_t workload) noexcept {
  request(host, EngineRequest::Type::kEnded, workload);
}

constexpr sluice_log_t kLog{sizeof(sluice_log_t), 0, &log_write};
constexpr sluice_clock_t kClock{
    sizeof(sluice_clock_t), 0, &clock_now, &clock_set_timer, &clock_cancel_timer,
    &clock_is_virtual};
constexpr sluice_config_t kConfig{sizeof(sluice_config_t), 0,
                                  &config_get_string,      &config_get_int,
                                  &config_get_bool,        &config_get_json};
constexpr sluice_metrics_t kMetrics{sizeof(sluice_metrics_t), 0, &metrics_register, &metrics_add,
                                    &metrics_set};
constexpr sluice_events_t kEvents{sizeof(sluice_events_t), 0, &events_emit};
constexpr sluice_requeue_t kRequeue{sizeof(sluice_requeue_t), 0,
                                    &requeue_requeue,         &requeue_traits_changed,
                                    &requeue_order_changed,   &requeue_ended};

}  // namespace

const void* find_service(const sluice_host_t*, sluice_str_t id) noexcept {
  const std::string_view name = view_of(id);
  if (name == SLUICE_SVC_LOG) return &kLog;
  if (name == SLUICE_SVC_CLOCK) return &kClock;
  if (name == SLUICE_SVC_CONFIG) return &kConfig;
  if (name == SLUICE_SVC_METRICS) return &kMetrics;
  if (name == SLUICE_SVC_EVENTS) return &kEvents;
  if (name == SLUICE_SVC_REQUEUE) return &kRequeue;
  if (name == SLUICE_SVC_OBJECTS) return &objects_service();
  if (name == SLUICE_SVC_STATE) return &state_service();
  if (name == SLUICE_SVC_REMOTES) return &remotes_service();
  if (name == SLUICE_SVC_CHECK_REPORTER) return &check_reporter_service();
  return nullptr;
}

}  // namespace sluice::host

#include "host/plugins/services.hpp"

#include <boost/json.hpp>
#include <exception>
#include <string>
#include <vector>

#include "host/plugins/check_service.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/object_service.hpp"
#include "sluice/svc/clock.h"
#include "sluice/svc/config.h"
#include "sluice/svc/events.h"
#include "sluice/svc/log.h"
#include "sluice/svc/metrics.h"
#include "sluice/svc/requeue.h"

namespace sluice::host {

namespace {

/// Runs fn; when it throws (out of memory), answers `otherwise`.
template <typename T, typename Fn>
T contained(T otherwise, Fn&& fn) noexcept {
  try {
    return fn();
  } catch (const std::exception&) {
    return otherwise;
  }
}

void log_write(const sluice_host_t* host, std::int32_t level, sluice_str_t text) noexcept {
  contained(0, [&] {
    const HostSide& side = HostSide::of(host);
    const bool known = level >= SLUICE_LOG_DEBUG && level <= SLUICE_LOG_ERROR;
    if (side.services().log)
      side.services().log(known ? level : SLUICE_LOG_INFO, side.plugin(), view_of(text));
    return 0;
  });
}

std::int64_t clock_now(const sluice_host_t* host) noexcept {
  return HostSide::of(host).services().clock->now();
}

std::int32_t clock_set_timer(const sluice_host_t* host, std::uint64_t timer,
                             std::int64_t at) noexcept {
  return contained<std::int32_t>(SLUICE_FAILED, [&] {
    return HostSide::of(host).set_timer(timer, at) ? SLUICE_OK : SLUICE_FAILED;
  });
}

std::int32_t clock_is_virtual(const sluice_host_t* host) noexcept {
  return HostSide::of(host).services().clock->is_virtual() ? 1 : 0;
}

void clock_cancel_timer(const sluice_host_t* host, std::uint64_t timer) noexcept {
  HostSide::of(host).cancel_timer(timer);
}

const boost::json::value* config_at(const sluice_host_t* host, sluice_str_t pointer) {
  boost::system::error_code error;
  return HostSide::of(host).config().find_pointer(view_of(pointer), error);
}

std::int32_t config_get_string(const sluice_host_t* host, sluice_str_t pointer,
                               const sluice_sink_t* out) noexcept {
  return contained<std::int32_t>(0, [&] {
    const auto* value = config_at(host, pointer);
    if (value == nullptr || !value->is_string()) return 0;
    out->write(out->context, abi_of(value->get_string()));
    return 1;
  });
}

std::int32_t config_get_int(const sluice_host_t* host, sluice_str_t pointer,
                            std::int64_t* out) noexcept {
  return contained<std::int32_t>(0, [&] {
    const auto* value = config_at(host, pointer);
    if (value == nullptr || !value->is_int64()) return 0;
    *out = value->get_int64();
    return 1;
  });
}

std::int32_t config_get_bool(const sluice_host_t* host, sluice_str_t pointer,
                             std::int32_t* out) noexcept {
  return contained<std::int32_t>(0, [&] {
    const auto* value = config_at(host, pointer);
    if (value == nullptr || !value->is_bool()) return 0;
    *out = value->get_bool() ? 1 : 0;
    return 1;
  });
}

std::int32_t config_get_json(const sluice_host_t* host, sluice_str_t pointer,
                             const sluice_sink_t* out) noexcept {
  return contained<std::int32_t>(0, [&] {
    const auto* value = config_at(host, pointer);
    if (value == nullptr) return 0;
    out->write(out->context, abi_of(boost::json::serialize(*value)));
    return 1;
  });
}

std::vector<std::string> texts_of(const sluice_str_t* texts, std::uint32_t count) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(text_of(texts[i]));
  return all;
}

std::int32_t metrics_register(const sluice_host_t* host, const sluice_metric_spec_t* spec,
                              std::uint32_t* metric) noexcept {
  return contained<std::int32_t>(SLUICE_FAILED, [&] {
    const HostSide& side = HostSide::of(host);
    if (!SLUICE_HAS(spec, labels) || spec->label_count > MetricsRegistry::kMaxLabels ||
        (spec->kind != SLUICE_METRIC_COUNTER && spec->kind != SLUICE_METRIC_GAUGE) ||
        (spec->unit != SLUICE_UNIT_NONE && spec->unit != SLUICE_UNIT_NANOSECONDS))
      return SLUICE_REFUSED;
    const auto number = side.services().metrics->add_metric(
        {spec->kind == SLUICE_METRIC_GAUGE, spec->unit == SLUICE_UNIT_NANOSECONDS, side.plugin(),
         text_of(spec->name), text_of(spec->help), texts_of(spec->labels, spec->label_count)});
    if (!number) return SLUICE_REFUSED;
    *metric = *number;
    return SLUICE_OK;
  });
}

std::int32_t metrics_add(const sluice_host_t* host, std::uint32_t metric,
                         const sluice_str_t* values, std::uint32_t count,
                         std::int64_t delta) noexcept {
  return contained<std::int32_t>(SLUICE_FAILED, [&] {
    const HostSide& side = HostSide::of(host);
    if (count > MetricsRegistry::kMaxLabels) return SLUICE_REFUSED;
    const bool done =
        side.services().metrics->add(metric, side.plugin(), texts_of(values, count), delta);
    return done ? SLUICE_OK : SLUICE_REFUSED;
  });
}

std::int32_t metrics_set(const sluice_host_t* host, std::uint32_t metric,
                         const sluice_str_t* values, std::uint32_t count,
                         std::int64_t value) noexcept {
  return contained<std::int32_t>(SLUICE_FAILED, [&] {
    const HostSide& side = HostSide::of(host);
    if (count > MetricsRegistry::kMaxLabels) return SLUICE_REFUSED;
    const bool done =
        side.services().metrics->set(metric, side.plugin(), texts_of(values, count), value);
    return done ? SLUICE_OK : SLUICE_REFUSED;
  });
}

void events_emit(const sluice_host_t* host, const sluice_event_t* event) noexcept {
  contained(0, [&] {
    HostSide& side = HostSide::of(host);
    if (!SLUICE_HAS(event, message)) return 0;
    side.add_event({side.plugin(), event->warning == 1, text_of(event->api_version),
                    text_of(event->kind), text_of(event->namespace_of), text_of(event->name),
                    text_of(event->reason), text_of(event->message)});
    return 0;
  });
}

void request(const sluice_host_t* host, EngineRequest::Type type, sluice_str_t workload) noexcept {
  contained(0, [&] {
    HostSide::of(host).add_request({type, text_of(workload)});
    return 0;
  });
}

void requeue_requeue(const sluice_host_t* host, sluice_str_t workload) noexcept {
  request(host, EngineRequest::Type::kRequeue, workload);
}

void requeue_traits_changed(const sluice_host_t* host, sluice_str_t workload) noexcept {
  request(host, EngineRequest::Type::kTraitsChanged, workload);
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
constexpr sluice_requeue_t kRequeue{sizeof(sluice_requeue_t), 0, &requeue_requeue,
                                    &requeue_traits_changed};

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
  if (name == SLUICE_SVC_CHECK_REPORTER) return &check_reporter_service();
  return nullptr;
}

}  // namespace sluice::host

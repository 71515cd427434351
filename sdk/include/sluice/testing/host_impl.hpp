// The services of FakeHost (host.hpp): the C tables that a plugin finds.
//
// Included by host.hpp only.
#pragma once

#include <algorithm>

#include "sluice/testing/host.hpp"

namespace sluice::testing {

namespace detail {

/// The value at a JSON pointer, or nullptr.
inline const Json* at_pointer(const Json& document, std::string_view pointer) {
  const Json* at = &document;
  while (!pointer.empty() && at != nullptr) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::string_view escaped = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(escaped.size());
    std::string token;
    for (std::size_t i = 0; i < escaped.size(); ++i) {
      const bool escape = escaped[i] == '~' && i + 1 < escaped.size();
      token += escape ? (escaped[++i] == '1' ? '/' : '~') : escaped[i];
    }
    const Json* next = nullptr;
    if (at->is_object()) {
      for (const auto& [key, value] : at->members())
        if (key == token) next = &value;
    } else if (at->is_array()) {
      std::size_t i = 0;
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), i);
      if (error == std::errc() && end == token.data() + token.size() && i < at->size())
        next = &at->items()[i];
    }
    at = next;
  }
  return at;
}

/// Fills in what the schema names as default, in objects that are there or have a default.
inline void fill_defaults(Json& value, const Json& schema) {
  const Json* properties = schema.find("properties");
  if (properties == nullptr || !value.is_object()) return;
  for (const auto& member : properties->members()) {
    const std::string& key = member.first;
    const Json& property = member.second;
    const auto has = std::any_of(value.members().begin(), value.members().end(),
                                 [&](const Json::Member& held) { return held.first == key; });
    if (!has) {
      const Json* otherwise = property.find("default");
      if (otherwise == nullptr) continue;
      value[key] = *otherwise;
    }
    fill_defaults(value[key], property);
  }
}

inline std::vector<std::string> texts_of(const sluice_str_t* texts, std::uint32_t count) {
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < count; ++i) out.emplace_back(to_view(texts[i]));
  return out;
}

}  // namespace detail

/// The functions behind the tables. Nothing throws: a test that runs out of memory ends anyway.
struct FakeServices {
  using Host = const sluice_host_t*;
  using Out = const sluice_sink_t*;

  static void log(Host host, std::int32_t level, sluice_str_t text) noexcept {
    FakeHost& self = FakeHost::of(host);
    const bool known = level >= SLUICE_LOG_DEBUG && level <= SLUICE_LOG_ERROR;
    self.change([&] {
      self.log_.push_back({known ? level : SLUICE_LOG_INFO, std::string(to_view(text))});
    });
  }

  static std::int64_t now(Host host) noexcept { return FakeHost::of(host).now(); }
  static std::int32_t set_timer(Host host, std::uint64_t timer, std::int64_t at) noexcept {
    FakeHost& self = FakeHost::of(host);
    if (!self.timers_allowed_) return SLUICE_FAILED;
    self.change([&] { self.timers_[timer] = at; });
    return SLUICE_OK;
  }
  static void cancel_timer(Host host, std::uint64_t timer) noexcept {
    FakeHost& self = FakeHost::of(host);
    self.change([&] { self.timers_.erase(timer); });
  }

  static const Json* config_at(Host host, sluice_str_t pointer) {
    return detail::at_pointer(FakeHost::of(host).config_, to_view(pointer));
  }
  static std::int32_t get_string(Host host, sluice_str_t pointer, Out out) noexcept {
    const Json* value = config_at(host, pointer);
    if (value == nullptr || !value->is_string()) return 0;
    Sink(out).write(value->as_string());
    return 1;
  }
  static std::int32_t get_int(Host host, sluice_str_t pointer, std::int64_t* out) noexcept {
    const Json* value = config_at(host, pointer);
    if (value == nullptr || !value->as_int()) return 0;
    *out = *value->as_int();
    return 1;
  }
  static std::int32_t get_bool(Host host, sluice_str_t pointer, std::int32_t* out) noexcept {
    const Json* value = config_at(host, pointer);
    if (value == nullptr || value->type() != Json::Type::kBool) return 0;
    *out = value->bool_or("", false) ? 1 : 0;
    return 1;
  }
  static std::int32_t get_json(Host host, sluice_str_t pointer, Out out) noexcept {
    const Json* value = config_at(host, pointer);
    if (value == nullptr) return 0;
    Sink(out).write(value->dump());
    return 1;
  }

  static std::int32_t register_metric(Host host, const sluice_metric_spec_t* spec,
                                      std::uint32_t* metric) noexcept {
    return FakeHost::of(host).register_metric(*spec, *metric);
  }
  static std::int32_t add(Host host, std::uint32_t metric, const sluice_str_t* values,
                          std::uint32_t count, std::int64_t delta) noexcept {
    return FakeHost::of(host).write_metric(metric, values, count, delta, true);
  }
  static std::int32_t set(Host host, std::uint32_t metric, const sluice_str_t* values,
                          std::uint32_t count, std::int64_t value) noexcept {
    return FakeHost::of(host).write_metric(metric, values, count, value, false);
  }

  static void emit(Host host, const sluice_event_t* event) noexcept {
    FakeHost& self = FakeHost::of(host);
    const auto text = [](sluice_str_t raw) { return std::string(to_view(raw)); };
    self.change([&] {
      self.events_.push_back({event->warning == 1, text(event->api_version), text(event->kind),
                              text(event->namespace_of), text(event->name), text(event->reason),
                              text(event->message)});
    });
  }

  static void requeue(Host host, sluice_str_t workload) noexcept {
    FakeHost& self = FakeHost::of(host);
    self.change([&] { self.requeued_.emplace_back(to_view(workload)); });
  }
  static void traits_changed(Host host, sluice_str_t workload) noexcept {
    FakeHost& self = FakeHost::of(host);
    self.change([&] { self.traits_changed_.emplace_back(to_view(workload)); });
  }

  static sluice_clock_t clock_table() {
    sluice_clock_t table{};
    table.size = offsetof(sluice_clock_t, cancel_timer) + sizeof(table.cancel_timer);
    table.now = &now;
    table.set_timer = &set_timer;
    table.cancel_timer = &cancel_timer;
    return table;
  }

  static const void* find(Host host, sluice_str_t raw_id) noexcept {
    static const sluice_log_t kLog{sizeof(kLog), 0, &log};
    static const sluice_clock_t kClock = clock_table();
    static const sluice_config_t kConfig{sizeof(kConfig), 0,         &get_string,
                                         &get_int,        &get_bool, &get_json};
    static const sluice_metrics_t kMetrics{sizeof(kMetrics), 0, &register_metric, &add, &set};
    static const sluice_events_t kEvents{sizeof(kEvents), 0, &emit};
    static const sluice_requeue_t kRequeue{sizeof(kRequeue), 0, &requeue, &traits_changed};
    static const std::map<std::string_view, const void*> tables = {
        {SLUICE_SVC_LOG, &kLog},       {SLUICE_SVC_CLOCK, &kClock},
        {SLUICE_SVC_CONFIG, &kConfig}, {SLUICE_SVC_METRICS, &kMetrics},
        {SLUICE_SVC_EVENTS, &kEvents}, {SLUICE_SVC_REQUEUE, &kRequeue}};
    const FakeHost& self = FakeHost::of(host);
    const std::lock_guard lock(self.mutex_);
    const auto it = tables.find(to_view(raw_id));
    return it == tables.end() || self.absent_.contains(it->first) ? nullptr : it->second;
  }

  static void report_fault(Host, sluice_str_t text) noexcept { FakeHost::fault() = to_view(text); }
};

inline FakeHost::FakeHost(std::int64_t now) : now_(now) {
  table_ = {sizeof(sluice_host_t),
            SLUICE_ABI_MAJOR,
            SLUICE_ABI_MINOR,
            0,
            reinterpret_cast<sluice_host_handle_t*>(this),
            to_abi("fake"),
            &FakeServices::find,
            &FakeServices::report_fault};
}

inline bool FakeHost::take_timer(std::int64_t until, std::uint64_t& number) {
  const std::lock_guard lock(mutex_);
  auto first = timers_.end();
  for (auto it = timers_.begin(); it != timers_.end(); ++it)
    if (it->second <= until && (first == timers_.end() || it->second < first->second)) first = it;
  if (first == timers_.end()) return false;
  number = first->first;
  now_ = std::max(now_, first->second);
  timers_.erase(first);
  return true;
}

inline std::int64_t FakeHost::metric(std::string_view name,
                                     const std::vector<std::string>& labels) const {
  const std::lock_guard lock(mutex_);
  for (const Metric& metric : metrics_) {
    if (metric.name != name) continue;
    const auto it = metric.values.find(labels);
    return it == metric.values.end() ? 0 : it->second;
  }
  return 0;
}

inline std::int32_t FakeHost::register_metric(const sluice_metric_spec_t& spec,
                                              std::uint32_t& number) {
  const std::lock_guard lock(mutex_);
  const Metric wanted{spec.kind,
                      spec.unit,
                      std::string(to_view(spec.name)),
                      detail::texts_of(spec.labels, spec.label_count),
                      {}};
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (wanted.name.empty() || !std::all_of(wanted.name.begin(), wanted.name.end(), is_fine) ||
      spec.label_count > 8)
    return SLUICE_REFUSED;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& known = metrics_[i];
    if (known.name != wanted.name) continue;
    number = static_cast<std::uint32_t>(i);
    const bool same =
        known.kind == wanted.kind && known.unit == wanted.unit && known.labels == wanted.labels;
    return same ? SLUICE_OK : SLUICE_REFUSED;
  }
  number = static_cast<std::uint32_t>(metrics_.size());
  metrics_.push_back(wanted);
  return SLUICE_OK;
}

inline std::int32_t FakeHost::write_metric(std::uint32_t number, const sluice_str_t* values,
                                           std::uint32_t count, std::int64_t value, bool add) {
  std::int32_t code = SLUICE_REFUSED;
  change([&] {
    if (number >= metrics_.size()) return;
    Metric& metric = metrics_[number];
    const bool counter = metric.kind == SLUICE_METRIC_COUNTER;
    if (metric.labels.size() != count || (counter && (!add || value < 0))) return;
    std::int64_t& held = metric.values[detail::texts_of(values, count)];
    held = add ? held + value : value;
    code = SLUICE_OK;
  });
  return code;
}

}  // namespace sluice::testing

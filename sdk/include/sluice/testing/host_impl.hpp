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

  static std::int32_t is_virtual(Host host) noexcept { return FakeHost::of(host).simulated_; }

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
  static void order_changed(Host host, sluice_str_t local_queue) noexcept {
    FakeHost& self = FakeHost::of(host);
    self.change([&] { self.order_changed_.emplace_back(to_view(local_queue)); });
  }
  static void ended(Host host, sluice_str_t workload) noexcept {
    FakeHost& self = FakeHost::of(host);
    self.change([&] { self.ended_.emplace_back(to_view(workload)); });
  }

  static std::int32_t report(Host host, const sluice_check_report_t* raw, Out error) noexcept;
  static const sluice_remotes_t* remotes_table();
  static FakeRemotes& remotes_of(Host host) { return FakeHost::of(host).remotes_; }

  // objects and state: only inside a call, on its thread

  static FakeObjects* objects_of(Host host, Out error) {
    FakeHost& self = FakeHost::of(host);
    if (self.calling_ == std::this_thread::get_id()) return &self.objects_;
    Sink(error).write("objects can be used inside a call of the plugin only, on its thread");
    return nullptr;
  }
  static std::int32_t answer(std::int32_t code, const std::string& text, Out out, Out error) {
    Sink(code == SLUICE_OBJECTS_OK ? out : error).write(text);
    return code;
  }
  /// fn(objects, text) → code; a text that is no JSON is INVALID.
  template <typename Fn>
  static std::int32_t with_objects(Host host, Out out, Out error, Fn fn) noexcept {
    FakeObjects* objects = objects_of(host, error);
    if (objects == nullptr) return SLUICE_OBJECTS_NOT_NOW;
    std::string text;
    try {
      const std::int32_t code = fn(*objects, text);
      return answer(code, text, out, error);
    } catch (const JsonError& e) {
      return answer(SLUICE_OBJECTS_INVALID, e.what(), out, error);
    }
  }
  /// The same for what changes something.
  template <typename Fn>
  static std::int32_t with_writes(Host host, Out out, Out error, Fn fn) noexcept {
    if (FakeHost::of(host).may_write_) return with_objects(host, out, error, fn);
    Sink(error).write("objects can be read here, not written");
    return SLUICE_OBJECTS_NOT_NOW;
  }
  static std::int32_t get_object(Host host, const sluice_object_ref_t* ref, Out out,
                                 Out error) noexcept {
    return with_objects(host, out, error, [&](FakeObjects& objects, std::string& text) {
      const Json* found =
          objects.find(to_view(ref->kind), to_view(ref->namespace_of), to_view(ref->name));
      text = found != nullptr ? found->dump() : std::string(to_view(ref->name)) + " not found";
      return found != nullptr ? SLUICE_OBJECTS_OK : SLUICE_OBJECTS_NOT_FOUND;
    });
  }
  static std::int32_t list_objects(Host host, const sluice_object_ref_t* ref, sluice_str_t selector,
                                   Out out, Out error) noexcept {
    return with_objects(host, out, error, [&](FakeObjects& objects, std::string& text) {
      objects.count_list();
      Json found = Json::array();
      for (Json& object : objects.list(to_view(ref->kind), to_view(ref->namespace_of))) {
        const auto matches = FakeObjects::matches(object, to_view(selector));
        if (!matches) {
          text = "this fake host does not know the selector " + std::string(to_view(selector));
          return SLUICE_OBJECTS_INVALID;
        }
        if (*matches) found.push_back(std::move(object));
      }
      text = found.dump();
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t create_object(Host host, sluice_str_t object, Out out, Out error) noexcept {
    return with_writes(host, out, error, [&](FakeObjects& objects, std::string& text) {
      return objects.create(Json::parse(to_view(object)), text);
    });
  }
  static std::int32_t update_object(Host host, sluice_str_t object, sluice_str_t subresource,
                                    Out out, Out error) noexcept {
    return with_writes(host, out, error, [&](FakeObjects& objects, std::string& text) {
      return objects.update(Json::parse(to_view(object)), to_view(subresource), text);
    });
  }
  static std::int32_t patch_object(Host host, const sluice_object_ref_t* ref,
                                   sluice_str_t subresource, sluice_str_t merge, Out out,
                                   Out error) noexcept {
    return with_writes(host, out, error, [&](FakeObjects& objects, std::string& text) {
      return objects.patch(to_view(ref->kind), to_view(ref->namespace_of), to_view(ref->name),
                           to_view(subresource), Json::parse(to_view(merge)), text);
    });
  }
  static std::int32_t remove_object(Host host, const sluice_object_ref_t* ref, sluice_str_t uid,
                                    Out error) noexcept {
    return with_writes(host, nullptr, error, [&](FakeObjects& objects, std::string& text) {
      return objects.remove_if(to_view(ref->kind), to_view(ref->namespace_of), to_view(ref->name),
                               to_view(uid), text);
    });
  }
  static std::int32_t release_claim(Host host, const sluice_object_ref_t* ref, Out error) noexcept {
    return with_writes(host, nullptr, error, [&](FakeObjects& objects, std::string& text) {
      return objects.release_claim(to_view(ref->kind), to_view(ref->namespace_of),
                                   to_view(ref->name), text);
    });
  }
  static std::int32_t get_state(Host host, sluice_str_t key, Out out) noexcept {
    return with_objects(host, out, nullptr, [&](FakeObjects& objects, std::string& text) {
      const auto it = objects.state.find(to_view(key));
      if (it == objects.state.end()) return SLUICE_OBJECTS_NOT_FOUND;
      text = it->second;
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t set_state(Host host, sluice_str_t key, sluice_str_t value) noexcept {
    return with_writes(host, nullptr, nullptr, [&](FakeObjects& objects, std::string&) {
      if (key.len == 0 || key.len > SLUICE_STATE_MAX_KEY || value.len > SLUICE_STATE_MAX_VALUE)
        return SLUICE_OBJECTS_INVALID;
      objects.state[std::string(to_view(key))] = to_view(value);
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t remove_state(Host host, sluice_str_t key) noexcept {
    return with_writes(host, nullptr, nullptr, [&](FakeObjects& objects, std::string&) {
      objects.state.erase(std::string(to_view(key)));
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t state_keys(Host host, sluice_str_t prefix, void (*fn)(void*, sluice_str_t),
                                 void* context) noexcept {
    return with_objects(host, nullptr, nullptr, [&](FakeObjects& objects, std::string&) {
      for (const auto& [key, value] : objects.state)
        if (key.starts_with(to_view(prefix))) fn(context, to_abi(key));
      return SLUICE_OBJECTS_OK;
    });
  }

  static const void* find(Host host, sluice_str_t raw_id) noexcept {
    static const sluice_log_t kLog{sizeof(kLog), 0, &log};
    static const sluice_clock_t kClock{sizeof(kClock), 0,          &now, &set_timer,
                                       &cancel_timer,  &is_virtual};
    static const sluice_config_t kConfig{sizeof(kConfig), 0,         &get_string,
                                         &get_int,        &get_bool, &get_json};
    static const sluice_metrics_t kMetrics{sizeof(kMetrics), 0, &register_metric, &add, &set};
    static const sluice_events_t kEvents{sizeof(kEvents), 0, &emit};
    static const sluice_requeue_t kRequeue{sizeof(kRequeue), 0,     &requeue, &traits_changed,
                                           &order_changed,   &ended};
    static const sluice_check_reporter_t kReporter{sizeof(kReporter), 0, &report};
    static const sluice_objects_t kObjects{sizeof(kObjects), 0,
                                           &get_object,      &list_objects,
                                           &create_object,   &update_object,
                                           &patch_object,    &remove_object,
                                           &release_claim};
    static const sluice_state_t kState{sizeof(kState), 0,          &get_state, &set_state,
                                       &remove_state,  &state_keys};
    static const std::map<std::string_view, const void*> tables = {
        {SLUICE_SVC_REMOTES, remotes_table()},
        {SLUICE_SVC_CHECK_REPORTER, &kReporter},
        {SLUICE_SVC_OBJECTS, &kObjects},
        {SLUICE_SVC_STATE, &kState},
        {SLUICE_SVC_LOG, &kLog},
        {SLUICE_SVC_CLOCK, &kClock},
        {SLUICE_SVC_CONFIG, &kConfig},
        {SLUICE_SVC_METRICS, &kMetrics},
        {SLUICE_SVC_EVENTS, &kEvents},
        {SLUICE_SVC_REQUEUE, &kRequeue}};
    const FakeHost& self = FakeHost::of(host);
    const std::lock_guard lock(self.mutex_);
    const auto it = tables.find(to_view(raw_id));
    return it == tables.end() || self.absent_.contains(it->first) ? nullptr : it->second;
  }

  static void report_fault(Host, sluice_str_t text) noexcept { FakeHost::fault() = to_view(text); }
};

inline std::int32_t FakeServices::report(Host host, const sluice_check_report_t* raw,
                                         Out error) noexcept {
  FakeHost& self = FakeHost::of(host);
  const auto text = [](sluice_str_t from) { return std::string(to_view(from)); };
  RecordedReport made{text(raw->namespace_of) + "/" + text(raw->name),
                      text(raw->uid),
                      text(raw->check),
                      raw->attempt,
                      text(raw->state),
                      text(raw->reason),
                      text(raw->message),
                      {},
                      text(raw->pod_set_updates)};
  if (raw->requeue_after_seconds >= 0) made.requeue_after_seconds = raw->requeue_after_seconds;
  std::string wrong;
  if (made.state != "Pending" && made.state != "Ready" && made.state != "Retry" &&
      made.state != "Rejected")
    wrong = "the state \"" + made.state + "\" is none of Pending, Ready, Retry, Rejected";
  else if (raw->name.len == 0 || made.uid.empty() || made.check.empty())
    wrong = "it does not name its workload (namespace, name, uid) and its check";
  else if (!made.reason.empty() && (made.reason != "PreemptionRequired" || made.state != "Pending"))
    wrong = "the reason \"" + made.reason + "\" has no meaning";
  else if (made.requeue_after_seconds && made.state != "Retry")
    wrong = "requeue_after_seconds is given with the state " + made.state;
  self.change([&] {
    if (wrong.empty())
      self.reports_.push_back(std::move(made));
    else
      self.log_.push_back({SLUICE_LOG_WARNING, "check-reporter refused a report: " + wrong});
  });
  if (wrong.empty()) return SLUICE_OK;
  Sink(error).write(wrong);
  return SLUICE_REFUSED;
}

inline std::string FakeHost::state_of(std::string_view workload, std::string_view check) const {
  const std::lock_guard lock(mutex_);
  for (auto it = reports_.rbegin(); it != reports_.rend(); ++it)
    if (it->workload == workload && it->check == check) return it->state;
  return {};
}

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
    const bool counter = (metric.kind & SLUICE_METRIC_GAUGE) == 0;
    if (metric.labels.size() != count || (counter && (!add || value < 0))) return;
    std::int64_t& held = metric.values[detail::texts_of(values, count)];
    held = add ? held + value : value;
    code = SLUICE_OK;
  });
  return code;
}

}  // namespace sluice::testing

#include "sluice/testing/remotes_impl.hpp"

// Workload: what a hook sees of a workload, over the accessors of workload.h.
//
// A view of two pointers: it and every text that it gives die when the hook returns. Copy what you
// want to keep. Amounts: milli for cpu, base units for everything else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/cpp/text.hpp"
#include "sluice/workload.h"

namespace sluice {

/// A condition of an object; `since` is when its status became what it is, in ns since 1970 UTC.
struct Condition {
  std::string_view status, reason, message;
  std::int64_t since = 0;
};

struct Owner {
  std::string_view api_version, kind, name, uid;
  bool controller = false;
};

class Workload {
 public:
  explicit Workload(sluice_workload_ref_t ref) : ref_(ref) {}

  std::string_view namespace_of() const { return to_view(ref_.api->namespace_of(ref_.handle)); }
  std::string_view name() const { return to_view(ref_.api->name(ref_.handle)); }
  /// `namespace/name`: how other calls of the SDK name a workload.
  std::string key() const { return std::string(namespace_of()).append("/").append(name()); }
  std::string_view uid() const { return to_view(ref_.api->uid(ref_.handle)); }
  std::string_view queue_name() const { return to_view(ref_.api->queue_name(ref_.handle)); }
  std::int32_t priority() const { return ref_.api->priority(ref_.handle); }
  std::int64_t created_at() const { return ref_.api->created_at(ref_.handle); }
  bool active() const { return ref_.api->active(ref_.handle) != 0; }

  std::optional<std::string_view> label(std::string_view key) const {
    sluice_str_t out{};
    if (ref_.api->label(ref_.handle, to_abi(key), &out) == 0) return std::nullopt;
    return to_view(out);
  }
  std::optional<std::string_view> annotation(std::string_view key) const {
    sluice_str_t out{};
    if (ref_.api->annotation(ref_.handle, to_abi(key), &out) == 0) return std::nullopt;
    return to_view(out);
  }
  /// fn(key, value) for each. fn must not throw.
  template <typename Fn>
  void each_label(Fn fn) const {
    ref_.api->each_label(ref_.handle, &call_pair<Fn>, &fn);
  }
  template <typename Fn>
  void each_annotation(Fn fn) const {
    ref_.api->each_annotation(ref_.handle, &call_pair<Fn>, &fn);
  }

  /// Kind and name of the controlling owner.
  std::optional<std::pair<std::string_view, std::string_view>> controller() const {
    sluice_str_t kind{}, name{};
    if (ref_.api->controller(ref_.handle, &kind, &name) == 0) return std::nullopt;
    return std::pair(to_view(kind), to_view(name));
  }

  std::uint32_t pod_sets() const { return ref_.api->pod_sets(ref_.handle); }
  std::string_view pod_set_name(std::uint32_t i) const {
    return to_view(ref_.api->pod_set_name(ref_.handle, i));
  }
  std::int32_t pod_set_count(std::uint32_t i) const {
    return ref_.api->pod_set_count(ref_.handle, i);
  }
  std::optional<std::int32_t> pod_set_min_count(std::uint32_t i) const {
    std::int32_t out = 0;
    if (ref_.api->pod_set_min_count(ref_.handle, i, &out) == 0) return std::nullopt;
    return out;
  }
  /// What one pod asks for; 0 when it does not name the resource.
  std::int64_t pod_request(std::uint32_t i, std::string_view resource) const {
    std::int64_t out = 0;
    ref_.api->pod_request(ref_.handle, i, to_abi(resource), &out);
    return out;
  }
  /// fn(resource, amount) for each. fn must not throw.
  template <typename Fn>
  void each_pod_request(std::uint32_t i, Fn fn) const {
    ref_.api->each_pod_request(ref_.handle, i, &call_amount<Fn>, &fn);
  }
  /// What all its pods ask for together.
  std::int64_t total_request(std::string_view resource) const {
    std::int64_t total = 0;
    for (std::uint32_t i = 0; i < pod_sets(); ++i)
      total += pod_set_count(i) * pod_request(i, resource);
    return total;
  }

  std::optional<std::string_view> admitted_by() const {
    sluice_str_t out{};
    if (ref_.api->admitted_by(ref_.handle, &out) == 0) return std::nullopt;
    return to_view(out);
  }
  std::optional<std::string_view> admitted_flavor(std::uint32_t i,
                                                  std::string_view resource) const {
    sluice_str_t out{};
    if (ref_.api->admitted_flavor(ref_.handle, i, to_abi(resource), &out) == 0) return std::nullopt;
    return to_view(out);
  }
  /// How many pods of a pod set the admission grants.
  std::optional<std::int32_t> admitted_count(std::uint32_t i) const {
    std::int32_t out = 0;
    if (!SLUICE_HAS(ref_.api, admitted_count) ||
        ref_.api->admitted_count(ref_.handle, i, &out) == 0)
      return std::nullopt;
    return out;
  }
  /// True, False or Unknown.
  std::optional<std::string_view> condition(std::string_view type) const {
    sluice_str_t out{};
    if (ref_.api->condition(ref_.handle, to_abi(type), &out) == 0) return std::nullopt;
    return to_view(out);
  }
  // What follows is as if it were not there with a host that is older than it.

  /// All of a condition.
  std::optional<Condition> condition_details(std::string_view type) const {
    sluice_condition_t out{};
    if (!SLUICE_HAS(ref_.api, condition_details) ||
        ref_.api->condition_details(ref_.handle, to_abi(type), &out) == 0)
      return std::nullopt;
    return Condition{to_view(out.status), to_view(out.reason), to_view(out.message), out.since};
  }
  /// Since when the condition is True; nullopt when it is not.
  std::optional<std::int64_t> true_since(std::string_view type) const {
    const auto found = condition_details(type);
    if (!found || found->status != "True") return std::nullopt;
    return found->since;
  }
  /// spec.maximumExecutionTimeSeconds
  std::optional<std::int32_t> maximum_execution_seconds() const {
    std::int32_t out = 0;
    if (!SLUICE_HAS(ref_.api, maximum_execution_seconds) ||
        ref_.api->maximum_execution_seconds(ref_.handle, &out) == 0)
      return std::nullopt;
    return out;
  }
  /// How long it ran in earlier admissions, which counts against the maximum.
  std::int32_t past_execution_seconds() const {
    return SLUICE_HAS(ref_.api, past_execution_seconds)
               ? ref_.api->past_execution_seconds(ref_.handle)
               : 0;
  }
  /// fn(const Owner&) for each owner reference. fn must not throw.
  template <typename Fn>
  void each_owner(Fn fn) const {
    if (!SLUICE_HAS(ref_.api, each_owner)) return;
    ref_.api->each_owner(ref_.handle, &call_owner<Fn>, &fn);
  }
  /// The object in v1beta2: all that decides about it, see workload.h. Not for [cycle] hooks.
  std::string json() const {
    std::string out;
    const sluice_sink_t sink = Sink::into(out);
    if (SLUICE_HAS(ref_.api, json)) ref_.api->json(ref_.handle, &sink);
    return out;
  }
  /// Plugins' fields as JSON `{"spec":{…},"status":{…}}`, or empty. Not for [cycle] hooks.
  std::string_view extensions() const { return to_view(ref_.api->extensions(ref_.handle)); }

 private:
  template <typename Fn>
  static void call_pair(void* context, sluice_str_t key, sluice_str_t value) noexcept {
    (*static_cast<Fn*>(context))(to_view(key), to_view(value));
  }
  template <typename Fn>
  static void call_amount(void* context, sluice_str_t resource, std::int64_t amount) noexcept {
    (*static_cast<Fn*>(context))(to_view(resource), amount);
  }

  template <typename Fn>
  static void call_owner(void* context, const sluice_owner_t* owner) noexcept {
    (*static_cast<Fn*>(context))(Owner{to_view(owner->api_version), to_view(owner->kind),
                                       to_view(owner->name), to_view(owner->uid),
                                       owner->controller == 1});
  }

  sluice_workload_ref_t ref_;
};

}  // namespace sluice

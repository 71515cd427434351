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

  sluice_workload_ref_t ref_;
};

}  // namespace sluice

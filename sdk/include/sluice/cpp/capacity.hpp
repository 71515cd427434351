// Flavor and ClusterQueue: what a hook sees of what there is to give, over the accessors of
// capacity.h.
//
// Views of two pointers: they and every text that they give die when the hook returns. Amounts:
// milli for cpu, base units for everything else.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sluice/capacity.h"
#include "sluice/cpp/text.hpp"

namespace sluice {

/// A taint of a flavor's nodes.
struct Taint {
  std::string_view key, value, effect;
};

class Flavor {
 public:
  Flavor(const sluice_flavor_api_t* api, const sluice_flavor_t* handle)
      : api_(api), handle_(handle) {}

  std::string_view name() const { return to_view(api_->name(handle_)); }
  std::optional<std::string_view> node_label(std::string_view key) const {
    sluice_str_t out{};
    if (api_->node_label(handle_, to_abi(key), &out) == 0) return std::nullopt;
    return to_view(out);
  }
  /// fn(key, value) for each. fn must not throw.
  template <typename Fn>
  void each_node_label(Fn fn) const {
    api_->each_node_label(
        handle_,
        [](void* context, sluice_str_t key, sluice_str_t value) {
          (*static_cast<Fn*>(context))(to_view(key), to_view(value));
        },
        &fn);
  }
  /// fn(const Taint&) for each. fn must not throw.
  template <typename Fn>
  void each_node_taint(Fn fn) const {
    api_->each_node_taint(
        handle_,
        [](void* context, const sluice_taint_t* taint) {
          (*static_cast<Fn*>(context))(
              Taint{to_view(taint->key), to_view(taint->value), to_view(taint->effect)});
        },
        &fn);
  }

 private:
  const sluice_flavor_api_t* api_;
  const sluice_flavor_t* handle_;
};

/// What a ClusterQueue has of one resource of one flavor.
struct Quota {
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing_limit, lending_limit;  ///< nullopt: there is none

  static Quota of(const sluice_quota_t& raw) {
    const auto limit = [](std::int64_t value) {
      return value < 0 ? std::nullopt : std::optional(value);
    };
    return {raw.nominal, limit(raw.borrowing_limit), limit(raw.lending_limit)};
  }
};

class ClusterQueue {
 public:
  ClusterQueue(const sluice_cluster_queue_api_t* api, const sluice_cluster_queue_t* handle)
      : api_(api), handle_(handle) {}

  std::string_view name() const { return to_view(api_->name(handle_)); }
  /// Empty: it is in none.
  std::string_view cohort() const { return to_view(api_->cohort(handle_)); }
  std::optional<Quota> quota(std::string_view flavor, std::string_view resource) const {
    sluice_quota_t out{};
    if (api_->quota(handle_, to_abi(flavor), to_abi(resource), &out) == 0) return std::nullopt;
    return Quota::of(out);
  }
  /// fn(flavor, resource, const Quota&) for each, in its order. fn must not throw.
  template <typename Fn>
  void each_quota(Fn fn) const {
    api_->each_quota(
        handle_,
        [](void* context, sluice_str_t flavor, sluice_str_t resource, const sluice_quota_t* quota) {
          (*static_cast<Fn*>(context))(to_view(flavor), to_view(resource), Quota::of(*quota));
        },
        &fn);
  }

 private:
  const sluice_cluster_queue_api_t* api_;
  const sluice_cluster_queue_t* handle_;
};

}  // namespace sluice

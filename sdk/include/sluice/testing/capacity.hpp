// FakeFlavor and FakeClusterQueue: what there is to give, for tests, made of plain members, seen by
// a plugin through the accessors of capacity.h.
//
// Texts that a plugin gets from them live as long as they are not changed. One thread may change
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/capacity.h"
#include "sluice/cpp/capacity.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/testing/workload.hpp"

namespace sluice::testing {

struct FakeTaint {
  std::string key, value, effect = "NoSchedule";
};

struct FakeFlavor {
  std::string name = "default";
  Texts node_labels;
  std::vector<FakeTaint> node_taints;

  const sluice_flavor_t* handle() const { return reinterpret_cast<const sluice_flavor_t*>(this); }
  static const sluice_flavor_api_t* api();
};

/// What it has of one resource of one flavor; limits of -1 are none.
struct FakeQuota {
  std::string flavor, resource;
  std::int64_t nominal = 0;
  std::int64_t borrowing_limit = -1;
  std::int64_t lending_limit = -1;
};

struct FakeClusterQueue {
  std::string name = "cq";
  std::string cohort;
  std::vector<FakeQuota> quotas;

  const sluice_cluster_queue_t* handle() const {
    return reinterpret_cast<const sluice_cluster_queue_t*>(this);
  }
  static const sluice_cluster_queue_api_t* api();
};

namespace detail {

inline const FakeFlavor& fake(const sluice_flavor_t* handle) {
  return *reinterpret_cast<const FakeFlavor*>(handle);
}
inline const FakeClusterQueue& fake(const sluice_cluster_queue_t* handle) {
  return *reinterpret_cast<const FakeClusterQueue*>(handle);
}
inline sluice_quota_t raw(const FakeQuota& quota) {
  return {quota.nominal, quota.borrowing_limit, quota.lending_limit};
}

inline const sluice_flavor_api_t kFakeFlavorApi{
    sizeof(sluice_flavor_api_t),
    0,
    [](const sluice_flavor_t* f) { return to_abi(fake(f).name); },
    [](const sluice_flavor_t* f, sluice_str_t key, sluice_str_t* out) {
      return found_in(fake(f).node_labels, key, out);
    },
    [](const sluice_flavor_t* f, sluice_pair_fn fn, void* context) {
      for (const auto& [key, value] : fake(f).node_labels) fn(context, to_abi(key), to_abi(value));
    },
    [](const sluice_flavor_t* f, sluice_taint_fn fn, void* context) {
      for (const FakeTaint& taint : fake(f).node_taints) {
        const sluice_taint_t one{to_abi(taint.key), to_abi(taint.value), to_abi(taint.effect)};
        fn(context, &one);
      }
    }};

inline const sluice_cluster_queue_api_t kFakeClusterQueueApi{
    sizeof(sluice_cluster_queue_api_t),
    0,
    [](const sluice_cluster_queue_t* q) { return to_abi(fake(q).name); },
    [](const sluice_cluster_queue_t* q) { return to_abi(fake(q).cohort); },
    [](const sluice_cluster_queue_t* q, sluice_str_t flavor, sluice_str_t resource,
       sluice_quota_t* out) {
      for (const FakeQuota& quota : fake(q).quotas) {
        if (quota.flavor != to_view(flavor) || quota.resource != to_view(resource)) continue;
        *out = raw(quota);
        return 1;
      }
      return 0;
    },
    [](const sluice_cluster_queue_t* q, sluice_quota_fn fn, void* context) {
      for (const FakeQuota& quota : fake(q).quotas) {
        const sluice_quota_t one = raw(quota);
        fn(context, to_abi(quota.flavor), to_abi(quota.resource), &one);
      }
    }};

}  // namespace detail

inline const sluice_flavor_api_t* FakeFlavor::api() { return &detail::kFakeFlavorApi; }
inline const sluice_cluster_queue_api_t* FakeClusterQueue::api() {
  return &detail::kFakeClusterQueueApi;
}

}  // namespace sluice::testing

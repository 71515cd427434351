// FakeWorkload: a workload for tests, made of plain members, seen by a plugin through the accessors
// of workload.h.
//
// The builders change it in place and return it, so that one can be written in a line. Texts that a
// plugin gets from it live as long as it is not changed. One thread may change it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/workload.h"

namespace sluice::testing {

using Texts = std::map<std::string, std::string, std::less<>>;
using Amounts = std::map<std::string, std::int64_t, std::less<>>;

struct FakePodSet {
  std::string name = "main";
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;
  Amounts requests;                           ///< of one pod: milli for cpu, else base units
  Texts flavors;                              ///< of the admission, by resource
  std::optional<std::int32_t> granted_count;  ///< of the admission
};

struct FakeWorkload {
  FakeWorkload() = default;
  FakeWorkload(std::string in_namespace, std::string called)
      : ns(std::move(in_namespace)), name(std::move(called)), uid("uid-" + name) {}

  FakeWorkload& label(std::string key, std::string value) {
    labels[std::move(key)] = std::move(value);
    return *this;
  }
  FakeWorkload& annotation(std::string key, std::string value) {
    annotations[std::move(key)] = std::move(value);
    return *this;
  }
  FakeWorkload& with_priority(std::int32_t value) {
    priority = value;
    return *this;
  }
  /// Replaces the pod sets by this one, or adds it when some were added already.
  FakeWorkload& pod_set(FakePodSet set) {
    if (!own_pod_sets) pod_sets.clear();
    own_pod_sets = true;
    pod_sets.push_back(std::move(set));
    return *this;
  }
  FakeWorkload& condition(std::string type, std::string status) {
    conditions[std::move(type)] = std::move(status);
    return *this;
  }
  /// Admitted by this ClusterQueue, all pods of all pod sets, every resource on this flavor.
  FakeWorkload& admitted(std::string cluster_queue, std::string_view flavor = "default") {
    admitted_by = std::move(cluster_queue);
    for (FakePodSet& set : pod_sets) {
      set.granted_count = set.count;
      for (const auto& [resource, amount] : set.requests) set.flavors[resource] = flavor;
    }
    return condition("QuotaReserved", "True").condition("Admitted", "True");
  }

  std::string key() const { return ns + "/" + name; }
  /// The object in v1beta2: metadata, queue, pod sets (without templates), admission, conditions.
  std::string json() const;
  /// Valid while this object is.
  sluice_workload_ref_t ref() const { return {api(), handle()}; }
  const sluice_workload_t* handle() const {
    return reinterpret_cast<const sluice_workload_t*>(this);
  }
  static const sluice_workload_api_t* api();

  std::string ns, name, uid, queue_name = "lq";
  std::int32_t priority = 0;
  std::int64_t created_at = 0;  ///< ns since 1970 UTC
  bool active = true;
  Texts labels, annotations, conditions;
  std::optional<std::pair<std::string, std::string>> controller;  ///< kind and name
  std::vector<FakePodSet> pod_sets{FakePodSet{}};
  std::optional<std::string> admitted_by;  ///< the ClusterQueue
  std::string extensions;                  ///< plugins' fields as JSON
  Texts check_states;                      ///< status.admissionChecks: by check; in json() only

 private:
  bool own_pod_sets = false;
};

namespace detail {

inline const FakeWorkload& fake(const sluice_workload_t* handle) {
  return *reinterpret_cast<const FakeWorkload*>(handle);
}
inline const FakePodSet* fake_pod_set(const sluice_workload_t* handle, std::uint32_t i) {
  const auto& sets = fake(handle).pod_sets;
  return i < sets.size() ? &sets[i] : nullptr;
}
inline std::int32_t found_in(const Texts& texts, sluice_str_t key, sluice_str_t* out) {
  const auto it = texts.find(to_view(key));
  if (it == texts.end()) return 0;
  *out = to_abi(it->second);
  return 1;
}
template <typename T>
std::int32_t found_value(const std::optional<T>& value, T* out) {
  if (!value) return 0;
  *out = *value;
  return 1;
}
inline std::int32_t fake_controller(const sluice_workload_t* w, sluice_str_t* kind,
                                    sluice_str_t* name) {
  const auto& controller = fake(w).controller;
  if (!controller) return 0;
  *kind = to_abi(controller->first);
  *name = to_abi(controller->second);
  return 1;
}
inline std::int32_t fake_request(const sluice_workload_t* w, std::uint32_t i, sluice_str_t resource,
                                 std::int64_t* out) {
  const FakePodSet* set = fake_pod_set(w, i);
  if (set == nullptr) return 0;
  const auto it = set->requests.find(to_view(resource));
  if (it == set->requests.end()) return 0;
  *out = it->second;
  return 1;
}
inline std::int32_t fake_admitted_by(const sluice_workload_t* w, sluice_str_t* out) {
  if (!fake(w).admitted_by) return 0;
  *out = to_abi(*fake(w).admitted_by);
  return 1;
}

inline const sluice_workload_api_t kFakeWorkloadApi{
    sizeof(sluice_workload_api_t),
    0,
    [](const sluice_workload_t* w) { return to_abi(fake(w).ns); },
    [](const sluice_workload_t* w) { return to_abi(fake(w).name); },
    [](const sluice_workload_t* w) { return to_abi(fake(w).uid); },
    [](const sluice_workload_t* w) { return to_abi(fake(w).queue_name); },
    [](const sluice_workload_t* w) { return fake(w).priority; },
    [](const sluice_workload_t* w) { return fake(w).created_at; },
    [](const sluice_workload_t* w) { return std::int32_t{fake(w).active}; },
    [](const sluice_workload_t* w, sluice_str_t key, sluice_str_t* out) {
      return found_in(fake(w).labels, key, out);
    },
    [](const sluice_workload_t* w, sluice_str_t key, sluice_str_t* out) {
      return found_in(fake(w).annotations, key, out);
    },
    [](const sluice_workload_t* w, sluice_pair_fn fn, void* context) {
      for (const auto& [key, value] : fake(w).labels) fn(context, to_abi(key), to_abi(value));
    },
    [](const sluice_workload_t* w, sluice_pair_fn fn, void* context) {
      for (const auto& [key, value] : fake(w).annotations) fn(context, to_abi(key), to_abi(value));
    },
    &fake_controller,
    [](const sluice_workload_t* w) { return static_cast<std::uint32_t>(fake(w).pod_sets.size()); },
    [](const sluice_workload_t* w, std::uint32_t i) {
      const FakePodSet* set = fake_pod_set(w, i);
      return to_abi(set == nullptr ? std::string_view() : std::string_view(set->name));
    },
    [](const sluice_workload_t* w, std::uint32_t i) {
      const FakePodSet* set = fake_pod_set(w, i);
      return set == nullptr ? 0 : set->count;
    },
    [](const sluice_workload_t* w, std::uint32_t i, std::int32_t* out) {
      const FakePodSet* set = fake_pod_set(w, i);
      return set == nullptr ? 0 : found_value(set->min_count, out);
    },
    &fake_request,
    [](const sluice_workload_t* w, std::uint32_t i, sluice_amount_fn fn, void* context) {
      const FakePodSet* set = fake_pod_set(w, i);
      if (set == nullptr) return;
      for (const auto& [resource, amount] : set->requests) fn(context, to_abi(resource), amount);
    },
    &fake_admitted_by,
    [](const sluice_workload_t* w, std::uint32_t i, sluice_str_t resource, sluice_str_t* out) {
      const FakePodSet* set = fake_pod_set(w, i);
      return set == nullptr ? 0 : found_in(set->flavors, resource, out);
    },
    [](const sluice_workload_t* w, sluice_str_t type, sluice_str_t* out) {
      return found_in(fake(w).conditions, type, out);
    },
    [](const sluice_workload_t* w) { return to_abi(fake(w).extensions); },
    [](const sluice_workload_t* w, std::uint32_t i, std::int32_t* out) {
      const FakePodSet* set = fake_pod_set(w, i);
      return set == nullptr ? 0 : found_value(set->granted_count, out);
    }};

}  // namespace detail

inline const sluice_workload_api_t* FakeWorkload::api() { return &detail::kFakeWorkloadApi; }

inline std::string FakeWorkload::json() const {
  const auto texts = [](const Texts& from) {
    Json out = Json::object();
    for (const auto& [key, value] : from) out[key] = value;
    return out;
  };
  Json out = Json::object();
  out["apiVersion"] = "kueue.x-k8s.io/v1beta2";
  out["kind"] = "Workload";
  Json& metadata = out["metadata"];
  metadata["namespace"] = ns;
  metadata["name"] = name;
  metadata["uid"] = uid;
  metadata["labels"] = texts(labels);
  metadata["annotations"] = texts(annotations);
  Json& spec = out["spec"];
  spec["queueName"] = queue_name;
  spec["priority"] = priority;
  spec["active"] = active;
  for (const FakePodSet& set : pod_sets) {
    Json one = Json::object();
    one["name"] = set.name;
    one["count"] = set.count;
    spec["podSets"].push_back(std::move(one));
  }
  Json& status = out["status"];
  for (const auto& [type, value] : conditions) {
    Json one = Json::object();
    one["type"] = type;
    one["status"] = value;
    status["conditions"].push_back(std::move(one));
  }
  for (const auto& [check, state] : check_states) {
    Json one = Json::object();
    one["name"] = check;
    one["state"] = state;
    status["admissionChecks"].push_back(std::move(one));
  }
  if (admitted_by) {
    Json& admission = status["admission"];
    admission["clusterQueue"] = *admitted_by;
    for (const FakePodSet& set : pod_sets) {
      Json one = Json::object();
      one["name"] = set.name;
      one["count"] = set.granted_count.value_or(set.count);
      one["flavors"] = texts(set.flavors);
      admission["podSetAssignments"].push_back(std::move(one));
    }
  }
  return out.dump();
}

}  // namespace sluice::testing

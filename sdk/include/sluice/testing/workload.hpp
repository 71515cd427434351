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
#include "sluice/cpp/quantity.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/cpp/time.hpp"
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

/// What a condition says beside its status.
struct FakeCondition {
  std::string reason, message;
  std::int64_t since = 0;  ///< ns since 1970 UTC
};

struct FakeOwner {
  std::string api_version, kind, name, uid;
  bool controller = true;
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
  FakeWorkload& condition(std::string type, std::string status, FakeCondition details = {}) {
    condition_details[type] = std::move(details);
    conditions[std::move(type)] = std::move(status);
    return *this;
  }
  FakeWorkload& runs_at_most(std::int32_t seconds) {
    maximum_execution_seconds = seconds;
    return *this;
  }
  FakeWorkload& owned_by(FakeOwner owner) {
    if (owner.controller) controller = std::pair(owner.kind, owner.name);
    owners.push_back(std::move(owner));
    return *this;
  }
  /// Admitted by this ClusterQueue, all pods of all pod sets, every resource on this flavor.
  FakeWorkload& admitted(std::string cluster_queue, std::string_view flavor = "default",
                         std::int64_t since = 0) {
    admitted_by = std::move(cluster_queue);
    for (FakePodSet& set : pod_sets) {
      set.granted_count = set.count;
      for (const auto& [resource, amount] : set.requests) set.flavors[resource] = flavor;
    }
    return condition("QuotaReserved", "True", {"QuotaReserved", {}, since})
        .condition("Admitted", "True", {"Admitted", {}, since});
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
  std::map<std::string, FakeCondition, std::less<>> condition_details;  ///< by type
  std::optional<std::int32_t> maximum_execution_seconds;
  std::int32_t past_execution_seconds = 0;
  std::optional<std::pair<std::string, std::string>> controller;  ///< kind and name
  std::vector<FakeOwner> owners;
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
inline std::int32_t fake_condition_details(const sluice_workload_t* w, sluice_str_t type,
                                           sluice_condition_t* out) {
  if (found_in(fake(w).conditions, type, &out->status) == 0) return 0;
  static const FakeCondition kNone;
  const auto it = fake(w).condition_details.find(to_view(type));
  const FakeCondition& details = it == fake(w).condition_details.end() ? kNone : it->second;
  out->reason = to_abi(details.reason);
  out->message = to_abi(details.message);
  out->since = details.since;
  return 1;
}
inline void each_fake_owner(const sluice_workload_t* w, sluice_owner_fn fn, void* context) {
  for (const FakeOwner& owner : fake(w).owners) {
    const sluice_owner_t raw{to_abi(owner.api_version), to_abi(owner.kind),
                             to_abi(owner.name),        to_abi(owner.uid),
                             owner.controller ? 1 : 0,  0};
    fn(context, &raw);
  }
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
    },
    &fake_condition_details,
    [](const sluice_workload_t* w, std::int32_t* out) {
      return found_value(fake(w).maximum_execution_seconds, out);
    },
    [](const sluice_workload_t* w) { return fake(w).past_execution_seconds; },
    &each_fake_owner,
    [](const sluice_workload_t* w, const sluice_sink_t* out) { Sink(out).write(fake(w).json()); }};

}  // namespace detail

inline const sluice_workload_api_t* FakeWorkload::api() { return &detail::kFakeWorkloadApi; }

namespace detail {
inline Json texts_json(const Texts& from) {
  Json out = Json::object();
  for (const auto& [key, value] : from) out[key] = value;
  return out;
}
inline Json metadata_json(const FakeWorkload& w) {
  Json out = Json::object();
  out["namespace"] = w.ns;
  out["name"] = w.name;
  out["uid"] = w.uid;
  if (w.created_at != 0) out["creationTimestamp"] = time_text(w.created_at);
  out["labels"] = texts_json(w.labels);
  out["annotations"] = texts_json(w.annotations);
  for (const FakeOwner& owner : w.owners) {
    Json one = Json::object();
    one["apiVersion"] = owner.api_version;
    one["kind"] = owner.kind;
    one["name"] = owner.name;
    one["uid"] = owner.uid;
    one["controller"] = owner.controller;
    out["ownerReferences"].push_back(std::move(one));
  }
  return out;
}
inline Json pod_set_json(const FakePodSet& set) {
  Json out = Json::object();
  out["name"] = set.name;
  out["count"] = set.count;
  if (set.min_count) out["minCount"] = *set.min_count;
  if (set.requests.empty()) return out;
  Json pod = Json::object();
  pod["name"] = "pod";
  for (const auto& [resource, amount] : set.requests)
    pod["resources"]["requests"][resource] = quantity_text(resource, amount);
  out["template"]["spec"]["containers"].push_back(std::move(pod));
  return out;
}
inline Json condition_json(const FakeWorkload& w, const std::string& type,
                           const std::string& status) {
  Json out = Json::object();
  out["type"] = type;
  out["status"] = status;
  const auto it = w.condition_details.find(type);
  if (it == w.condition_details.end()) return out;
  out["reason"] = it->second.reason;
  out["message"] = it->second.message;
  out["lastTransitionTime"] = time_text(it->second.since);
  return out;
}
}  // namespace detail

inline std::string FakeWorkload::json() const {
  Json out = Json::object();
  out["apiVersion"] = "kueue.x-k8s.io/v1beta2";
  out["kind"] = "Workload";
  out["metadata"] = detail::metadata_json(*this);
  Json& spec = out["spec"];
  spec["queueName"] = queue_name;
  spec["priority"] = priority;
  spec["active"] = active;
  if (maximum_execution_seconds) spec["maximumExecutionTimeSeconds"] = *maximum_execution_seconds;
  for (const FakePodSet& set : pod_sets) spec["podSets"].push_back(detail::pod_set_json(set));
  Json& status = out["status"];
  if (past_execution_seconds != 0)
    status["accumulatedPastExecutionTimeSeconds"] = past_execution_seconds;
  for (const auto& [type, value] : conditions)
    status["conditions"].push_back(detail::condition_json(*this, type, value));
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
      one["flavors"] = detail::texts_json(set.flavors);
      admission["podSetAssignments"].push_back(std::move(one));
    }
  }
  return out.dump();
}

}  // namespace sluice::testing

// Workloads: reading them whole, writing their status.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <span>

#include "api/codec/codec.hpp"
#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/json/parts.hpp"
#include "api/schema/no_effect.hpp"
#include "api/scheme/controlling_job.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

PodSet decode_pod_set(const json::object& from, PodTemplateCache& templates) {
  PodSet pod_set;
  const std::string_view name = find_text(from, "name");
  if (!name.empty()) pod_set.name = name;
  pod_set.count = find_int32(from, "count").value_or(1);
  pod_set.min_count = find_int32(from, "minCount");
  pod_set.pod = templates.get(find_part(from, "template"));
  if (const json::object* topology = find_object(from, "topologyRequest")) {
    pod_set.group = find_text(*topology, "podSetGroupName");
  }
  return pod_set;
}

Condition decode_condition(const json::object& from) {
  Condition condition;
  condition.type = find_text(from, "type");
  condition.status = find_text(from, "status");
  condition.reason = find_text(from, "reason");
  condition.message = find_text(from, "message");
  condition.last_transition_time = find_time(from, "lastTransitionTime").value_or(0);
  condition.observed_generation = find_int(from, "observedGeneration").value_or(0);
  return condition;
}

PodSetAssignment decode_assignment(const json::object& from) {
  PodSetAssignment assignment;
  const std::string_view name = find_text(from, "name");
  if (!name.empty()) assignment.name = name;
  assignment.count = find_int32(from, "count").value_or(0);
  assignment.flavors = find_labels(from, "flavors");
  if (const json::object* usage = find_object(from, "resourceUsage")) {
    for (const auto& member : *usage) {
      const std::string_view resource = view(member.key());
      assignment.usage.push_back(
          {std::string(resource), engine_amount(resource, quantity_or_zero(member.value()))});
    }
    std::sort(assignment.usage.begin(), assignment.usage.end(),
              [](const auto& a, const auto& b) { return a.resource < b.resource; });
  }
  return assignment;
}

AdmissionCheckState decode_check_state(const json::object& from) {
  AdmissionCheckState check;
  check.name = find_text(from, "name");
  check.state = find_text(from, "state");
  check.message = find_text(from, "message");
  check.reason = find_text(from, "reason");
  check.last_transition_time = find_time(from, "lastTransitionTime").value_or(0);
  check.requeue_after_seconds = find_int32(from, "requeueAfterSeconds");
  check.retry_count = find_int32(from, "retryCount").value_or(0);
  if (const json::array* updates = find_array(from, "podSetUpdates"); updates && !updates->empty())
    check.pod_set_updates = to_json(*updates);
  return check;
}

json::object encode_assignment(const PodSetAssignment& assignment) {
  json::object flavors, usage;
  for (const auto& [resource, flavor] : assignment.flavors) flavors[resource] = flavor;
  for (const auto& each : assignment.usage) {
    usage[each.resource] = engine_quantity(each.resource, each.amount).text();
  }
  json::object out;
  out["name"] = assignment.name;
  if (!flavors.empty()) out["flavors"] = std::move(flavors);
  if (!usage.empty()) out["resourceUsage"] = std::move(usage);
  out["count"] = assignment.count;
  return out;
}

json::object encode_check(const AdmissionCheckState& check) {
  json::object out;
  out["name"] = check.name;
  out["state"] = check.state;
  out["lastTransitionTime"] = format_time(check.last_transition_time);
  out["message"] = check.message;
  if (!check.reason.empty()) out["reason"] = check.reason;
  if (check.requeue_after_seconds) out["requeueAfterSeconds"] = *check.requeue_after_seconds;
  if (check.retry_count != 0) out["retryCount"] = check.retry_count;
  if (!check.pod_set_updates.empty()) {
    boost::system::error_code code;
    json::value updates = json::parse(json_view(check.pod_set_updates), code);
    if (!code) out["podSetUpdates"] = std::move(updates);
  }
  return out;
}

/// Members of `before` whose key `after` does not use and the codec does not own are carried over.
void keep_foreign(const json::object& before, json::object& after,
                  std::span<const std::string_view> owned) {
  for (const auto& member : before) {
    const std::string_view key = view(member.key());
    if (std::find(owned.begin(), owned.end(), key) != owned.end()) continue;
    after.insert(member);  // does nothing when the key is there
  }
}

/// The same for the entries of a list that is keyed by `key`.
void keep_foreign_entries(const json::object& before, json::object& after, std::string_view list,
                          std::string_view key, std::span<const std::string_view> owned) {
  json::array* entries = find_array(after, list);
  if (entries == nullptr) return;
  for (auto& entry : *entries) {
    json::object* object = entry.if_object();
    if (object == nullptr) continue;
    for_each_object(before, list, [&](const json::object& old) {
      if (find_text(old, key) == find_text(*object, key)) keep_foreign(old, *object, owned);
    });
  }
}

}  // namespace

WorkloadStatus decode_workload_status(const json::object& from) {
  WorkloadStatus status;
  for_each_object(from, "conditions",
                  [&](const auto& each) { status.conditions.push_back(decode_condition(each)); });
  if (const json::object* admission = find_object(from, "admission")) {
    status.admission.emplace();
    status.admission->cluster_queue = find_text(*admission, "clusterQueue");
    for_each_object(*admission, "podSetAssignments", [&](const auto& each) {
      status.admission->pod_sets.push_back(decode_assignment(each));
    });
  }
  for_each_object(from, "reclaimablePods", [&](const auto& each) {
    status.reclaimable_pods.push_back(
        {std::string(find_text(each, "name")), find_int32(each, "count").value_or(0)});
  });
  for_each_object(from, "admissionChecks", [&](const auto& each) {
    status.admission_checks.push_back(decode_check_state(each));
  });
  if (const json::object* requeue = find_object(from, "requeueState")) {
    status.requeue_state = {find_int32(*requeue, "count").value_or(0),
                            find_time(*requeue, "requeueAt")};
  }
  if (const json::object* stats = find_object(from, "schedulingStats")) {
    for_each_object(*stats, "evictions", [&](const auto& each) {
      status.evictions.push_back({std::string(find_text(each, "reason")),
                                  std::string(find_text(each, "underlyingCause")),
                                  find_int32(each, "count").value_or(0)});
    });
  }
  status.accumulated_past_execution_seconds =
      find_int32(from, "accumulatedPastExecutionTimeSeconds").value_or(0);
  return status;
}

Workload decode_workload(const json::object& object, PodTemplateCache& templates,
                         const Scheme& scheme) {
  Workload workload;
  workload.meta = decode_meta(object);
  if (const json::object* spec = find_object(object, "spec")) {
    workload.queue_name = find_text(*spec, "queueName");
    workload.priority = find_int32(*spec, "priority").value_or(0);
    workload.active = find_bool(*spec, "active", true);
    workload.maximum_execution_seconds = find_int32(*spec, "maximumExecutionTimeSeconds");
    if (const json::object* reference = find_object(*spec, "priorityClassRef")) {
      workload.priority_class = std::make_shared<const PriorityClassRef>(PriorityClassRef{
          std::string(find_text(*reference, "group")), std::string(find_text(*reference, "kind")),
          std::string(find_text(*reference, "name"))});
    }
    for_each_object(*spec, "podSets", [&](const auto& each) {
      workload.pod_sets.push_back(decode_pod_set(each, templates));
    });
  }
  if (const json::object* status = find_object(object, "status")) {
    workload.status = decode_workload_status(*status);
  }
  workload.held_because = held_because(object);
  workload.is_gated = is_gated(object);
  workload.of_job = !controlling_jobs(object, scheme).empty();
  workload.extensions = scheme.extensions("Workload", object);
  return workload;
}

json::object encode_condition(const Condition& condition) {
  json::object out;
  out["type"] = condition.type;
  out["status"] = condition.status;
  out["reason"] = condition.reason;
  out["message"] = condition.message;
  out["lastTransitionTime"] = format_time(condition.last_transition_time);
  if (condition.observed_generation != 0) out["observedGeneration"] = condition.observed_generation;
  return out;
}

json::object encode_workload_status(const WorkloadStatus& status) {
  Conversions::encoded();
  json::object out;
  const auto set_list = [&](std::string_view key, const auto& from, auto encode) {
    if (from.empty()) return;
    json::array list;
    list.reserve(from.size());
    for (const auto& each : from) list.emplace_back(encode(each));
    out[json_view(key)] = std::move(list);
  };
  if (status.admission) {
    json::array assignments;
    for (const auto& each : status.admission->pod_sets) {
      assignments.emplace_back(encode_assignment(each));
    }
    json::object admission;
    admission["clusterQueue"] = status.admission->cluster_queue;
    admission["podSetAssignments"] = std::move(assignments);
    out["admission"] = std::move(admission);
  }
  set_list("conditions", status.conditions, encode_condition);
  set_list("reclaimablePods", status.reclaimable_pods, [](const ReclaimablePods& each) {
    return json::object{{"name", each.pod_set}, {"count", each.count}};
  });
  set_list("admissionChecks", status.admission_checks, encode_check);
  if (status.requeue_state) {
    json::object requeue;
    requeue["count"] = status.requeue_state->count;
    if (status.requeue_state->requeue_at) {
      requeue["requeueAt"] = format_time(*status.requeue_state->requeue_at);
    }
    out["requeueState"] = std::move(requeue);
  }
  if (!status.evictions.empty()) {
    json::array evictions;
    for (const auto& each : status.evictions) {
      evictions.emplace_back(json::object{{"reason", each.reason},
                                          {"underlyingCause", each.underlying_cause},
                                          {"count", each.count}});
    }
    out["schedulingStats"] = json::object{{"evictions", std::move(evictions)}};
  }
  if (status.accumulated_past_execution_seconds != 0) {
    out["accumulatedPastExecutionTimeSeconds"] = status.accumulated_past_execution_seconds;
  }
  return out;
}

namespace {

/// Of a condition that still says the same, also the generation that its writer had seen.
void keep_observed_generation(const json::object& before, json::object& encoded) {
  const json::value* observed = find(before, "observedGeneration");
  json::value* conditions = encoded.if_contains("conditions");
  if (!observed || !conditions || !conditions->is_array()) return;
  for (json::value& entry : conditions->get_array()) {
    json::object& now = entry.as_object();
    bool same = true;
    for (const std::string_view field : {"type", "status", "reason", "message"})
      same = same && find_text(now, field) == find_text(before, field);
    if (same) now["observedGeneration"] = *observed;
  }
}

/// Conditions that others wrote stay as they are.
void keep_foreign_conditions(const json::object& before, json::object& encoded) {
  static constexpr std::string_view kOurs[] = {"QuotaReserved", "Admitted",          "Evicted",
                                               "Preempted",     "Requeued",          "PodsReady",
                                               "Finished",      "DeactivationTarget"};
  const json::array* old_conditions = find_array(before, "conditions");
  if (!old_conditions) return;
  for (const json::value& entry : *old_conditions) {
    const json::object* condition = entry.if_object();
    if (!condition) continue;
    const std::string_view type = find_text(*condition, "type");
    if (std::find(std::begin(kOurs), std::end(kOurs), type) != std::end(kOurs)) {
      keep_observed_generation(*condition, encoded);
      continue;
    }
    json::value& list = encoded["conditions"];
    if (!list.is_array()) list.emplace_array();
    list.get_array().push_back(entry);
  }
}

}  // namespace

json::object encode_workload_status(const json::object& before, const WorkloadStatus& status) {
  json::object encoded = encode_workload_status(status);
  keep_foreign(before, encoded, kTypedStatusMembers);
  keep_foreign_conditions(before, encoded);
  static constexpr std::string_view kOfCheck[] = {"reason", "requeueAfterSeconds", "retryCount",
                                                  "podSetUpdates"};
  keep_foreign_entries(before, encoded, "admissionChecks", "name", kOfCheck);
  const json::object* old_admission = find_object(before, "admission");
  json::object* admission = find_object(encoded, "admission");
  if (old_admission != nullptr && admission != nullptr &&
      find_text(*old_admission, "clusterQueue") == find_text(*admission, "clusterQueue")) {
    static constexpr std::string_view kOfAssignment[] = {"flavors", "resourceUsage"};
    keep_foreign_entries(*old_admission, *admission, "podSetAssignments", "name", kOfAssignment);
  }
  return encoded;
}

json::object encode_workload(const json::object& object, const WorkloadStatus& status) {
  const json::object* before = find_object(object, "status");
  json::object encoded =
      before ? encode_workload_status(*before, status) : encode_workload_status(status);
  json::object out = object;
  if (encoded.empty()) {
    out.erase("status");
  } else {
    out["status"] = std::move(encoded);
  }
  return out;
}

}  // namespace sluice::api

// Workloads, read whole.
#include <algorithm>

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
  for (const PodSet& pod_set : workload.pod_sets)
    if (workload.held_because.empty()) workload.held_because = pod_set.pod->unmet;
  workload.is_gated = is_gated(object);
  workload.of_job = !controlling_jobs(object, scheme).empty();
  workload.extensions = scheme.extensions("Workload", object);
  return workload;
}

}  // namespace sluice::api

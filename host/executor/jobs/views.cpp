#include "host/executor/jobs/views.hpp"

#include <algorithm>
#include <charconv>

#include "api/builtin/builtin.hpp"
#include "api/json/json.hpp"
#include "host/executor/pod_status.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<Duration> seconds(const json::object& object, std::string_view key) {
  const auto value = api::find_int(object, key);
  if (!value) return std::nullopt;
  return std::clamp<std::int64_t>(*value, 0, kNever / kSecond / 4) * kSecond;
}

void read_containers(const json::object& status, JobPod& pod) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for_each_object(status, list, [&](const json::object& container) {
      pod.restarts += api::find_int(container, "restartCount").value_or(0);
      const json::object& ended = part(part(container, "state"), "terminated");
      if (ended.empty()) return;
      const std::int64_t code = api::find_int(ended, "exitCode").value_or(0);
      if (code != 0) pod.exits.push_back({std::string(api::find_text(container, "name")), code});
      if (const auto at = api::find_time(ended, "finishedAt")) {
        pod.finished = std::max(pod.finished.value_or(*at), *at);
      }
    });
  }
}

FailureRule::Action action_of(std::string_view text) {
  if (text == "FailJob") return FailureRule::Action::kFailJob;
  if (text == "FailIndex") return FailureRule::Action::kFailIndex;
  if (text == "Ignore") return FailureRule::Action::kIgnore;
  return FailureRule::Action::kCount;
}

FailureRule read_rule(const json::object& source) {
  FailureRule rule;
  rule.action = action_of(api::find_text(source, "action"));
  const json::object& codes = part(source, "onExitCodes");
  rule.container = api::find_text(codes, "containerName");
  rule.codes_in = api::find_text(codes, "operator") != "NotIn";
  if (const json::array* values = api::find_array(codes, "values")) {
    for (const json::value& value : *values) {
      if (const auto code = api::as_int(value)) rule.codes.push_back(*code);
    }
  }
  for_each_object(source, "onPodConditions", [&](const json::object& pattern) {
    const std::string_view status = api::find_text(pattern, "status");
    rule.patterns.push_back(std::string(api::find_text(pattern, "type")) + "=" +
                            std::string(status.empty() ? "True" : status));
  });
  return rule;
}

SuccessRule read_success_rule(const json::object& source) {
  SuccessRule rule;
  if (api::find(source, "succeededIndexes"))
    rule.indexes = IndexSet::parse(api::find_text(source, "succeededIndexes"));
  rule.count = api::find_int(source, "succeededCount");
  return rule;
}

}  // namespace

JobPod read_pod(const json::object& object) {
  JobPod pod;
  const json::object& metadata = part(object, "metadata");
  const json::object& status = part(object, "status");
  const json::object& spec = part(object, "spec");
  pod.key = key_of(object);
  pod.uid = api::find_text(metadata, "uid");
  pod.deleting = !api::find_text(metadata, "deletionTimestamp").empty();
  pod.tracked = holds_text(metadata, "finalizers", kTrackingFinalizer);
  pod.bound = is_scheduled(status);
  pod.gated = api::has_scheduling_gates(spec);
  pod.created = api::find_time(metadata, "creationTimestamp").value_or(0);
  pod.index = number(api::find_text(part(metadata, "annotations"), kIndexKey));
  pod.index_failures =
      number(api::find_text(part(metadata, "annotations"), kIndexFailures)).value_or(0);
  const std::string_view phase = api::find_text(status, "phase");
  if (phase == "Running") pod.phase = JobPod::Phase::kRunning;
  if (phase == "Succeeded") pod.phase = JobPod::Phase::kSucceeded;
  if (phase == "Failed") pod.phase = JobPod::Phase::kFailed;
  pod.ready = has_condition(status, "Ready");
  for_each_object(status, "conditions", [&](const json::object& condition) {
    pod.conditions.push_back(std::string(api::find_text(condition, "type")) + "=" +
                             std::string(api::find_text(condition, "status")));
  });
  read_containers(status, pod);
  return pod;
}

bool BatchJob::condition(std::string_view type) const { return has_condition(status, type); }

BatchJob read_job(const json::object& object) {
  BatchJob job;
  const json::object& metadata = part(object, "metadata");
  const json::object& spec = part(object, "spec");
  job.key = key_of(object);
  job.ns = api::find_text(metadata, "namespace");
  job.name = api::find_text(metadata, "name");
  job.uid = api::find_text(metadata, "uid");
  job.deleting = !api::find_text(metadata, "deletionTimestamp").empty();
  job.suspend = api::find_bool(spec, "suspend", false);
  job.indexed = api::find_text(spec, "completionMode") == "Indexed";
  job.parallelism = std::max<std::int64_t>(0, api::find_int(spec, "parallelism").value_or(1));
  job.completions = api::find_int(spec, "completions");
  job.backoff_limit = api::find_int(spec, "backoffLimit").value_or(6);
  job.backoff_limit_per_index = api::find_int(spec, "backoffLimitPerIndex");
  job.max_failed_indexes = api::find_int(spec, "maxFailedIndexes");
  job.active_deadline = seconds(spec, "activeDeadlineSeconds");
  job.ttl = seconds(spec, "ttlSecondsAfterFinished");
  job.restarts_in_place =
      api::find_text(part(part(spec, "template"), "spec"), "restartPolicy") == "OnFailure";
  job.replace_failed_only = api::find_text(spec, "podReplacementPolicy") == "Failed";
  const std::string_view managed_by = api::find_text(spec, "managedBy");
  job.managed_elsewhere = !managed_by.empty() && managed_by != "kubernetes.io/job-controller";
  for_each_object(part(spec, "podFailurePolicy"), "rules",
                  [&](const json::object& rule) { job.failure_rules.push_back(read_rule(rule)); });
  // With a failure policy a pod that is only terminating has no exit code to judge yet.
  if (!job.failure_rules.empty()) job.replace_failed_only = true;
  if (job.indexed)
    for_each_object(part(spec, "successPolicy"), "rules", [&](const json::object& rule) {
      job.success_rules.push_back(read_success_rule(rule));
    });
  job.status = part(object, "status");
  job.succeeded = api::find_int(job.status, "succeeded").value_or(0);
  job.failed = api::find_int(job.status, "failed").value_or(0);
  job.completed_indexes = IndexSet::parse(api::find_text(job.status, "completedIndexes"));
  job.failed_indexes = IndexSet::parse(api::find_text(job.status, "failedIndexes"));
  job.start_time = api::find_time(job.status, "startTime");
  job.completion_time = api::find_time(job.status, "completionTime");
  return job;
}

}  // namespace sluice::host

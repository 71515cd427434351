#include "host/simulate/job_pods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

bool is_batch_job(const JobKind& kind) { return kind.group_kind() == "batch/Job"; }

std::string_view runtime_text(const json::object& pod_template) {
  return api::find_text(part(part(pod_template, "metadata"), "annotations"), kRuntimeAnnotation);
}

std::string template_path(const JobKind& kind, std::size_t i) {
  if (is_batch_job(kind)) return "spec.template";
  if (i == 0) return "spec.headGroupSpec.template";
  return fmt::format("spec.workerGroupSpecs[{}].template", i - 1);
}

/// A Job with pods that run; `ready`: and answer.
json::object running_job(const JobKind& kind, const json::object& job, bool ready, Time now) {
  json::object status = part(job, "status");
  const std::int32_t succeeded = api::find_int32(status, "succeeded").value_or(0);
  std::int32_t pods = kind.pod_sets(job).front().count;
  if (const auto completions = api::find_int32(part(job, "spec"), "completions"))
    pods = std::min(pods, std::max(0, *completions - succeeded));
  status["active"] = pods;
  if (ready) status["ready"] = pods;
  status["terminating"] = 0;
  if (!status.contains("startTime")) status["startTime"] = format_time(now);
  return status;
}

json::object stopped_job(const json::object& job) {
  json::object status = part(job, "status");
  status["active"] = 0;
  status["ready"] = 0;
  status["terminating"] = 0;
  status.erase("startTime");
  return status;
}

json::object running_cluster(const json::object& cluster, bool ready, Time now) {
  json::object status = part(cluster, "status");
  // Without a state it is being brought up; `suspended` is what is left of an earlier run.
  if (api::find_text(status, "state") == "suspended") status.erase("state");
  if (ready) status["state"] = "ready";
  json::object& times = object_of(status, "stateTransitionTimes");
  if (!times.contains("ready")) times["ready"] = format_time(now);
  return status;
}

json::object stopped_cluster(const json::object& cluster) {
  json::object status = part(cluster, "status");
  status["state"] = "suspended";
  status.erase("stateTransitionTimes");
  return status;
}

json::object wanted_status(const JobKind& kind, const json::object& job, Time now) {
  const bool ready = runtime_of(kind, job).has_value();
  if (!is_suspended(job))
    return is_batch_job(kind) ? running_job(kind, job, ready, now)
                              : running_cluster(job, ready, now);
  const bool ran = kind.active(job) || pods_started(job);
  if (!ran) return part(job, "status");
  return is_batch_job(kind) ? stopped_job(job) : stopped_cluster(job);
}

void check_runtime(const JobKind& kind, json::object& job, std::vector<api::Problem>& problems) {
  const std::size_t sets = kind.pod_sets(job).size();
  for (std::size_t i = 0; i < sets; ++i) {
    const json::object* pod_template = kind.pod_template(job, i);
    if (!pod_template) continue;
    const json::object& annotations = part(part(*pod_template, "metadata"), "annotations");
    const json::value* given = api::find(annotations, kRuntimeAnnotation);
    if (!given || parse_duration(runtime_text(*pod_template))) continue;
    problems.push_back(
        {api::Problem::Kind::kInvalid,
         fmt::format("{}.metadata.annotations[{}]", template_path(kind, i), kRuntimeAnnotation),
         fmt::format("Invalid value: {}: must be a duration such as 1500ms, 90s, 2m30s or 1h",
                     api::to_json(*given))});
  }
}

}  // namespace

std::optional<Duration> runtime_of(const JobKind& kind, const json::object& job) {
  std::optional<Duration> longest;
  json::object copy = job;
  const std::size_t sets = kind.pod_sets(job).size();
  for (std::size_t i = 0; i < sets; ++i) {
    const json::object* pod_template = kind.pod_template(copy, i);
    const auto runtime =
        pod_template ? parse_duration(runtime_text(*pod_template)) : std::optional<Duration>();
    if (runtime) longest = std::max(longest.value_or(0), *runtime);
  }
  return longest;
}

std::optional<Time> pods_started(const json::object& job) {
  const json::object& status = part(job, "status");
  if (const auto started = api::find_time(status, "startTime")) return started;
  return api::find_time(part(status, "stateTransitionTimes"), "ready");
}

json::object succeeded_status(const json::object& job, Time now) {
  json::object status = part(job, "status");
  const json::object& spec = part(job, "spec");
  const std::int32_t parallelism = api::find_int32(spec, "parallelism").value_or(1);
  status["succeeded"] = api::find_int32(spec, "completions").value_or(parallelism);
  for (const char* count : {"active", "ready", "terminating"}) status[count] = 0;
  status["completionTime"] = format_time(now);
  json::array& conditions = array_of(status, "conditions");
  for (const char* type : {"SuccessCriteriaMet", "Complete"})
    conditions.push_back(json::object{{"type", type},
                                      {"status", "True"},
                                      {"reason", "CompletionsReached"},
                                      {"message", "Reached expected number of succeeded pods"},
                                      {"lastProbeTime", format_time(now)},
                                      {"lastTransitionTime", format_time(now)}});
  return status;
}

JobPods::JobPods(const api::Scheme& scheme) : scheme_(scheme) {}

std::vector<std::string> JobPods::watches() const {
  std::vector<std::string> out;
  for (const JobKind* kind : job_kinds()) out.emplace_back(kind->group_kind());
  return out;
}

void JobPods::changed(const ObjectChange& change, std::vector<std::string>& keys) {
  if (change.stored)
    keys.push_back(fmt::format("{} {}", find_job_kind(*change.kind)->group_kind(), change.key));
}

Result<Time> JobPods::reconcile(const std::string& key, ObjectAccess& objects) {
  const std::size_t space = key.find(' ');
  const JobKind* job_kind = find_job_kind(std::string_view(key).substr(0, space));
  const api::KindInfo* kind = nullptr;
  for (const api::KindInfo* info : scheme_.kinds())
    if (find_job_kind(*info) == job_kind) kind = info;
  const std::string object_key = key.substr(space + 1);
  const auto job = kind ? objects.get(*kind, object_key) : std::nullopt;
  if (!job || job_kind->end(*job)) return kNever;
  json::object status = wanted_status(*job_kind, *job, objects.now());
  if (status == part(*job, "status")) return kNever;
  const auto done = objects.update_status(*kind, object_key, std::move(status));
  if (!done) return Error{done.error().text};
  return kNever;
}

bool RuntimePolicy::wants(const api::KindInfo& kind) const {
  return find_job_kind(kind) != nullptr;
}

void RuntimePolicy::creating(const api::KindInfo& kind, json::object& object, const ObjectAccess&,
                             bool, std::vector<api::Problem>& problems) {
  check_runtime(*find_job_kind(kind), object, problems);
}

void RuntimePolicy::updating(const api::KindInfo& kind, json::object& object, const json::object&,
                             const ObjectAccess&, bool, std::vector<api::Problem>& problems) {
  check_runtime(*find_job_kind(kind), object, problems);
}

}  // namespace sluice::host

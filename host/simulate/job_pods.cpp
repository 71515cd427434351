#include "host/simulate/job_pods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/runtime.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string_view runtime_text(const json::object& of) {
  return api::find_text(part(part(of, "metadata"), "annotations"), kRuntimeAnnotation);
}

/// All pods of a job that runs are there at once; `stage` tells whether they answer.
std::vector<api::PodCounts> pods_in(const api::JobKind& kind, const json::object& job,
                                    api::JobStage stage) {
  std::vector<api::PodCounts> out;
  for (const api::JobPodSet& set : kind.pod_sets(job)) {
    api::PodCounts& pods = out.emplace_back(api::PodCounts{set.name, set.count, set.to_succeed()});
    if (stage == api::JobStage::kStarted || stage == api::JobStage::kReady) pods.active = set.count;
    if (stage == api::JobStage::kReady) pods.ready = set.count;
    if (stage == api::JobStage::kSucceeded) pods.succeeded = set.to_succeed();
  }
  return out;
}

json::object wanted_status(const api::JobKind& kind, const json::object& job, Time now) {
  api::JobStage stage = api::JobStage::kStopped;
  if (!kind.suspended(job))
    stage = runtime_of(kind, job) ? api::JobStage::kReady : api::JobStage::kStarted;
  else if (!kind.active(job) && !kind.running_since(job))
    return part(job, "status");
  return kind.status_with(job, {stage, pods_in(kind, job, stage), {}}, now);
}

void check_runtimes(const api::JobKind& kind, json::object& job,
                    std::vector<api::Problem>& problems) {
  check_runtime(job, "", problems);
  const std::size_t sets = kind.pod_sets(job).size();
  for (std::size_t i = 0; i < sets; ++i) {
    json::object made;
    const json::object* pod_template = kind.described(job, i, made);
    if (pod_template) check_runtime(*pod_template, kind.template_path(job, i) + ".", problems);
  }
}

}  // namespace

std::optional<Duration> runtime_of(const api::JobKind& kind, const json::object& job) {
  std::optional<Duration> longest = parse_duration(runtime_text(job));
  json::object copy = job;
  const std::size_t sets = kind.pod_sets(job).size();
  for (std::size_t i = 0; i < sets; ++i) {
    json::object made;
    const json::object* pod_template = kind.described(copy, i, made);
    const auto runtime =
        pod_template ? parse_duration(runtime_text(*pod_template)) : std::optional<Duration>();
    if (runtime) longest = std::max(longest.value_or(0), *runtime);
  }
  return longest;
}

std::optional<Duration> time_to_end_of(const api::JobKind& kind, const json::object& job) {
  const auto runtime = runtime_of(kind, job);
  const auto deadline = kind.deadline(job);
  return runtime && deadline ? std::min(*runtime, *deadline) : deadline ? deadline : runtime;
}

json::object ended_status(const api::JobKind& kind, const json::object& job, Time now) {
  const auto deadline = kind.deadline(job);
  const auto since = kind.running_since(job);
  const auto runtime = runtime_of(kind, job);
  const bool fails =
      deadline && since && now >= later(*since, *deadline) && (!runtime || *runtime > *deadline);
  const api::JobStage stage = fails ? api::JobStage::kFailed : api::JobStage::kSucceeded;
  api::JobReport report{stage, pods_in(kind, job, stage), {}};
  if (fails) {
    report.reason = "DeadlineExceeded";
    report.message = "Job was active longer than specified deadline";
  }
  return kind.status_with(job, report, now);
}

JobPods::JobPods(const api::Scheme& scheme) : kinds_(job_kinds(scheme)) {}

std::vector<std::string> JobPods::watches() const {
  std::vector<std::string> out;
  for (const api::KindInfo* kind : kinds_) out.push_back(kind->group_kind());
  return out;
}

void JobPods::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.stored) keys.push_back({change.kind, change.key});
}

Result<Time> JobPods::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const auto job = objects.get(*key.kind, key.name);
  if (!job || key.kind->job->end(*job)) return kNever;
  json::object status = wanted_status(*key.kind->job, *job, objects.now());
  if (status == part(*job, "status")) return kNever;
  const auto done = objects.update_status(*key.kind, key.name, std::move(status));
  if (!done) return Error{done.error().text};
  return kNever;
}

bool RuntimePolicy::wants(const api::KindInfo& kind) const { return kind.job != nullptr; }

void RuntimePolicy::creating(const api::KindInfo& kind, json::object& object, const ObjectReader&,
                             bool, std::vector<api::Problem>& problems) const {
  check_runtimes(*kind.job, object, problems);
}

void RuntimePolicy::updating(const api::KindInfo& kind, json::object& object, const json::object&,
                             const ObjectReader&, bool, std::vector<api::Problem>& problems) const {
  check_runtimes(*kind.job, object, problems);
}

}  // namespace sluice::host

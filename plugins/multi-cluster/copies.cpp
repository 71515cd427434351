#include "copies.hpp"

#include <charconv>
#include <utility>

#include "names.hpp"

namespace clusters {

using sluice::Json;

namespace {

/// Names in which a host remembers what it decided: not those of the user.
bool is_of_host(std::string_view name) {
  if (name == sluice::kRuntimeAnnotation) return false;  // how long it runs, as its user says
  const std::string_view domain = name.substr(0, name.find('/'));
  return domain == "sluice.dev" || domain.ends_with(".sluice.dev");
}

/// The user's labels or annotations.
Json texts_of(const Json& object, const char* path) {
  Json out = Json::object();
  const Json* found = object.find(path);
  if (found == nullptr) return out;
  for (const auto& [name, value] : found->members())
    if (!is_of_host(name)) out[name] = value;
  return out;
}

Json metadata_of(const Json& object, const Origin& origin) {
  Json out = Json::object();
  out["name"] = object.string_or("metadata.name", "");
  out["namespace"] = object.string_or("metadata.namespace", "");
  out["labels"] = texts_of(object, "metadata.labels");
  out["labels"][kOrigin] = origin.manager;
  out["annotations"] = texts_of(object, "metadata.annotations");
  for (const std::string_view name :
       {std::string_view("kubectl.kubernetes.io/last-applied-configuration"), kReplacementFor,
        kFirstSlice})
    out["annotations"].erase(name);
  out["annotations"][kOriginUid] = origin.uid;
  out["annotations"][kAttempt] = std::to_string(origin.attempt);
  return out;
}

void drop_job_labels(Json& labels) {
  for (const char* name : {"controller-uid", "batch.kubernetes.io/controller-uid", "job-name",
                           "batch.kubernetes.io/job-name"})
    labels.erase(name);
}

std::uint64_t attempt_in(const Json& object, std::string_view uid) {
  if (uid.empty() || sluice::annotation_of(object, kOriginUid) != uid) return 0;
  const std::string text = sluice::annotation_of(object, kAttempt);
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? out : 0;
}

/// The pods that a Job was granted that may start with fewer than it asks for; nullopt: no such
/// Job.
std::optional<std::int64_t> granted_of_job(const Json& workload) {
  const Json* owner = sluice::controller_of(workload);
  if (owner == nullptr || owner->string_or("apiVersion", "") != "batch/v1" ||
      owner->string_or("kind", "") != "Job" || workload.find("spec.podSets.0.minCount") == nullptr)
    return std::nullopt;
  const std::int64_t count = workload.int_or("status.admission.podSetAssignments.0.count", 0);
  return count > 0 ? std::optional(count) : std::nullopt;
}

bool is_deleting(const Json& object) {
  return !object.string_or("metadata.deletionTimestamp", "").empty();
}

}  // namespace

std::int64_t size_of(const Json& workload) { return workload.int_or("spec.podSets.0.count", 0); }

bool is_granted_less(const Json& workload) {
  const Json* sets = workload.find("spec.podSets");
  const Json* assigned = workload.find("status.admission.podSetAssignments");
  if (sets == nullptr || assigned == nullptr) return false;
  for (const Json& set : sets->items()) {
    if (set.find("minCount") == nullptr) continue;
    for (const Json& each : assigned->items())
      if (each.string_or("name", "") == set.string_or("name", "") &&
          each.int_or("count", 0) < set.int_or("count", 1))
        return true;
  }
  return false;
}

Json workload_copy(const Json& workload, const Origin& origin) {
  Json out = Json::object();
  out["apiVersion"] = kKueue;
  out["kind"] = "Workload";
  out["metadata"] = metadata_of(workload, origin);
  // It names the job here, which there has another UID.
  out["metadata"]["labels"].erase(kJobUid);
  if (const Json* spec = workload.find("spec")) out["spec"] = *spec;
  if (const auto granted = granted_of_job(workload)) {
    Json set = *workload.find("spec.podSets.0");
    set["count"] = *granted;
    set.erase("minCount");
    Json sets = Json::array();
    sets.push_back(std::move(set));
    out["spec"]["podSets"] = std::move(sets);
  }
  return out;
}

Json job_copy(const Json& job, std::string_view workload, const Origin& origin) {
  Json out = Json::object();
  out["apiVersion"] = job.string_or("apiVersion", "");
  out["kind"] = job.string_or("kind", "");
  out["metadata"] = metadata_of(job, origin);
  drop_job_labels(out["metadata"]["labels"]);
  out["metadata"]["annotations"].erase(kPrebuilt);  // the job's own
  out["metadata"][workload.size() > kLongestLabel ? "annotations" : "labels"][kPrebuilt] = workload;
  if (out["metadata"]["annotations"].member(kElastic) != nullptr)
    out["metadata"]["annotations"][kOriginJob] = job.string_or("metadata.uid", "");
  if (const Json* spec = job.find("spec")) out["spec"] = *spec;
  Json& spec = out["spec"];
  spec.erase("managedBy");
  if (job.find("spec.suspend") != nullptr) spec["suspend"] = true;
  if (!job.bool_or("spec.manualSelector", false)) {
    spec.erase("selector");
    if (job.find("spec.template.metadata.labels") != nullptr)
      drop_job_labels(spec["template"]["metadata"]["labels"]);
  }
  return out;
}

void take_granted(Json& job, const Json& workload) {
  const auto granted = granted_of_job(workload);
  if (!granted) return;
  job["spec"]["parallelism"] = *granted;
  if (sluice::annotation_of(job, kCompletionsEqual) == "true")
    job["spec"]["completions"] = *granted;
  job["metadata"]["annotations"].erase(kMinParallelism);
}

WorkloadCopy read_workload(const Json& there, std::string_view uid) {
  WorkloadCopy out;
  out.there = true;
  out.name = there.string_or("metadata.name", "");
  out.uid = there.string_or("metadata.uid", "");
  out.attempt = attempt_in(there, uid);
  out.deleting = is_deleting(there);
  if (const Json* finalizers = there.find("metadata.finalizers"))
    for (const Json& each : finalizers->items()) out.held |= each.as_string() == kInUse;
  out.reserved = sluice::condition_is_true(there, "QuotaReserved");
  out.admitted = sluice::condition_is_true(there, "Admitted");
  out.stopped = sluice::condition_is_true(there, "Evicted");
  out.priority = there.int_or("spec.priority", 0);
  out.size = size_of(there);
  out.may_get_less = there.find("spec.podSets.0.minCount") != nullptr;
  if (sluice::condition_is_true(there, "Finished")) {
    out.finished = true;
    out.reason = sluice::find_condition(there, "Finished")->string_or("reason", "");
    out.message = sluice::find_condition(there, "Finished")->string_or("message", "");
  }
  if (const Json* owners = there.find("metadata.ownerReferences"))
    for (const Json& owner : owners->items())
      if (owner.bool_or("controller", false)) out.owner = owner.string_or("name", "");
  return out;
}

JobCopy read_job(const Json& there, std::string_view uid) {
  JobCopy out;
  out.there = true;
  out.uid = there.string_or("metadata.uid", "");
  out.attempt = attempt_in(there, uid);
  out.deleting = is_deleting(there);
  out.suspended = there.bool_or("spec.suspend", false);
  out.size = there.int_or("spec.parallelism", 1);
  const Json* status = there.find("status");
  out.status = status == nullptr ? Json::object() : *status;
  // Of other kinds the workload alone says it.
  out.ended = there.string_or("kind", "") != "Job" ||
              sluice::condition_is_true(there, "Complete") ||
              sluice::condition_is_true(there, "Failed");
  return out;
}

std::optional<Json> status_patch(const Json& now, const Json& wanted) {
  Json merge = Json::object();
  for (const auto& [name, value] : wanted.members()) {
    const Json* present = now.member(name);
    if (present == nullptr || *present != value) merge[name] = value;
  }
  for (const auto& [name, value] : now.members())
    if (wanted.member(name) == nullptr) merge[name] = Json();
  if (merge.size() == 0) return std::nullopt;
  return merge;
}

Json with_condition(const Json& object, Json wanted) {
  Json out = Json::array();
  const std::string type = wanted.string_or("type", "");
  if (const Json* all = object.find("status.conditions"))
    for (const Json& each : all->items())
      if (each.string_or("type", "") != type) out.push_back(each);
  out.push_back(std::move(wanted));
  return out;
}

}  // namespace clusters

#include "host/controllers/jobs/ends.hpp"

#include <fmt/format.h>

#include "api/jobs/job_kind.hpp"
#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// By the text alone, so that it may say yes for one that is not.
bool may_be_ending(const StoredObject& workload) {
  return workload.status.find("\"Evicted\"") != std::string::npos &&
         workload.status.find("\"admission\"") != std::string::npos;
}

bool is_ending(const json::object& workload) {
  const json::object& status = part(workload, "status");
  return has_condition(status, "Evicted") && has_condition(status, "Admitted") &&
         !has_condition(status, "Finished");
}

/// The job that controls it, with its UID; a kind of nullptr: there is none.
std::pair<ObjectRef, std::string> job_of(const json::object& workload, const api::Scheme& scheme) {
  std::pair<ObjectRef, std::string> out;
  const json::object& metadata = part(workload, "metadata");
  for_each_object(metadata, "ownerReferences", [&](const json::object& owner) {
    if (!api::find_bool(owner, "controller", false)) return;
    const api::KindInfo* kind =
        scheme.find(api::find_text(owner, "apiVersion"), api::find_text(owner, "kind"));
    if (!kind || !kind->job) return;
    out.first = {kind, fmt::format("{}/{}", api::find_text(metadata, "namespace"),
                                   api::find_text(owner, "name"))};
    out.second = api::find_text(owner, "uid");
  });
  return out;
}

}  // namespace

EndsController::EndsController(const api::Scheme& scheme)
    : workloads_(&api::kueue_kind(scheme, "Workload")), jobs_(job_kinds(scheme)) {}

std::vector<std::string> EndsController::watches() const {
  std::vector<std::string> out = {"kueue.x-k8s.io/Workload"};
  for (const api::KindInfo* kind : jobs_) out.push_back(group_kind(*kind));
  return out;
}

void EndsController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind != workloads_) {
    if (const auto found = ending_.find({change.kind, change.key}); found != ending_.end())
      for (const std::string& workload : found->second) keys.push_back({workloads_, workload});
    return;
  }
  const bool ending = change.stored && may_be_ending(*change.stored);
  if (ending || job_of_.contains(change.key)) keys.push_back({workloads_, change.key});
}

void EndsController::forget(const std::string& workload) {
  const auto job = job_of_.find(workload);
  if (job == job_of_.end()) return;
  const auto of_job = ending_.find(job->second);
  of_job->second.erase(workload);
  if (of_job->second.empty()) ending_.erase(of_job);
  job_of_.erase(job);
}

Result<Time> EndsController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  forget(key.name);
  const auto workload = objects.get(*workloads_, key.name);
  if (!workload || !is_ending(*workload)) return kNever;
  const auto [ref, uid] = job_of(*workload, objects.scheme());
  if (ref.kind) {
    const auto job = objects.get(*ref.kind, ref.key);
    const bool there = job && api::find_text(part(*job, "metadata"), "uid") == uid;
    const api::JobKind& kind = *ref.kind->job;
    const bool stopped = !there || kind.end(*job) || (kind.suspended(*job) && !kind.active(*job));
    if (!stopped) {
      ending_[ref].insert(key.name);
      job_of_.insert_or_assign(key.name, ref);
      return kNever;
    }
    objects.tell_ended(key.name);
  }
  return kNever;
}

}  // namespace sluice::host

#include "host/controllers/jobs/ends.hpp"

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

}  // namespace

EndsController::EndsController(const api::Scheme& scheme)
    : workloads_(&api::kueue_kind(scheme, "Workload")), jobs_(job_kinds(scheme)) {}

std::vector<std::string> EndsController::watches() const { return workloads_and(jobs_); }

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
  const std::vector<JobInControl> jobs = jobs_in_control(*workload, objects);
  if (jobs.empty()) return kNever;
  const JobInControl& job = jobs.back();
  const api::JobKind& kind = *job.ref.kind->job;
  const bool stopped = !job.object || kind.end(*job.object) ||
                       (kind.suspended(*job.object) && !kind.active(*job.object));
  if (stopped) {
    objects.tell_ended(key.name);
  } else {
    ending_[job.ref].insert(key.name);
    job_of_.insert_or_assign(key.name, job.ref);
  }
  return kNever;
}

}  // namespace sluice::host

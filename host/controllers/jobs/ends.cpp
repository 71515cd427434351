#include "host/controllers/jobs/ends.hpp"

#include "api/codec/status_text.hpp"
#include "api/jobs/job_kind.hpp"
#include "api/json/json.hpp"
#include "host/controllers/jobs/running_pods.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/workload_quota.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {

namespace json = boost::json;

EndsController::EndsController(const api::Scheme& scheme)
    : workloads_(&api::kueue_kind(scheme, "Workload")), jobs_(job_kinds(scheme)) {}

std::vector<std::string> EndsController::watches() const {
  std::vector<std::string> out = workloads_and(jobs_);
  if (watches_pods_) out.push_back("/Pod");
  return out;
}

void EndsController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (for_pods_.name(change, keys)) return;
  if (change.kind != workloads_) {
    for (const std::string& workload : ending_.of({change.kind, change.key}))
      keys.push_back({workloads_, workload});
    return;
  }
  const bool ending = change.stored && is_ending(api::conditions_in(change.stored->status));
  if (ending || ending_.has(change.key)) keys.push_back({workloads_, change.key});
}

bool EndsController::has_stopped(const JobInControl& job, const ObjectAccess& objects) const {
  const api::JobKind& kind = *job.ref.kind->job;
  if (!watches_pods_)
    return !job.object || kind.end(*job.object) ||
           (kind.suspended(*job.object) && !kind.active(*job.object));
  const bool goes_on = job.object && !is_terminating(*job.object) && !kind.end(*job.object) &&
                       !kind.suspended(*job.object);
  return !goes_on && !has_running_pods(objects, job.uid, job.ref.ns());
}

Result<Time> EndsController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  ending_.erase(key.name);
  for_pods_.erase(key);
  const auto workload = objects.get(*workloads_, key.name);
  if (!workload || !is_ending(part(*workload, "status"))) return kNever;
  const std::vector<JobInControl> jobs = jobs_in_control(*workload, objects);
  if (jobs.empty()) return kNever;
  const JobInControl& job = jobs.back();
  if (has_stopped(job, objects)) {
    objects.tell_ended(key.name);
  } else {
    ending_.set(key.name, job.ref);
    for_pods_.set(key, job.uid);
  }
  return kNever;
}

}  // namespace sluice::host

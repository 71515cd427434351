#include "host/controllers/jobs/ends.hpp"

#include "api/codec/status_text.hpp"
#include "api/jobs/job_kind.hpp"
#include "api/json/json.hpp"
#include "host/controllers/jobs/in_use.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// `status`: as it is stored, or as it was read.
template <typename Status>
bool is_ending(const Status& status) {
  return has_condition(status, "Evicted") && has_condition(status, "Admitted") &&
         !has_condition(status, "Finished");
}

}  // namespace

EndsController::EndsController(const api::Scheme& scheme)
    : workloads_(&api::kueue_kind(scheme, "Workload")), jobs_(job_kinds(scheme)) {}

std::vector<std::string> EndsController::watches() const { return workloads_and(jobs_); }

void EndsController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind != workloads_) {
    for (const std::string& workload : ending_.of({change.kind, change.key}))
      keys.push_back({workloads_, workload});
    return;
  }
  const bool ending = change.stored && is_ending(api::conditions_in(change.stored->status));
  if (ending || ending_.has(change.key)) keys.push_back({workloads_, change.key});
}

Result<Time> EndsController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  ending_.erase(key.name);
  const auto workload = objects.get(*workloads_, key.name);
  if (!workload || !is_ending(part(*workload, "status"))) return kNever;
  const std::vector<JobInControl> jobs = jobs_in_control(*workload, objects);
  if (jobs.empty()) return kNever;
  const JobInControl& job = jobs.back();
  // Its pods may run on; with the last of them the workload goes.
  if (!job.object && waits_for_pods_to_end(*workload)) return kNever;
  const api::JobKind& kind = *job.ref.kind->job;
  const bool stopped = !job.object || kind.end(*job.object) ||
                       (kind.suspended(*job.object) && !kind.active(*job.object));
  if (stopped)
    objects.tell_ended(key.name);
  else
    ending_.set(key.name, job.ref);
  return kNever;
}

}  // namespace sluice::host

#include "host/controllers/jobs/in_use.hpp"

#include <algorithm>

#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/parts.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The sort of a key that names a job which goes, by its UID; a workload has the sort 0.
constexpr std::uint32_t kOwner = 1;

/// The job that controls it is there, and not about to go.
bool has_job(const json::object& workload, const ObjectAccess& objects) {
  const std::vector<JobInControl> jobs = jobs_in_control(workload, objects);
  return std::any_of(jobs.begin(), jobs.end(), [](const JobInControl& job) {
    return job.object && !is_terminating(*job.object);
  });
}

}  // namespace

bool waits_for_pods_to_end(const json::object& workload) {
  return is_terminating(workload) && has_finalizer(workload, kInUseFinalizer);
}

ApiResult<void> release(json::object object, ObjectAccess& objects) {
  remove_finalizer(object, kInUseFinalizer);
  return objects.update(std::move(object));
}

InUseController::InUseController(const api::Scheme& scheme)
    : workloads_(&api::kueue_kind(scheme, "Workload")), jobs_(job_kinds(scheme)) {}

std::vector<std::string> InUseController::watches() const { return workloads_and(jobs_); }

void InUseController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind == workloads_) {
    if (change.stored && change.stored->metadata.terminating() &&
        change.stored->metadata.has_finalizer(kInUseFinalizer))
      keys.push_back({workloads_, change.key});
  } else if (change.before && (!change.stored || change.stored->metadata.terminating())) {
    const std::string_view uid = change.before->metadata.uid();
    if (!uid.empty()) keys.push_back({nullptr, std::string(uid), kOwner});
  }
}

Result<Time> InUseController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  std::vector<std::string> of_key;
  if (key.sort != kOwner) {
    of_key.push_back(key.name);
  } else {
    for (const ObjectRef& owned : objects.owned_by(key.name, {}))
      if (owned.kind == workloads_) of_key.push_back(owned.key);
  }
  for (const std::string& each : of_key) {
    auto workload = objects.get(*workloads_, each);
    if (!workload || !waits_for_pods_to_end(*workload) || has_job(*workload, objects)) continue;
    if (auto done = release(std::move(*workload), objects); !done) return Error{done.error().text};
  }
  return kNever;
}

}  // namespace sluice::host

#include "host/controllers/jobs/in_use.hpp"

#include <fmt/format.h>

#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/controllers/jobs/running_pods.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/workload_quota.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The sort of a key that names a job which goes, by its UID; a workload has the sort 0.
constexpr std::uint32_t kOwner = 1;

}  // namespace

bool waits_for_pods_to_end(const json::object& workload) {
  return is_terminating(workload) && has_finalizer(workload, kInUseFinalizer);
}

ApiResult<void> release(json::object object, ObjectAccess& objects) {
  remove_finalizer(object, kInUseFinalizer);
  return objects.update(std::move(object));
}

bool InUsePolicy::wants(const api::KindInfo& kind) const { return is_workload(kind); }

void InUsePolicy::updating(const api::KindInfo&, json::object& object, const json::object& old,
                           const ObjectReader&, bool by_system,
                           std::vector<api::Problem>& problems) const {
  if (by_system || !has_finalizer(old, kInUseFinalizer) || has_finalizer(object, kInUseFinalizer) ||
      !holds_quota(part(old, "status")))
    return;
  problems.push_back({api::Problem::Kind::kForbidden, "metadata.finalizers",
                      fmt::format("Forbidden: {} is taken away by the system, when nothing runs "
                                  "on the quota of the workload any more",
                                  kInUseFinalizer)});
}

InUseController::InUseController(const api::Scheme& scheme)
    : workloads_(&api::kueue_kind(scheme, "Workload")), jobs_(job_kinds(scheme)) {}

std::vector<std::string> InUseController::watches() const {
  std::vector<std::string> out = workloads_and(jobs_);
  if (watches_pods_) out.push_back("/Pod");
  return out;
}

void InUseController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (waiting_.name(change, keys)) return;
  if (change.kind == workloads_) {
    if (change.stored && change.stored->metadata.terminating() &&
        change.stored->metadata.has_finalizer(kInUseFinalizer))
      keys.push_back({workloads_, change.key});
  } else if (change.before && (!change.stored || change.stored->metadata.terminating())) {
    const std::string_view uid = change.before->metadata.uid();
    if (!uid.empty()) keys.push_back({nullptr, std::string(uid), kOwner});
  }
}

bool InUseController::may_go(const WorkKey& workload, const json::object& object,
                             const ObjectAccess& objects) {
  if (!holds_quota(part(object, "status"))) return true;
  const std::string_view ns = api::find_text(part(object, "metadata"), "namespace");
  const std::vector<JobInControl> jobs = jobs_in_control(object, objects);
  for (const JobInControl& job : jobs) {
    if (job.object && !is_terminating(*job.object)) return false;
    if (!watches_pods_ || !has_running_pods(objects, job.uid, ns)) continue;
    waiting_.set(workload, job.uid);
    return false;
  }
  return true;
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
    const WorkKey of_workload{workloads_, each};
    waiting_.erase(of_workload);
    auto workload = objects.get(*workloads_, each);
    if (!workload || !waits_for_pods_to_end(*workload) || !may_go(of_workload, *workload, objects))
      continue;
    if (auto done = release(std::move(*workload), objects); !done) return Error{done.error().text};
  }
  return kNever;
}

}  // namespace sluice::host

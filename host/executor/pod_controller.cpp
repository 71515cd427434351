#include "host/executor/pod_controller.hpp"

#include <algorithm>

#include "host/executor/jobs/job_pods_controller.hpp"
#include "host/executor/jobs/pod_making.hpp"
#include "host/executor/jobs/views.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Whether the Job that would count the pod's end still does so.
bool job_counts(const json::object& pod, const std::string& key, const ObjectAccess& objects) {
  const json::object* owner = controller_of(part(pod, "metadata"));
  const api::KindInfo* jobs = objects.scheme().find("batch/v1", "Job");
  if (!owner || !jobs) return false;
  const ObjectRef ref{jobs, join_key(namespace_of(key), api::find_text(*owner, "name"))};
  const auto job = objects.get(*jobs, ref.key);
  if (!job) return false;
  const json::object& metadata = part(*job, "metadata");
  return is_controlled_by(pod, objects.scheme(), ref, api::find_text(metadata, "uid")) &&
         api::find_text(metadata, "deletionTimestamp").empty();
}

}  // namespace

void PodController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  // Only what is being deleted concerns it.
  if (!change.deleted() && change.stored->metadata.terminating())
    keys.push_back({change.kind, change.key});
}

Result<Time> PodController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const auto pod = objects.get(*key.kind, key.name);
  if (!pod) return kNever;
  const JobPod view = read_pod(*pod);
  if (!view.deleting) return kNever;
  if (view.tracked && !job_counts(*pod, key.name, objects)) {
    const ApiResult<void> dropped =
        drop_finalizer(objects, *key.kind, key.name, kTrackingFinalizer);
    if (!dropped) return Error{dropped.error().text};
  }
  if (view.bound && !view.ended()) return kNever;
  const auto left = objects.get(*key.kind, key.name);
  const json::array* finalizers =
      left ? api::find_array(part(*left, "metadata"), "finalizers") : nullptr;
  if (!left || (finalizers && !finalizers->empty())) return kNever;
  const ApiResult<void> removed = objects.remove(*key.kind, key.name);
  if (!removed) return Error{removed.error().text};
  return kNever;
}

}  // namespace sluice::host

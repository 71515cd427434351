#include "host/controllers/jobs/orphans.hpp"

#include <utility>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "host/controllers/jobs/in_use.hpp"
#include "host/controllers/jobs/job_view.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/managed_jobs.hpp"
#include "host/objects/parts.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

bool is_orphan(const Header& metadata) {
  return metadata.owners().empty() && !metadata.terminating() &&
         !api::member_text(metadata.labels(), kJobUidLabel).empty();
}

}  // namespace

OrphanController::OrphanController(const api::Scheme& scheme)
    : workloads_(&api::kueue_kind(scheme, "Workload")) {}

std::vector<std::string> OrphanController::watches() const { return {workloads_->group_kind()}; }

void OrphanController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (!change.stored || (change.before && change.before->metadata == change.stored->metadata))
    return;
  if (is_orphan(change.stored->metadata)) keys.push_back({workloads_, change.key});
}

Result<Time> OrphanController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const auto workload = objects.get(*workloads_, key.name);
  if (!workload || is_terminating(*workload) || label_of(*workload, kJobUidLabel).empty() ||
      api::find_array(part(*workload, "metadata"), "ownerReferences"))
    return kNever;
  if (!has_condition(part(*workload, "status"), "Finished")) {
    auto done =
        objects.finish_workload(key.name, "OwnerNotFound", "The workload's owner no longer exists");
    if (!done) return Error{done.error().text};
  }
  auto ended = objects.get(*workloads_, key.name);
  if (!ended || !has_finalizer(*ended, kInUseFinalizer)) return kNever;
  if (auto done = release(std::move(*ended), objects); !done) return Error{done.error().text};
  return kNever;
}

}  // namespace sluice::host

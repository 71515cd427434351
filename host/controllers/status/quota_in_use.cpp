#include "host/controllers/status/quota_in_use.hpp"

#include <algorithm>

#include "core/engine/queue_views.hpp"
#include "core/model/model.hpp"
#include "host/controllers/jobs/in_use.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

bool names_flavor(const api::ClusterQueue& queue, std::string_view name) {
  const auto has = [&](const api::ResourceGroup& group) {
    return std::any_of(group.flavors.begin(), group.flavors.end(),
                       [&](const api::FlavorQuotas& each) { return each.flavor == name; });
  };
  return std::any_of(queue.resource_groups.begin(), queue.resource_groups.end(), has);
}

bool names_check(const api::ClusterQueue& queue, std::string_view name) {
  return std::any_of(queue.admission_checks.begin(), queue.admission_checks.end(),
                     [&](const api::AdmissionCheckRule& each) { return each.name == name; });
}

}  // namespace

QuotaInUseController::QuotaInUseController(const api::Scheme& scheme, const Engine& engine)
    : engine_(engine),
      workloads_(&api::kueue_kind(scheme, "Workload")),
      queues_(&api::kueue_kind(scheme, "ClusterQueue")),
      flavors_(&api::kueue_kind(scheme, "ResourceFlavor")),
      checks_(&api::kueue_kind(scheme, "AdmissionCheck")) {}

std::vector<std::string> QuotaInUseController::watches() const {
  return {"kueue.x-k8s.io/Workload", "kueue.x-k8s.io/ClusterQueue", "kueue.x-k8s.io/ResourceFlavor",
          "kueue.x-k8s.io/AdmissionCheck"};
}

void QuotaInUseController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  const auto add_leaving = [&](const api::KindInfo* kind) {
    for (const std::string& name : leaving_[kind]) keys.push_back({kind, name});
  };
  // Whatever changes may have been the last use; there are few, and for a short time.
  if (change.kind == workloads_) return add_leaving(queues_);
  const bool leaves = change.stored && change.stored->metadata.terminating() &&
                      change.stored->metadata.has_finalizer(kInUseFinalizer);
  if (leaves) {
    leaving_[change.kind].insert(change.key);
    keys.push_back({change.kind, change.key});
  } else {
    leaving_[change.kind].erase(change.key);
  }
  if (change.kind != queues_) return;
  add_leaving(flavors_);
  add_leaving(checks_);
}

bool QuotaInUseController::in_use(const WorkKey& key) const {
  const Model& model = engine_.model();
  if (key.kind == queues_) {
    const auto view = queue_view(model, key.name);
    return view && view->counts.reserving > 0;
  }
  return std::any_of(model.queues.begin(), model.queues.end(), [&](const QueueRecord& queue) {
    return queue.spec && (key.kind == flavors_ ? names_flavor(*queue.spec, key.name)
                                               : names_check(*queue.spec, key.name));
  });
}

std::string_view QuotaInUseController::held_by(const ObjectRef& ref) const {
  const bool ours = ref.kind == queues_ || ref.kind == flavors_ || ref.kind == checks_;
  return ours && in_use({ref.kind, ref.key}) ? kInUseFinalizer : std::string_view();
}

Result<Time> QuotaInUseController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  auto object = objects.get(*key.kind, key.name);
  if (!object || !is_terminating(*object) || !has_finalizer(*object, kInUseFinalizer) ||
      in_use(key))
    return kNever;
  if (auto done = release(std::move(*object), objects); !done) return Error{done.error().text};
  return kNever;
}

}  // namespace sluice::host

#include "host/controllers/garbage.hpp"

#include <algorithm>
#include <string>

#include "host/objects/owners.hpp"

namespace sluice::host {

std::vector<std::string> GarbageController::watches() const {
  std::vector<std::string> kinds;
  for (const api::KindInfo* kind : scheme_.kinds()) kinds.push_back(kind->group_kind());
  return kinds;
}

void GarbageController::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (!change.stored || (change.before && change.before->metadata == change.stored->metadata))
    return;
  if (is_garbage(*change.kind, *change.stored)) keys.push_back({change.kind, change.key});
}

bool GarbageController::is_garbage(const api::KindInfo& kind, const StoredObject& object) const {
  const auto owners = object.metadata.owners();
  if (owners.empty() || object.metadata.terminating()) return false;
  return std::all_of(owners.begin(), owners.end(), [&](const OwnerReference& reference) {
    const ObjectRef owner = owner_named(scheme_, reference, object.ns());
    if (!owner.kind || (owner.kind->namespaced && !kind.namespaced)) return false;
    const StoredObject* found = store_.find(*owner.kind, owner.key);
    return !found || found->metadata.uid() != reference.uid;
  });
}

Result<Time> GarbageController::reconcile(const WorkKey& key, ObjectAccess& objects) {
  const StoredObject* object = store_.find(*key.kind, key.name);
  if (!object || !is_garbage(*key.kind, *object)) {
    since_.erase(key);
    return kNever;
  }
  const Time due = since_.try_emplace(key, objects.now()).first->second + kOwnersMayCome;
  if (objects.now() < due) return due;
  since_.erase(key);
  if (auto done = plain(objects.remove(*key.kind, key.name)); !done) return done.error();
  return kNever;
}

}  // namespace sluice::host

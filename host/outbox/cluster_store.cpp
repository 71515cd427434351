#include "host/outbox/cluster_store.hpp"

#include <utility>

#include "host/outbox/quota_shown.hpp"

namespace sluice::host {

bool ClusterStore::arrives(const StoredObject& object) const {
  return arriving_ && arriving_->kind == object.kind && arriving_->key == object.key;
}

void ClusterStore::put(StoredObject object) {
  const bool arrived = arrives(object);
  const StoredObject* before = arrived ? arriving_ : objects_.find(*object.kind, object.key);
  // When something ended is told by whoever ended it.
  const bool same =
      arrived && same_but_status(*before, object) && same_but_times(before->status, object.status);
  if (before && !same) outbox_.edited(*before, object, version({object.kind, object.key}), now_());
  objects_.put(std::move(object));
}

bool ClusterStore::erase(const api::KindInfo& kind, std::string_view key) {
  const StoredObject* before = objects_.find(kind, key);
  if (before && !leaving_) outbox_.removed(*before, version({&kind, std::string(key)}));
  return objects_.erase(kind, key);
}

bool ClusterStore::elsewhere(const StoredObject& object) {
  if (arrives(object)) return false;
  outbox_.create(object);
  return true;
}

std::uint64_t ClusterStore::version(const OutboxPlace& place) const {
  const auto kind = versions_.find(place.kind);
  if (kind == versions_.end()) return 0;
  const auto found = kind->second.find(place.key);
  return found == kind->second.end() ? 0 : found->second;
}

void ClusterStore::know(const OutboxPlace& place, std::uint64_t version) {
  if (version == 0) {
    versions_[place.kind].erase(place.key);
  } else {
    versions_[place.kind][place.key] = version;
  }
}

}  // namespace sluice::host

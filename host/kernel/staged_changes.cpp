#include "host/kernel/staged_changes.hpp"

#include <algorithm>

namespace sluice::host {

void StagedChanges::add(PreparedObject object) {
  put(object.stored);
  changes_.emplace_back(std::move(object));
}

void StagedChanges::add(StagedErase erase) {
  this->erase(*erase.kind, erase.key);
  changes_.emplace_back(std::move(erase));
}

const StoredObject* StagedChanges::find(const api::KindInfo& kind, std::string_view key) const {
  const auto table = tables_.find(&kind);
  if (table == tables_.end()) return below_.find(kind, key);
  const auto found = table->second.find(key);
  return found == table->second.end() ? below_.find(kind, key) : found->second.get();
}

void StagedChanges::put(StoredObject object) {
  if (const StoredObject* before = find(*object.kind, object.key)) {
    object.version = before->version;
    if (object.hidden.empty()) object.hidden = before->hidden;
  }
  auto made = std::make_unique<StoredObject>(std::move(object));
  std::unique_ptr<StoredObject>& place = tables_[made->kind][made->key];
  place = std::move(made);
}

bool StagedChanges::erase(const api::KindInfo& kind, std::string_view key) {
  if (find(kind, key) == nullptr) return false;
  tables_[&kind][std::string(key)] = nullptr;
  return true;
}

std::vector<const StoredObject*> StagedChanges::list(const api::KindInfo& kind) const {
  std::vector<const StoredObject*> all = below_.list(kind);
  const auto table = tables_.find(&kind);
  if (table == tables_.end()) return all;
  std::erase_if(all,
                [&](const StoredObject* object) { return table->second.contains(object->key); });
  for (const auto& [key, object] : table->second)
    if (object) all.push_back(object.get());
  std::sort(all.begin(), all.end(),
            [](const StoredObject* a, const StoredObject* b) { return a->key < b->key; });
  return all;
}

}  // namespace sluice::host

#include "host/kernel/staged_changes.hpp"

#include <algorithm>
#include <iterator>

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
  return found == table->second.end() ? below_.find(kind, key) : found->second.object.get();
}

StagedChanges::Change& StagedChanges::change_of(const api::KindInfo& kind, const std::string& key) {
  const auto [it, fresh] = tables_[&kind].try_emplace(key);
  if (const StoredObject* below = fresh ? below_.find(kind, key) : nullptr)
    it->second.base = below->version;
  return it->second;
}

std::optional<StagedErase> StagedChanges::overtaken() const {
  for (const auto& [kind, table] : tables_) {
    for (const auto& [key, change] : table) {
      const StoredObject* below = below_.find(*kind, key);
      if ((below ? below->version : 0) != change.base) return StagedErase{kind, key};
    }
  }
  return std::nullopt;
}

void StagedChanges::put(StoredObject object) {
  if (const StoredObject* before = find(*object.kind, object.key)) {
    object.version = before->version;
    if (object.hidden.empty()) object.hidden = before->hidden;
  }
  auto made = std::make_unique<StoredObject>(std::move(object));
  Change& change = change_of(*made->kind, made->key);
  change.object = std::move(made);
}

bool StagedChanges::erase(const api::KindInfo& kind, std::string_view key) {
  if (find(kind, key) == nullptr) return false;
  change_of(kind, std::string(key)).object = nullptr;
  return true;
}

std::vector<const StoredObject*> StagedChanges::list_in(const api::KindInfo& kind,
                                                        std::string_view ns) const {
  std::vector<const StoredObject*> below = below_.list_in(kind, ns);
  const auto table = tables_.find(&kind);
  if (table == tables_.end()) return below;
  std::erase_if(below,
                [&](const StoredObject* object) { return table->second.contains(object->key); });
  std::vector<const StoredObject*> own;  // in order of their keys, as their table is
  for (const auto& [key, change] : table->second)
    if (change.object && (ns.empty() || namespace_of(key) == ns))
      own.push_back(change.object.get());
  std::vector<const StoredObject*> all;
  all.reserve(below.size() + own.size());
  std::merge(below.begin(), below.end(), own.begin(), own.end(), std::back_inserter(all),
             [](const StoredObject* a, const StoredObject* b) { return a->key < b->key; });
  return all;
}

std::size_t StagedChanges::count(const api::KindInfo& kind) const {
  std::size_t out = below_.count(kind);
  const auto table = tables_.find(&kind);
  if (table == tables_.end()) return out;
  for (const auto& [key, change] : table->second) {
    if (below_.find(kind, key)) --out;
    if (change.object) ++out;
  }
  return out;
}

}  // namespace sluice::host

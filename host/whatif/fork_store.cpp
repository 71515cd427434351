#include "host/whatif/fork_store.hpp"

#include <algorithm>
#include <utility>

#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kPage = 1024;

bool before(const RecordPtr& record, std::string_view key) { return record->key < key; }

}  // namespace

Result<std::unique_ptr<ForkStore>> ForkStore::make(const api::Scheme& scheme, const LiveStore& host,
                                                   std::uint64_t version) {
  std::unique_ptr<ForkStore> out(new ForkStore());
  out->version_ = out->last_ = version;
  for (const api::KindInfo* kind : scheme.kinds()) {
    Table& table = out->tables_[kind];
    for (bool more = true; more;) {
      const std::string after = table.shared.empty() ? std::string() : table.shared.back()->key;
      auto page = host.read(*kind, {}, after, kPage, version);
      if (!page) return page.error();
      table.shared.insert(table.shared.end(), std::make_move_iterator(page->objects.begin()),
                          std::make_move_iterator(page->objects.end()));
      more = page->more;
    }
    table.count = table.shared.size();
  }
  return out;
}

const StoredObject* ForkStore::shared(const Table& table, std::string_view key) {
  const auto it = std::lower_bound(table.shared.begin(), table.shared.end(), key, before);
  return it != table.shared.end() && (*it)->key == key ? it->get() : nullptr;
}

const StoredObject* ForkStore::find(const api::KindInfo& kind, std::string_view key) const {
  const auto table = tables_.find(&kind);
  if (table == tables_.end()) return nullptr;
  const auto own = table->second.own.empty() ? table->second.own.end()
                                             : table->second.own.find(std::string(key));
  return own == table->second.own.end() ? shared(table->second, key) : own->second.get();
}

void ForkStore::put(StoredObject object) {
  Table& table = tables_[object.kind];
  const StoredObject* old = find(*object.kind, object.key);
  if (!old) ++table.count;
  if (old && object.hidden.empty()) object.hidden = old->hidden;
  object.version = ++last_;
  std::unique_ptr<StoredObject>& own = table.own[object.key];
  if (own)
    *own = std::move(object);
  else
    own = std::make_unique<StoredObject>(std::move(object));
}

bool ForkStore::erase(const api::KindInfo& kind, std::string_view key) {
  if (!find(kind, key)) return false;
  Table& table = tables_[&kind];
  --table.count;
  ++last_;
  if (shared(table, key))
    table.own[std::string(key)] = nullptr;
  else
    table.own.erase(std::string(key));
  return true;
}

std::vector<const StoredObject*> ForkStore::list_in(const api::KindInfo& kind,
                                                    std::string_view ns) const {
  std::vector<const StoredObject*> out;
  const auto found = tables_.find(&kind);
  if (found == tables_.end()) return out;
  const Table& table = found->second;
  if (ns.empty()) out.reserve(table.count);
  const std::string prefix = join_key(ns, {});
  const auto here = [&](std::string_view key) { return key.starts_with(prefix); };
  auto record = std::lower_bound(table.shared.begin(), table.shared.end(), prefix, before);
  for (; record != table.shared.end() && here((*record)->key); ++record)
    if (table.own.empty() || !table.own.contains((*record)->key)) out.push_back(record->get());
  if (table.own.empty()) return out;
  for (const auto& [key, object] : table.own)
    if (object && here(key)) out.push_back(object.get());
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  return out;
}

std::size_t ForkStore::count(const api::KindInfo& kind) const {
  const auto table = tables_.find(&kind);
  return table == tables_.end() ? 0 : table->second.count;
}

}  // namespace sluice::host

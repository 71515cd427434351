#include "host/store/working_table.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {

const RecordPtr* WorkingTable::find(std::string_view key) const {
  const auto table = by_namespace_.find(namespace_of(key));
  if (table == by_namespace_.end()) return nullptr;
  const auto it = table->second.find(key);
  return it == table->second.end() ? nullptr : &*it;
}

RecordPtr WorkingTable::put(RecordPtr record) {
  const std::string_view ns = record->ns();
  auto table = by_namespace_.find(ns);
  if (table == by_namespace_.end()) table = by_namespace_.emplace(std::string(ns), Records()).first;
  Records& records = table->second;
  const auto it = records.find(std::string_view(record->key));
  if (it == records.end()) {
    records.insert(std::move(record));
    ++size_;
    return nullptr;
  }
  auto node = records.extract(it);
  RecordPtr before = std::exchange(node.value(), std::move(record));
  records.insert(std::move(node));
  return before;
}

RecordPtr WorkingTable::erase(std::string_view key) {
  const auto table = by_namespace_.find(namespace_of(key));
  if (table == by_namespace_.end()) return nullptr;
  const auto it = table->second.find(key);
  if (it == table->second.end()) return nullptr;
  RecordPtr before = *it;
  table->second.erase(it);
  if (table->second.empty()) by_namespace_.erase(table);
  SLUICE_CHECK(size_ > 0, "the size of a table falls below 0 with ", before->key);
  --size_;
  return before;
}

std::vector<const StoredObject*> WorkingTable::list(std::string_view ns) const {
  std::vector<const StoredObject*> out;
  const auto take = [&](const Records& records) {
    for (const RecordPtr& record : records) out.push_back(record.get());
  };
  if (ns.empty()) {
    out.reserve(size_);
    for (const auto& [each, records] : by_namespace_) take(records);
  } else if (const auto table = by_namespace_.find(ns); table != by_namespace_.end()) {
    out.reserve(table->second.size());
    take(table->second);
  }
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  return out;
}

std::vector<RecordPtr> WorkingTable::all() const {
  std::vector<RecordPtr> out;
  out.reserve(size_);
  for (const auto& [ns, records] : by_namespace_)
    out.insert(out.end(), records.begin(), records.end());
  return out;
}

}  // namespace sluice::host

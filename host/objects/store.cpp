#include "host/objects/store.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <unordered_map>
#include <utility>

#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "core/base/check.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The members for which keep(name) says so, as one object.
template <typename Keep>
void append_members(const json::object& object, Keep keep, std::string& out) {
  const std::size_t begin = out.size() + 1;
  out += '{';
  for (const auto& [name, value] : object) {
    if (!keep(api::view(name))) continue;
    if (out.size() > begin) out += ',';
    api::append_json_text(api::view(name), out);
    out += ':';
    api::append_json(value, out);
  }
  out += '}';
}

template <typename Keep>
std::string text_of(const json::object& object, Keep keep) {
  std::string out;
  append_members(object, keep, out);
  return out;
}

/// Around this metadata.
std::string joined(const StoredObject& stored, std::string_view metadata) {
  std::string out = R"({"apiVersion":")" + stored.kind->hub_api_version() + R"(","kind":")" +
                    stored.kind->kind + R"(","metadata":)";
  out += metadata;
  if (stored.version != 0) {
    out.pop_back();
    if (out.back() != '{') out += ',';
    out += R"("resourceVersion":")" + std::to_string(stored.version) + "\"}";
  }
  if (stored.body->size() > 2) out.append(",").append(*stored.body, 1, stored.body->size() - 2);
  if (!stored.status.empty()) out.append(R"(,"status":)").append(stored.status);
  return out += '}';
}

}  // namespace

json::object parse_stored(std::string_view text, const json::storage_ptr& storage) {
  if (text.empty()) return json::object(storage);
  boost::system::error_code code;
  json::value value = api::parse_deep(text, code, storage);
  SLUICE_CHECK(!code && value.is_object(), "stored text is not an object: ", text);
  return std::move(value.get_object());
}

std::string key_in(const api::KindInfo& kind, const json::object& object) {
  const json::object& metadata = part(object, "metadata");
  return key_of(kind, api::find_text(metadata, "namespace"), api::find_text(metadata, "name"));
}

std::string metadata_text(const json::object& metadata) {
  return text_of(metadata, [](std::string_view name) { return name != "resourceVersion"; });
}

bool same_but_status(const StoredObject& a, const StoredObject& b) {
  return a.metadata == b.metadata && *a.body == *b.body;
}

StoredObject to_stored(const api::KindInfo& kind, const json::object& object, TextPool& pool) {
  StoredObject out;
  out.kind = &kind;
  if (const auto* metadata = api::find_object(object, "metadata")) {
    out.key = key_in(kind, object);
    out.metadata = Header(metadata_text(*metadata));
  }
  out.body = pool.intern(text_of(object, is_body_field));
  if (const auto* status = api::find_object(object, "status"); status && !status->empty())
    api::append_json(*status, out.status);
  return out;
}

json::object to_object(const StoredObject& stored, json::storage_ptr storage) {
  json::object out(storage);
  out["apiVersion"] = stored.kind->hub_api_version();
  out["kind"] = stored.kind->kind;
  json::object& metadata =
      (out["metadata"] = parse_stored(stored.metadata.text(), storage)).get_object();
  if (stored.version != 0) metadata["resourceVersion"] = std::to_string(stored.version);
  for (auto& entry : parse_stored(*stored.body, storage))
    out[entry.key()] = std::move(entry.value());
  if (!stored.status.empty()) out["status"] = parse_stored(stored.status, storage);
  return out;
}

std::string without_managed_fields(std::string_view metadata) {
  constexpr std::string_view kBegin = "\"managedFields\":";
  const std::string_view value = api::member_text(metadata, "managedFields");
  if (value.empty()) return std::string(metadata);
  const auto value_at = static_cast<std::size_t>(value.data() - metadata.data());
  std::size_t begin = value_at - kBegin.size(), end = value_at + value.size();
  if (metadata.substr(begin, kBegin.size()) != kBegin) return std::string(metadata);
  // With one of the commas around it.
  if (metadata[begin - 1] == ',')
    --begin;
  else if (metadata[end] == ',')
    ++end;
  std::string out(metadata.substr(0, begin));
  return out += metadata.substr(end);
}

void keep_managed_fields(const json::object& from, json::object& to) {
  json::object& metadata = object_of(to, "metadata");
  if (const json::value* managed = api::find(part(from, "metadata"), "managedFields"))
    metadata["managedFields"] = *managed;
  else
    metadata.erase("managedFields");
}

std::string to_text(const StoredObject& stored) { return joined(stored, stored.metadata.text()); }

std::string text_for_plugins(const StoredObject& stored) {
  return joined(stored, without_managed_fields(stored.metadata.text()));
}

std::string text_for_plugins(const json::object& object) {
  const auto no_managers = [](std::string_view name) { return name != "managedFields"; };
  std::string out = "{";
  for (const auto& [name, value] : object) {
    if (out.size() > 1) out += ',';
    api::append_json_text(api::view(name), out);
    out += ':';
    if (name == "metadata" && value.is_object())
      append_members(value.get_object(), no_managers, out);
    else
      api::append_json(value, out);
  }
  return out += '}';
}

/// Flat, as a simulation looks for each workload a dozen times.
struct MemoryStore::Tables {
  /// The key is a view of the object's own key.
  using Table = boost::unordered_flat_map<std::string_view, std::unique_ptr<StoredObject>>;
  std::unordered_map<const api::KindInfo*, Table> by_kind;

  const Table* find(const api::KindInfo& kind) const {
    const auto it = by_kind.find(&kind);
    return it == by_kind.end() ? nullptr : &it->second;
  }
};

MemoryStore::MemoryStore() : tables_(std::make_unique<Tables>()) {}
MemoryStore::~MemoryStore() = default;

const StoredObject* MemoryStore::find(const api::KindInfo& kind, std::string_view key) const {
  const Tables::Table* table = tables_->find(kind);
  if (!table) return nullptr;
  const auto it = table->find(key);
  return it == table->end() ? nullptr : it->second.get();
}

void MemoryStore::put(StoredObject object) {
  Tables::Table& table = tables_->by_kind[object.kind];
  if (const auto it = table.find(object.key); it != table.end()) {
    object.key = std::move(it->second->key);  // keeps the text that the table's key views
    *it->second = std::move(object);
    return;
  }
  auto stored = std::make_unique<StoredObject>(std::move(object));
  const std::string_view key = stored->key;
  table.emplace(key, std::move(stored));
}

bool MemoryStore::erase(const api::KindInfo& kind, std::string_view key) {
  const auto table = tables_->by_kind.find(&kind);
  if (table == tables_->by_kind.end()) return false;
  const auto it = table->second.find(key);
  if (it == table->second.end()) return false;
  table->second.erase(it);
  return true;
}

std::vector<const StoredObject*> MemoryStore::list_in(const api::KindInfo& kind,
                                                      std::string_view ns) const {
  std::vector<const StoredObject*> out;
  if (const Tables::Table* table = tables_->find(kind)) {
    if (ns.empty()) out.reserve(table->size());
    for (const auto& [key, object] : *table)
      if (ns.empty() || namespace_of(key) == ns) out.push_back(object.get());
  }
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  return out;
}

std::size_t MemoryStore::count(const api::KindInfo& kind) const {
  const Tables::Table* table = tables_->find(kind);
  return table ? table->size() : 0;
}

}  // namespace sluice::host

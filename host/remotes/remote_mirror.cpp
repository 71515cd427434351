#include "host/remotes/remote_mirror.hpp"

#include <utility>

#include "api/json/json.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace json = boost::json;

std::string remote_key_of(const api::KindInfo& kind, const json::object& object) {
  const json::object& metadata = part(object, "metadata");
  const std::string_view ns = api::find_text(metadata, "namespace");
  const std::string_view name = api::find_text(metadata, "name");
  if (name.empty() || name_problem(name) != nullptr || name_problem(ns) != nullptr) return {};
  return kind.namespaced && ns.empty() ? std::string() : key_of(kind, ns, name);
}

std::size_t RemoteMirror::bytes_of(const RemoteKey& key, const RemoteObject& object) {
  return key.key.size() + object.json.size() + object.labels.size() + object.version.size();
}

void RemoteMirror::list_begins(const api::KindInfo& kind) { seen_[&kind].clear(); }

void RemoteMirror::list_ends(const api::KindInfo& kind, std::vector<RemoteKey>& gone) {
  const auto seen = seen_.find(&kind);
  if (seen == seen_.end()) return;
  for (const auto& [key, object] : objects_)
    if (key.kind == &kind && !seen->second.contains(key.key)) gone.push_back(key);
  for (const RemoteKey& key : gone) erase(key);
  seen_.erase(seen);
}

RemoteMirror::Put RemoteMirror::put(const api::KindInfo& kind, const std::string& api_version,
                                    json::object object) {
  const RemoteKey key{&kind, remote_key_of(kind, object)};
  if (key.key.empty()) return {{}, false};
  object["apiVersion"] = api_version;
  object["kind"] = kind.kind;
  json::object& metadata = object_of(object, "metadata");
  metadata.erase("managedFields");
  RemoteObject kept;
  api::append_json(object, kept.json);
  if (const json::object* labels = api::find_object(metadata, "labels"))
    api::append_json(*labels, kept.labels);
  kept.version = api::find_text(metadata, "resourceVersion");
  kept.deleting = !api::find_text(metadata, "deletionTimestamp").empty();
  if (const auto seen = seen_.find(&kind); seen != seen_.end()) seen->second.insert(key.key);
  if (const RemoteObject* old = find(key); old && old->json == kept.json) return {key, false};
  erase(key);
  bytes_ += bytes_of(key, kept);
  objects_.emplace(key, std::move(kept));
  return {key, true};
}

bool RemoteMirror::erase(const RemoteKey& key) {
  const auto it = objects_.find(key);
  if (it == objects_.end()) return false;
  bytes_ -= bytes_of(it->first, it->second);
  objects_.erase(it);
  return true;
}

void RemoteMirror::clear() {
  objects_.clear();
  seen_.clear();
  bytes_ = 0;
}

const RemoteObject* RemoteMirror::find(const RemoteKey& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : &it->second;
}

std::string RemoteMirror::list(const api::KindInfo& kind, std::string_view ns,
                               const LabelQuery& labels) const {
  const std::string prefix = join_key(ns, {});
  std::string out = "[";
  for (auto it = objects_.lower_bound({&kind, prefix}); it != objects_.end(); ++it) {
    if (it->first.kind != &kind || !it->first.key.starts_with(prefix)) break;
    if (!labels.matches_labels(it->second.labels)) continue;
    if (out.size() > 1) out += ",";
    out += it->second.json;
  }
  return out + "]";
}

}  // namespace sluice::host

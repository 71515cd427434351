// FakeObjects: the objects of a FakeHost, in memory, and the plugin's own keys and values.
//
// By kind, namespace and name; the group of a kind is not looked at. It keeps the rules that a
// plugin meets most: uid and resourceVersion, conflicts, the status apart from the rest, what is
// being deleted goes with its last finalizer, and what is owned with its last owner. It knows no
// schema, no defaults and no rights. Of selectors it knows `a=b`, `a!=b` and `a`, separated by
// commas. Used on the thread of the test only, as a host does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sluice/cpp/json.hpp"
#include "sluice/svc/objects.h"

namespace sluice::testing {

class FakeObjects {
 public:
  /// Creates or replaces the object, as `kubectl apply` would.
  const Json& put(Json object);
  const Json& put(const std::string& json) { return put(Json::parse(json)); }
  const Json& put(const char* json) { return put(Json::parse(json)); }
  /// nullptr when there is none.
  const Json* find(std::string_view kind, std::string_view ns, std::string_view name) const {
    const auto it = objects_.find(key_of(kind, ns, name));
    return it == objects_.end() ? nullptr : &it->second;
  }
  /// By namespace and name; an empty namespace: of all.
  std::vector<Json> list(std::string_view kind, std::string_view ns = {}) const;
  /// With all that it alone owns, whatever finalizers there are; false when there is none.
  bool remove(std::string_view kind, std::string_view ns, std::string_view name);

  /// From now on the plugin's writes of the object are FORBIDDEN, as in a namespace that is full;
  /// or no longer.
  void refuse(std::string_view kind, std::string_view ns, std::string_view name,
              bool refuses = true) {
    if (refuses)
      refused_.insert(key_of(kind, ns, name));
    else
      refused_.erase(key_of(kind, ns, name));
  }

  /// Workloads (`namespace/name`) whose claim the plugin released, in order.
  const std::vector<std::string>& released_claims() const { return released_; }

  /// Goes up with every write.
  std::int64_t writes() const { return version_; }
  /// How often the plugin has listed objects: each time costs what its namespace holds.
  std::int64_t lists() const { return lists_; }

  std::map<std::string, std::string, std::less<>> state;  ///< the plugin's own

  // ---- used by the services; codes of svc/objects.h, `out` gets the object or a sentence

  void count_list() { ++lists_; }
  std::int32_t create(Json object, std::string& out);
  std::int32_t update(Json object, std::string_view subresource, std::string& out);
  std::int32_t patch(std::string_view kind, std::string_view ns, std::string_view name,
                     std::string_view subresource, const Json& merge, std::string& out);
  std::int32_t remove_if(std::string_view kind, std::string_view ns, std::string_view name,
                         std::string_view uid, std::string& out);
  std::int32_t release_claim(std::string_view kind, std::string_view ns, std::string_view name,
                             std::string& out);
  /// nullopt: a selector that it does not know.
  static std::optional<bool> matches(const Json& object, std::string_view selector);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  static Key key_of(std::string_view kind, std::string_view ns, std::string_view name) {
    return {std::string(kind), std::string(ns), std::string(name)};
  }
  static Key key_of(const Json& object) {
    return key_of(object.string_or("kind", ""), object.string_or("metadata.namespace", ""),
                  object.string_or("metadata.name", ""));
  }
  static std::string name_of(const Key& key) {
    const auto& [kind, ns, name] = key;
    return kind + " " + (ns.empty() ? name : ns + "/" + name);
  }
  static void merge_into(Json& target, const Json& patch);
  std::int32_t store(const Key& key, Json object, std::string_view subresource, std::string& out);

  std::int32_t forbidden(const Key& key, std::string& out) const {
    out = name_of(key) + " is forbidden: it is refused here";
    return SLUICE_OBJECTS_FORBIDDEN;
  }

  std::map<Key, Json> objects_;
  std::set<Key> refused_;
  std::vector<std::string> released_;
  std::int64_t made_ = 0, version_ = 0, lists_ = 0;
};

inline const Json& FakeObjects::put(Json object) {
  const Key key = key_of(object);
  const auto it = objects_.find(key);
  Json& metadata = object["metadata"];
  if (it != objects_.end() && metadata.find("uid") == nullptr)
    metadata["uid"] = it->second.string_or("metadata.uid", "");
  if (metadata.find("uid") == nullptr) metadata["uid"] = "uid-" + std::to_string(++made_);
  metadata["resourceVersion"] = std::to_string(++version_);
  return objects_.insert_or_assign(key, std::move(object)).first->second;
}

inline std::vector<Json> FakeObjects::list(std::string_view kind, std::string_view ns) const {
  std::vector<Json> found;
  for (const auto& [key, object] : objects_)
    if (std::get<0>(key) == kind && (ns.empty() || std::get<1>(key) == ns)) found.push_back(object);
  return found;
}

inline bool FakeObjects::remove(std::string_view kind, std::string_view ns, std::string_view name) {
  const auto it = objects_.find(key_of(kind, ns, name));
  if (it == objects_.end()) return false;
  const std::string uid = it->second.string_or("metadata.uid", "");
  objects_.erase(it);
  ++version_;
  std::set<std::string> there;
  for (const auto& [key, object] : objects_) there.insert(object.string_or("metadata.uid", ""));
  std::vector<Key> owned;
  for (const auto& [key, object] : objects_) {
    const Json* owners = object.find("metadata.ownerReferences");
    bool was_owned = false, is_owned = false;
    for (std::size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
      const std::string owner = owners->items()[i].string_or("uid", "");
      was_owned |= owner == uid;
      is_owned |= there.contains(owner);
    }
    if (was_owned && !is_owned) owned.push_back(key);
  }
  for (const auto& [of_kind, in_ns, called] : owned) remove(of_kind, in_ns, called);
  return true;
}

inline void FakeObjects::merge_into(Json& target, const Json& patch) {
  for (const auto& [key, value] : patch.members()) {
    if (value.is_null())
      target.erase(key);
    else if (value.is_object()) {
      if (target.member(key) == nullptr || !target.member(key)->is_object())
        target[key] = Json::object();
      merge_into(target[key], value);
    } else {
      target[key] = value;
    }
  }
}

inline std::int32_t FakeObjects::create(Json object, std::string& out) {
  if (object.string_or("kind", "").empty() || object.string_or("apiVersion", "").empty()) {
    out = "the object names no apiVersion or no kind";
    return SLUICE_OBJECTS_INVALID;
  }
  if (object.string_or("metadata.name", "").empty()) {
    const std::string prefix = object.string_or("metadata.generateName", "");
    if (prefix.empty()) {
      out = "metadata.name: Required value";
      return SLUICE_OBJECTS_INVALID;
    }
    object["metadata"]["name"] = prefix + std::to_string(++made_);
  }
  if (objects_.contains(key_of(object))) {
    out = name_of(key_of(object)) + " already exists";
    return SLUICE_OBJECTS_ALREADY_EXISTS;
  }
  if (refused_.contains(key_of(object))) return forbidden(key_of(object), out);
  object["metadata"].erase("uid");
  out = put(std::move(object)).dump();
  return SLUICE_OBJECTS_OK;
}

inline std::int32_t FakeObjects::store(const Key& key, Json object, std::string_view subresource,
                                       std::string& out) {
  if (refused_.contains(key)) return forbidden(key, out);
  Json& present = objects_.at(key);
  const std::string version = object.string_or("metadata.resourceVersion", "");
  if (!version.empty() && version != present.string_or("metadata.resourceVersion", "")) {
    out = name_of(key) + ": the object has been modified";
    return SLUICE_OBJECTS_CONFLICT;
  }
  const Json& other = subresource == "status" ? object : present;
  const Json* status = other.member("status");
  Json next = subresource == "status" ? present : std::move(object);
  if (status == nullptr)
    next.erase("status");
  else
    next["status"] = Json(*status);
  if (next == present) {  // as a host: nothing is written, no hook is called
    out = present.dump();
    return SLUICE_OBJECTS_OK;
  }
  const Json& stored = put(std::move(next));
  out = stored.dump();
  const Json* finalizers = stored.find("metadata.finalizers");
  const bool held = (finalizers != nullptr && finalizers->size() > 0) ||
                    stored.int_or("metadata.deletionGracePeriodSeconds", 0) > 0;
  if (stored.find("metadata.deletionTimestamp") != nullptr && !held)
    remove(std::get<0>(key), std::get<1>(key), std::get<2>(key));
  return SLUICE_OBJECTS_OK;
}

inline std::int32_t FakeObjects::update(Json object, std::string_view subresource,
                                        std::string& out) {
  const Key key = key_of(object);
  if (!objects_.contains(key)) {
    out = name_of(key) + " not found";
    return SLUICE_OBJECTS_NOT_FOUND;
  }
  return store(key, std::move(object), subresource, out);
}

inline std::int32_t FakeObjects::patch(std::string_view kind, std::string_view ns,
                                       std::string_view name, std::string_view subresource,
                                       const Json& merge, std::string& out) {
  const Key key = key_of(kind, ns, name);
  if (!objects_.contains(key)) {
    out = name_of(key) + " not found";
    return SLUICE_OBJECTS_NOT_FOUND;
  }
  Json object = objects_.at(key);
  merge_into(object, merge);
  return store(key, std::move(object), subresource, out);
}

inline std::int32_t FakeObjects::release_claim(std::string_view kind, std::string_view ns,
                                               std::string_view name, std::string& out) {
  if (kind != "Workload") {
    out = "only a Workload can be claimed";
    return SLUICE_OBJECTS_INVALID;
  }
  if (find(kind, ns, name) == nullptr) {
    out = name_of(key_of(kind, ns, name)) + " not found";
    return SLUICE_OBJECTS_NOT_FOUND;
  }
  released_.push_back(std::string(ns) + "/" + std::string(name));
  ++version_;
  return SLUICE_OBJECTS_OK;
}

inline std::int32_t FakeObjects::remove_if(std::string_view kind, std::string_view ns,
                                           std::string_view name, std::string_view uid,
                                           std::string& out) {
  const Json* present = find(kind, ns, name);
  if (present == nullptr) {
    out = name_of(key_of(kind, ns, name)) + " not found";
    return SLUICE_OBJECTS_NOT_FOUND;
  }
  if (!uid.empty() && uid != present->string_or("metadata.uid", "")) {
    out = name_of(key_of(kind, ns, name)) + " has another uid";
    return SLUICE_OBJECTS_CONFLICT;
  }
  if (refused_.contains(key_of(kind, ns, name))) return forbidden(key_of(kind, ns, name), out);
  remove(kind, ns, name);
  return SLUICE_OBJECTS_OK;
}

inline std::optional<bool> FakeObjects::matches(const Json& object, std::string_view selector) {
  const Json* labels = object.find("metadata.labels");
  while (!selector.empty()) {
    std::string_view term = selector.substr(0, selector.find(','));
    selector.remove_prefix(std::min(term.size() + 1, selector.size()));
    if (term.find_first_of(" ()") != term.npos) return std::nullopt;
    const std::size_t equals = term.find('=');
    const bool unequal = equals != term.npos && equals > 0 && term[equals - 1] == '!';
    const std::string_view key = term.substr(0, unequal ? equals - 1 : equals);
    const Json* value = labels == nullptr ? nullptr : labels->member(key);
    const bool same =
        value != nullptr && (equals == term.npos || value->as_string() == term.substr(equals + 1));
    if (same == unequal) return false;
  }
  return true;
}

}  // namespace sluice::testing

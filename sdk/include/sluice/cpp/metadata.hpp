// Conditions, owner references, labels and annotations of objects that a plugin reads and writes.
//
// Pure functions of JSON values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/time.hpp"

namespace sluice {

/// The condition of that type in status.conditions; nullptr when there is none.
inline const Json* find_condition(const Json& object, std::string_view type) {
  const Json* conditions = object.find("status.conditions");
  if (conditions == nullptr) return nullptr;
  for (const Json& condition : conditions->items())
    if (condition.string_or("type", "") == type) return &condition;
  return nullptr;
}

/// Is there such a condition, and is it True?
inline bool condition_is_true(const Json& object, std::string_view type) {
  const Json* found = find_condition(object, type);
  return found != nullptr && found->string_or("status", "") == "True";
}

/// Sets a condition in status.conditions; its lastTransitionTime is `now` when its status is
/// another one than before. With the `generation` of the object it says in observedGeneration what
/// it is about. False: the rest of it was there already, so nothing has to be written.
inline bool set_condition(Json& object, std::string_view type, std::string_view status,
                          std::string_view reason, std::string_view message, std::int64_t now,
                          std::optional<std::int64_t> generation = std::nullopt) {
  const Json* before = find_condition(object, type);
  const bool same_status = before != nullptr && before->string_or("status", "") == status;
  if (same_status && before->string_or("reason", "") == reason &&
      before->string_or("message", "") == message)
    return false;
  Json made = before != nullptr ? *before : Json::object();
  made["type"] = type;
  made["status"] = status;
  made["reason"] = reason;
  made["message"] = message;
  if (generation) made["observedGeneration"] = *generation;
  if (!same_status) made["lastTransitionTime"] = time_text(now);
  Json all = Json::array();
  if (const Json* conditions = object.find("status.conditions"))
    for (const Json& each : conditions->items())
      if (each.string_or("type", "") != type) all.push_back(each);
  all.push_back(std::move(made));
  object["status"]["conditions"] = std::move(all);
  return true;
}

/// An owner reference to an object that was read.
inline Json owner_reference(const Json& owner, bool controller = true) {
  Json out = Json::object();
  out["apiVersion"] = owner.string_or("apiVersion", "");
  out["kind"] = owner.string_or("kind", "");
  out["name"] = owner.string_or("metadata.name", "");
  out["uid"] = owner.string_or("metadata.uid", "");
  if (controller) {
    out["controller"] = true;
    out["blockOwnerDeletion"] = true;
  }
  return out;
}

/// `owned` goes when `owner` does. False: it was so already.
inline bool set_owner(Json& owned, const Json& owner, bool controller = true) {
  const std::string uid = owner.string_or("metadata.uid", "");
  if (const Json* owners = owned.find("metadata.ownerReferences"))
    for (const Json& each : owners->items())
      if (each.string_or("uid", "") == uid) return false;
  owned["metadata"]["ownerReferences"].push_back(owner_reference(owner, controller));
  return true;
}

/// The owner reference of who controls the object; nullptr: nobody does.
inline const Json* controller_of(const Json& object) {
  const Json* owners = object.find("metadata.ownerReferences");
  if (owners == nullptr) return nullptr;
  for (const Json& each : owners->items())
    if (each.bool_or("controller", false)) return &each;
  return nullptr;
}

namespace detail {

inline std::string metadata_text(const Json& object, std::string_view map, std::string_view name) {
  const Json* metadata = object.member("metadata");
  const Json* all = metadata == nullptr ? nullptr : metadata->member(map);
  const Json* found = all == nullptr ? nullptr : all->member(name);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

}  // namespace detail

/// The value of a label, of an annotation; empty without one.
inline std::string label_of(const Json& object, std::string_view name) {
  return detail::metadata_text(object, "labels", name);
}
inline std::string annotation_of(const Json& object, std::string_view name) {
  return detail::metadata_text(object, "annotations", name);
}
/// Of an annotation or, without one, of the label of that name: as Kueue reads the name of a pod's
/// group and of a prebuilt workload, which may be longer than a label.
inline std::string identifier_of(const Json& object, std::string_view name) {
  std::string out = annotation_of(object, name);
  return out.empty() ? label_of(object, name) : out;
}

}  // namespace sluice

#include "parents.hpp"

#include "makers.hpp"
#include "names.hpp"
#include "shape.hpp"
#include "sluice/cpp/metadata.hpp"

namespace pods {
namespace {

using sluice::Json;

constexpr std::string_view kSetGroup = "apps";

std::optional<ParentSet> controlling_set_of(const Json& pod) {
  const Json* owner = sluice::controller_of(pod);
  if (owner == nullptr || owner->string_or("kind", "") != kSetKind ||
      owner->string_or("apiVersion", "") != kSetVersion)
    return std::nullopt;
  return ParentSet{owner->string_or("name", ""), owner->string_or("uid", "")};
}

}  // namespace

std::optional<ParentSet> parent_set_of(const Json& pod) {
  if (sluice::annotation_of(pod, kSuspendedBy) != kOfStatefulSet) return std::nullopt;
  return controlling_set_of(pod);
}

std::optional<ParentSet> lasting_set_of(const Json& pod) {
  if (sluice::annotation_of(pod, kPartOf).empty()) return parent_set_of(pod);
  // That of the other pods of a replica is called as its first pod, and goes with it.
  auto set = controlling_set_of(pod);
  return set && set->name == whole_of_part(pod) ? set : std::nullopt;
}

bool waits_for_parent(const Json& pod) {
  if (!sluice::identifier_of(pod, kGroup).empty()) return false;
  if (parent_set_of(pod)) return true;
  return !sluice::annotation_of(pod, kSuspendedBy).empty() && sluice::label_of(pod, kQueue).empty();
}

std::string group_of_set(const std::string& name, const std::string& uid) {
  return workload_name(kSetKind, kSetGroup, name, uid, kLongestName);
}

std::int64_t replicas_of_set(const Json& set) { return set.int_or("spec.replicas", 1); }

std::optional<Json> told_by_set(const Json& set) {
  if (sluice::label_of(set, kQueue).empty() || replicas_of_set(set) < 1) return std::nullopt;
  const std::string group =
      group_of_set(set.string_or("metadata.name", ""), set.string_or("metadata.uid", ""));
  Json out = Json::object();
  for (const std::string_view label : {kQueue, kPriorityClass, kMaxSeconds})
    if (const std::string value = sluice::label_of(set, label); !value.empty())
      out["labels"][label] = value;
  Json& annotations = out["annotations"];
  annotations[kGroup] = group;
  annotations[kPrebuilt] = group;
  annotations[kTotal] = std::to_string(replicas_of_set(set));
  annotations[kFast] = "true";
  annotations[kServing] = "true";
  annotations[kRole] = kMain;
  return out;
}

}  // namespace pods

#include "compose.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "names.hpp"
#include "parents.hpp"
#include "sluice/cpp/marks.hpp"

namespace pods {
namespace {

using sluice::Json;
using sluice::ObjectRef;

constexpr std::string_view kDomain = "kueue.x-k8s.io";
constexpr const char* kScheduling = "scheduling.k8s.io/v1";
constexpr const char* kWorkloadClass = "WorkloadPriorityClass";

void set_priority(Json& spec, const ObjectRef& of, std::int64_t value) {
  spec["priority"] = value;
  Json& reference = spec["priorityClassRef"];
  reference["group"] = of.api_version.substr(0, of.api_version.find('/'));
  reference["kind"] = of.kind;
  reference["name"] = of.name;
}

/// Takes the class, if it is there.
bool take_class(Json& spec, const ObjectRef& ref, const sluice::Objects& objects) {
  const auto found = objects.find(ref);
  if (found) set_priority(spec, ref, found->int_or("value", 0));
  return found.has_value();
}

/// The PriorityClass of pods that name none.
void take_common_class(Json& spec, const sluice::Objects& objects) {
  const Json* common = nullptr;
  const std::vector<Json> classes = objects.list(kScheduling, "PriorityClass");
  for (const Json& each : classes)
    if (each.bool_or("globalDefault", false) &&
        (common == nullptr || each.int_or("value", 0) < common->int_or("value", 0)))
      common = &each;
  if (common != nullptr)
    set_priority(spec, {kScheduling, "PriorityClass", "", common->string_or("metadata.name", "")},
                 common->int_or("value", 0));
}

/// What Kueue, its checks and people read of a workload, and this plugin does not keep for itself.
bool is_for_workload(std::string_view annotation) {
  const std::string_view domain = annotation.substr(0, annotation.find('/'));
  if (annotation == sluice::kRuntimeAnnotation || annotation == sluice::mark::kCreatedBy ||
      domain.ends_with(".kueue.x-k8s.io"))
    return true;
  return domain == kDomain && annotation != kTotal && annotation != kRole && annotation != kFast &&
         annotation != kServing && annotation != kRetriable && annotation != kPartOf &&
         annotation != kNamedSet && annotation != kSets && annotation != kGroup &&
         annotation != kSuspendedBy && annotation != kPrebuilt;
}

Json template_of(const Json& pod) {
  Json out = Json::object();
  if (const Json* labels = pod.find("metadata.labels"))
    for (const auto& [key, value] : labels->members())
      if (!key.starts_with(kDomain)) out["metadata"]["labels"][key] = value;
  out["spec"] = *pod.member("spec");
  out["spec"].erase("schedulingGates");
  return out;
}

/// One that knows the StatefulSet with which their workload outlives them; nullptr: none does.
const Pod* lasting_in(const std::vector<Pod>& pods) {
  const auto found =
      std::find_if(pods.begin(), pods.end(), [](const Pod& pod) { return !pod.set.empty(); });
  return found == pods.end() ? nullptr : &*found;
}

/// The reference by which a pod owns its workload.
Json owner_reference(const Pod& pod) {
  Json out = Json::object();
  out["apiVersion"] = "v1";
  out["kind"] = "Pod";
  out["name"] = pod.name;
  out["uid"] = pod.uid;
  if (pod.group.empty()) {
    out["controller"] = true;
    out["blockOwnerDeletion"] = true;
  }
  return out;
}

}  // namespace

Wishes wishes_of(const Json& pod, const sluice::Objects& objects) {
  Wishes out;
  if (const std::string queue = sluice::label_of(pod, kQueue); !queue.empty())
    out.spec["queueName"] = queue;
  const std::string limit = sluice::label_of(pod, kMaxSeconds);
  std::int32_t seconds = 0;
  std::from_chars(limit.data(), limit.data() + limit.size(), seconds);
  if (seconds > 0) out.spec["maximumExecutionTimeSeconds"] = seconds;
  out.spec["priority"] = 0;
  const std::string kueue(kKueue);
  if (const std::string name = sluice::label_of(pod, kPriorityClass); !name.empty()) {
    if (!take_class(out.spec, {kueue, kWorkloadClass, "", name}, objects))
      out.missing = "WorkloadPriorityClass " + name + " doesn't exist";
  } else if (const std::string of_pod = pod.string_or("spec.priorityClassName", "");
             !of_pod.empty()) {
    if (!take_class(out.spec, {kScheduling, "PriorityClass", "", of_pod}, objects))
      out.missing = "PriorityClass " + of_pod + " doesn't exist";
  } else if (!take_class(out.spec, {kueue, kWorkloadClass, "", std::string(kDefaultQueue)},
                         objects)) {
    take_common_class(out.spec, objects);
  }
  return out;
}

std::vector<Json> owners_of(const std::vector<Pod>& pods) {
  std::vector<Json> out;
  const Pod* lasts = lasting_in(pods);
  if (lasts != nullptr) {
    Json set = Json::object();
    set["apiVersion"] = kSetVersion;
    set["kind"] = kSetKind;
    set["name"] = lasts->set;
    set["uid"] = lasts->set_uid;
    out.push_back(std::move(set));
  }
  for (const Pod& pod : pods) out.push_back(owner_reference(pod));
  return out;
}

Json compose(const std::string& name, const std::vector<NewPodSet>& sets,
             const std::vector<Json>& models, const std::vector<Pod>& owners, const Wishes& wishes,
             const std::vector<std::string>& label_keys) {
  Json out = Json::object();
  out["apiVersion"] = kKueue;
  out["kind"] = "Workload";
  Json& metadata = out["metadata"];
  metadata["name"] = name;
  metadata["namespace"] = models.front().string_or("metadata.namespace", "");
  if (const Json* annotations = models.front().find("metadata.annotations"))
    for (const auto& [key, value] : annotations->members())
      if (is_for_workload(key)) metadata["annotations"][key] = value;
  for (const std::string& key : label_keys)
    for (const Json& model : models)
      if (const std::string value = sluice::label_of(model, key);
          !value.empty() && sluice::label_of(out, key).empty())
        metadata["labels"][key] = value;
  const Pod& any = owners.front();
  const Pod* lasts = lasting_in(owners);
  const std::string of = any.group.empty() ? any.uid : lasts == nullptr ? "" : lasts->set_uid;
  if (!of.empty()) metadata["labels"][kJobUid] = of;
  if (!any.group.empty()) metadata["annotations"][kIsGroup] = "true";
  for (Json& owner : owners_of(owners)) metadata["ownerReferences"].push_back(std::move(owner));
  out["spec"] = wishes.spec;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Json set = Json::object();
    set["name"] = sets[i].name;
    set["count"] = sets[i].count;
    set["template"] = template_of(models[i]);
    out["spec"]["podSets"].push_back(std::move(set));
  }
  return out;
}

}  // namespace pods

#include "sets.hpp"

#include <algorithm>

#include "names.hpp"
#include "parents.hpp"
#include "writes.hpp"

namespace pods {

using sluice::Json;

/// nullopt: it is not there, or names no queue, or another has its name.
std::optional<Json> Sets::find(const std::string& ns, const std::string& name,
                               const std::string& uid) const {
  auto found = context_.objects().find({kSetVersion, kSetKind, ns, name});
  if (found && found->string_or("metadata.uid", "") != uid) found.reset();
  return found;
}

void Sets::patch(const std::string& ns, const std::string& pod, const Json& told) const {
  Json patch = Json::object();
  patch["metadata"] = told;
  unless_gone(context_.objects().patch(pod_ref(ns, pod), patch));
}

void Sets::tell(const Json& pod) {
  const auto parent = parent_set_of(pod);
  const std::string ns = pod.string_or("metadata.namespace", "");
  const std::string name = pod.string_or("metadata.name", "");
  if (!parent || pod_of(pod).terminating) return;
  const auto set = find(ns, parent->name, parent->uid);
  if (const auto told = set ? told_by_set(*set) : std::nullopt) return patch(ns, name, *told);
  waiting_[{ns, parent->name}].insert(name);
  waits_for_[{ns, name}] = parent->name;
}

void Sets::forget(const std::string& ns, const std::string& pod) {
  const auto set = waits_for_.extract({ns, pod});
  if (set.empty()) return;
  const auto others = waiting_.find({ns, set.mapped()});
  others->second.erase(pod);
  if (others->second.empty()) waiting_.erase(others);
}

std::vector<std::string> Sets::waiting_for(const std::string& ns, const std::string& set) const {
  const auto found = waiting_.find({ns, set});
  if (found == waiting_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

void Sets::tell_again(const Json& set, const std::vector<Pod>& pods) {
  const auto told = told_by_set(set);
  if (!told || std::any_of(pods.begin(), pods.end(), [](const Pod& pod) { return pod.started(); }))
    return;
  const std::string ns = set.string_or("metadata.namespace", "");
  const std::string queue = sluice::label_of(set, kQueue);
  for (const Pod& pod : pods)
    if (pod.queue != queue || pod.total != replicas_of_set(set)) patch(ns, pod.name, *told);
}

Sets::GetsPods Sets::gets_pods(const Json& workload) const {
  const Json* owners = workload.find("metadata.ownerReferences");
  if (owners == nullptr || sluice::annotation_of(workload, kIsGroup) != "true")
    return GetsPods::kWhenever;
  for (const Json& owner : owners->items()) {
    const std::string kind = owner.string_or("kind", "");
    if (kind == "LeaderWorkerSet") return GetsPods::kNever;
    if (kind != kSetKind) continue;
    const auto set = find(workload.string_or("metadata.namespace", ""), owner.string_or("name", ""),
                          owner.string_or("uid", ""));
    if (!set) return GetsPods::kSoon;
    return replicas_of_set(*set) > 0 ? GetsPods::kWhenever : GetsPods::kNever;
  }
  return GetsPods::kWhenever;
}

}  // namespace pods

#include "start.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "facts.hpp"
#include "names.hpp"
#include "shape.hpp"

namespace pods {
namespace {

using sluice::Json;

const Json* named(const Json* list, std::string_view name) {
  if (list == nullptr) return nullptr;
  const auto found = std::find_if(list->items().begin(), list->items().end(), [&](const Json& one) {
    return one.string_or("name", "") == name;
  });
  return found == list->items().end() ? nullptr : &*found;
}

/// Adds the pairs to the map `field` of `to`; a sentence where another value is there.
std::string add_pairs(Json& to, std::string_view field, const Json* pairs) {
  if (pairs == nullptr) return {};
  for (const auto& [key, value] : pairs->members()) {
    const Json* map = to.member(field);
    const Json* present = map == nullptr ? nullptr : map->member(key);
    if (present != nullptr && *present != value)
      return std::string(field) + " " + key + " of the pod is " + present->dump() +
             ", but the admission wants " + value.dump();
    to[field][key] = value;
  }
  return {};
}

void add_tolerations(Json& spec, const Json* tolerations) {
  if (tolerations == nullptr) return;
  for (const Json& toleration : tolerations->items()) {
    const Json* present = spec.member("tolerations");
    const auto same = [&](const Json& each) { return each == toleration; };
    if (present == nullptr || std::none_of(present->items().begin(), present->items().end(), same))
      spec["tolerations"].push_back(toleration);
  }
}

void remove_gate(Json& spec) {
  Json left = Json::array();
  if (const Json* gates = spec.member("schedulingGates"))
    for (const Json& gate : gates->items())
      if (gate.string_or("name", "") != kGate) left.push_back(gate);
  spec.erase("schedulingGates");
  if (left.size() > 0) spec["schedulingGates"] = std::move(left);
}

std::string add_flavors(Json& pod, const Json& workload, std::string_view pod_set,
                        const FindFlavor& flavor) {
  const Json* assigned = named(workload.find("status.admission.podSetAssignments"), pod_set);
  const Json* flavors = assigned == nullptr ? nullptr : assigned->member("flavors");
  if (flavors == nullptr) return {};
  std::set<std::string> seen;
  for (const auto& [resource, name] : flavors->members()) {
    if (!seen.insert(name.as_string()).second) continue;
    const auto object = flavor(name.as_string());
    if (!object) continue;
    if (auto wrong = add_pairs(pod["spec"], "nodeSelector", object->find("spec.nodeLabels"));
        !wrong.empty())
      return wrong;
    add_tolerations(pod["spec"], object->find("spec.tolerations"));
  }
  return {};
}

std::string add_updates(Json& pod, const Json& workload, std::string_view pod_set) {
  const Json* checks = workload.find("status.admissionChecks");
  if (checks == nullptr) return {};
  for (const Json& check : checks->items()) {
    const Json* update = named(check.member("podSetUpdates"), pod_set);
    if (update == nullptr) continue;
    for (const auto& [holder, field] :
         {std::pair("metadata", "labels"), {"metadata", "annotations"}, {"spec", "nodeSelector"}})
      if (auto wrong = add_pairs(pod[holder], field, update->member(field)); !wrong.empty())
        return wrong;
    add_tolerations(pod["spec"], update->member("tolerations"));
  }
  return {};
}

}  // namespace

bool asks_as_counted(const Json& pod, const Json& workload, std::string_view pod_set) {
  const Json* set = named(workload.find("spec.podSets"), pod_set);
  const Json* counted = set == nullptr ? nullptr : set->find("template.spec");
  const Json* spec = pod.member("spec");
  return counted != nullptr && spec != nullptr && asks_of(*spec) == asks_of(*counted);
}

std::string let_start(Json& pod, const Json& workload, std::string_view pod_set,
                      const FindFlavor& flavor) {
  if (!asks_as_counted(pod, workload, pod_set))
    return "the pod asks for something else than pod set " + std::string(pod_set) +
           " of its workload";
  if (auto wrong = add_flavors(pod, workload, pod_set, flavor); !wrong.empty()) return wrong;
  if (auto wrong = add_updates(pod, workload, pod_set); !wrong.empty()) return wrong;
  remove_gate(pod["spec"]);
  Json& metadata = pod["metadata"];
  metadata["labels"][kPodSet] = pod_set;
  metadata["annotations"][kWorkload] = workload.string_or("metadata.name", "");
  metadata["annotations"][kEvictions] = std::to_string(workload_of(workload).evictions);
  return {};
}

}  // namespace pods

#include "roll.hpp"

#include <utility>

#include "shape.hpp"

namespace pods {

std::string workload_of_group(const GroupKey& group, const Pod& pod) {
  return group.alone ? workload_name(pod.name, pod.uid) : group.name;
}

void Roll::take(const std::string& ns, Pod pod) {
  const bool alone = pod.group.empty();
  GroupKey group{ns, alone ? pod.name : pod.group, alone};
  const auto known = of_pod_.find({ns, pod.name});
  const Pod* before = nullptr;
  if (known != of_pod_.end()) before = &groups_.at(known->second).at(pod.name);
  if (before != nullptr && (known->second != group || before->uid != pod.uid)) drop(ns, pod.name);
  of_workload_[{ns, workload_of_group(group, pod)}] = group;
  of_pod_[{ns, pod.name}] = group;
  std::string name = pod.name;
  groups_[std::move(group)][std::move(name)] = std::move(pod);
}

void Roll::drop(const std::string& ns, const std::string& name) {
  const auto known = of_pod_.find({ns, name});
  if (known == of_pod_.end()) return;
  const auto group = groups_.find(known->second);
  const auto pod = group->second.find(name);
  const std::string workload = workload_of_group(known->second, pod->second);
  group->second.erase(pod);
  if (group->second.empty()) {
    of_workload_.erase({ns, workload});
    groups_.erase(group);
  }
  of_pod_.erase(known);
}

const GroupKey* Roll::group_of(const std::string& ns, const std::string& pod) const {
  const auto found = of_pod_.find({ns, pod});
  return found == of_pod_.end() ? nullptr : &found->second;
}

std::vector<Pod> Roll::pods_of(const GroupKey& group) const {
  std::vector<Pod> out;
  const auto found = groups_.find(group);
  if (found == groups_.end()) return out;
  for (const auto& [name, pod] : found->second) out.push_back(pod);
  return out;
}

const GroupKey* Roll::of_workload(const std::string& ns, const std::string& workload) const {
  const auto found = of_workload_.find({ns, workload});
  return found == of_workload_.end() ? nullptr : &found->second;
}

std::vector<GroupKey> Roll::groups() const {
  std::vector<GroupKey> out;
  for (const auto& [group, pods] : groups_) out.push_back(group);
  return out;
}

}  // namespace pods

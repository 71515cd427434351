#include "core/engine/shapes.hpp"

#include <unordered_set>
#include <utility>
#include <vector>

namespace sluice {

std::uint32_t Shapes::number_of(Numbers& numbers, std::string_view text) {
  if (const auto known = numbers.find(text); known != numbers.end()) return known->second;
  pace_.took(text.size());
  numbers.emplace(text, ++last_);
  return last_;
}

const PodShape* Shapes::of_pod(const std::shared_ptr<const api::PodTemplate>& pod) {
  std::unique_ptr<PodShape>& shape = pods_[pod.get()];
  if (shape) return shape.get();
  shape = std::make_unique<PodShape>();
  shape->pod = pod;
  shape->text = number_of(texts_, pod->shape);
  for (const api::ResourceRequest& r : asked_of_quota(pod->requests, rules_)) {
    const std::size_t known = model_.frs.resources().known();
    shape->requests.push_back({model_.frs.intern_resource(r.resource), r.amount});
    if (model_.frs.resources().known() > known) pace_.took(r.resource.size());
  }
  pace_.took(pod->shape.size());
  return shape.get();
}

std::uint32_t Shapes::of_workload(const WorkloadRecord& w) {
  std::string text;
  const auto add = [&text](std::uint64_t number) {
    for (; number >= 128; number >>= 7U) text += static_cast<char>(number | 128U);
    text += static_cast<char>(number);
  };
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetRecord& p = w.pod_sets[i];
    const std::string& name = w.object->pod_sets[i].name;
    add(name.size());
    text += name;
    add(static_cast<std::uint64_t>(p.remaining()));
    add(static_cast<std::uint64_t>(p.min_count));
    add(p.shape->text);
    add(p.group_leader);
  }
  add(0);  // no pod set has an empty name
  if (w.extras) text += w.extras->traits.shape_key;
  return number_of(workloads_, text);
}

void Shapes::forget_unused() {
  std::unordered_set<const PodShape*> pods;
  std::unordered_set<std::uint32_t> texts, workloads;
  for (const auto& [key, id] : model_.ids) {
    const WorkloadRecord& w = model_.workloads[id];
    workloads.insert(w.shape);
    for (const PodSetRecord& set : w.pod_sets) {
      pods.insert(set.shape);
      texts.insert(set.shape->text);
    }
  }
  std::erase_if(pods_, [&](const auto& each) { return !pods.contains(each.second.get()); });
  std::erase_if(texts_, [&](const auto& each) { return !texts.contains(each.second); });
  std::erase_if(workloads_, [&](const auto& each) { return !workloads.contains(each.second); });
  std::size_t bytes = forget_resources();
  for (const auto& [pod, shape] : pods_) bytes += pod->shape.size();
  for (const Numbers* numbers : {&texts_, &workloads_})
    for (const auto& [text, number] : *numbers) bytes += text.size();
  pace_.swept(pods_.size() + texts_.size() + workloads_.size() + model_.frs.resources().known(),
              bytes);
}

/// Used are those of pods, of what queues cover, and of what workloads were given once.
std::size_t Shapes::forget_resources() {
  std::vector<bool> used(model_.frs.resources().size());
  for (const auto& [pod, shape] : pods_)
    for (const ResourceAmount& wanted : shape->requests) used[wanted.resource] = true;
  for (const QueueRecord& queue : model_.queues)
    for (const auto& [resource, group] : queue.covered) used[resource] = true;
  for (const auto& [key, id] : model_.ids) {
    const WorkloadRecord& w = model_.workloads[id];
    for (const Holding* holding : {w.holding.get(), w.ended.get()})
      for (const AssignedPodSet& pods : holding ? holding->pod_sets : std::vector<AssignedPodSet>())
        for (const auto& [resource, flavor] : pods.flavors) used[resource] = true;
  }
  return model_.frs.retain_resources(std::move(used));
}

}  // namespace sluice

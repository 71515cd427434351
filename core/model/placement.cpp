#include "core/model/placement.hpp"

#include <algorithm>

namespace sluice {
namespace {

enum class Order : std::uint8_t { kSame, kBetter, kWorse };

std::size_t place_of(const ResourceGroupRecord& group, FlavorId flavor) {
  const auto found = std::find(group.flavors.begin(), group.flavors.end(), flavor);
  return static_cast<std::size_t>(found - group.flavors.begin());
}

/// One pod set, looking at the resources of one group only.
Order compare(const ResourceGroupRecord& group, const AssignedPodSet& now,
              const AssignedPodSet& held) {
  Order out = Order::kSame;
  for (const auto& [resource, flavor] : held.flavors) {
    const auto of_group = std::find(group.resources.begin(), group.resources.end(), resource);
    if (of_group == group.resources.end()) continue;
    for (const auto& [other, choice] : now.flavors) {
      if (other != resource) continue;
      const std::size_t before = place_of(group, flavor);
      const std::size_t after = place_of(group, choice);
      if (after > before) return Order::kWorse;
      if (after < before) out = Order::kBetter;
    }
  }
  return out;
}

}  // namespace

Gain compare_placements(const QueueRecord& queue, std::span<const AssignedPodSet> now,
                        std::span<const AssignedPodSet> held) {
  const std::size_t count = std::min(now.size(), held.size());
  for (std::size_t i = 0; i < count; ++i)
    if (now[i].count < held[i].count) return Gain::kFewerPods;
  for (const ResourceGroupRecord& group : queue.groups) {
    bool better = false;
    for (std::size_t i = 0; i < count; ++i) {
      const Order order = compare(group, now[i], held[i]);
      if (order == Order::kWorse) return Gain::kNoBetterFlavor;
      better |= order == Order::kBetter;
    }
    if (better) return Gain::kBetter;
  }
  return Gain::kNoBetterFlavor;
}

std::vector<AssignedPodSet> placement_of(const WorkloadRecord& holder) {
  std::vector<AssignedPodSet> out = holder.holding->pod_sets;
  for (std::size_t i = 0; i < out.size() && i < holder.pod_sets.size(); ++i) {
    out[i].count = holder.pod_sets[i].remaining_of(out[i].count);
  }
  return out;
}

}  // namespace sluice

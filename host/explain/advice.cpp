#include "host/explain/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/reasons/reasons.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kFewNames = 3;

std::string workloads(std::size_t count, const char* kind) {
  return fmt::format("{} {}workload{}", count, kind, count == 1 ? "" : "s");
}

/// `team-b/train-1 (2), 3 workloads of other namespaces (5)`.
std::string holders_text(const Explanation& explanation, const std::string& flavor,
                         const std::string& resource) {
  std::vector<std::string> parts;
  std::size_t more = 0;
  std::int64_t more_amount = 0;
  for (const QuotaHolder& holder : explanation.holders) {
    if (holder.flavor != flavor || holder.resource != resource) continue;
    if (parts.size() < kFewNames) {
      parts.push_back(
          fmt::format("{} ({})", holder.workload, amount_text(resource, holder.amount)));
    } else {
      ++more;
      more_amount += holder.amount;
    }
  }
  for (const OtherHolders& other : explanation.others) {
    if (other.flavor != flavor || other.resource != resource) continue;
    more += other.more;
    more_amount += other.more_amount;
    if (more > 0)
      parts.push_back(
          fmt::format("{} ({})", workloads(more, "more "), amount_text(resource, more_amount)));
    more = 0;
    if (other.unnamed > 0)
      parts.push_back(fmt::format("{} of other namespaces ({})", workloads(other.unnamed, ""),
                                  amount_text(resource, other.unnamed_amount)));
  }
  if (more > 0)
    parts.push_back(
        fmt::format("{} ({})", workloads(more, "more "), amount_text(resource, more_amount)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string sentence(const Explanation& explanation, const ResourceAnswer& resource,
                     const FlavorAnswer& flavor) {
  const std::string missing = amount_of(resource.resource, flavor.missing);
  if (flavor.never) {
    return fmt::format(
        "{} of flavor {} can never be had: at most {} of {}; its quota, or what may be borrowed, "
        "would have to grow by {}",
        amount_of(resource.resource, resource.requested), flavor.flavor,
        amount_of(resource.resource, flavor.maximum), explanation.cluster_queue,
        amount_text(resource.resource, resource.requested - flavor.maximum));
  }
  const std::string held = holders_text(explanation, flavor.flavor, resource.resource);
  if (held.empty()) {
    return fmt::format("{} more of flavor {}: the nominal quota would have to grow by {}", missing,
                       flavor.flavor, amount_text(resource.resource, flavor.missing));
  }
  return fmt::format(
      "{} more of flavor {}: held by {}; some of them would have to finish, or the nominal quota "
      "to grow by {}",
      missing, flavor.flavor, held, amount_text(resource.resource, flavor.missing));
}

}  // namespace

std::string amount_of(const std::string& resource, std::int64_t amount) {
  return amount_text(resource, amount) + " " + resource;
}

std::vector<std::string> advice_of(const Explanation& explanation) {
  std::vector<std::string> out;
  for (const PodSetAnswer& pods : explanation.pod_sets) {
    for (const ResourceAnswer& resource : pods.resources) {
      if (!resource.covered && resource.requested > 0) {
        out.push_back(fmt::format("{}: {} has no quota of it; it would have to get some",
                                  resource.resource, explanation.cluster_queue));
        continue;
      }
      // Where another flavor could serve it one day, one that never can is of no use to know.
      const bool hope = std::any_of(
          resource.flavors.begin(), resource.flavors.end(),
          [](const FlavorAnswer& each) { return each.unsuitable.empty() && !each.never; });
      const bool fits = std::any_of(
          resource.flavors.begin(), resource.flavors.end(),
          [](const FlavorAnswer& each) { return each.unsuitable.empty() && each.missing == 0; });
      if (fits) continue;
      for (const FlavorAnswer& flavor : resource.flavors) {
        if (!flavor.unsuitable.empty() || (flavor.never && hope)) continue;
        const std::string text = sentence(explanation, resource, flavor);
        if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
      }
    }
  }
  return out;
}

}  // namespace sluice::host

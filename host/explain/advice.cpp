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

bool served(const FlavorAnswer& flavor) { return flavor.unsuitable.empty() && flavor.missing == 0; }

/// What a resource lacks on each flavor that could serve it; empty: nothing.
std::string shortage(const ResourceAnswer& resource) {
  std::vector<std::string> parts;
  for (const FlavorAnswer& flavor : resource.flavors) {
    if (served(flavor)) return {};
    if (!flavor.unsuitable.empty()) {
      parts.push_back(fmt::format("flavor {} is not for it", flavor.flavor));
    } else if (flavor.never) {
      parts.push_back(fmt::format("flavor {} has {} at most", flavor.flavor,
                                  amount_text(resource.resource, flavor.maximum)));
    } else {
      parts.push_back(fmt::format("{} more of flavor {}",
                                  amount_text(resource.resource, flavor.missing), flavor.flavor));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", or "));
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

std::string now_text(const Explanation& explanation) {
  if (explanation.cluster_queue.empty() || explanation.pod_sets.empty()) return {};
  std::vector<std::string> parts;
  if (!explanation.head.empty())
    parts.push_back(
        fmt::format("only the head of a StrictFIFO queue is looked at: {}", explanation.head));
  for (const PodSetAnswer& pods : explanation.pod_sets) {
    for (const ResourceAnswer& resource : pods.resources) {
      std::string text;
      if (resource.covered) {
        text = shortage(resource);
      } else if (resource.requested > 0) {
        text = explanation.cluster_queue + " has no quota of it";
      }
      if (text.empty()) continue;
      text = fmt::format("{} of pod set {}: {}", resource.resource, pods.name, text);
      if (std::find(parts.begin(), parts.end(), text) == parts.end()) parts.push_back(text);
    }
  }
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts, "; "));
  return explanation.pod_sets.size() == 1
             ? "what it asks for is free at this moment"
             : "each of its pod sets by itself has room at this moment";
}

std::vector<std::string> advice_of(const Explanation& explanation) {
  std::vector<std::string> out;
  if (!explanation.head.empty())
    out.push_back(fmt::format("{}, the head of this StrictFIFO queue, has to get its quota first",
                              explanation.head));
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
      if (std::any_of(resource.flavors.begin(), resource.flavors.end(), served)) continue;
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

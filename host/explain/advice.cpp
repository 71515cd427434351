#include "host/explain/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <utility>

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
          fmt::format("{} ({})", holder.workload, readable_amount(resource, holder.amount)));
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
          fmt::format("{} ({})", workloads(more, "more "), readable_amount(resource, more_amount)));
    more = 0;
    if (other.unnamed > 0)
      parts.push_back(fmt::format("{} of other namespaces ({})", workloads(other.unnamed, ""),
                                  readable_amount(resource, other.unnamed_amount)));
  }
  if (more > 0)
    parts.push_back(
        fmt::format("{} ({})", workloads(more, "more "), readable_amount(resource, more_amount)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Sentences, none of them twice, and not more than a person reads.
class Lines {
 public:
  void add(std::string text) {
    if (!known_.insert(text).second) return;
    if (lines_.size() < kMostLines)
      lines_.push_back(std::move(text));
    else
      ++more_;
  }
  bool empty() const { return lines_.empty(); }
  std::vector<std::string> taken() {
    if (more_ > 0) lines_.push_back(fmt::format("{} more of this kind", more_));
    return std::move(lines_);
  }

 private:
  static constexpr std::size_t kMostLines = 50;
  std::vector<std::string> lines_;
  std::unordered_set<std::string> known_;
  std::size_t more_ = 0;
};

/// One flavor of a group, for one pod set: what it lacks of the resources that it has to serve
/// together.
struct Choice {
  struct Lack {
    const ResourceAnswer* resource;
    const FlavorAnswer* answer;
  };
  std::string flavor;
  std::vector<Lack> lacks;
  std::string unsuitable;  ///< why it is not for these pods; empty: it is
  bool never = false;

  bool serves() const { return unsuitable.empty() && lacks.empty(); }
};

/// What a pod set lacks of a group of resources; no choice: nothing.
struct Shortage {
  std::vector<const ResourceAnswer*> resources;  ///< that are lacking somewhere
  std::vector<Choice> choices;
};

Shortage shortage_of(const std::vector<const ResourceAnswer*>& group) {
  Shortage out;
  for (std::size_t f = 0; f < group.front()->flavors.size(); ++f) {
    Choice& choice = out.choices.emplace_back();
    choice.flavor = group.front()->flavors[f].flavor;
    for (const ResourceAnswer* resource : group) {
      const FlavorAnswer& answer = resource->flavors[f];
      if (choice.unsuitable.empty()) choice.unsuitable = answer.unsuitable;
      choice.never |= answer.never;
      if (answer.missing > 0 || answer.never) choice.lacks.push_back({resource, &answer});
    }
    if (choice.serves()) return {};
  }
  for (const ResourceAnswer* resource : group)
    if (std::any_of(resource->flavors.begin(), resource->flavors.end(),
                    [](const FlavorAnswer& each) {
                      return each.unsuitable.empty() && (each.missing > 0 || each.never);
                    }))
      out.resources.push_back(resource);
  if (out.resources.empty()) out.resources = group;  // no flavor is for it
  return out;
}

/// The groups of what a pod set asks for, in the order of their first resource.
std::vector<std::vector<const ResourceAnswer*>> groups_of(const PodSetAnswer& pods) {
  std::vector<std::vector<const ResourceAnswer*>> out;
  std::map<std::uint32_t, std::size_t> places;
  for (const ResourceAnswer& resource : pods.resources) {
    if (!resource.covered) continue;
    const auto [place, fresh] = places.try_emplace(resource.group, out.size());
    if (fresh) out.emplace_back();
    out[place->second].push_back(&resource);
  }
  return out;
}

/// `8 cpu and 3Gi memory`; of a single one that is named already the amount alone.
std::string amounts_text(const std::vector<Choice::Lack>& lacks, bool named,
                         std::int64_t FlavorAnswer::*amount) {
  std::vector<std::string> out;
  for (const Choice::Lack& lack : lacks) {
    const std::string& name = lack.resource->resource;
    const std::int64_t value = lack.answer->*amount;
    out.push_back(named ? readable_amount(name, value) : amount_of(name, value));
  }
  return fmt::format("{}", fmt::join(out, " and "));
}

/// What is lacking on each flavor that could serve it.
std::string choices_text(const Shortage& shortage) {
  const bool named = shortage.resources.size() == 1;
  std::vector<std::string> parts;
  for (const Choice& choice : shortage.choices) {
    if (!choice.unsuitable.empty()) {
      parts.push_back(fmt::format("flavor {} is not for it", choice.flavor));
    } else if (choice.never) {
      std::vector<Choice::Lack> never = choice.lacks;
      std::erase_if(never, [](const Choice::Lack& each) { return !each.answer->never; });
      parts.push_back(fmt::format("flavor {} has {} at most", choice.flavor,
                                  amounts_text(never, named, &FlavorAnswer::maximum)));
    } else {
      parts.push_back(fmt::format("{} more of flavor {}",
                                  amounts_text(choice.lacks, named, &FlavorAnswer::missing),
                                  choice.flavor));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", or "));
}

/// By how much a quota would have to grow is exact: it is written into one.
std::string sentence(const Explanation& explanation, const ResourceAnswer& resource,
                     const FlavorAnswer& flavor) {
  const std::string missing = amount_of(resource.resource, flavor.missing);
  if (flavor.never) {
    return fmt::format(
        "{} of flavor {} can never be had: at most {} of {}{}; its quota, or what may be borrowed, "
        "would have to grow by {}",
        amount_of(resource.resource, resource.requested), flavor.flavor,
        amount_of(resource.resource, flavor.maximum), explanation.cluster_queue,
        flavor.shared ? " beside its other pod sets" : "",
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

/// Whether a plugin said so when its turn came last: it may say something else the next time.
bool is_of_plugin(const Explanation& explanation, const PodSetAnswer& pods, const Choice& choice) {
  return std::any_of(explanation.refusals.begin(), explanation.refusals.end(),
                     [&](const Refusal& each) {
                       return !each.by.empty() && each.flavor == choice.flavor &&
                              (each.pod_set.empty() || each.pod_set == pods.name);
                     });
}

/// Where no flavor is for these pods, whatever is free, and no plugin has a say in it.
std::string no_flavor_text(const Explanation& explanation, const PodSetAnswer& pods,
                           const Shortage& shortage) {
  std::vector<std::string> why;
  for (const Choice& choice : shortage.choices) {
    if (choice.unsuitable.empty() || is_of_plugin(explanation, pods, choice)) return {};
    why.push_back(fmt::format("{}: {}", choice.flavor, choice.unsuitable));
  }
  if (why.empty()) return {};
  return fmt::format(
      "no flavor of {} is for these pods ({}): they would have to change, or the queue to get one "
      "that is",
      explanation.cluster_queue, fmt::join(why, "; "));
}

enum class Which : std::uint8_t { kAll, kLasting };

/// What would help this pod set: each line a flavor, any of which would do for its resources.
std::vector<std::string> help_for(const Explanation& explanation, const PodSetAnswer& pods,
                                  Which which) {
  std::vector<std::string> out;
  for (const ResourceAnswer& resource : pods.resources)
    if (!resource.covered && resource.requested > 0)
      out.push_back(fmt::format("{}: {} has no quota of it; it would have to get some",
                                resource.resource, explanation.cluster_queue));
  for (const auto& group : groups_of(pods)) {
    const Shortage shortage = shortage_of(group);
    // Where another flavor could serve it one day, one that never can is of no use to know.
    const bool hope =
        std::any_of(shortage.choices.begin(), shortage.choices.end(),
                    [](const Choice& each) { return each.unsuitable.empty() && !each.never; });
    if (hope && which == Which::kLasting) continue;
    for (const Choice& choice : shortage.choices) {
      if (!choice.unsuitable.empty() || (choice.never && hope)) continue;
      std::vector<std::string> needs;
      for (const Choice::Lack& lack : choice.lacks)
        needs.push_back(sentence(explanation, *lack.resource, *lack.answer));
      out.push_back(fmt::format("{}", fmt::join(needs, "; and ")));
    }
    if (std::string none = no_flavor_text(explanation, pods, shortage); !none.empty())
      out.push_back(std::move(none));
  }
  return out;
}

/// What would help any pod set.
void add_help(const Explanation& explanation, Which which, Lines& out) {
  std::vector<std::pair<const PodSetAnswer*, std::vector<std::string>>> help;
  for (const PodSetAnswer& pods : explanation.pod_sets)
    if (auto lines = help_for(explanation, pods, which); !lines.empty())
      help.emplace_back(&pods, std::move(lines));
  for (const auto& [pods, lines] : help)
    for (const std::string& line : lines)
      out.add(help.size() == 1 ? line : fmt::format("pod set {}: {}", pods->name, line));
}

}  // namespace

std::string amount_of(const std::string& resource, std::int64_t amount) {
  const bool one_pod = resource == "pods" && amount == 1;
  return readable_amount(resource, amount) + " " + (one_pod ? "pod" : resource);
}

std::string now_text(const Explanation& explanation) {
  if (explanation.cluster_queue.empty() || explanation.pod_sets.empty()) return {};
  Lines parts;
  if (!explanation.head.empty())
    parts.add(
        fmt::format("only the head of a StrictFIFO queue is looked at: {}", explanation.head));
  for (const PodSetAnswer& pods : explanation.pod_sets) {
    for (const ResourceAnswer& resource : pods.resources)
      if (!resource.covered && resource.requested > 0)
        parts.add(fmt::format("{} of pod set {}: {} has no quota of it", resource.resource,
                              pods.name, explanation.cluster_queue));
    for (const auto& group : groups_of(pods)) {
      const Shortage shortage = shortage_of(group);
      if (shortage.choices.empty()) continue;
      std::vector<std::string> names;
      for (const ResourceAnswer* resource : shortage.resources) names.push_back(resource->resource);
      parts.add(fmt::format("{} of pod set {}: {}", fmt::join(names, " and "), pods.name,
                            choices_text(shortage)));
    }
  }
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts.taken(), "; "));
  return explanation.pod_sets.size() == 1 ? "what it asks for is free at this moment"
                                          : "what its pod sets ask for is free at this moment";
}

std::vector<std::string> advice_of(const Explanation& explanation) {
  Lines out;
  if (!explanation.head.empty())
    out.add(fmt::format("{}, the head of this StrictFIFO queue, has to get its quota first",
                        explanation.head));
  add_help(explanation, Which::kAll, out);
  return out.taken();
}

std::vector<std::string> lasting_advice_of(const Explanation& explanation) {
  Lines out;
  add_help(explanation, Which::kLasting, out);
  return out.taken();
}

}  // namespace sluice::host

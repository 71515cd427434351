#include "policy.hpp"

#include <algorithm>

namespace options {
namespace {

using sluice::Json;

std::vector<std::string> texts_of(const Json* list) {
  std::vector<std::string> out;
  if (list != nullptr)
    for (const Json& each : list->items())
      if (each.is_string()) out.push_back(each.as_string());
  return out;
}

std::vector<OptionSpec> explicit_options(const Json* list) {
  std::vector<OptionSpec> out;
  if (list == nullptr) return out;
  for (const Json& each : list->items()) {
    OptionSpec& option = out.emplace_back();
    option.name = each.string_or("name", "");
    option.flavors = texts_of(each.find("allowedResourceFlavors"));
    option.create_delay_seconds = each.int_or("createDelaySeconds", 0);
    if (const Json* delay = each.find("deleteDelaySeconds"))
      option.delete_delay_seconds = delay->as_int();
  }
  return out;
}

/// One for each flavor of the group that has several, with what the other groups have to offer.
std::vector<OptionSpec> option_per_flavor(const Groups& groups) {
  if (groups.empty()) return {};
  std::size_t wide = 0;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (groups[g].size() > groups[wide].size()) wide = g;
  std::vector<OptionSpec> out;
  for (const std::string& flavor : groups[wide]) {
    OptionSpec& option = out.emplace_back();
    option.name = flavor;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g == wide) {
        option.flavors.push_back(flavor);
      } else {
        option.flavors.insert(option.flavors.end(), groups[g].begin(), groups[g].end());
      }
    }
  }
  return out;
}

/// What both spellings have in common once they are read.
void read_own(const Json& field, Policy& out) {
  const std::string on_success = field.string_or("onSuccess", "");
  out.on_success = on_success == "RemoveLower"         ? OnSuccess::kRemoveLower
                   : on_success == "RemoveBelowTarget" ? OnSuccess::kRemoveBelowTarget
                                                       : OnSuccess::kRemoveOther;
  out.target = field.string_or("removeBelowTargetConfig.targetResourceFlavor", "");
  out.options = explicit_options(field.find("explicitOptions"));
}

void read_other(const Json& field, Policy& out) {
  out.target = field.string_or("migration.constraints.lastAcceptableFlavorName", "");
  if (field.string_or("migration.mode", "TryPreferredFlavors") == "RetainFirstAdmission") {
    out.on_success = OnSuccess::kRemoveOther;
  } else {
    out.on_success = out.target.empty() ? OnSuccess::kRemoveLower : OnSuccess::kRemoveBelowTarget;
  }
  out.options = explicit_options(field.find("explicitVariants"));
}

}  // namespace

FlavorRank Policy::flavor_rank(const std::vector<std::string>& flavors) const {
  FlavorRank out;
  for (const std::vector<std::string>& group : groups) {
    const auto best = std::find_if(group.begin(), group.end(), [&](const std::string& flavor) {
      return std::find(flavors.begin(), flavors.end(), flavor) != flavors.end();
    });
    out.push_back(static_cast<std::size_t>(best - group.begin()));
  }
  return out;
}

std::int32_t Policy::rank_of_stranger(const std::vector<std::string>& flavors) const {
  const FlavorRank own = flavor_rank(flavors);
  std::size_t better = 0;
  while (better < options.size() && flavor_rank(options[better].flavors) <= own) ++better;
  return static_cast<std::int32_t>(2 * better + 1);
}

const OptionSpec* Policy::find(std::string_view name) const {
  for (const OptionSpec& option : options)
    if (option.name == name) return &option;
  return nullptr;
}

bool Policy::below_target(const std::vector<std::string>& flavors) const {
  const FlavorRank own = flavor_rank(flavors);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto at = std::find(groups[g].begin(), groups[g].end(), target);
    if (at != groups[g].end()) return own[g] > static_cast<std::size_t>(at - groups[g].begin());
  }
  return false;
}

std::vector<std::string> Policy::within_target(const std::vector<std::string>& flavors) const {
  std::vector<std::string> out;
  for (const std::string& flavor : flavors)
    if (!below_target_alone(flavor)) out.push_back(flavor);
  return out;
}

/// Of one flavor: other groups than the target's know no target.
bool Policy::below_target_alone(const std::string& flavor) const {
  for (const std::vector<std::string>& group : groups) {
    const auto at = std::find(group.begin(), group.end(), target);
    if (at != group.end()) return std::find(at + 1, group.end(), flavor) != group.end();
  }
  return false;
}

bool Policy::may_improve(const std::vector<std::string>& flavors, const Placement& held) const {
  const FlavorRank best = flavor_rank(flavors);
  for (std::size_t g = 0; g < groups.size() && g < resources.size(); ++g) {
    bool better = false;
    for (const PodSetPlace& pods : held)
      for (const auto& [resource, flavor] : pods) {
        if (std::find(resources[g].begin(), resources[g].end(), resource) == resources[g].end())
          continue;
        const auto at = std::find(groups[g].begin(), groups[g].end(), flavor);
        const auto now = static_cast<std::size_t>(at - groups[g].begin());
        if (best[g] > now || best[g] == groups[g].size()) return false;
        better |= best[g] < now;
      }
    if (better) return true;
  }
  return false;
}

bool Policy::operator==(const Policy& other) const {
  const auto same = [](const OptionSpec& a, const OptionSpec& b) {
    return a.name == b.name && a.flavors == b.flavors &&
           a.create_delay_seconds == b.create_delay_seconds &&
           a.delete_delay_seconds == b.delete_delay_seconds;
  };
  return on_success == other.on_success && target == other.target && groups == other.groups &&
         resources == other.resources &&
         std::equal(options.begin(), options.end(), other.options.begin(), other.options.end(),
                    same);
}

Groups groups_of(const Json& cluster_queue) {
  Groups out;
  const Json* groups = cluster_queue.find("spec.resourceGroups");
  if (groups == nullptr) return out;
  for (const Json& group : groups->items()) {
    std::vector<std::string>& names = out.emplace_back();
    if (const Json* flavors = group.find("flavors"))
      for (const Json& flavor : flavors->items()) names.push_back(flavor.string_or("name", ""));
  }
  return out;
}

std::vector<std::vector<std::string>> resources_of(const Json& cluster_queue) {
  std::vector<std::vector<std::string>> out;
  if (const Json* groups = cluster_queue.find("spec.resourceGroups"))
    for (const Json& group : groups->items())
      out.push_back(texts_of(group.find("coveredResources")));
  return out;
}

std::optional<Policy> policy_of(const Json& cluster_queue) {
  const Json* spec = cluster_queue.member("spec");
  if (spec == nullptr) return std::nullopt;
  const Json* own = spec->member(kField);
  const Json* other = spec->member(kOtherField);
  if (own == nullptr && other == nullptr) return std::nullopt;
  Policy out;
  out.groups = groups_of(cluster_queue);
  out.resources = resources_of(cluster_queue);
  if (own != nullptr)
    read_own(*own, out);
  else
    read_other(*other, out);
  if (out.options.empty()) out.options = option_per_flavor(out.groups);
  std::stable_sort(out.options.begin(), out.options.end(),
                   [&](const OptionSpec& a, const OptionSpec& b) {
                     return out.flavor_rank(a.flavors) < out.flavor_rank(b.flavors);
                   });
  return out;
}

}  // namespace options

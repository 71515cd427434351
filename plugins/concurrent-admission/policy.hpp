// What a ClusterQueue wants: which options a workload of it gets, in which order, and what happens
// to the others when one is admitted. Both spellings of the field come to the same Policy. Values
// and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/cpp/json.hpp"

namespace options {

enum class OnSuccess : std::uint8_t {
  kRemoveOther,       ///< all others
  kRemoveLower,       ///< those that rank below the admitted one
  kRemoveBelowTarget  ///< those below the target flavor, or below the admitted one
};

struct OptionSpec {
  std::string name;
  std::vector<std::string> flavors;  ///< that it may use
  std::int64_t create_delay_seconds = 0;
  std::optional<std::int64_t> delete_delay_seconds;
};

/// Flavors of a queue's resource groups, best first.
using Groups = std::vector<std::vector<std::string>>;

/// Per resource group the place of the best flavor of a list, or the number of flavors if it has
/// none of them. Less is better, the first group counts first.
using FlavorRank = std::vector<std::size_t>;

/// What an option holds of one pod set: the flavor of each resource. Counts are not looked at: an
/// option always asks for all pods, and the host sees to it that no move has fewer.
using PodSetPlace = std::vector<std::pair<std::string, std::string>>;
using Placement = std::vector<PodSetPlace>;

struct Policy {
  OnSuccess on_success = OnSuccess::kRemoveOther;
  std::string target;               ///< with kRemoveBelowTarget
  std::vector<OptionSpec> options;  ///< best first
  Groups groups;
  std::vector<std::vector<std::string>> resources;  ///< that each of the groups covers

  FlavorRank flavor_rank(const std::vector<std::string>& flavors) const;
  /// The rank of options[i]: even numbers, the best is the least.
  static std::int32_t rank_of(std::size_t i) { return static_cast<std::int32_t>(2 * i + 2); }
  /// The rank of an option with these flavors that is not in the list (any more): an odd number
  /// between those of its neighbours.
  std::int32_t rank_of_stranger(const std::vector<std::string>& flavors) const;
  const OptionSpec* find(std::string_view name) const;
  /// Does an option with these flavors rank below the target flavor?
  bool below_target(const std::vector<std::string>& flavors) const;
  /// The flavors of the list that are not below the target flavor.
  std::vector<std::string> within_target(const std::vector<std::string>& flavors) const;
  /// Might an option with these flavors be placed better than that? So it is when, in the first
  /// resource group where its best flavor is another than those held, none of those is better.
  bool may_improve(const std::vector<std::string>& flavors, const Placement& held) const;
  bool operator==(const Policy&) const;

 private:
  bool below_target_alone(const std::string& flavor) const;
};

Groups groups_of(const sluice::Json& cluster_queue);
std::vector<std::vector<std::string>> resources_of(const sluice::Json& cluster_queue);

/// nullopt: the queue has no policy. What makes no sense (the validator refuses it) is left out.
std::optional<Policy> policy_of(const sluice::Json& cluster_queue);

/// The two spellings of the field.
inline constexpr std::string_view kField = "concurrentAdmission";
inline constexpr std::string_view kOtherField = "concurrentAdmissionPolicy";

}  // namespace options

// Why a workload was evicted, or turned off: the reasons of its condition Evicted as Kueue spells
// them, and what follows from one.
//
// A reason is a text, because plugins give reasons of their own and clients read it. Invariant:
// only this header knows how ours are spelled; who decides by one asks here. Constants and pure
// functions, any thread.
#pragma once

#include <optional>
#include <string_view>

namespace sluice {
namespace eviction_reason {

inline constexpr std::string_view kPreempted = "Preempted";
inline constexpr std::string_view kAdmissionCheck = "AdmissionCheck";  ///< one said Retry
inline constexpr std::string_view kPodsReadyTimeout = "PodsReadyTimeout";
inline constexpr std::string_view kClusterQueueStopped = "ClusterQueueStopped";
inline constexpr std::string_view kLocalQueueStopped = "LocalQueueStopped";
/// Of one that others represent: what ran for it was deleted.
inline constexpr std::string_view kWorkloadGone = "WorkloadGone";
/// By a person, or by a plugin without a reason of its own.
inline constexpr std::string_view kDeactivated = "Deactivated";
inline constexpr std::string_view kCheckRejected = "DeactivatedDueToAdmissionCheck";
inline constexpr std::string_view kRequeuingLimit = "DeactivatedDueToRequeuingLimitExceeded";
inline constexpr std::string_view kTimeLimit = "DeactivatedDueToMaximumExecutionTimeExceeded";

}  // namespace eviction_reason

/// It was turned off, by whomever.
constexpr bool is_deactivation(std::string_view reason) {
  return reason.starts_with(eviction_reason::kDeactivated);
}

/// X of `DeactivatedDueToX`, which counts as Deactivated with the cause X; nullopt: another reason,
/// or a person's.
constexpr std::optional<std::string_view> cause_of_deactivation(std::string_view reason) {
  constexpr std::string_view kDueTo = "DueTo";
  if (!is_deactivation(reason)) return std::nullopt;
  reason.remove_prefix(eviction_reason::kDeactivated.size());
  if (!reason.starts_with(kDueTo)) return std::nullopt;
  return reason.substr(kDueTo.size());
}

/// It queues again only after a delay.
constexpr bool ends_in_backoff(std::string_view reason) {
  return reason == eviction_reason::kAdmissionCheck || reason == eviction_reason::kPodsReadyTimeout;
}

}  // namespace sluice

// Why a workload was evicted, or turned off: the reasons of its condition Evicted as Kueue spells
// them, and what follows from one.
//
// A reason is a text, because plugins give reasons of their own and clients read it. Invariant:
// only this header knows how ours are spelled; who decides by one asks here. Constants and pure
// functions, any thread.
#pragma once

#include <optional>
#include <string>
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
inline constexpr std::string_view kDueTo = "DueTo";  ///< between kDeactivated and a cause

}  // namespace eviction_reason

/// What the message of a deactivation with a cause begins with; the cause follows.
inline constexpr std::string_view kDeactivatedDueTo = "The workload is deactivated due to ";

/// It was turned off, by whomever.
constexpr bool is_deactivation(std::string_view reason) {
  return reason.starts_with(eviction_reason::kDeactivated);
}

/// X of `DeactivatedDueToX`, which counts as Deactivated with the cause X; nullopt: another reason,
/// or a person's.
constexpr std::optional<std::string_view> cause_of_deactivation(std::string_view reason) {
  if (!is_deactivation(reason)) return std::nullopt;
  reason.remove_prefix(eviction_reason::kDeactivated.size());
  if (!reason.starts_with(eviction_reason::kDueTo)) return std::nullopt;
  return reason.substr(eviction_reason::kDueTo.size());
}

/// What such a message says of the cause; all of another message.
constexpr std::string_view cause_in(std::string_view message) {
  if (message.starts_with(kDeactivatedDueTo)) message.remove_prefix(kDeactivatedDueTo.size());
  return message;
}

/// The other way: `DeactivatedDueToX` of X.
inline std::string deactivation_due_to(std::string_view cause) {
  return std::string(eviction_reason::kDeactivated).append(eviction_reason::kDueTo).append(cause);
}

/// It queues again only after a delay.
constexpr bool ends_in_backoff(std::string_view reason) {
  return reason == eviction_reason::kAdmissionCheck || reason == eviction_reason::kPodsReadyTimeout;
}

}  // namespace sluice

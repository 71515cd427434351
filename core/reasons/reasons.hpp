// Why a workload waits: compact while the engine works, text when a person asks.
//
// A nomination that fails leaves one FlavorReason per flavor and resource that it looked at. Equals
// that are parked together share one PendingReason. The digest leaves the amounts out: it changes
// when the reason changes in kind, so that a log is not flooded by every freed milli-CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/quota/flavor_resource.hpp"
#include "core/types/kinds.hpp"

namespace sluice {

/// The reasons of condition QuotaReserved=False (kueue-facts 1.2), least severe first where they
/// compete: within a group the least severe flavor counts, over groups and pod sets the most
/// severe.
enum class WaitReason : std::uint8_t {
  kNothing,
  kWaitingForQuota,
  kExceedsMaxQuota,
  kNoMatchingFlavor,
  kWaitingForPreemptedWorkloads,
  kMisconfigured,
  kSuspended,
  kPendingEvaluation,
  kOnHold,
  kDeactivated,
  kAdmissionGated,
  kWaitingForPodsReady,
  kPending,
};

const char* to_string(WaitReason reason);

struct FlavorReason {
  enum class Kind : std::uint8_t {
    kUnused,   ///< a: how much more is needed, b: of how much
    kMaximum,  ///< a: earlier pod sets, b: this pod set, c: capacity
    kTaint,    ///< text: the taint
    kAffinity,
    kMissingFlavor,
    kFiltered,   ///< text: the plugin's reason
    kUncovered,  ///< text: the resource, unavailable in the queue
    kText,       ///< text alone
  };
  Kind kind = Kind::kUnused;
  std::uint16_t pod_set = 0;
  std::uint16_t group = 0;  ///< resource group
  FlavorId flavor = kNone;
  ResourceId resource = kNone;
  Amount a = 0, b = 0, c = 0;
  std::string text;
  std::string by;  ///< kFiltered: the plugin
};

struct PendingReason {
  std::uint64_t cycle = 0;  ///< when it was found
  WaitReason reason = WaitReason::kNothing;
  std::string text;  ///< stands alone when `flavors` is empty, else a suffix
  std::string by;    ///< the plugin that gave `text`; empty: our own
  std::vector<FlavorReason> flavors;
  std::shared_ptr<const api::Workload> object;  ///< for the names of the pod sets; with `flavors`

  /// Of everything but the amounts; never 0.
  std::uint64_t digest() const;
  /// Kueue's wording, pod sets joined by "; ", flavors by ", ".
  std::string message(const FlavorResources& frs) const;
};

/// The one that is shown for all: within a resource group the flavor that came closest, over groups
/// and pod sets the one that is farthest away.
WaitReason rank_reasons(const std::vector<FlavorReason>& reasons);

/// An amount as Kubernetes prints it: `500m`, `3`, `2Gi`.
std::string amount_text(const std::string& resource, Amount amount);
/// The same for a person: bytes that are no short number of any unit are rounded, `2.99Gi`.
std::string readable_amount(const std::string& resource, Amount amount);

}  // namespace sluice

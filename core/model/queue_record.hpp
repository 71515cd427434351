// What the engine knows about one ClusterQueue, in dense ids.
//
// Invariant: a record exists for every ClusterQueue that ever existed, and for those that the
// admission of a loaded workload names; `spec` is absent while the ClusterQueue does not exist. A
// record stays, and is that of a later ClusterQueue of the same name, because plugins know queues
// by numbers that are never those of others. Its node in the QuotaTree has the same number.
// Threads: as workload_record.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/shared_text.hpp"
#include "core/model/totals.hpp"
#include "core/model/workload_record.hpp"
#include "core/queueing/pending_queue.hpp"
#include "core/quota/quota_tree.hpp"
#include "core/types/kinds.hpp"

namespace sluice {

/// The flavors of one resource group; frs[flavor][resource] in the order of the configuration.
struct ResourceGroupRecord {
  std::vector<ResourceId> resources;
  std::vector<FlavorId> flavors;
  std::vector<std::string_view> flavor_names;  ///< views into the FlavorResources
  std::vector<std::vector<FrId>> frs;
};

enum class Inactive : std::uint8_t {
  kNo,
  kMissing,
  kTerminating,
  kStopped,
  kFlavorNotFound,
  kCohortCycle,
  kCohortTooDeep,
  kCheckNotFound,
  kCheckInactive,
};

/// An admission check that workloads of the queue must pass.
struct QueueCheck {
  std::string name;
  bool all_flavors = true;           ///< whatever a workload gets
  std::vector<FlavorId> flavors;     ///< else only when it gets one of these; sorted
  bool preempt_after_check = false;  ///< preemptions wait until it is Ready
  bool operator==(const QueueCheck&) const = default;

  /// Must a workload with this holding pass it?
  bool applies_to(const Holding& holding) const {
    if (all_flavors) return true;
    for (const AssignedPodSet& pods : holding.pod_sets)
      for (const auto& [resource, flavor] : pods.flavors)
        if (std::binary_search(flavors.begin(), flavors.end(), flavor)) return true;
    return false;
  }
};

struct QueueRecord {
  QueueId id = 0;
  std::string name;
  std::unique_ptr<const api::ClusterQueue> spec;
  std::vector<ResourceGroupRecord> groups;
  std::vector<std::pair<ResourceId, std::uint32_t>> covered;  ///< sorted, with their groups
  ResourceId pods_resource = kNone;  ///< the resource `pods`, when a group covers it
  Inactive inactive = Inactive::kMissing;
  std::string inactive_detail;  ///< the missing flavors or checks, for messages
  std::vector<QueueCheck> checks;
  std::uint64_t generation = 0;  ///< semantics 4: holders and configuration of this queue
  std::uint64_t own_usage = 0;   ///< grows when what is counted as used here may have changed
  PendingQueue pending;
  std::vector<WorkloadId> holders;  ///< workloads that hold quota here, in no particular order

  std::map<std::int32_t, std::uint32_t> holder_priorities;  ///< how many holders of each

  std::map<StringId, HeldTotals> held;  ///< of holders, by LocalQueue (totals.hpp)
  std::set<WorkloadId> held_alone;      ///< holders that no account has

  bool laned = false;  ///< a plugin told its LocalQueues apart: each has a lane of its own
  /// By LocalQueue: why a plugin has no order here; then the built-in one holds.
  std::map<std::string, std::string> order_faults;

  enum class Dirty : std::uint8_t { kNo, kReleased, kChanged };
  Dirty dirty = Dirty::kNo;      ///< why its tree is to be woken
  std::uint64_t told_as_of = 0;  ///< its parked reasons say what was so in this cycle
  SharedText reserved_message;   ///< "Quota reserved in ClusterQueue …", once it is interned

  bool active() const { return inactive == Inactive::kNo; }
  /// The number of the (first) group that covers the resource; kNone: none does. O(log resources).
  std::uint32_t group_of(ResourceId resource) const {
    const auto it = std::lower_bound(covered.begin(), covered.end(), std::pair(resource, 0U));
    return it != covered.end() && it->first == resource ? it->second : kNone;
  }
  void usage_changed() {
    ++own_usage;
    pending.note();
  }
  bool best_effort() const {
    return !spec || spec->strategy == api::QueueingStrategy::kBestEffortFifo;
  }
};

}  // namespace sluice

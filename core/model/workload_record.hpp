// What the engine knows about one workload, in dense ids.
//
// Invariant: `holding` is present exactly while the workload holds quota, and then its usage is
// counted in the ledger (ledger.hpp), unless a held preemption will evict it. Records live in a
// WorkloadTable. Written by the engine's thread between the parallel parts of a cycle, read by all
// threads in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/intern.hpp"
#include "core/hooks/hooks.hpp"
#include "core/model/condition_record.hpp"
#include "core/quota/flavor_resource.hpp"
#include "core/reasons/reasons.hpp"
#include "core/types/amount.hpp"
#include "core/types/kinds.hpp"
#include "core/types/uid.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

using QueueId = hooks::QueueId;

struct ResourceAmount {
  ResourceId resource = 0;
  Amount amount = 0;
};

/// A pod template with its resources in dense ids; shared by all workloads that have it.
struct PodShape {
  std::shared_ptr<const api::PodTemplate> pod;
  std::vector<ResourceAmount> requests;  ///< of one pod, in order of resource name
  std::uint32_t text = 0;                ///< interned canonical text
};

/// Tells `each(resource, amount)` what so many pods ask of a queue. `pods`: the resource of that
/// name where the queue covers it, else kNone; of it they ask one each, whatever they request
/// (semantics 4).
template <typename Each>
void for_each_request(const PodShape& shape, std::int32_t count, ResourceId pods,
                      const Each& each) {
  for (const ResourceAmount& r : shape.requests)
    if (r.resource != pods) each(r.resource, multiply_saturating(r.amount, count));
  if (pods != kNone) each(pods, Amount{count});
}

struct PodSetRecord {
  const PodShape* shape = nullptr;
  std::int32_t count = 1;
  std::int32_t min_count = 0;  ///< 0: none
  std::int32_t reclaimable = 0;
  std::uint32_t group_leader = 0;  ///< first pod set of the same podset-group-name; itself without

  /// Pods that are not over.
  std::int32_t remaining() const { return std::max(0, count - reclaimable); }
  /// Of so many that were assigned.
  std::int32_t remaining_of(std::int32_t assigned) const {
    return std::max(0, std::min(assigned, remaining()));
  }
};

/// What one pod set got: its pods and, per resource, the flavor.
struct AssignedPodSet {
  std::int32_t count = 0;
  std::vector<std::pair<ResourceId, FlavorId>> flavors;
};

/// A reservation of quota. `usage` has one entry per fr that some pod set uses, amount 0 included.
/// `planned` is there while its preemptions wait for admission checks: its victims. They run on,
/// but every fit test treats them as gone (mechanisms 4).
struct Holding {
  QueueId queue = 0;
  std::vector<AssignedPodSet> pod_sets;
  std::vector<FrAmount> usage;
  std::vector<WorkloadId> planned;
  Time reserved_at = 0;
  std::size_t index = 0;      ///< in QueueRecord::holders
  std::int32_t priority = 0;  ///< as counted in QueueRecord::holder_priorities

  /// How it was summed up (totals.hpp), so that it can be taken out again.
  struct Summed {
    enum Where : std::uint8_t { kNowhere, kAccount, kAlone };
    Where where = kNowhere;
    bool reserved = false, admitted = false;
    std::uint32_t account = 0;
    bool operator==(const Summed&) const = default;
  };
  Summed summed;
};

/// Where the walk over a group's flavors stands, per pod set and resource group (semantics 4).
struct ScanPosition {
  static constexpr std::int16_t kUnset = -2;
  static constexpr std::int16_t kExhausted = -1;

  std::vector<std::int16_t> positions;  ///< [pod set × groups + group]: last flavor looked at
  std::uint64_t cycle = 0;
  std::uint64_t queue_generation = 0;  ///< when that cycle began
  std::uint64_t tree_generation = 0;
  std::uint32_t shape = 0;
  std::int32_t priority = 0;
};

/// What few workloads have; allocated when first needed.
struct WorkloadExtras {
  hooks::Traits traits;
  api::RequeueState requeue;
  std::vector<api::EvictionCount> evictions;
  std::vector<api::AdmissionCheckState> checks;
  std::int32_t past_execution_seconds = 0;
  bool backing_off = false;        ///< waits for requeue.requeue_at
  std::optional<Time> retried_at;  ///< when a check last sent it back
};

struct WorkloadRecord {
  std::shared_ptr<const api::Workload> object;  ///< null: removed
  std::string key;
  Uid uid;  ///< a copy that outlives changes of the object
  std::vector<PodSetRecord> pod_sets;
  std::unique_ptr<Holding> holding;
  std::unique_ptr<Holding> ended;  ///< what it held when it finished, for its status
  std::unique_ptr<ScanPosition> scan;
  std::unique_ptr<WorkloadExtras> extras;
  std::vector<ConditionRecord> conditions;
  std::shared_ptr<const PendingReason> pending;  ///< why it waits; shared by equals
  QueueId queue = kNone;             ///< where it is queued or holds quota; kNone: nowhere
  std::uint32_t shape = 0;           ///< interned: equals have the same
  std::uint32_t epoch = 0;           ///< counts admissions, so that old timers are recognised
  std::uint64_t logged_pending = 0;  ///< digest of the pending reason that was last decided
  /// In place of a digest: the last reason is that of the condition QuotaReserved.
  static constexpr std::uint64_t kToldInStatus = 1;
  std::uint32_t local_queue = 0;   ///< interned `namespace/name`, as its object names it
  std::uint32_t tallied_in = 0;    ///< that under which it is counted as finished
  std::uint32_t unit = kNone;      ///< shares its quota with others (ledger.hpp); kNone: alone
  WorkloadId promised_to = kNone;  ///< the preemptor that plans to evict it (Holding::planned)
  std::int32_t priority = 0;
  WorkloadState state = WorkloadState::kPending;
  /// How it is counted among all (totals.hpp).
  enum class Tallied : std::uint8_t { kNot, kOpen, kFinished, kFinishedAlone };
  Tallied tallied = Tallied::kNot;
  bool for_its_turn = false;  ///< the last reason was that its turn has not come
  /// In the middle of an eviction, which ends when that is told, or after the next cycle.
  bool evicting = false;
  bool gone = false;     ///< taken away in a simulation (removal.hpp)
  bool counted = false;  ///< its holding is in the ledger; kept by Model::settle

  bool exists() const { return object != nullptr; }
  bool holds_quota() const { return holding != nullptr; }
  /// It takes no part: it may hold no quota, and the engine does not write its status itself.
  bool stands_aside() const { return extras && !extras->traits.takes_part; }
  /// The key of the workload that it is a way to run; nullptr: it is one of its own.
  const std::string* represents() const {
    const bool does = extras && extras->traits.has_group && extras->traits.group.represents &&
                      extras->traits.group.order_as != key;
    return does ? &extras->traits.group.order_as : nullptr;
  }
  const hooks::Traits* traits() const { return extras ? &extras->traits : nullptr; }
  std::span<const api::AdmissionCheckState> checks() const {
    return extras ? std::span<const api::AdmissionCheckState>(extras->checks)
                  : std::span<const api::AdmissionCheckState>();
  }
  WorkloadExtras& more() {
    if (!extras) extras = std::make_unique<WorkloadExtras>();
    return *extras;
  }
  const ConditionRecord* condition(ConditionRecord::Type type) const {
    for (const ConditionRecord& c : conditions)
      if (c.type == type) return &c;
    return nullptr;
  }
  ConditionRecord* condition(ConditionRecord::Type type) {
    return const_cast<ConditionRecord*>(std::as_const(*this).condition(type));
  }
  void drop_condition(ConditionRecord::Type type) {
    std::erase_if(conditions, [type](const ConditionRecord& c) { return c.type == type; });
  }
  /// The condition where it is True; nullptr: it is not, or there is none.
  const ConditionRecord* if_true(ConditionRecord::Type type) const {
    const ConditionRecord* c = condition(type);
    return c && c->is_true ? c : nullptr;
  }
  bool is_true(ConditionRecord::Type type) const { return if_true(type) != nullptr; }
};

}  // namespace sluice

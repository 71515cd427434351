// Ledger: how much each unit holds, written into the QuotaTree.
//
// Every reservation is taken once and released once. Workloads that share a unit (members of one
// group, or a replacement and what it replaces; mechanisms 2) count per queue and fr as the maximum
// of their amounts, not as the sum. Invariant: usage of a queue in the tree = Σ over its units of
// that maximum, plus the sum of the earmarks; verify() recomputes it. Threads: as QuotaTree, one
// root by one thread.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "core/model/workload_record.hpp"
#include "core/quota/quota_tree.hpp"

namespace sluice {

class Ledger {
 public:
  explicit Ledger(QuotaTree& tree) : tree_(tree) {}

  /// A new unit that workloads can share (WorkloadRecord::unit).
  std::uint32_t new_unit();
  /// No workload is in it any more: it may be given out again.
  void end_unit(std::uint32_t unit);
  /// Whether somebody is counted in it.
  bool is_held(std::uint32_t unit) const;

  /// Counts the workload's holding. REQUIRES: it holds quota and is not counted yet.
  void take(WorkloadId id, const WorkloadRecord& workload);
  /// The reverse of take(), exactly.
  void release(WorkloadId id, const WorkloadRecord& workload);

  /// Those of the unit that are counted in the queue now.
  std::vector<WorkloadId> holders_of(std::uint32_t unit, QueueId queue) const;

  /// What the usage would add to the queue, given what the workload's unit holds there already.
  std::vector<FrAmount> marginal(const WorkloadRecord& workload, QueueId queue,
                                 std::span<const FrAmount> usage) const;

  /// Usage that stands for no holder (an earmark, semantics 8; usage taken within a cycle).
  void add(QueueId queue, std::span<const FrAmount> usage);
  void subtract(QueueId queue, std::span<const FrAmount> usage);

  /// Forgets all units' holders; the tree was built anew and is empty.
  void clear();

 private:
  /// The holders of a unit in one queue.
  struct Share {
    QueueId queue = 0;
    std::vector<std::pair<WorkloadId, const Holding*>> holders;
  };
  /// A Share, once there, stays: simulations in different roots then touch different vectors.
  using Unit = std::vector<Share>;

  /// The change that one more (or one less) holder makes against the other holders of its share.
  void apply_shared(const Share& share, const Holding& holding, int sign);
  static const Share* share_in(const Unit& unit, QueueId queue);
  static Amount held_by_others(const Share& share, FrId fr);

  QuotaTree& tree_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> free_units_;
};

}  // namespace sluice

// Rounds: one cycle after the other, until an instant is at rest.
//
// Takes the heads of the queues, lets the Cycle decide on them, commits what it decided in its
// order, and tells those that wait why. Invariant: between rounds nothing of a cycle is left in the
// model but what was committed. The engine's thread, which the Cycle leaves only inside
// ParallelFor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/lifecycle.hpp"

namespace sluice {

class Rounds {
 public:
  Rounds(const Parts& parts, Lifecycle& lifecycle, ParallelFor parallel_for)
      : model_(parts.model),
        config_(parts.config),
        hooks_(parts.hooks),
        turn_(parts.turn),
        holdings_(parts.holdings),
        waiting_(parts.waiting),
        lifecycle_(lifecycle),
        parallel_for_(std::move(parallel_for)) {}

  /// A new instant: whatever was at rest may be looked at again.
  void begin_instant() { idle_cycles_ = 0; }
  /// In each of the next so many cycles a workload would move between heap and parking lot. They
  /// are counted, whatever else is looked at in them.
  void count_as_busy(std::uint64_t cycles) {
    busy_until_ = std::max(busy_until_, model_.cycle + cycles);
  }
  /// Runs one cycle and commits it. False: the instant is at rest, and every change of a reason has
  /// a decision. REQUIRES: the tree is not stale.
  bool run();

 private:
  void find_heads();
  void take_head(QueueRecord& queue, WorkloadId id);
  /// Whether the queue takes workloads of its namespace.
  bool welcomes(const QueueRecord& queue, const WorkloadRecord& w) const;
  void commit(Entry& entry);
  void issue_preemptions(const Entry& entry);
  void earmark_after(const Entry& entry, int times);
  Grounds grounds_of(const Entry& entry) const;
  void record_scan(const Entry& entry);
  void settle_earmarks();
  bool skip_idle_cycles();
  std::shared_ptr<PendingReason> reason_of(const Entry& entry) const;
  void tell_pending();
  void touch_former_heads();
  bool waits_for_its_turn(WorkloadId id) const;

  Model& model_;
  const EngineConfig& config_;
  const hooks::Hooks& hooks_;
  Turn& turn_;
  Holdings& holdings_;
  Waiting& waiting_;
  Lifecycle& lifecycle_;
  ParallelFor parallel_for_;

  std::vector<Entry> entries_;          // of the running cycle; kept for their memory
  std::span<Entry> heads_;              // those in use
  std::vector<Recheck> rechecks_;       // of the running cycle
  std::vector<WorkloadId> told_heads_;  // per queue, when it was at rest last
  std::size_t blocked_heads_ = 0;       // heads of StrictFIFO queues that may not be nominated
  int idle_cycles_ = 0;
  std::uint64_t busy_until_ = 0;  // this cycle
  bool held_back_ = false;        // a workload waits for the pods of others
};

}  // namespace sluice

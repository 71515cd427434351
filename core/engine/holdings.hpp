// Holdings: which workloads hold quota, which victims they plan to evict, and what is earmarked.
//
// Every change of a holding goes through here, so that the records, the queues and the ledger
// agree. Invariant: a workload with a holding stands in its queue's `holders` at the holding's
// index and its priority is counted there; a plan and the promise of its victims name each other,
// and a workload with a plan stands in the model's `held`; verify() checks it. The engine's thread
// only.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/structure.hpp"

namespace sluice {

class Holdings {
 public:
  Holdings(Model& model, Structure& structure) : model_(model), structure_(structure) {}

  /// Counts a reservation. `holding` needs queue, pod sets and time; usage and index are set here.
  /// REQUIRES: the workload holds no quota.
  void hold(WorkloadId id, std::unique_ptr<Holding> holding);
  /// The reverse; the holding is handed back, its plan dropped. REQUIRES: it holds quota.
  std::unique_ptr<Holding> let_go(WorkloadId id);
  /// The counts or the priority changed while quota is held: the same again, plans included.
  void recount(WorkloadId id);

  /// The workload's preemptions are held back: its victims run on, and are not counted. Victims
  /// that hold no quota or are promised already are left out. REQUIRES: it holds quota.
  void plan(WorkloadId id, const std::vector<WorkloadId>& victims);
  void drop_plan(WorkloadId id);

  /// Keeps capacity from others for a workload that preempts again and again (semantics 8); in
  /// place of an earlier earmark of it.
  void earmark(WorkloadId id, Earmark earmark);
  void drop_earmark(WorkloadId id);

  /// Of all that hold quota. O(1); after a release or a report: O(holders).
  bool all_pods_ready();

  /// Aborts when the invariant is broken. O(workloads + holders). For tests.
  void verify() const;

 private:
  void sum_up(const WorkloadRecord& w, Holding& holding);
  void note_new_frs() {
    if (model_.frs.size() != model_.tree.fr_count()) model_.tree_stale = true;
  }

  Model& model_;
  Structure& structure_;
};

}  // namespace sluice

// Waiting: where a pending workload stands: in the queue that its LocalQueue names, or nowhere,
// with a reason.
//
// Invariant: a workload stands in the heap or parking lot of one queue at most, that of its record;
// one that stands nowhere has a reason of its own. The engine's thread only.
#pragma once

#include <memory>
#include <string>

#include "core/engine/queue_orders.hpp"
#include "core/engine/turn.hpp"

namespace sluice {

class Waiting {
 public:
  Waiting(Model& model, QueueOrders& orders, Turn& turn)
      : model_(model), orders_(orders), turn_(turn) {}

  /// Puts a pending workload where it belongs, or moves it there.
  void enqueue(WorkloadId id);
  /// The same for those that are ordered as this one and wait: its backoff and its end are theirs.
  void enqueue_members(WorkloadId id);
  /// It waits no more. No-op when it does not stand in a queue.
  void dequeue(WorkloadId id);
  /// It is admitted, has ended or is gone: the preemptor's place is free when it held that.
  void free_place(WorkloadId id);
  /// Its own place changed: those that are ordered as it move along.
  void reorder_anchored(const std::string& key);
  /// Why it waits, from now on.
  void set_pending(WorkloadId id, std::shared_ptr<PendingReason> why);
  /// Lists the checks that it has to pass where it stands.
  void list_checks(WorkloadId id);

 private:
  const char* stopped_with(const WorkloadRecord& w) const;
  bool backs_off(const WorkloadRecord& w) const;
  std::shared_ptr<PendingReason> why_aside(const WorkloadRecord& w) const;
  static void age_reason(WorkloadRecord& w);
  std::shared_ptr<PendingReason> why_not_queued(const WorkloadRecord& w, QueueId& queue);

  Model& model_;
  QueueOrders& orders_;
  Turn& turn_;
};

}  // namespace sluice

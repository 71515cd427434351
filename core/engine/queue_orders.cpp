#include "core/engine/queue_orders.hpp"

#include <utility>

#include "core/model/queue_order.hpp"

namespace sluice {

void QueueOrders::take(const std::string& local_queue, hooks::Ordering said) {
  const auto it = model_.local_queues.find(local_queue);
  if (it == model_.local_queues.end()) return;
  LocalQueueRecord& record = it->second;
  const QueueId id = model_.known_queue(record.cluster_queue);
  if (id == kNone) return;
  QueueRecord& queue = model_.queues[id];
  if (said == hooks::Ordering() && record.order == said && !queue.laned) return;
  record.order = std::move(said);
  const StringId lane = model_.names.intern(local_queue);
  if (!record.order.fault.empty()) return note_fault(id, local_queue, record.order.fault);
  end_fault(local_queue, kNone);
  const bool changed = queue.pending.order_lane(lane, record.order.key);
  if (!queue.laned) {
    queue.laned = true;
    reorder_all(queue);
  } else if (changed) {
    moved(queue);
  }
}

void QueueOrders::failed(const std::string& local_queue, const std::string& sentence) {
  const LocalQueueRecord* local = model_.find_local_queue(local_queue);
  const QueueId id = local ? model_.known_queue(local->cluster_queue) : kNone;
  if (id != kNone) note_fault(id, local_queue, sentence);
}

void QueueOrders::note_fault(QueueId id, const std::string& local_queue,
                             const std::string& sentence) {
  end_fault(local_queue, id);
  faulty_[local_queue] = id;
  QueueRecord& queue = model_.queues[id];
  const bool first = queue.order_faults.empty();
  queue.order_faults[local_queue] = sentence;
  if (first) reorder_all(queue);
}

/// `but`: the queue in which it is noted again at once.
void QueueOrders::end_fault(const std::string& local_queue, QueueId but) {
  const auto it = faulty_.find(local_queue);
  if (it == faulty_.end() || it->second == but) return;
  QueueRecord& queue = model_.queues[it->second];
  faulty_.erase(it);
  queue.order_faults.erase(local_queue);
  if (queue.order_faults.empty()) reorder_all(queue);
}

void QueueOrders::reorder_all(QueueRecord& queue) {
  for (const WorkloadId id : queue.pending.members()) queue.pending.reorder(order_key(model_, id));
  moved(queue);
}

/// Another workload may be the head.
void QueueOrders::moved(QueueRecord& queue) {
  if (queue.pending.size() == 0) return;
  model_.maybe_head.insert(queue.id);
  turn_.touched_queues.insert(queue.id);
  turn_.moved = true;
}

}  // namespace sluice

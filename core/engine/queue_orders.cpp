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
  drop_key(local_queue, id);  // that of the queue to which it led before
  if (!record.order.fault.empty()) return note_fault(id, local_queue, record.order.fault);
  end_fault(local_queue, kNone);
  give_key(local_queue, queue, record.order.key);
  if (queue.laned) return;
  queue.laned = true;
  reorder_all(queue);
}

void QueueOrders::forget(const std::string& local_queue) {
  end_fault(local_queue, kNone);
  drop_key(local_queue, kNone);
}

void QueueOrders::give_key(const std::string& local_queue, QueueRecord& queue, std::int64_t key) {
  if (key == 0) return drop_key(local_queue, kNone);
  const StringId lane = model_.number_of_local_queue(local_queue);
  keyed_[local_queue] = {queue.id, lane};
  if (queue.pending.order_lane(lane, key)) moved(queue);
}

/// `but`: the queue in which it keeps it.
void QueueOrders::drop_key(const std::string& local_queue, QueueId but) {
  const auto it = keyed_.find(local_queue);
  if (it == keyed_.end() || it->second.queue == but) return;
  QueueRecord& queue = model_.queues[it->second.queue];
  if (queue.pending.order_lane(it->second.lane, 0)) moved(queue);
  keyed_.erase(it);
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

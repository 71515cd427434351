#include "core/model/queue_order.hpp"

#include "core/reasons/eviction_reason.hpp"

namespace sluice {

Time queue_order_time(const Model& model, const WorkloadRecord& workload) {
  if (const ConditionRecord* evicted = workload.if_true(ConditionRecord::Type::kEvicted)) {
    const bool by_choice = evicted->reason == eviction_reason::kPodsReadyTimeout;
    if (ends_in_backoff(evicted->reason.text()) && (!by_choice || model.requeue_by_eviction_time))
      return evicted->time;
  }
  return workload.object->meta.creation_time.value_or(0);
}

OrderKey order_key(const Model& model, WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  OrderKey key;
  key.id = id;
  key.own_uid = &w.uid;
  WorkloadId anchor = id;
  if (const hooks::Traits* traits = w.traits(); traits && traits->has_group) {
    key.rank = traits->group.rank;
    const auto leader = model.find(traits->group.order_as);
    if (leader && Model::related(w, model.workloads[*leader])) anchor = *leader;
  }
  const WorkloadRecord& a = model.workloads[anchor];
  key.anchor = anchor;
  key.uid = &a.uid;
  key.priority = a.priority;
  key.time = queue_order_time(model, a);
  if (w.queue == kNone) return key;
  const QueueRecord& queue = model.queues[w.queue];
  if (!queue.order_faults.empty()) return key;
  if (queue.laned) key.lane = a.local_queue;
  if (const hooks::Traits* traits = a.traits()) key.given = traits->order.key;
  return key;
}

}  // namespace sluice

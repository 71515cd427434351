#include "core/engine/waiting.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/checks.hpp"
#include "core/model/queue_order.hpp"

namespace sluice {
namespace {

std::shared_ptr<PendingReason> plain_reason(WaitReason reason, std::string text) {
  auto out = std::make_shared<PendingReason>();
  out->reason = reason;
  out->text = std::move(text);
  return out;
}

/// One that waits shares nothing yet; whom it counts for is asked when somebody wants to know.
std::uint32_t waiting_account(const WorkloadRecord& w) {
  return w.represents() ? PendingQueue::kNoAccount : w.local_queue;
}

}  // namespace

void Waiting::set_pending(WorkloadId id, std::shared_ptr<PendingReason> why) {
  SLUICE_CHECK(model_.workloads[id].exists() && !model_.workloads[id].holds_quota(), model_.key(id),
               " is told why it waits and holds quota");
  why->cycle = model_.cycle;
  model_.workloads[id].pending = std::move(why);
  model_.workloads[id].for_its_turn = false;
  turn_.touched.push_back(id);
}

void Waiting::list_checks(WorkloadId id) {
  if (sluice::list_checks(model_, id)) turn_.decide(DecisionType::kChecksListed, id);
}

/// Itself, or the workload that it represents.
bool Waiting::backs_off(const WorkloadRecord& w) const {
  if (w.extras && w.extras->backing_off) return true;
  const std::string* represented = w.represents();
  if (!represented) return false;
  const auto whom = model_.find(*represented);
  return whom && model_.workloads[*whom].extras && model_.workloads[*whom].extras->backing_off;
}

std::shared_ptr<PendingReason> Waiting::why_not_queued(const WorkloadRecord& w, QueueId& queue) {
  const api::Workload& object = *w.object;
  if (const hooks::Traits* traits = w.traits()) {
    if (!traits->conflict.empty())
      return plain_reason(WaitReason::kMisconfigured, traits->conflict);
    if (!traits->takes_part)
      return plain_reason(WaitReason::kOnHold, traits->takes_no_part_because);
  }
  if (!object.held_because.empty()) return plain_reason(WaitReason::kOnHold, object.held_because);
  if (const hooks::Traits* traits = w.traits(); traits && !traits->waits_because.empty())
    return plain_reason(WaitReason::kOnHold, traits->waits_because);
  if (backs_off(w))
    return plain_reason(WaitReason::kPending, "The workload waits for its requeue backoff");
  if (object.queue_name.empty())
    return plain_reason(WaitReason::kMisconfigured, "The workload names no LocalQueue");
  const LocalQueueRecord* local = model_.local_queue_of(object);
  if (!local)
    return plain_reason(WaitReason::kMisconfigured,
                        "LocalQueue " + object.queue_name + " doesn't exist");
  queue = structure_.queue_id(local->cluster_queue);
  if (local->stop != api::StopPolicy::kNone)
    return plain_reason(WaitReason::kSuspended, "LocalQueue " + object.queue_name + " is stopped");
  if (!model_.queues[queue].spec)
    return plain_reason(WaitReason::kMisconfigured,
                        "ClusterQueue " + local->cluster_queue + " doesn't exist");
  return nullptr;
}

void Waiting::enqueue(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.exists() && !w.holds_quota(), w.key, " is queued and holds quota");
  QueueId queue = kNone;
  std::shared_ptr<PendingReason> why = why_not_queued(w, queue);
  if (w.queue != kNone && (w.queue != queue || why)) model_.queues[w.queue].pending.erase(id);
  w.queue = queue;
  if (why) return set_pending(id, std::move(why));
  QueueRecord& q = model_.queues[queue];
  if (const ConditionRecord* held = w.condition(ConditionRecord::Type::kRequeued);
      held && !held->is_true && model_.texts.text(held->reason) == "LocalQueueStopped")
    set_condition(model_, w, ConditionRecord::Type::kRequeued, true, "LocalQueueRestarted",
                  "The LocalQueue was restarted after being stopped");
  q.pending.insert(order_key(model_, id), {w.shape, w.priority}, waiting_account(w));
  model_.maybe_head[queue] = 1;
  turn_.touched.push_back(id);
  turn_.touched_queues.insert(queue);
  turn_.moved = true;
  list_checks(id);
  reorder_anchored(w.key);
}

void Waiting::enqueue_members(WorkloadId id) {
  const auto members = model_.anchored.find(model_.key(id));
  if (members == model_.anchored.end()) return;
  for (const WorkloadId member : std::vector<WorkloadId>(members->second)) {
    WorkloadRecord& m = model_.workloads[member];
    if (member == id || m.state != WorkloadState::kPending) continue;
    const ConditionRecord* requeued = m.condition(ConditionRecord::Type::kRequeued);
    if (requeued && !requeued->is_true && !backs_off(m))
      set_condition(model_, m, ConditionRecord::Type::kRequeued, true, "BackoffFinished",
                    "The workload backoff was finished");
    enqueue(member);
  }
}

void Waiting::reorder_anchored(const std::string& key) {
  const auto members = model_.anchored.find(key);
  if (members == model_.anchored.end()) return;
  for (const WorkloadId member : members->second) {
    const WorkloadRecord& m = model_.workloads[member];
    if (m.queue != kNone) model_.queues[m.queue].pending.reorder(order_key(model_, member));
  }
}

void Waiting::dequeue(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  if (w.queue != kNone) model_.queues[w.queue].pending.erase(id);
}

void Waiting::free_place(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  if (w.queue != kNone) model_.queues[w.queue].pending.free_place(id);
}

}  // namespace sluice

#include "core/engine/waiting.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/checks.hpp"
#include "core/model/queue_order.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {
namespace {

std::shared_ptr<PendingReason> plain_reason(WaitReason reason, std::string text) {
  auto out = std::make_shared<PendingReason>();
  out->reason = reason;
  out->text = std::move(text);
  return out;
}

/// In the list of those that represent another.
const char* standing(WorkloadState state) {
  switch (state) {
    case WorkloadState::kPending:
    case WorkloadState::kQuotaReserved:
      return " (Pending)";
    case WorkloadState::kAdmitted:
      return " (Admitted)";
    case WorkloadState::kInactive:
      return " (Deactivated)";
    case WorkloadState::kFinished:
      break;
  }
  return " (Finished)";
}

/// A waiting workload shares nothing yet; which one it counts for is found when counts are read.
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
  if (sluice::list_checks(model_, id)) turn_.decide(DecisionType::kStatus, id);
}

/// What it is a way to run is turned off, or has ended.
const char* Waiting::stopped_with(const WorkloadRecord& w) const {
  const std::string* represented = w.represents();
  const auto whom = represented ? model_.find(*represented) : std::nullopt;
  if (!whom) return nullptr;
  const WorkloadRecord& other = model_.workloads[*whom];
  if (!other.stands_aside() || !Model::related(w, other)) return nullptr;
  if (other.state == WorkloadState::kFinished) return "The workload that it represents has ended";
  return other.object->active ? nullptr : "The workload that it represents is turned off";
}

/// Itself, or the workload that it represents.
bool Waiting::backs_off(const WorkloadRecord& w) const {
  if (w.extras && w.extras->backing_off) return true;
  const std::string* represented = w.represents();
  if (!represented) return false;
  const auto whom = model_.find(*represented);
  return whom && model_.workloads[*whom].extras && model_.workloads[*whom].extras->backing_off;
}

/// Of one that takes no part: where the members that represent it stand, or why it takes none.
std::shared_ptr<PendingReason> Waiting::why_aside(const WorkloadRecord& w) const {
  std::vector<WorkloadId> members = model_.members_for(w);
  if (members.empty())
    return plain_reason(WaitReason::kOnHold, w.extras->traits.takes_no_part_because);
  std::sort(members.begin(), members.end(), [this](WorkloadId a, WorkloadId b) {
    const WorkloadRecord& left = model_.workloads[a];
    const WorkloadRecord& right = model_.workloads[b];
    return std::pair(left.extras->traits.group.rank, std::string_view(left.key)) <
           std::pair(right.extras->traits.group.rank, std::string_view(right.key));
  });
  const std::string& called = model_.workloads[members.front()].extras->traits.group.called;
  std::string text = "None of its " + (called.empty() ? "workload" : called) + "s is admitted:";
  for (const WorkloadId id : members) {
    const WorkloadRecord& member = model_.workloads[id];
    text += id == members.front() ? " " : ", ";
    text += member.object->meta.name;
    text += standing(member.state);
  }
  return plain_reason(WaitReason::kPending, std::move(text));
}

std::shared_ptr<PendingReason> Waiting::why_not_queued(const WorkloadRecord& w, QueueId& queue) {
  const api::Workload& object = *w.object;
  if (const hooks::Traits* traits = w.traits()) {
    if (!traits->conflict.empty())
      return plain_reason(WaitReason::kMisconfigured, traits->conflict);
    if (!traits->takes_part) return why_aside(w);
  }
  if (!object.held_because.empty())
    return plain_reason(object.is_gated ? WaitReason::kAdmissionGated : WaitReason::kOnHold,
                        object.held_because);
  if (const hooks::Traits* traits = w.traits(); traits && !traits->waits_because.empty())
    return plain_reason(WaitReason::kOnHold, traits->waits_because);
  if (const char* stopped = stopped_with(w)) return plain_reason(WaitReason::kOnHold, stopped);
  if (backs_off(w))
    return plain_reason(WaitReason::kPending, "The workload waits for its requeue backoff");
  if (object.queue_name.empty())
    return plain_reason(WaitReason::kMisconfigured, "The workload names no LocalQueue");
  const LocalQueueRecord* local = model_.local_queue_of(w);
  if (!local)
    return plain_reason(WaitReason::kMisconfigured,
                        "LocalQueue " + object.queue_name + " doesn't exist");
  queue = model_.known_queue(local->cluster_queue);
  if (local->stop != api::StopPolicy::kNone)
    return plain_reason(WaitReason::kSuspended, "LocalQueue " + object.queue_name + " is stopped");
  if (queue == kNone || !model_.queues[queue].spec)
    return plain_reason(WaitReason::kMisconfigured,
                        "ClusterQueue " + local->cluster_queue + " doesn't exist");
  return nullptr;
}

/// What was said before it came here is older than whatever is known of its equals here, which may
/// wait since long ago.
void Waiting::age_reason(WorkloadRecord& w) {
  if (!w.pending || w.pending->cycle == 0) return;
  auto old = std::make_shared<PendingReason>(*w.pending);
  old->cycle = 0;
  w.pending = std::move(old);
}

void Waiting::enqueue(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.exists() && !w.holds_quota(), w.key, " is queued and holds quota");
  QueueId queue = kNone;
  std::shared_ptr<PendingReason> why = why_not_queued(w, queue);
  if (w.queue != kNone && (w.queue != queue || why)) model_.queues[w.queue].pending.erase(id);
  w.queue = queue;
  if (why) return set_pending(id, std::move(why));
  if (const hooks::Traits* traits = w.traits(); traits && !traits->order.fault.empty())
    orders_.failed(model_.local_queue_name(w), traits->order.fault);
  QueueRecord& q = model_.queues[queue];
  if (!q.pending.contains(id)) age_reason(w);
  if (const ConditionRecord* held = w.condition(ConditionRecord::Type::kRequeued);
      held && !held->is_true && held->reason == eviction_reason::kLocalQueueStopped) {
    set_condition(model_, w, ConditionRecord::Type::kRequeued, true, "LocalQueueRestarted",
                  "The LocalQueue was restarted after being stopped");
    turn_.decide(DecisionType::kStatus, id);
  }
  q.pending.insert(order_key(model_, id), {w.shape, w.priority}, waiting_account(w));
  model_.maybe_head.insert(queue);
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
    if (member != id && model_.workloads[member].state == WorkloadState::kPending) enqueue(member);
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

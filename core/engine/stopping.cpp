// What a stopped queue, or one that goes on, means for its workloads.
#include <algorithm>

#include "core/engine/lifecycle.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

/// Workloads that were evicted because these queues were stopped: those that go on.
void Lifecycle::tell_restarted(const std::set<QueueId>& queues) {
  const bool any = std::any_of(queues.begin(), queues.end(),
                               [this](QueueId id) { return model_.queues[id].active(); });
  if (!any) return;
  for (WorkloadId id = model_.workloads.first_id(); id < model_.workloads.end_id(); ++id) {
    WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || w.queue == kNone || !queues.contains(w.queue)) continue;
    const ConditionRecord* held = w.condition(Type::kRequeued);
    if (!held || held->is_true || !model_.queues[w.queue].active()) continue;
    if (held->reason != eviction_reason::kClusterQueueStopped) continue;
    set_condition(model_, w, Type::kRequeued, true, "ClusterQueueRestarted",
                  "The ClusterQueue was restarted after being stopped");
    decide(DecisionType::kStatus, id);
  }
}

void Lifecycle::drain_stopped() {
  std::vector<std::pair<WorkloadId, bool>> out;  // and whether its ClusterQueue is stopped
  for (WorkloadId id = model_.workloads.first_id(); id < model_.workloads.end_id(); ++id) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.holds_quota()) continue;
    const auto stops = [&](api::StopPolicy policy) {
      return policy == api::StopPolicy::kHoldAndDrain ||
             (policy == api::StopPolicy::kHold && w.state == WorkloadState::kQuotaReserved);
    };
    const QueueRecord& queue = model_.queues[w.holding->queue];
    if (queue.spec && stops(queue.spec->stop_policy)) {
      out.emplace_back(id, true);
      continue;
    }
    const LocalQueueRecord* local = model_.local_queue_of(w);
    if (local && stops(local->stop)) out.emplace_back(id, false);
  }
  for (const auto& [id, cluster_queue] : out) {
    Decision why;
    why.reason =
        cluster_queue ? eviction_reason::kClusterQueueStopped : eviction_reason::kLocalQueueStopped;
    why.message = cluster_queue ? "The ClusterQueue is stopped" : "The LocalQueue is stopped";
    evict(id, why);
  }
}

}  // namespace sluice

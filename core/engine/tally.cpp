#include "core/engine/tally.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"

namespace sluice {
namespace {

/// Why it has no quota; empty: it has some.
const char* cause_of(const WorkloadRecord& w, const PendingReason* pending) {
  switch (w.state) {
    case WorkloadState::kQuotaReserved:
      return "";
    case WorkloadState::kInactive:
      return to_string(WaitReason::kDeactivated);
    default:
      return to_string(pending ? pending->reason : WaitReason::kPending);
  }
}

}  // namespace

WorkloadTally tally_of(const Model& model, std::size_t* steps) {
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> unadmitted;
  std::map<std::pair<QueueId, ResourceId>, Amount> requested;
  for (const WorkloadId id : model.open) {
    const WorkloadRecord& w = model.workloads[id];
    if (w.state == WorkloadState::kAdmitted || model.counted_as(id) != id) continue;
    const bool pending = w.state == WorkloadState::kPending;
    const auto why = pending ? pending_reason(model, w, id) : nullptr;
    ++unadmitted[{model.local_queue_name(w), cause_of(w, why.get())}];
    if (!pending || w.queue == kNone) continue;
    const QueueRecord& queue = model.queues[w.queue];
    for (const PodSetRecord& pods : w.pod_sets)
      for (const ResourceAmount& wanted : pods.shape->requests) {
        if (queue.group_of(wanted.resource) == kNone) continue;  // users may name what they like
        Amount& sum = requested[{w.queue, wanted.resource}];
        sum = add_saturating(sum, multiply_saturating(wanted.amount, pods.remaining()));
      }
  }
  std::map<std::string_view, std::size_t> finished;
  for (const auto& [local, count] : model.finished) finished[model.names.text(local)] += count;
  for (const WorkloadId id : model.finished_alone)
    if (model.counted_as(id) == id) ++finished[model.local_queue_name(model.workloads[id])];
  if (steps) *steps = model.open.size() + model.finished.size() + model.finished_alone.size();

  WorkloadTally out;
  for (const auto& [at, count] : unadmitted) {
    const auto& [local, cause] = at;
    const std::string key(local);
    const char* reason = cause.empty() ? "UnsatisfiedAdmissionChecks" : "NoReservation";
    out.unadmitted.push_back(
        {cluster_queue_of(model, key), key, reason, std::string(cause), count});
  }
  for (const auto& [local, count] : finished) {
    const std::string key(local);
    out.finished.push_back({cluster_queue_of(model, key), key, count});
  }
  for (const auto& [at, amount] : requested)
    out.requested.push_back(
        {model.queues[at.first].name, model.frs.resource_name(at.second), amount});
  for (const QueueRecord& queue : model.queues) {
    if (!queue.spec) continue;
    const PendingQueue::ClassCounts counts = queue.pending.class_counts();
    out.shapes.push_back({queue.name, counts.open, counts.parked});
  }
  return out;
}

}  // namespace sluice

#include "core/engine/tally.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"

namespace sluice {
namespace {

/// LocalQueues as they stand in workloads; the texts are the workloads'.
using Local = std::pair<std::string_view, std::string_view>;

std::string key_of(const Local& local) {
  return std::string(local.first) + "/" + std::string(local.second);
}

const char* reason_of(const WorkloadRecord& w, const PendingReason* pending) {
  switch (w.state) {
    case WorkloadState::kQuotaReserved:
      return "UnsatisfiedAdmissionChecks";
    case WorkloadState::kInactive:
      return "Deactivated";
    default:
      return to_string(pending ? pending->reason : WaitReason::kPending);
  }
}

}  // namespace

WorkloadTally tally_of(const Model& model) {
  std::map<std::tuple<Local, std::string_view>, std::size_t> unadmitted;
  std::map<Local, std::size_t> finished;
  std::map<std::pair<QueueId, ResourceId>, Amount> requested;
  for (WorkloadId id = 0; id < model.workloads.size(); ++id) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || w.state == WorkloadState::kAdmitted || counted_as(model, id) != id) continue;
    const Local local{w.object->meta.ns, w.object->queue_name};
    if (w.state == WorkloadState::kFinished) {
      ++finished[local];
      continue;
    }
    const bool pending = w.state == WorkloadState::kPending;
    const auto why = pending ? pending_reason(model, w, id) : nullptr;
    std::string_view reason = reason_of(w, why.get());
    if (const api::Condition* told = w.object->status.condition("QuotaReserved");
        pending && told && w.stands_aside())
      reason = told->reason;
    ++unadmitted[{local, reason}];
    if (!pending || w.queue == kNone) continue;
    for (const PodSetRecord& pods : w.pod_sets)
      for (const ResourceAmount& wanted : pods.shape->requests) {
        Amount& sum = requested[{w.queue, wanted.resource}];
        sum = add_saturating(sum, multiply_saturating(wanted.amount, pods.count));
      }
  }
  WorkloadTally out;
  for (const auto& [at, count] : unadmitted) {
    const auto& [local, reason] = at;
    const std::string key = key_of(local);
    out.unadmitted.push_back({cluster_queue_of(model, key), key, std::string(reason), count});
  }
  for (const auto& [local, count] : finished) {
    const std::string key = key_of(local);
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

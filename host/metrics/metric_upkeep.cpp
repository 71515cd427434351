#include "host/metrics/metric_upkeep.hpp"

#include "core/model/model.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

constexpr Duration kLookAgain = kSecond;  // the engine works the tree out when it decides

}  // namespace

MetricUpkeep::MetricUpkeep(const api::Scheme& scheme, const Engine& engine,
                           DecisionMetrics& decisions)
    : engine_(engine),
      decisions_(decisions),
      workloads_(&api::kueue_kind(scheme, "Workload")),
      queues_(&api::kueue_kind(scheme, "ClusterQueue")),
      local_queues_(&api::kueue_kind(scheme, "LocalQueue")),
      cohorts_(&api::kueue_kind(scheme, "Cohort")) {}

std::vector<std::string> MetricUpkeep::watches() const {
  return {"kueue.x-k8s.io/Workload", "kueue.x-k8s.io/ClusterQueue", "kueue.x-k8s.io/LocalQueue",
          "kueue.x-k8s.io/Cohort"};
}

void MetricUpkeep::changed(const ObjectChange& change, std::vector<WorkKey>& keys) {
  if (change.kind == workloads_) {
    if (change.deleted() && change.before)
      decisions_.forget_workload(std::string(change.before->metadata.uid()));
    return;
  }
  // A cohort without an object is there as long as a queue, or another cohort, names it.
  if (change.kind != local_queues_) keys.push_back({cohorts_, {}});
  if (change.deleted() && change.kind != cohorts_) keys.push_back({change.kind, change.key});
}

Result<Time> MetricUpkeep::reconcile(const WorkKey& key, ObjectAccess& objects) {
  if (key.kind == cohorts_) {
    if (engine_.model().tree_stale) return objects.now() + kLookAgain;
    decisions_.forget_cohorts();
    return kNever;
  }
  if (objects.exists(*key.kind, key.name)) return kNever;  // there is another one already
  if (key.kind == queues_) {
    decisions_.forget_cluster_queue(key.name);
  } else {
    const auto [ns, name] = split_key(key.name);
    decisions_.forget_local_queue(std::string(ns), std::string(name));
  }
  return kNever;
}

}  // namespace sluice::host

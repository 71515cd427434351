#include "host/metrics/decision_metrics.hpp"

#include <algorithm>

namespace sluice::host {
namespace {

double seconds(Duration time) {
  return static_cast<double>(std::max<Duration>(0, time)) / static_cast<double>(kSecond);
}

Buckets buckets_of(int count) { return count == 14 ? Buckets::kFourteen : Buckets::kSixteen; }

/// `DeactivatedDueToX` is the reason Deactivated with the cause X.
std::pair<std::string, std::string> split_reason(const std::string& reason) {
  constexpr std::string_view kDueTo = "DueTo";
  const std::size_t at = reason.find(kDueTo);
  if (at == std::string::npos) return {reason, ""};
  return {reason.substr(0, at), reason.substr(at + kDueTo.size())};
}

}  // namespace

struct DecisionMetrics::About {
  std::string cluster_queue, ns, local_queue, priority_class, uid;
  Time created = 0;
  Time queued = 0;  ///< created, or evicted last
  Time reserved = 0, admitted = 0;
  bool checks = false;

  MetricLabels of_cluster_queue() const {
    return {{"cluster_queue", cluster_queue}, {"priority_class", priority_class}};
  }
  MetricLabels of_local_queue() const {
    return {{"name", local_queue}, {"namespace", ns}, {"priority_class", priority_class}};
  }
};

/// The status is its own; who it is, that of the one it counts for.
DecisionMetrics::About DecisionMetrics::about(WorkloadId id) const {
  const auto object = engine_.object(engine_.counted_as(id));
  const api::WorkloadStatus status = engine_.status(id);
  About out;
  out.ns = object->meta.ns;
  out.uid = object->meta.uid;
  out.local_queue = object->queue_name;
  out.priority_class = object->priority_class ? object->priority_class->name : "";
  out.cluster_queue = status.admission
                          ? status.admission->cluster_queue
                          : cluster_queue_of(engine_.model(), out.ns + "/" + out.local_queue);
  out.created = object->meta.creation_time.value_or(0);
  const auto time_of = [&](std::string_view type) {
    const api::Condition* condition = status.condition(type);
    return condition ? condition->last_transition_time : 0;
  };
  // The condition Evicted tells it only until the workload gets quota again.
  const auto evicted = evicted_at_.find(out.uid);
  const api::Condition* told = status.condition("Evicted");
  out.queued = out.created;
  if (evicted != evicted_at_.end()) out.queued = evicted->second;
  if (told && told->status == "True") out.queued = told->last_transition_time;
  out.reserved = time_of("QuotaReserved");
  out.admitted = time_of("Admitted");
  out.checks = !status.admission_checks.empty();
  return out;
}

void DecisionMetrics::both(const std::string& name, const std::string& help, const About& about) {
  metrics_.count("kueue_" + name, help + " per ClusterQueue", about.of_cluster_queue());
  metrics_.count("kueue_local_queue_" + name, help + " per LocalQueue", about.of_local_queue());
}

void DecisionMetrics::both_times(const std::string& name, const std::string& help,
                                 const About& about, Duration time, int buckets,
                                 int local_buckets) {
  metrics_.observe("kueue_" + name, help + " per ClusterQueue", about.of_cluster_queue(),
                   seconds(time), buckets_of(buckets));
  metrics_.observe("kueue_local_queue_" + name, help + " per LocalQueue", about.of_local_queue(),
                   seconds(time), buckets_of(local_buckets));
}

void DecisionMetrics::decided(Time now, const Decision& decision) {
  if (!engine_.object(decision.workload)) return;  // deleted in the same step
  if (engine_.counted_as(decision.workload) != decision.workload)
    return decided_for_another(now, decision);
  switch (decision.type) {
    case DecisionType::kQuotaReserved:
      return reserved(now, about(decision.workload));
    case DecisionType::kAdmitted:
      return admitted(now, about(decision.workload));
    case DecisionType::kEvicted:
      return evicted(now, decision, about(decision.workload));
    case DecisionType::kFinished:
      return finished(now, about(decision.workload));
    case DecisionType::kWaitingForVictims:
      ++skips_of_cycle_[about(decision.workload).cluster_queue];
      return;
    case DecisionType::kPending:
    case DecisionType::kDeactivated:
    case DecisionType::kRequeued:
    case DecisionType::kReservationLost:
    case DecisionType::kCheckState:
    case DecisionType::kLowered:
    case DecisionType::kStatus:
      return;
  }
}

/// Several may count for one workload. What is told is what happens to that one: it gets quota with
/// the first that is admitted, and is evicted with it; that it ended is told of itself.
void DecisionMetrics::decided_for_another(Time now, const Decision& decision) {
  if (decision.type == DecisionType::kAdmitted) {
    const About who = about(decision.workload);
    reserved(now, who);
    admitted(now, who);
  } else if (decision.type == DecisionType::kEvicted && decision.admitted) {
    evicted(now, decision, about(decision.workload));
  } else if (decision.type == DecisionType::kWaitingForVictims) {
    ++skips_of_cycle_[about(decision.workload).cluster_queue];
  }
}

void DecisionMetrics::cycled(const CycleReport& cycle) {
  const MetricLabels labels{{"result", cycle.reserved ? "success" : "inadmissible"}};
  metrics_.count("kueue_admission_attempts_total", "Scheduling cycles, by what came of them",
                 labels);
  metrics_.observe("kueue_admission_attempt_duration_seconds", "Time of a scheduling cycle", labels,
                   seconds(cycle.took), Buckets::kDefault);
  skips_.swap(skips_of_cycle_);
  skips_of_cycle_.clear();
}

void DecisionMetrics::pods_ready(Time now, WorkloadId workload) {
  const About who = about(workload);
  ready_since_[who.uid] = now;
  both_times("ready_wait_time_seconds", "From queueing to all pods being ready", who,
             now - who.queued, 14, 14);
  both_times("admitted_until_ready_wait_time_seconds", "From admission to all pods being ready",
             who, now - who.admitted, 14, 14);
}

void DecisionMetrics::reserved(Time now, const About& about) {
  both("quota_reserved_workloads_total", "Workloads that got quota", about);
  both_times("quota_reserved_wait_time_seconds", "From queueing to the reservation of quota", about,
             now - about.queued, 14, 14);
}

void DecisionMetrics::admitted(Time now, const About& about) {
  both("admitted_workloads_total", "Workloads that were admitted", about);
  both_times("admission_wait_time_seconds", "From queueing to admission", about, now - about.queued,
             16, 14);
  for (const std::string& cohort : cohorts_above(engine_.model(), about.cluster_queue))
    metrics_.count("kueue_cohort_subtree_admitted_workloads_total",
                   "Workloads that were admitted in queues below the cohort",
                   {{"cohort", cohort}, {"priority_class", about.priority_class}});
  if (!about.checks) return;
  both_times("admission_checks_wait_time_seconds", "From the reservation of quota to admission",
             about, now - about.reserved, 14, 14);
}

void DecisionMetrics::evicted(Time now, const Decision& decision, const About& about) {
  auto [reason, cause] = split_reason(decision.reason);
  if (cause.empty()) cause = decision.cause;
  const auto add = [&, &why = reason, &because = cause](MetricLabels labels) {
    labels.insert(labels.end() - 1, {{"reason", why}, {"underlying_cause", because}});
    return labels;
  };
  metrics_.count("kueue_evicted_workloads_total", "Evictions per ClusterQueue",
                 add(about.of_cluster_queue()));
  metrics_.count("kueue_local_queue_evicted_workloads_total", "Evictions per LocalQueue",
                 add(about.of_local_queue()));
  if (evicted_at_.insert_or_assign(about.uid, now).second) {
    metrics_.count("kueue_evicted_workloads_once_total",
                   "Workloads that were evicted at least once, per ClusterQueue",
                   add(about.of_cluster_queue()));
  }
  // Kueue releases the quota later; here eviction and release are one commit.
  metrics_.observe("kueue_workload_eviction_latency_seconds",
                   "From the decision to evict to the release of the quota",
                   {{"cluster_queue", about.cluster_queue}, {"reason", reason}}, 0,
                   Buckets::kFourteen);
  if (const auto ready = ready_since_.find(about.uid); ready != ready_since_.end()) {
    metrics_.observe(
        "kueue_pods_ready_to_evicted_time_seconds", "From all pods being ready to the eviction",
        {{"cluster_queue", about.cluster_queue}, {"reason", reason}, {"underlying_cause", cause}},
        seconds(now - ready->second), Buckets::kFourteen);
    ready_since_.erase(ready);
  }
  if (decision.preemption.empty()) return;
  const auto by = engine_.find(decision.by);
  metrics_.count("kueue_preempted_workloads_total",
                 "Preempted workloads, per ClusterQueue that preempted",
                 {{"preempting_cluster_queue", by ? this->about(*by).cluster_queue : ""},
                  {"reason", decision.preemption}});
}

void DecisionMetrics::finished(Time now, const About& about) {
  evicted_at_.erase(about.uid);
  ready_since_.erase(about.uid);
  both("finished_workloads_total", "Workloads that finished", about);
  if (about.admitted == 0) return;
  both_times("execution_time_seconds", "From admission to the end", about, now - about.admitted, 16,
             16);
}

}  // namespace sluice::host

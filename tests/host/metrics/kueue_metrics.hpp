// The metrics of Kueue: names, types and labels, as dashboards that were made for it expect them.
// Every one but kueue_build_info also has the label replica_role.
#pragma once

#include <string>
#include <vector>

namespace sluice::host::test {

struct KueueMetric {
  const char* name;
  const char* type;
  const char* labels;  ///< in order, separated by spaces
  bool served = true;  ///< false: docs/metrics.md says why not
};

inline const std::vector<KueueMetric> kKueueMetrics = {
    {"admission_attempts_total", "counter", "result"},
    {"admission_attempt_duration_seconds", "histogram", "result"},
    {"admission_cycle_preemption_skips", "gauge", "cluster_queue"},
    {"preemption_target_recomputations_total", "counter", "cluster_queue result", false},
    {"build_info", "gauge", "build_date compiler git_commit git_version go_version platform"},
    {"pending_workloads", "gauge", "cluster_queue status"},
    {"pending_scheduling_hashes", "gauge", "cluster_queue status"},
    {"local_queue_pending_workloads", "gauge", "name namespace status"},
    {"finished_workloads", "gauge", "cluster_queue"},
    {"local_queue_finished_workloads", "gauge", "name namespace"},
    {"quota_reserved_workloads_total", "counter", "cluster_queue priority_class"},
    {"local_queue_quota_reserved_workloads_total", "counter", "name namespace priority_class"},
    {"finished_workloads_total", "counter", "cluster_queue priority_class"},
    {"local_queue_finished_workloads_total", "counter", "name namespace priority_class"},
    {"admitted_workloads_total", "counter", "cluster_queue priority_class"},
    {"local_queue_admitted_workloads_total", "counter", "name namespace priority_class"},
    {"execution_time_seconds", "histogram", "cluster_queue priority_class"},
    {"local_queue_execution_time_seconds", "histogram", "name namespace priority_class"},
    {"quota_reserved_wait_time_seconds", "histogram", "cluster_queue priority_class"},
    {"local_queue_quota_reserved_wait_time_seconds", "histogram", "name namespace priority_class"},
    {"admission_wait_time_seconds", "histogram", "cluster_queue priority_class"},
    {"local_queue_admission_wait_time_seconds", "histogram", "name namespace priority_class"},
    {"admission_checks_wait_time_seconds", "histogram", "cluster_queue priority_class"},
    {"local_queue_admission_checks_wait_time_seconds", "histogram",
     "name namespace priority_class"},
    {"ready_wait_time_seconds", "histogram", "cluster_queue priority_class"},
    {"local_queue_ready_wait_time_seconds", "histogram", "name namespace priority_class"},
    {"admitted_until_ready_wait_time_seconds", "histogram", "cluster_queue priority_class"},
    {"local_queue_admitted_until_ready_wait_time_seconds", "histogram",
     "name namespace priority_class"},
    {"pods_ready_to_evicted_time_seconds", "histogram", "cluster_queue reason underlying_cause"},
    {"workload_creation_latency_seconds", "histogram", "job_kind", false},
    {"pod_scheduling_gate_removal_seconds", "histogram", "cluster_queue is_group name", false},
    {"evicted_workloads_total", "counter", "cluster_queue priority_class reason underlying_cause"},
    {"local_queue_evicted_workloads_total", "counter",
     "name namespace priority_class reason underlying_cause"},
    {"evicted_workloads_once_total", "counter",
     "cluster_queue priority_class reason underlying_cause"},
    {"preempted_workloads_total", "counter", "preempting_cluster_queue reason"},
    {"workload_eviction_latency_seconds", "histogram", "cluster_queue reason"},
    {"reserving_active_workloads", "gauge", "cluster_queue"},
    {"local_queue_reserving_active_workloads", "gauge", "name namespace"},
    {"admitted_active_workloads", "gauge", "cluster_queue"},
    {"local_queue_admitted_active_workloads", "gauge", "name namespace"},
    {"cluster_queue_status", "gauge", "cluster_queue status"},
    {"local_queue_status", "gauge", "active name namespace"},
    {"unadmitted_workloads", "gauge", "cluster_queue reason underlying_cause"},
    {"local_queue_unadmitted_workloads", "gauge",
     "cluster_queue name namespace reason underlying_cause"},
    {"cluster_queue_resource_reservation", "gauge", "cluster_queue cohort flavor resource"},
    {"cluster_queue_resource_usage", "gauge", "cluster_queue cohort flavor resource"},
    {"cluster_queue_nominal_quota", "gauge", "cluster_queue cohort flavor resource"},
    {"cluster_queue_borrowing_limit", "gauge", "cluster_queue cohort flavor resource"},
    {"cluster_queue_lending_limit", "gauge", "cluster_queue cohort flavor resource"},
    {"cluster_queue_resource_pending", "gauge", "cluster_queue resource"},
    {"local_queue_resource_reservation", "gauge", "flavor name namespace resource"},
    {"local_queue_resource_usage", "gauge", "flavor name namespace resource"},
    {"local_queue_admission_fair_sharing_usage", "gauge", "cluster_queue name namespace", false},
    {"cluster_queue_weighted_share", "gauge", "cluster_queue cohort"},
    {"cohort_weighted_share", "gauge", "cohort"},
    {"cohort_subtree_quota", "gauge", "cohort flavor resource"},
    {"cohort_subtree_resource_reservations", "gauge", "cohort flavor resource"},
    {"cohort_subtree_admitted_workloads_total", "counter", "cohort priority_class"},
    {"cohort_subtree_admitted_active_workloads", "gauge", "cohort"},
    {"cohort_info", "gauge", "cohort parent_cohort root_cohort"},
    {"cluster_queue_info", "gauge", "cluster_queue parent_cohort root_cohort"},
};

}  // namespace sluice::host::test

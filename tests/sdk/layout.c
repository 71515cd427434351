/* The layout of every struct that crosses the line, as the first release of ABI 1 had it.
 *
 * Compiling this file is the test. A struct may grow at its end: then its size here grows and every
 * offset stays. Anything else breaks plugins that exist, and needs a new revision of that header.
 */
#include <sluice/sluice.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")
#define AT(type, member, offset) \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")

SIZE(sluice_str_t, 16);
AT(sluice_str_t, len, 8);

SIZE(sluice_sink_t, 24);
AT(sluice_sink_t, reserved, 4);
AT(sluice_sink_t, context, 8);
AT(sluice_sink_t, write, 16);

SIZE(sluice_host_t, 56);
AT(sluice_host_t, abi_major, 4);
AT(sluice_host_t, abi_minor, 8);
AT(sluice_host_t, reserved, 12);
AT(sluice_host_t, handle, 16);
AT(sluice_host_t, version, 24);
AT(sluice_host_t, service, 40);
AT(sluice_host_t, report_fault, 48);

SIZE(sluice_plugin_t, 120);
AT(sluice_plugin_t, abi_major, 4);
AT(sluice_plugin_t, abi_minor, 8);
AT(sluice_plugin_t, reserved, 12);
AT(sluice_plugin_t, name, 16);
AT(sluice_plugin_t, version, 32);
AT(sluice_plugin_t, description, 48);
AT(sluice_plugin_t, config_schema, 64);
AT(sluice_plugin_t, create, 80);
AT(sluice_plugin_t, activate, 88);
AT(sluice_plugin_t, deactivate, 96);
AT(sluice_plugin_t, destroy, 104);
AT(sluice_plugin_t, extension, 112);

SIZE(sluice_filter_query_t, 72);
AT(sluice_filter_query_t, queue, 4);
AT(sluice_filter_query_t, workload, 8);
AT(sluice_filter_query_t, pod_set, 24);
AT(sluice_filter_query_t, flavor_count, 28);
AT(sluice_filter_query_t, flavors, 32);
AT(sluice_filter_query_t, flavor_handles, 40);
AT(sluice_filter_query_t, flavor_api, 48);
AT(sluice_filter_query_t, cluster_queue, 56);
AT(sluice_filter_query_t, cluster_queue_api, 64);

SIZE(sluice_filter_sink_t, 24);
AT(sluice_filter_sink_t, reserved, 4);
AT(sluice_filter_sink_t, context, 8);
AT(sluice_filter_sink_t, skip, 16);

SIZE(sluice_flavor_filter_t, 24);
AT(sluice_flavor_filter_t, reserved, 4);
AT(sluice_flavor_filter_t, filter, 8);
AT(sluice_flavor_filter_t, shape_key, 16);

SIZE(sluice_outcome_t, 8);
AT(sluice_outcome_t, borrow_level, 4);

SIZE(sluice_search_step_t, 32);
AT(sluice_search_step_t, queue, 4);
AT(sluice_search_step_t, current, 8);
AT(sluice_search_step_t, best, 16);
AT(sluice_search_step_t, has_best, 24);
AT(sluice_search_step_t, reserved, 28);

SIZE(sluice_search_pair_t, 24);
AT(sluice_search_pair_t, queue, 4);
AT(sluice_search_pair_t, a, 8);
AT(sluice_search_pair_t, b, 16);

SIZE(sluice_position_age_t, 32);
AT(sluice_position_age_t, queue, 4);
AT(sluice_position_age_t, cycles, 8);
AT(sluice_position_age_t, queue_generations, 16);
AT(sluice_position_age_t, tree_generations, 24);

SIZE(sluice_flavor_search_t, 32);
AT(sluice_flavor_search_t, reserved, 4);
AT(sluice_flavor_search_t, after_flavor, 8);
AT(sluice_flavor_search_t, better, 16);
AT(sluice_flavor_search_t, keep_position, 24);

SIZE(sluice_notification_t, 64);
AT(sluice_notification_t, event, 4);
AT(sluice_notification_t, sequence, 8);
AT(sluice_notification_t, workload, 16);
AT(sluice_notification_t, reason, 32);
AT(sluice_notification_t, other_count, 48);
AT(sluice_notification_t, others, 56);

SIZE(sluice_post_admit_t, 24);
AT(sluice_post_admit_t, reserved, 4);
AT(sluice_post_admit_t, notify, 8);
AT(sluice_post_admit_t, events, 16);

SIZE(sluice_veto_query_t, 64);
AT(sluice_veto_query_t, queue, 4);
AT(sluice_veto_query_t, preemptor, 8);
AT(sluice_veto_query_t, candidate_count, 24);
AT(sluice_veto_query_t, candidates, 32);
AT(sluice_veto_query_t, cluster_queue, 40);
AT(sluice_veto_query_t, cluster_queue_api, 48);
AT(sluice_veto_query_t, admitted_at, 56);

SIZE(sluice_veto_sink_t, 40);
AT(sluice_veto_sink_t, reserved, 4);
AT(sluice_veto_sink_t, context, 8);
AT(sluice_veto_sink_t, may_not_preempt, 16);
AT(sluice_veto_sink_t, protect, 24);
AT(sluice_veto_sink_t, protect_because, 32);

SIZE(sluice_preemption_veto_t, 16);
AT(sluice_preemption_veto_t, reserved, 4);
AT(sluice_preemption_veto_t, veto, 8);

SIZE(sluice_queue_t, 40);
AT(sluice_queue_t, id, 4);
AT(sluice_queue_t, name, 8);
AT(sluice_queue_t, json, 24);

SIZE(sluice_order_query_t, 40);
AT(sluice_order_query_t, queue, 4);
AT(sluice_order_query_t, cluster_queue, 8);
AT(sluice_order_query_t, local_queue, 24);
SIZE(sluice_order_sink_t, 24);
AT(sluice_order_sink_t, reserved, 4);
AT(sluice_order_sink_t, context, 8);
AT(sluice_order_sink_t, key, 16);
SIZE(sluice_queue_order_t, 24);
AT(sluice_queue_order_t, reserved, 4);
AT(sluice_queue_order_t, local_queue, 8);
AT(sluice_queue_order_t, workload, 16);

SIZE(sluice_queue_watch_t, 16);
AT(sluice_queue_watch_t, reserved, 4);
AT(sluice_queue_watch_t, queue_changed, 8);

SIZE(sluice_schema_t, 16);
AT(sluice_schema_t, reserved, 4);
AT(sluice_schema_t, contribute, 8);

SIZE(sluice_timers_t, 16);
AT(sluice_timers_t, reserved, 4);
AT(sluice_timers_t, fired, 8);

SIZE(sluice_write_t, 88);
AT(sluice_write_t, operation, 4);
AT(sluice_write_t, api_version, 8);
AT(sluice_write_t, kind, 24);
AT(sluice_write_t, object, 40);
AT(sluice_write_t, old, 56);
AT(sluice_write_t, user, 72);

SIZE(sluice_field_error_sink_t, 24);
AT(sluice_field_error_sink_t, reserved, 4);
AT(sluice_field_error_sink_t, context, 8);
AT(sluice_field_error_sink_t, error, 16);

SIZE(sluice_validator_t, 32);
AT(sluice_validator_t, reserved, 4);
AT(sluice_validator_t, kinds, 8);
AT(sluice_validator_t, set_defaults, 16);
AT(sluice_validator_t, validate, 24);

SIZE(sluice_group_t, 64);
AT(sluice_group_t, rank, 4);
AT(sluice_group_t, reserved, 8);
AT(sluice_group_t, represents, 12);
AT(sluice_group_t, id, 16);
AT(sluice_group_t, order_as, 32);
AT(sluice_group_t, called, 48);

SIZE(sluice_replaces_t, 64);
AT(sluice_replaces_t, how, 4);
AT(sluice_replaces_t, workload, 8);
AT(sluice_replaces_t, reason, 24);
AT(sluice_replaces_t, message, 40);
AT(sluice_replaces_t, only_better, 56);
AT(sluice_replaces_t, reserved, 60);

SIZE(sluice_traits_sink_t, 104);
AT(sluice_traits_sink_t, reserved, 4);
AT(sluice_traits_sink_t, context, 8);
AT(sluice_traits_sink_t, takes_no_part, 16);
AT(sluice_traits_sink_t, group, 24);
AT(sluice_traits_sink_t, replaces, 32);
AT(sluice_traits_sink_t, follows, 40);
AT(sluice_traits_sink_t, inactive_because, 48);
AT(sluice_traits_sink_t, shape_key, 56);
AT(sluice_traits_sink_t, may_lower_counts, 64);
AT(sluice_traits_sink_t, cluster_queue, 72);
AT(sluice_traits_sink_t, holds_quota, 88);
AT(sluice_traits_sink_t, counts_may_change, 92);
AT(sluice_traits_sink_t, ends_later, 96);

SIZE(sluice_workload_traits_t, 16);
AT(sluice_workload_traits_t, reserved, 4);
AT(sluice_workload_traits_t, traits, 8);

SIZE(sluice_metadata_t, 120);
AT(sluice_metadata_t, size, 8);
AT(sluice_metadata_t, abi_major, 12);
AT(sluice_metadata_t, abi_minor, 16);
AT(sluice_metadata_t, reserved, 20);
AT(sluice_metadata_t, name, 24);
AT(sluice_metadata_t, version, 88);

SIZE(sluice_clock_t, 40);
AT(sluice_clock_t, reserved, 4);
AT(sluice_clock_t, now, 8);
AT(sluice_clock_t, set_timer, 16);
AT(sluice_clock_t, cancel_timer, 24);
AT(sluice_clock_t, is_virtual, 32);

SIZE(sluice_config_t, 40);
AT(sluice_config_t, reserved, 4);
AT(sluice_config_t, get_string, 8);
AT(sluice_config_t, get_int, 16);
AT(sluice_config_t, get_bool, 24);
AT(sluice_config_t, get_json, 32);

SIZE(sluice_event_t, 104);
AT(sluice_event_t, warning, 4);
AT(sluice_event_t, api_version, 8);
AT(sluice_event_t, kind, 24);
AT(sluice_event_t, namespace_of, 40);
AT(sluice_event_t, name, 56);
AT(sluice_event_t, reason, 72);
AT(sluice_event_t, message, 88);

SIZE(sluice_events_t, 16);
AT(sluice_events_t, reserved, 4);
AT(sluice_events_t, emit, 8);

SIZE(sluice_log_t, 16);
AT(sluice_log_t, reserved, 4);
AT(sluice_log_t, write, 8);

SIZE(sluice_metric_spec_t, 56);
AT(sluice_metric_spec_t, kind, 4);
AT(sluice_metric_spec_t, unit, 8);
AT(sluice_metric_spec_t, label_count, 12);
AT(sluice_metric_spec_t, name, 16);
AT(sluice_metric_spec_t, help, 32);
AT(sluice_metric_spec_t, labels, 48);

SIZE(sluice_metrics_t, 32);
AT(sluice_metrics_t, reserved, 4);
AT(sluice_metrics_t, register_metric, 8);
AT(sluice_metrics_t, add, 16);
AT(sluice_metrics_t, set, 24);

SIZE(sluice_requeue_t, 40);
AT(sluice_requeue_t, reserved, 4);
AT(sluice_requeue_t, requeue, 8);
AT(sluice_requeue_t, traits_changed, 16);
AT(sluice_requeue_t, order_changed, 24);
AT(sluice_requeue_t, ended, 32);

SIZE(sluice_workload_api_t, 232);
AT(sluice_workload_api_t, reserved, 4);
AT(sluice_workload_api_t, namespace_of, 8);
AT(sluice_workload_api_t, name, 16);
AT(sluice_workload_api_t, uid, 24);
AT(sluice_workload_api_t, queue_name, 32);
AT(sluice_workload_api_t, priority, 40);
AT(sluice_workload_api_t, created_at, 48);
AT(sluice_workload_api_t, active, 56);
AT(sluice_workload_api_t, label, 64);
AT(sluice_workload_api_t, annotation, 72);
AT(sluice_workload_api_t, each_label, 80);
AT(sluice_workload_api_t, each_annotation, 88);
AT(sluice_workload_api_t, controller, 96);
AT(sluice_workload_api_t, pod_sets, 104);
AT(sluice_workload_api_t, pod_set_name, 112);
AT(sluice_workload_api_t, pod_set_count, 120);
AT(sluice_workload_api_t, pod_set_min_count, 128);
AT(sluice_workload_api_t, pod_request, 136);
AT(sluice_workload_api_t, each_pod_request, 144);
AT(sluice_workload_api_t, admitted_by, 152);
AT(sluice_workload_api_t, admitted_flavor, 160);
AT(sluice_workload_api_t, condition, 168);
AT(sluice_workload_api_t, extensions, 176);
AT(sluice_workload_api_t, admitted_count, 184);
AT(sluice_workload_api_t, condition_details, 192);
AT(sluice_workload_api_t, maximum_execution_seconds, 200);
AT(sluice_workload_api_t, past_execution_seconds, 208);
AT(sluice_workload_api_t, each_owner, 216);
AT(sluice_workload_api_t, json, 224);

SIZE(sluice_condition_t, 56);
AT(sluice_condition_t, reason, 16);
AT(sluice_condition_t, message, 32);
AT(sluice_condition_t, since, 48);

SIZE(sluice_owner_t, 72);
AT(sluice_owner_t, kind, 16);
AT(sluice_owner_t, name, 32);
AT(sluice_owner_t, uid, 48);
AT(sluice_owner_t, controller, 64);

SIZE(sluice_taint_t, 48);
AT(sluice_taint_t, value, 16);
AT(sluice_taint_t, effect, 32);

SIZE(sluice_flavor_api_t, 40);
AT(sluice_flavor_api_t, name, 8);
AT(sluice_flavor_api_t, node_label, 16);
AT(sluice_flavor_api_t, each_node_label, 24);
AT(sluice_flavor_api_t, each_node_taint, 32);

SIZE(sluice_quota_t, 24);
AT(sluice_quota_t, borrowing_limit, 8);
AT(sluice_quota_t, lending_limit, 16);

SIZE(sluice_cluster_queue_api_t, 40);
AT(sluice_cluster_queue_api_t, name, 8);
AT(sluice_cluster_queue_api_t, cohort, 16);
AT(sluice_cluster_queue_api_t, quota, 24);
AT(sluice_cluster_queue_api_t, each_quota, 32);

SIZE(sluice_workload_ref_t, 16);
AT(sluice_workload_ref_t, handle, 8);

SIZE(sluice_job_pod_set_t, 24);
AT(sluice_job_pod_set_t, count, 16);
AT(sluice_job_pod_set_t, min_count, 20);

SIZE(sluice_job_workload_t, 16);
AT(sluice_job_workload_t, match, 8);
AT(sluice_job_workload_t, reserved, 12);

SIZE(sluice_job_query_t, 80);
AT(sluice_job_query_t, kind, 8);
AT(sluice_job_query_t, job, 24);
AT(sluice_job_query_t, pod_set_count, 40);
AT(sluice_job_query_t, pod_sets, 48);
AT(sluice_job_query_t, workload_count, 56);
AT(sluice_job_query_t, workloads, 64);
AT(sluice_job_query_t, workload_api, 72);

SIZE(sluice_text_pair_t, 32);
AT(sluice_text_pair_t, value, 16);

SIZE(sluice_new_workload_t, 72);
AT(sluice_new_workload_t, name, 8);
AT(sluice_new_workload_t, revision, 24);
AT(sluice_new_workload_t, label_count, 40);
AT(sluice_new_workload_t, labels, 48);
AT(sluice_new_workload_t, annotation_count, 56);
AT(sluice_new_workload_t, annotations, 64);

SIZE(sluice_job_plan_sink_t, 64);
AT(sluice_job_plan_sink_t, context, 8);
AT(sluice_job_plan_sink_t, speaker, 16);
AT(sluice_job_plan_sink_t, resize, 24);
AT(sluice_job_plan_sink_t, create, 32);
AT(sluice_job_plan_sink_t, finish, 40);
AT(sluice_job_plan_sink_t, recreate, 48);
AT(sluice_job_plan_sink_t, remove, 56);

SIZE(sluice_job_mapping_t, 16);
AT(sluice_job_mapping_t, plan, 8);

SIZE(sluice_grant_sink_t, 24);
AT(sluice_grant_sink_t, context, 8);
AT(sluice_grant_sink_t, grant, 16);

SIZE(sluice_pod_gate_t, 24);
AT(sluice_pod_gate_t, gates, 8);
AT(sluice_pod_gate_t, granted, 16);

SIZE(sluice_check_t, 40);
AT(sluice_check_t, gone, 4);
AT(sluice_check_t, name, 8);
AT(sluice_check_t, json, 24);

SIZE(sluice_activity_sink_t, 24);
AT(sluice_activity_sink_t, context, 8);
AT(sluice_activity_sink_t, active, 16);

SIZE(sluice_check_query_t, 80);
AT(sluice_check_query_t, retry_count, 4);
AT(sluice_check_query_t, attempt, 8);
AT(sluice_check_query_t, workload, 16);
AT(sluice_check_query_t, workload_json, 32);
AT(sluice_check_query_t, check, 48);
AT(sluice_check_query_t, check_json, 64);

SIZE(sluice_check_cancel_t, 96);
AT(sluice_check_cancel_t, attempt, 8);
AT(sluice_check_cancel_t, namespace_of, 16);
AT(sluice_check_cancel_t, name, 32);
AT(sluice_check_cancel_t, uid, 48);
AT(sluice_check_cancel_t, check, 64);
AT(sluice_check_cancel_t, why, 80);

SIZE(sluice_check_controller_t, 48);
AT(sluice_check_controller_t, controllers, 8);
AT(sluice_check_controller_t, check_changed, 16);
AT(sluice_check_controller_t, begin, 24);
AT(sluice_check_controller_t, cancel, 32);
AT(sluice_check_controller_t, explain, 40);

SIZE(sluice_check_report_t, 144);
AT(sluice_check_report_t, requeue_after_seconds, 4);
AT(sluice_check_report_t, attempt, 8);
AT(sluice_check_report_t, namespace_of, 16);
AT(sluice_check_report_t, name, 32);
AT(sluice_check_report_t, uid, 48);
AT(sluice_check_report_t, check, 64);
AT(sluice_check_report_t, state, 80);
AT(sluice_check_report_t, reason, 96);
AT(sluice_check_report_t, message, 112);
AT(sluice_check_report_t, pod_set_updates, 128);

SIZE(sluice_check_reporter_t, 16);
AT(sluice_check_reporter_t, report, 8);

SIZE(sluice_reconcile_t, 88);
AT(sluice_reconcile_t, api_version, 8);
AT(sluice_reconcile_t, kind, 24);
AT(sluice_reconcile_t, namespace_of, 40);
AT(sluice_reconcile_t, name, 56);
AT(sluice_reconcile_t, remote, 72);

SIZE(sluice_controller_t, 24);
AT(sluice_controller_t, kinds, 8);
AT(sluice_controller_t, reconcile, 16);

SIZE(sluice_object_ref_t, 72);
AT(sluice_object_ref_t, api_version, 8);
AT(sluice_object_ref_t, kind, 24);
AT(sluice_object_ref_t, namespace_of, 40);
AT(sluice_object_ref_t, name, 56);

SIZE(sluice_objects_t, 64);
AT(sluice_objects_t, get, 8);
AT(sluice_objects_t, list, 16);
AT(sluice_objects_t, create, 24);
AT(sluice_objects_t, update, 32);
AT(sluice_objects_t, patch, 40);
AT(sluice_objects_t, remove, 48);
AT(sluice_objects_t, release_claim, 56);

SIZE(sluice_state_t, 40);
AT(sluice_state_t, get, 8);
AT(sluice_state_t, set, 16);
AT(sluice_state_t, remove, 24);
AT(sluice_state_t, keys, 32);

//! ext/*.h: what a plugin may be asked.

use super::{
    ClusterQueueHandle, FlavorHandle, Instance, PairFn, Sink, Str, WorkloadHandle, WorkloadRef,
};
use core::ffi::c_void;

c_ids! { EXT_IDS;
    SLUICE_EXT_CHECK_CONTROLLER EXT_CHECK_CONTROLLER = "check-controller/1",
    SLUICE_EXT_CONTROLLER EXT_CONTROLLER = "controller/1",
    SLUICE_EXT_FLAVOR_FILTER EXT_FLAVOR_FILTER = "flavor-filter/1",
    SLUICE_EXT_FLAVOR_SEARCH EXT_FLAVOR_SEARCH = "flavor-search/1",
    SLUICE_EXT_POST_ADMIT EXT_POST_ADMIT = "post-admit/1",
    SLUICE_EXT_PREEMPTION_VETO EXT_PREEMPTION_VETO = "preemption-veto/1",
    SLUICE_EXT_QUEUE_ORDER EXT_QUEUE_ORDER = "queue-order/1",
    SLUICE_EXT_QUEUE_WATCH EXT_QUEUE_WATCH = "queue-watch/1",
    SLUICE_EXT_SCHEMA EXT_SCHEMA = "schema/1",
    SLUICE_EXT_TIMERS EXT_TIMERS = "timers/1",
    SLUICE_EXT_VALIDATOR EXT_VALIDATOR = "validator/1",
}

c_numbers! { EXT_NUMBERS;
    SLUICE_MODE_NO_FIT MODE_NO_FIT: i32 = 0,
    SLUICE_MODE_NO_CANDIDATES MODE_NO_CANDIDATES: i32 = 1,
    SLUICE_MODE_PREEMPT MODE_PREEMPT: i32 = 2,
    SLUICE_MODE_RECLAIM MODE_RECLAIM: i32 = 3,
    SLUICE_MODE_FIT MODE_FIT: i32 = 4,
    SLUICE_SEARCH_GO_ON SEARCH_GO_ON: i32 = 0,
    SLUICE_SEARCH_STOP_HERE SEARCH_STOP_HERE: i32 = 1,
    SLUICE_SEARCH_STOP_BEST SEARCH_STOP_BEST: i32 = 2,
    SLUICE_AGAIN_AT_ONCE AGAIN_AT_ONCE: i64 = -1,
    SLUICE_WRITE_CREATE WRITE_CREATE: i32 = 0,
    SLUICE_WRITE_UPDATE WRITE_UPDATE: i32 = 1,
    SLUICE_WRITE_DELETE WRITE_DELETE: i32 = 2,
    SLUICE_FIELD_INVALID FIELD_INVALID: i32 = 0,
    SLUICE_FIELD_REQUIRED FIELD_REQUIRED: i32 = 1,
    SLUICE_FIELD_FORBIDDEN FIELD_FORBIDDEN: i32 = 2,
    SLUICE_FIELD_NOT_SUPPORTED FIELD_NOT_SUPPORTED: i32 = 3,
    SLUICE_FIELD_DUPLICATE FIELD_DUPLICATE: i32 = 4,
    SLUICE_EVENT_RESERVED EVENT_RESERVED: i32 = 0,
    SLUICE_EVENT_PREEMPTING EVENT_PREEMPTING: i32 = 1,
    SLUICE_EVENT_WAITING_FOR_VICTIMS EVENT_WAITING_FOR_VICTIMS: i32 = 2,
    SLUICE_EVENT_ADMITTED EVENT_ADMITTED: i32 = 3,
    SLUICE_EVENT_RESERVATION_LOST EVENT_RESERVATION_LOST: i32 = 4,
    SLUICE_EVENT_EVICTED EVENT_EVICTED: i32 = 5,
    SLUICE_EVENT_DEACTIVATED EVENT_DEACTIVATED: i32 = 6,
    SLUICE_EVENT_FINISHED EVENT_FINISHED: i32 = 7,
}

/// Called once per taint.
pub type TaintFn = c_fn!(*mut c_void, *const Taint);
/// Called once per flavor and resource.
pub type QuotaFn = c_fn!(*mut c_void, Str, Str, *const Quota);

c_structs! { EXT_LAYOUTS;
    /// A taint of a flavor's nodes.
    sluice_taint Taint { key: Str, value: Str, effect: Str }
    /// The accessors of a flavor.
    sluice_flavor_api FlavorApi {
        size: u32,
        reserved: u32,
        name: c_fn!(*const FlavorHandle; Str),
        node_label: c_fn!(*const FlavorHandle, Str, *mut Str; i32),
        each_node_label: c_fn!(*const FlavorHandle, PairFn, *mut c_void),
        each_node_taint: c_fn!(*const FlavorHandle, TaintFn, *mut c_void),
    }
    /// What a ClusterQueue has of one resource of one flavor.
    sluice_quota Quota { nominal: i64, borrowing_limit: i64, lending_limit: i64 }
    /// The accessors of a ClusterQueue.
    sluice_cluster_queue_api ClusterQueueApi {
        size: u32,
        reserved: u32,
        name: c_fn!(*const ClusterQueueHandle; Str),
        cohort: c_fn!(*const ClusterQueueHandle; Str),
        quota: c_fn!(*const ClusterQueueHandle, Str, Str, *mut Quota; i32),
        each_quota: c_fn!(*const ClusterQueueHandle, QuotaFn, *mut c_void),
    }
    /// One question of flavor-filter/1.
    sluice_filter_query FilterQuery {
        size: u32,
        queue: u32,
        workload: WorkloadRef,
        pod_set: u32,
        flavor_count: u32,
        flavors: *const Str,
        flavor_handles: *const *const FlavorHandle,
        flavor_api: *const FlavorApi,
        cluster_queue: *const ClusterQueueHandle,
        cluster_queue_api: *const ClusterQueueApi,
    }
    sluice_filter_sink FilterSink {
        size: u32,
        reserved: u32,
        context: *mut c_void,
        skip: c_fn!(*mut c_void, u32, Str),
    }
    sluice_flavor_filter FlavorFilter {
        size: u32,
        reserved: u32,
        filter: c_fn!(*mut Instance, *const FilterQuery, *const FilterSink; i32),
        shape_key: c_fn!(*mut Instance, WorkloadRef, *const Sink; i32),
    }
    sluice_outcome Outcome { mode: i32, borrow_level: i32 }
    sluice_search_step SearchStep {
        size: u32,
        queue: u32,
        current: Outcome,
        best: Outcome,
        has_best: i32,
        reserved: i32,
    }
    sluice_search_pair SearchPair { size: u32, queue: u32, a: Outcome, b: Outcome }
    sluice_position_age PositionAge {
        size: u32,
        queue: u32,
        cycles: u64,
        queue_generations: u64,
        tree_generations: u64,
    }
    sluice_flavor_search FlavorSearch {
        size: u32,
        reserved: u32,
        after_flavor: c_fn!(*mut Instance, *const SearchStep, *mut i32; i32),
        better: c_fn!(*mut Instance, *const SearchPair, *mut i32; i32),
        keep_position: c_fn!(*mut Instance, *const PositionAge, *mut i32; i32),
    }
    sluice_veto_query VetoQuery {
        size: u32,
        queue: u32,
        preemptor: WorkloadRef,
        candidate_count: u64,
        candidates: *const *const WorkloadHandle,
        cluster_queue: *const ClusterQueueHandle,
        cluster_queue_api: *const ClusterQueueApi,
        admitted_at: *const i64,
    }
    sluice_veto_sink VetoSink {
        size: u32,
        reserved: u32,
        context: *mut c_void,
        may_not_preempt: c_fn!(*mut c_void, Str),
        protect: c_fn!(*mut c_void, u64),
        protect_because: c_fn!(*mut c_void, u64, Str),
    }
    sluice_preemption_veto PreemptionVeto {
        size: u32,
        reserved: u32,
        veto: c_fn!(*mut Instance, *const VetoQuery, *const VetoSink; i32),
    }
    sluice_order_query OrderQuery {
        size: u32,
        queue: u32,
        cluster_queue: Str,
        local_queue: Str,
    }
    sluice_order_sink OrderSink {
        size: u32,
        reserved: u32,
        context: *mut c_void,
        key: c_fn!(*mut c_void, i64, Str),
    }
    sluice_queue_order QueueOrder {
        size: u32,
        reserved: u32,
        local_queue: c_fn!(*mut Instance, *const OrderQuery, *const OrderSink; i32),
        workload: c_fn!(*mut Instance, WorkloadRef, *const OrderSink; i32),
    }
    sluice_queue Queue { size: u32, id: u32, name: Str, json: Str }
    sluice_queue_watch QueueWatch {
        size: u32,
        reserved: u32,
        queue_changed: c_fn!(*mut Instance, *const Queue; i32),
    }
    sluice_notification Notification {
        size: u32,
        event: i32,
        sequence: u64,
        workload: WorkloadRef,
        reason: Str,
        other_count: u64,
        others: *const Str,
    }
    sluice_post_admit PostAdmit {
        size: u32,
        reserved: u32,
        notify: c_fn!(*mut Instance, *const Notification; i32),
        events: c_fn!(*mut Instance, *const Sink; i32),
    }
    sluice_schema Schema {
        size: u32,
        reserved: u32,
        contribute: c_fn!(*mut Instance, *const Sink; i32),
    }
    sluice_timers Timers {
        size: u32,
        reserved: u32,
        fired: c_fn!(*mut Instance, u64, i64; i32),
    }
    sluice_write Write {
        size: u32,
        operation: i32,
        api_version: Str,
        kind: Str,
        object: Str,
        old: Str,
        user: Str,
    }
    sluice_field_error_sink FieldErrorSink {
        size: u32,
        reserved: u32,
        context: *mut c_void,
        error: c_fn!(*mut c_void, i32, Str, Str, Str),
    }
    sluice_validator Validator {
        size: u32,
        reserved: u32,
        kinds: c_fn!(*mut Instance, *const Sink; i32),
        set_defaults: c_fn!(*mut Instance, *const Write, *const Sink; i32),
        validate: c_fn!(*mut Instance, *const Write, *const FieldErrorSink; i32),
    }
    sluice_check Check { size: u32, gone: i32, name: Str, json: Str }
    sluice_activity_sink ActivitySink {
        size: u32,
        reserved: u32,
        context: *mut c_void,
        active: c_fn!(*mut c_void, i32, Str, Str),
    }
    sluice_check_query CheckQuery {
        size: u32,
        retry_count: i32,
        attempt: u64,
        workload: WorkloadRef,
        workload_json: Str,
        check: Str,
        check_json: Str,
    }
    sluice_check_cancel CheckCancel {
        size: u32,
        reserved: u32,
        attempt: u64,
        namespace_of: Str,
        name: Str,
        uid: Str,
        check: Str,
        why: Str,
    }
    sluice_check_controller CheckController {
        size: u32,
        reserved: u32,
        controllers: c_fn!(*mut Instance, *const Sink; i32),
        check_changed: c_fn!(*mut Instance, *const Check, *const ActivitySink; i32),
        begin: c_fn!(*mut Instance, *const CheckQuery; i32),
        cancel: c_fn!(*mut Instance, *const CheckCancel; i32),
        explain: c_fn!(*mut Instance, *const CheckQuery, *const Sink; i32),
    }
    sluice_reconcile Reconcile {
        size: u32,
        reserved: u32,
        api_version: Str,
        kind: Str,
        namespace_of: Str,
        name: Str,
        remote: Str,
    }
    sluice_controller Controller {
        size: u32,
        reserved: u32,
        kinds: c_fn!(*mut Instance, *const Sink; i32),
        reconcile: c_fn!(*mut Instance, *const Reconcile, *mut i64; i32),
    }
}

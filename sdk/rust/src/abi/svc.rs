//! svc/*.h: what the host does for a plugin.

use super::{Host, Sink, Str};
use core::ffi::c_void;

c_ids! { SVC_IDS;
    SLUICE_SVC_CHECK_REPORTER SVC_CHECK_REPORTER = "check-reporter/1",
    SLUICE_SVC_CLOCK SVC_CLOCK = "clock/1",
    SLUICE_SVC_CONFIG SVC_CONFIG = "config/1",
    SLUICE_SVC_EVENTS SVC_EVENTS = "events/1",
    SLUICE_SVC_LOG SVC_LOG = "log/1",
    SLUICE_SVC_METRICS SVC_METRICS = "metrics/1",
    SLUICE_SVC_OBJECTS SVC_OBJECTS = "objects/1",
    SLUICE_SVC_REQUEUE SVC_REQUEUE = "requeue/1",
    SLUICE_SVC_STATE SVC_STATE = "state/1",
}

c_numbers! { SVC_NUMBERS;
    SLUICE_LOG_DEBUG LOG_DEBUG: i32 = 0,
    SLUICE_LOG_INFO LOG_INFO: i32 = 1,
    SLUICE_LOG_WARNING LOG_WARNING: i32 = 2,
    SLUICE_LOG_ERROR LOG_ERROR: i32 = 3,
    SLUICE_OBJECTS_OK OBJECTS_OK: i32 = 0,
    SLUICE_OBJECTS_NOT_FOUND OBJECTS_NOT_FOUND: i32 = 1,
    SLUICE_OBJECTS_ALREADY_EXISTS OBJECTS_ALREADY_EXISTS: i32 = 2,
    SLUICE_OBJECTS_CONFLICT OBJECTS_CONFLICT: i32 = 3,
    SLUICE_OBJECTS_INVALID OBJECTS_INVALID: i32 = 4,
    SLUICE_OBJECTS_FORBIDDEN OBJECTS_FORBIDDEN: i32 = 5,
    SLUICE_OBJECTS_NOT_NOW OBJECTS_NOT_NOW: i32 = 6,
    SLUICE_OBJECTS_FAILED OBJECTS_FAILED: i32 = 7,
    SLUICE_METRIC_COUNTER METRIC_COUNTER: i32 = 0,
    SLUICE_METRIC_GAUGE METRIC_GAUGE: i32 = 1,
    SLUICE_UNIT_NONE UNIT_NONE: i32 = 0,
    SLUICE_UNIT_NANOSECONDS UNIT_NANOSECONDS: i32 = 1,
}

/// Called once per key of state/1.
pub type KeyFn = c_fn!(*mut c_void, Str);

c_structs! { SVC_LAYOUTS;
    /// Lines in the host's log.
    sluice_log Log { size: u32, reserved: u32, write: c_fn!(*const Host, i32, Str) }
    sluice_clock Clock {
        size: u32,
        reserved: u32,
        now: c_fn!(*const Host; i64),
        set_timer: c_fn!(*const Host, u64, i64; i32),
        cancel_timer: c_fn!(*const Host, u64),
        is_virtual: c_fn!(*const Host; i32),
    }
    sluice_config Config {
        size: u32,
        reserved: u32,
        get_string: c_fn!(*const Host, Str, *const Sink; i32),
        get_int: c_fn!(*const Host, Str, *mut i64; i32),
        get_bool: c_fn!(*const Host, Str, *mut i32; i32),
        get_json: c_fn!(*const Host, Str, *const Sink; i32),
    }
    sluice_event Event {
        size: u32,
        warning: i32,
        api_version: Str,
        kind: Str,
        namespace_of: Str,
        name: Str,
        reason: Str,
        message: Str,
    }
    sluice_events Events { size: u32, reserved: u32, emit: c_fn!(*const Host, *const Event) }
    sluice_metric_spec MetricSpec {
        size: u32,
        kind: i32,
        unit: i32,
        label_count: u32,
        name: Str,
        help: Str,
        labels: *const Str,
    }
    sluice_metrics Metrics {
        size: u32,
        reserved: u32,
        register_metric: c_fn!(*const Host, *const MetricSpec, *mut u32; i32),
        add: c_fn!(*const Host, u32, *const Str, u32, i64; i32),
        set: c_fn!(*const Host, u32, *const Str, u32, i64; i32),
    }
    sluice_requeue Requeue {
        size: u32,
        reserved: u32,
        requeue: c_fn!(*const Host, Str),
        traits_changed: c_fn!(*const Host, Str),
        order_changed: c_fn!(*const Host, Str),
        ended: c_fn!(*const Host, Str),
    }
    sluice_check_report CheckReport {
        size: u32,
        requeue_after_seconds: i32,
        attempt: u64,
        namespace_of: Str,
        name: Str,
        uid: Str,
        check: Str,
        state: Str,
        reason: Str,
        message: Str,
        pod_set_updates: Str,
    }
    sluice_check_reporter CheckReporter {
        size: u32,
        reserved: u32,
        report: c_fn!(*const Host, *const CheckReport, *const Sink; i32),
    }
    sluice_object_ref ObjectRef {
        size: u32,
        reserved: u32,
        api_version: Str,
        kind: Str,
        namespace_of: Str,
        name: Str,
    }
    sluice_objects Objects {
        size: u32,
        reserved: u32,
        get: c_fn!(*const Host, *const ObjectRef, *const Sink, *const Sink; i32),
        list: c_fn!(*const Host, *const ObjectRef, Str, *const Sink, *const Sink; i32),
        create: c_fn!(*const Host, Str, *const Sink, *const Sink; i32),
        update: c_fn!(*const Host, Str, Str, *const Sink, *const Sink; i32),
        patch: c_fn!(*const Host, *const ObjectRef, Str, Str, *const Sink, *const Sink; i32),
        remove: c_fn!(*const Host, *const ObjectRef, Str, *const Sink; i32),
        release_claim: c_fn!(*const Host, *const ObjectRef, *const Sink; i32),
    }
    sluice_state State {
        size: u32,
        reserved: u32,
        get: c_fn!(*const Host, Str, *const Sink; i32),
        set: c_fn!(*const Host, Str, Str; i32),
        remove: c_fn!(*const Host, Str; i32),
        keys: c_fn!(*const Host, Str, KeyFn, *mut c_void; i32),
    }
}

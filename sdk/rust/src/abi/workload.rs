//! workload.h.

use super::{Sink, Str, WorkloadHandle};
use core::ffi::c_void;

/// Called once per entry of a map.
pub type PairFn = c_fn!(*mut c_void, Str, Str);
/// Called once per resource.
pub type AmountFn = c_fn!(*mut c_void, Str, i64);

/// Called once per owner reference.
pub type OwnerFn = c_fn!(*mut c_void, *const Owner);

c_structs! { WORKLOAD_LAYOUTS;
    /// A condition of an object.
    sluice_condition Condition { status: Str, reason: Str, message: Str, since: i64 }
    /// An owner reference.
    sluice_owner Owner {
        api_version: Str,
        kind: Str,
        name: Str,
        uid: Str,
        controller: i32,
        reserved: i32,
    }
    /// The accessors of a workload.
    sluice_workload_api WorkloadApi {
        size: u32,
        reserved: u32,
        namespace_of: c_fn!(*const WorkloadHandle; Str),
        name: c_fn!(*const WorkloadHandle; Str),
        uid: c_fn!(*const WorkloadHandle; Str),
        queue_name: c_fn!(*const WorkloadHandle; Str),
        priority: c_fn!(*const WorkloadHandle; i32),
        created_at: c_fn!(*const WorkloadHandle; i64),
        active: c_fn!(*const WorkloadHandle; i32),
        label: c_fn!(*const WorkloadHandle, Str, *mut Str; i32),
        annotation: c_fn!(*const WorkloadHandle, Str, *mut Str; i32),
        each_label: c_fn!(*const WorkloadHandle, PairFn, *mut c_void),
        each_annotation: c_fn!(*const WorkloadHandle, PairFn, *mut c_void),
        controller: c_fn!(*const WorkloadHandle, *mut Str, *mut Str; i32),
        pod_sets: c_fn!(*const WorkloadHandle; u32),
        pod_set_name: c_fn!(*const WorkloadHandle, u32; Str),
        pod_set_count: c_fn!(*const WorkloadHandle, u32; i32),
        pod_set_min_count: c_fn!(*const WorkloadHandle, u32, *mut i32; i32),
        pod_request: c_fn!(*const WorkloadHandle, u32, Str, *mut i64; i32),
        each_pod_request: c_fn!(*const WorkloadHandle, u32, AmountFn, *mut c_void),
        admitted_by: c_fn!(*const WorkloadHandle, *mut Str; i32),
        admitted_flavor: c_fn!(*const WorkloadHandle, u32, Str, *mut Str; i32),
        condition: c_fn!(*const WorkloadHandle, Str, *mut Str; i32),
        extensions: c_fn!(*const WorkloadHandle; Str),
        admitted_count: c_fn!(*const WorkloadHandle, u32, *mut i32; i32),
        condition_details: c_fn!(*const WorkloadHandle, Str, *mut Condition; i32),
        maximum_execution_seconds: c_fn!(*const WorkloadHandle, *mut i32; i32),
        past_execution_seconds: c_fn!(*const WorkloadHandle; i32),
        each_owner: c_fn!(*const WorkloadHandle, OwnerFn, *mut c_void),
        json: c_fn!(*const WorkloadHandle, *const Sink),
    }
    /// A workload together with its accessors.
    sluice_workload_ref WorkloadRef { api: *const WorkloadApi, handle: *const WorkloadHandle }
}

//! The accessors of a `testing::FakeWorkload`.

use super::fake_host::text_of;
use super::text::to_abi;
use crate::abi;
use crate::testing::{FakePodSet, FakeWorkload};
use core::ffi::c_void;
use core::mem::size_of;
use std::collections::BTreeMap;

/// REQUIRES: the workload outlives what is done with the reference.
pub(super) fn reference(workload: &FakeWorkload) -> abi::WorkloadRef {
    abi::WorkloadRef {
        api: &raw const API,
        handle: core::ptr::from_ref(workload).cast(),
    }
}

type Handle = *const abi::WorkloadHandle;

/// # Safety
/// A handle of reference(), whose workload is alive.
unsafe fn of<'w>(handle: Handle) -> &'w FakeWorkload {
    // SAFETY: as the caller says.
    unsafe { &*handle.cast() }
}

/// # Safety
/// As of().
unsafe fn pod_set<'w>(handle: Handle, i: u32) -> Option<&'w FakePodSet> {
    // SAFETY: as the caller says.
    unsafe { of(handle) }.pod_sets.get(i as usize)
}

/// Fills `out` and answers 1, or 0.
///
/// # Safety
/// `out` may be written.
unsafe fn found<T>(value: Option<T>, out: *mut T) -> i32 {
    match value {
        Some(value) => {
            // SAFETY: as the caller says.
            unsafe { out.write(value) };
            1
        }
        None => 0,
    }
}

fn entry(map: &BTreeMap<String, String>, key: &str) -> Option<abi::Str> {
    map.get(key).map(|value| to_abi(value))
}

macro_rules! accessor {
    ($name:ident($w:ident $(, $argument:ident: $type:ty)*) -> $answer:ty $body:block) => {
        unsafe extern "C" fn $name($w: Handle $(, $argument: $type)*) -> $answer {
            // SAFETY: the plugin gives a handle of reference() and what is valid during the call.
            unsafe { $body }
        }
    };
}

accessor!(namespace_of(w) -> abi::Str { to_abi(&of(w).namespace) });
accessor!(name(w) -> abi::Str { to_abi(&of(w).name) });
accessor!(uid(w) -> abi::Str { to_abi(&of(w).uid) });
accessor!(queue_name(w) -> abi::Str { to_abi(&of(w).queue_name) });
accessor!(priority(w) -> i32 { of(w).priority });
accessor!(created_at(w) -> i64 { of(w).created_at });
accessor!(active(w) -> i32 { i32::from(of(w).active) });
accessor!(label(w, key: abi::Str, out: *mut abi::Str) -> i32 {
    found(entry(&of(w).labels, &text_of(key)), out)
});
accessor!(annotation(w, key: abi::Str, out: *mut abi::Str) -> i32 {
    found(entry(&of(w).annotations, &text_of(key)), out)
});
accessor!(each_label(w, call: abi::PairFn, context: *mut c_void) -> () {
    for (key, value) in &of(w).labels {
        call.expect("a callback")(context, to_abi(key), to_abi(value));
    }
});
accessor!(each_annotation(w, call: abi::PairFn, context: *mut c_void) -> () {
    for (key, value) in &of(w).annotations {
        call.expect("a callback")(context, to_abi(key), to_abi(value));
    }
});
accessor!(controller(w, kind: *mut abi::Str, name: *mut abi::Str) -> i32 {
    let owner = of(w).controller.as_ref();
    found(owner.map(|(_, name)| to_abi(name)), name);
    found(owner.map(|(kind, _)| to_abi(kind)), kind)
});
accessor!(pod_sets(w) -> u32 { of(w).pod_sets.len() as u32 });
accessor!(pod_set_name(w, i: u32) -> abi::Str {
    pod_set(w, i).map_or(abi::Str::default(), |set| to_abi(&set.name))
});
accessor!(pod_set_count(w, i: u32) -> i32 { pod_set(w, i).map_or(0, |set| set.count) });
accessor!(pod_set_min_count(w, i: u32, out: *mut i32) -> i32 {
    found(pod_set(w, i).and_then(|set| set.min_count), out)
});
accessor!(pod_request(w, i: u32, resource: abi::Str, out: *mut i64) -> i32 {
    found(pod_set(w, i).and_then(|set| set.requests.get(&text_of(resource)).copied()), out)
});
accessor!(each_pod_request(w, i: u32, call: abi::AmountFn, context: *mut c_void) -> () {
    for (resource, amount) in pod_set(w, i).iter().flat_map(|set| &set.requests) {
        call.expect("a callback")(context, to_abi(resource), *amount);
    }
});
accessor!(admitted_by(w, out: *mut abi::Str) -> i32 {
    found(of(w).admitted_by.as_deref().map(to_abi), out)
});
accessor!(admitted_flavor(w, i: u32, resource: abi::Str, out: *mut abi::Str) -> i32 {
    found(pod_set(w, i).and_then(|set| entry(&set.flavors, &text_of(resource))), out)
});
accessor!(condition(w, kind: abi::Str, out: *mut abi::Str) -> i32 {
    found(entry(&of(w).conditions, &text_of(kind)), out)
});
accessor!(extensions(w) -> abi::Str { to_abi(&of(w).extensions) });
accessor!(admitted_count(w, i: u32, out: *mut i32) -> i32 {
    found(pod_set(w, i).and_then(|set| set.granted_count), out)
});

accessor!(condition_details(w, kind: abi::Str, out: *mut abi::Condition) -> i32 {
    let kind = text_of(kind);
    let known = entry(&of(w).conditions, &kind).map(|status| abi::Condition {
        status,
        reason: abi::Str::default(),
        message: abi::Str::default(),
        since: of(w).since.get(&*kind).copied().unwrap_or_default(),
    });
    found(known, out)
});
accessor!(maximum_execution_seconds(w, out: *mut i32) -> i32 {
    found(of(w).maximum_execution_seconds, out)
});
accessor!(past_execution_seconds(w) -> i32 { of(w).past_execution_seconds });
accessor!(each_owner(w, call: abi::OwnerFn, context: *mut c_void) -> () {
    if let Some((kind, name)) = &of(w).controller {
        let owner = abi::Owner {
            api_version: abi::Str::default(),
            kind: to_abi(kind),
            name: to_abi(name),
            uid: abi::Str::default(),
            controller: 1,
            reserved: 0,
        };
        call.expect("a callback")(context, &owner);
    }
});
accessor!(json(w, out: *const abi::Sink) -> () {
    (*out).write.expect("a sink")((*out).context, to_abi(&of(w).json));
});

static API: abi::WorkloadApi = abi::WorkloadApi {
    size: size_of::<abi::WorkloadApi>() as u32,
    reserved: 0,
    namespace_of: Some(namespace_of),
    name: Some(name),
    uid: Some(uid),
    queue_name: Some(queue_name),
    priority: Some(priority),
    created_at: Some(created_at),
    active: Some(active),
    label: Some(label),
    annotation: Some(annotation),
    each_label: Some(each_label),
    each_annotation: Some(each_annotation),
    controller: Some(controller),
    pod_sets: Some(pod_sets),
    pod_set_name: Some(pod_set_name),
    pod_set_count: Some(pod_set_count),
    pod_set_min_count: Some(pod_set_min_count),
    pod_request: Some(pod_request),
    each_pod_request: Some(each_pod_request),
    admitted_by: Some(admitted_by),
    admitted_flavor: Some(admitted_flavor),
    condition: Some(condition),
    extensions: Some(extensions),
    admitted_count: Some(admitted_count),
    condition_details: Some(condition_details),
    maximum_execution_seconds: Some(maximum_execution_seconds),
    past_execution_seconds: Some(past_execution_seconds),
    each_owner: Some(each_owner),
    json: Some(json),
};

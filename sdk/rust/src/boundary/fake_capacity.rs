//! The accessors of `testing::FakeFlavor` and `testing::FakeClusterQueue`.

use super::fake_host::text_of;
use super::text::to_abi;
use crate::abi;
use crate::testing::{FakeClusterQueue, FakeFlavor};
use core::ffi::c_void;
use core::mem::size_of;

/// REQUIRES: the flavor outlives what is done with the handle.
pub(super) fn flavor_handle(flavor: &FakeFlavor) -> *const abi::FlavorHandle {
    core::ptr::from_ref(flavor).cast()
}
/// REQUIRES: as flavor_handle().
pub(super) fn queue_handle(queue: &FakeClusterQueue) -> *const abi::ClusterQueueHandle {
    core::ptr::from_ref(queue).cast()
}

macro_rules! accessor {
    ($name:ident($t:ident: $fake:ty as $handle:ty $(, $argument:ident: $type:ty)*) -> $answer:ty
     $body:block) => {
        unsafe extern "C" fn $name($t: *const $handle $(, $argument: $type)*) -> $answer {
            // SAFETY: the plugin gives a handle of this module and what is valid during the call.
            unsafe {
                let $t: &$fake = &*$t.cast();
                $body
            }
        }
    };
}

accessor!(flavor_name(f: FakeFlavor as abi::FlavorHandle) -> abi::Str { to_abi(&f.name) });
accessor!(node_label(f: FakeFlavor as abi::FlavorHandle, key: abi::Str, out: *mut abi::Str) -> i32 {
    match f.node_labels.get(&text_of(key)) {
        Some(value) => { out.write(to_abi(value)); 1 }
        None => 0,
    }
});
accessor!(each_node_label(f: FakeFlavor as abi::FlavorHandle, call: abi::PairFn,
                          context: *mut c_void) -> () {
    for (key, value) in &f.node_labels {
        call.expect("a callback")(context, to_abi(key), to_abi(value));
    }
});
accessor!(each_node_taint(f: FakeFlavor as abi::FlavorHandle, call: abi::TaintFn,
                          context: *mut c_void) -> () {
    for (key, value, effect) in &f.node_taints {
        let taint = abi::Taint { key: to_abi(key), value: to_abi(value), effect: to_abi(effect) };
        call.expect("a callback")(context, &taint);
    }
});

accessor!(queue_name(q: FakeClusterQueue as abi::ClusterQueueHandle) -> abi::Str {
    to_abi(&q.name)
});
accessor!(cohort(q: FakeClusterQueue as abi::ClusterQueueHandle) -> abi::Str {
    to_abi(&q.cohort)
});
accessor!(quota(q: FakeClusterQueue as abi::ClusterQueueHandle, flavor: abi::Str,
                resource: abi::Str, out: *mut abi::Quota) -> i32 {
    let (flavor, resource) = (text_of(flavor), text_of(resource));
    let found = q.quotas.iter().find(|(of, what, _)| *of == flavor && *what == resource);
    match found {
        Some((_, _, quota)) => { out.write(quota.raw()); 1 }
        None => 0,
    }
});
accessor!(each_quota(q: FakeClusterQueue as abi::ClusterQueueHandle, call: abi::QuotaFn,
                     context: *mut c_void) -> () {
    for (flavor, resource, quota) in &q.quotas {
        call.expect("a callback")(context, to_abi(flavor), to_abi(resource), &quota.raw());
    }
});

pub(super) static FLAVOR_API: abi::FlavorApi = abi::FlavorApi {
    size: size_of::<abi::FlavorApi>() as u32,
    reserved: 0,
    name: Some(flavor_name),
    node_label: Some(node_label),
    each_node_label: Some(each_node_label),
    each_node_taint: Some(each_node_taint),
};

pub(super) static QUEUE_API: abi::ClusterQueueApi = abi::ClusterQueueApi {
    size: size_of::<abi::ClusterQueueApi>() as u32,
    reserved: 0,
    name: Some(queue_name),
    cohort: Some(cohort),
    quota: Some(quota),
    each_quota: Some(each_quota),
};

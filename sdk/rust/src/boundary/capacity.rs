//! What a hook sees of what there is to give, over the accessors of capacity.h.

use super::text::{to_abi, to_str};
use super::workload::{pair, Each};
use crate::abi;
use crate::values::Quota;
use core::ffi::c_void;
use core::marker::PhantomData;

/// A taint of a flavor's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Taint<'t> {
    pub key: &'t str,
    pub value: &'t str,
    /// NoSchedule, NoExecute or PreferNoSchedule.
    pub effect: &'t str,
}

/// A flavor, until the hook returns.
#[derive(Clone, Copy)]
pub struct Flavor<'c> {
    api: *const abi::FlavorApi,
    handle: *const abi::FlavorHandle,
    call: PhantomData<&'c ()>,
}

/// A ClusterQueue, until the hook returns. Amounts: milli for cpu, base units for everything else.
#[derive(Clone, Copy)]
pub struct ClusterQueue<'c> {
    api: *const abi::ClusterQueueApi,
    handle: *const abi::ClusterQueueHandle,
    call: PhantomData<&'c ()>,
}

/// The accessor of that name, or `None` when the host does not have it.
macro_rules! accessor {
    ($self:ident, $type:ident, $name:ident) => {
        // SAFETY: the table is valid for 'c, and starts with its size.
        unsafe { member!($self.api, abi::$type, $name) }.flatten()
    };
}

unsafe extern "C" fn taint<F: FnMut(Taint<'_>)>(context: *mut c_void, raw: *const abi::Taint) {
    // SAFETY: `context` is the Each that waits for the host; the taint is valid until this returns.
    unsafe {
        (*context.cast::<Each<'_, F>>()).run(|call| {
            call(Taint {
                key: to_str((*raw).key),
                value: to_str((*raw).value),
                effect: to_str((*raw).effect),
            });
        });
    }
}

unsafe extern "C" fn quota<F: FnMut(&str, &str, Quota)>(
    context: *mut c_void,
    flavor: abi::Str,
    resource: abi::Str,
    raw: *const abi::Quota,
) {
    // SAFETY: as taint().
    unsafe {
        (*context.cast::<Each<'_, F>>())
            .run(|call| call(to_str(flavor), to_str(resource), Quota::of(*raw)));
    }
}

impl<'c> Flavor<'c> {
    /// # Safety
    /// Table and handle are the host's, valid for 'c, inside of a hook.
    pub(super) unsafe fn new(api: *const abi::FlavorApi, handle: *const abi::FlavorHandle) -> Self {
        Flavor {
            api,
            handle,
            call: PhantomData,
        }
    }

    /// Its name.
    pub fn name(&self) -> &'c str {
        match accessor!(self, FlavorApi, name) {
            // SAFETY: table and handle are valid for 'c, and so is the text.
            Some(get) => unsafe { to_str(get(self.handle)) },
            None => "",
        }
    }
    /// The value of a label of its nodes.
    pub fn node_label(&self, key: &str) -> Option<&'c str> {
        let (get, mut out) = (accessor!(self, FlavorApi, node_label)?, abi::Str::default());
        // SAFETY: table and handle are valid for 'c, and so is the text that is filled.
        unsafe { (get(self.handle, to_abi(key), &mut out) != 0).then(|| to_str(out)) }
    }
    /// Calls with key and value of each label of its nodes.
    pub fn each_node_label<F: FnMut(&str, &str)>(&self, mut call: F) {
        let mut each = Each::new(&mut call);
        if let Some(walk) = accessor!(self, FlavorApi, each_node_label) {
            let context = core::ptr::from_mut(&mut each).cast();
            // SAFETY: table and handle are valid for 'c; `each` outlives the call.
            unsafe { walk(self.handle, Some(pair::<F>), context) };
        }
        each.end();
    }
    /// Calls with each taint of its nodes.
    pub fn each_node_taint<F: FnMut(Taint<'_>)>(&self, mut call: F) {
        let mut each = Each::new(&mut call);
        if let Some(walk) = accessor!(self, FlavorApi, each_node_taint) {
            let context = core::ptr::from_mut(&mut each).cast();
            // SAFETY: table and handle are valid for 'c; `each` outlives the call.
            unsafe { walk(self.handle, Some(taint::<F>), context) };
        }
        each.end();
    }
}

impl<'c> ClusterQueue<'c> {
    /// `None` with a host that is older than this.
    ///
    /// # Safety
    /// Table and handle are the host's, valid for 'c, inside of a hook.
    pub(super) unsafe fn new(
        api: Option<*const abi::ClusterQueueApi>,
        handle: Option<*const abi::ClusterQueueHandle>,
    ) -> Option<Self> {
        let api = api.filter(|api| !api.is_null())?;
        Some(ClusterQueue {
            api,
            handle: handle?,
            call: PhantomData,
        })
    }

    /// Its name.
    pub fn name(&self) -> &'c str {
        match accessor!(self, ClusterQueueApi, name) {
            // SAFETY: table and handle are valid for 'c, and so is the text.
            Some(get) => unsafe { to_str(get(self.handle)) },
            None => "",
        }
    }
    /// Its cohort; empty: it is in none.
    pub fn cohort(&self) -> &'c str {
        match accessor!(self, ClusterQueueApi, cohort) {
            // SAFETY: table and handle are valid for 'c, and so is the text.
            Some(get) => unsafe { to_str(get(self.handle)) },
            None => "",
        }
    }
    /// What it has of a resource of a flavor.
    pub fn quota(&self, flavor: &str, resource: &str) -> Option<Quota> {
        let get = accessor!(self, ClusterQueueApi, quota)?;
        let mut out = abi::Quota {
            nominal: 0,
            borrowing_limit: 0,
            lending_limit: 0,
        };
        // SAFETY: table and handle are valid for 'c.
        let found = unsafe { get(self.handle, to_abi(flavor), to_abi(resource), &mut out) };
        (found != 0).then(|| Quota::of(out))
    }
    /// Calls with flavor, resource and quota of each, in its order.
    pub fn each_quota<F: FnMut(&str, &str, Quota)>(&self, mut call: F) {
        let mut each = Each::new(&mut call);
        if let Some(walk) = accessor!(self, ClusterQueueApi, each_quota) {
            let context = core::ptr::from_mut(&mut each).cast();
            // SAFETY: table and handle are valid for 'c; `each` outlives the call.
            unsafe { walk(self.handle, Some(quota::<F>), context) };
        }
        each.end();
    }
}

//! What a hook sees of a workload, over the accessors of workload.h.

use super::text::{collected, to_abi, to_str};
use crate::abi;
use core::ffi::c_void;
use core::marker::PhantomData;
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// A workload, until the hook returns: its texts live for `'c`. Copy what you want to keep.
/// Amounts: milli for cpu, base units (bytes, pieces) for everything else.
#[derive(Clone, Copy)]
pub struct Workload<'c> {
    raw: abi::WorkloadRef,
    call: PhantomData<&'c ()>,
}

/// The accessor of that name, or `None` when the host does not have it.
macro_rules! accessor {
    ($self:ident, $name:ident) => {
        // SAFETY: the table is valid for 'c, and starts with its size.
        unsafe { member!($self.raw.api, abi::WorkloadApi, $name) }.flatten()
    };
}

/// What goes through the host to a callback of ours: a panic of it waits until the host returned.
pub(super) struct Each<'f, F> {
    call: &'f mut F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'f, F> Each<'f, F> {
    pub(super) fn new(call: &'f mut F) -> Self {
        Each { call, panic: None }
    }
    pub(super) fn run(&mut self, call: impl FnOnce(&mut F)) {
        if self.panic.is_none() {
            self.panic = catch_unwind(AssertUnwindSafe(|| call(self.call))).err();
        }
    }
    pub(super) fn end(self) {
        if let Some(payload) = self.panic {
            resume_unwind(payload);
        }
    }
}

pub(super) unsafe extern "C" fn pair<F: FnMut(&str, &str)>(
    context: *mut c_void,
    key: abi::Str,
    value: abi::Str,
) {
    // SAFETY: `context` is the Each that waits for the host; the texts are valid until this
    // returns.
    unsafe {
        (*context.cast::<Each<'_, F>>()).run(|call| call(to_str(key), to_str(value)));
    }
}

unsafe extern "C" fn amount<F: FnMut(&str, i64)>(context: *mut c_void, name: abi::Str, much: i64) {
    // SAFETY: as pair().
    unsafe {
        (*context.cast::<Each<'_, F>>()).run(|call| call(to_str(name), much));
    }
}

/// An owner reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Owner<'t> {
    pub api_version: &'t str,
    pub kind: &'t str,
    pub name: &'t str,
    pub uid: &'t str,
    /// The one that controls it.
    pub controller: bool,
}

unsafe extern "C" fn owner<F: FnMut(Owner<'_>)>(context: *mut c_void, raw: *const abi::Owner) {
    // SAFETY: as pair(); the owner is valid until this returns.
    unsafe {
        (*context.cast::<Each<'_, F>>()).run(|call| {
            call(Owner {
                api_version: to_str((*raw).api_version),
                kind: to_str((*raw).kind),
                name: to_str((*raw).name),
                uid: to_str((*raw).uid),
                controller: (*raw).controller != 0,
            });
        });
    }
}

impl<'c> Workload<'c> {
    /// # Safety
    /// A workload of the host that is valid for 'c, inside of a hook.
    pub(super) unsafe fn new(raw: abi::WorkloadRef) -> Self {
        Workload {
            raw,
            call: PhantomData,
        }
    }

    fn text(
        &self,
        accessor: Option<unsafe extern "C" fn(*const abi::WorkloadHandle) -> abi::Str>,
    ) -> &'c str {
        match accessor {
            // SAFETY: table and handle are valid for 'c, and so is the text.
            Some(get) => unsafe { to_str(get(self.raw.handle)) },
            None => "",
        }
    }

    /// A text that may be absent. `ask` gets the handle and answers 1 when there is one.
    fn maybe(&self, ask: impl FnOnce(*mut abi::Str) -> Option<i32>) -> Option<&'c str> {
        let mut out = abi::Str::default();
        match ask(&mut out) {
            // SAFETY: the host filled it, with a text that is valid for 'c.
            Some(found) if found != 0 => Some(unsafe { to_str(out) }),
            _ => None,
        }
    }

    /// Its namespace.
    pub fn namespace(&self) -> &'c str {
        self.text(accessor!(self, namespace_of))
    }
    /// Its name.
    pub fn name(&self) -> &'c str {
        self.text(accessor!(self, name))
    }
    /// `NAMESPACE/NAME`: how other calls name a workload.
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace(), self.name())
    }
    /// Its uid.
    pub fn uid(&self) -> &'c str {
        self.text(accessor!(self, uid))
    }
    /// Its LocalQueue.
    pub fn queue_name(&self) -> &'c str {
        self.text(accessor!(self, queue_name))
    }
    /// Its priority.
    pub fn priority(&self) -> i32 {
        // SAFETY: table and handle are valid for 'c.
        accessor!(self, priority).map_or(0, |get| unsafe { get(self.raw.handle) })
    }
    /// Nanoseconds since 1970 UTC; 0: not known.
    pub fn created_at(&self) -> i64 {
        // SAFETY: table and handle are valid for 'c.
        accessor!(self, created_at).map_or(0, |get| unsafe { get(self.raw.handle) })
    }
    /// `spec.active`.
    pub fn active(&self) -> bool {
        // SAFETY: table and handle are valid for 'c.
        accessor!(self, active).is_none_or(|get| unsafe { get(self.raw.handle) } != 0)
    }
    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&'c str> {
        let get = accessor!(self, label)?;
        // SAFETY: table and handle are valid for 'c.
        self.maybe(|out| Some(unsafe { get(self.raw.handle, to_abi(key), out) }))
    }
    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&'c str> {
        let get = accessor!(self, annotation)?;
        // SAFETY: table and handle are valid for 'c.
        self.maybe(|out| Some(unsafe { get(self.raw.handle, to_abi(key), out) }))
    }
    /// Calls with key and value of each label.
    pub fn each_label<F: FnMut(&str, &str)>(&self, mut call: F) {
        let mut each = Each::new(&mut call);
        if let Some(walk) = accessor!(self, each_label) {
            // SAFETY: table and handle are valid for 'c; `each` outlives the call.
            unsafe {
                walk(
                    self.raw.handle,
                    Some(pair::<F>),
                    core::ptr::from_mut(&mut each).cast(),
                );
            }
        }
        each.end();
    }
    /// Calls with key and value of each annotation.
    pub fn each_annotation<F: FnMut(&str, &str)>(&self, mut call: F) {
        let mut each = Each::new(&mut call);
        if let Some(walk) = accessor!(self, each_annotation) {
            // SAFETY: table and handle are valid for 'c; `each` outlives the call.
            unsafe {
                walk(
                    self.raw.handle,
                    Some(pair::<F>),
                    core::ptr::from_mut(&mut each).cast(),
                );
            }
        }
        each.end();
    }
    /// Kind and name of the controlling owner.
    pub fn controller(&self) -> Option<(&'c str, &'c str)> {
        let get = accessor!(self, controller)?;
        let mut name = abi::Str::default();
        // SAFETY: table and handle are valid for 'c, and the name is filled when the kind is.
        unsafe {
            let kind = self.maybe(|out| Some(get(self.raw.handle, out, &mut name)))?;
            Some((kind, to_str(name)))
        }
    }
    /// How many pod sets it has; they are numbered from 0.
    pub fn pod_sets(&self) -> u32 {
        // SAFETY: table and handle are valid for 'c.
        accessor!(self, pod_sets).map_or(0, |get| unsafe { get(self.raw.handle) })
    }
    /// The name of a pod set; empty for a number out of range.
    pub fn pod_set_name(&self, pod_set: u32) -> &'c str {
        match accessor!(self, pod_set_name) {
            // SAFETY: table and handle are valid for 'c, and so is the text.
            Some(get) => unsafe { to_str(get(self.raw.handle, pod_set)) },
            None => "",
        }
    }
    /// How many pods it has; 0 for a number out of range.
    pub fn pod_set_count(&self, pod_set: u32) -> i32 {
        // SAFETY: table and handle are valid for 'c.
        accessor!(self, pod_set_count).map_or(0, |get| unsafe { get(self.raw.handle, pod_set) })
    }
    /// How few pods would do.
    pub fn pod_set_min_count(&self, pod_set: u32) -> Option<i32> {
        let (get, mut out) = (accessor!(self, pod_set_min_count)?, 0);
        // SAFETY: table and handle are valid for 'c.
        (unsafe { get(self.raw.handle, pod_set, &mut out) } != 0).then_some(out)
    }
    /// What one pod of the set asks for.
    pub fn pod_request(&self, pod_set: u32, resource: &str) -> Option<i64> {
        let (get, mut out) = (accessor!(self, pod_request)?, 0);
        // SAFETY: table and handle are valid for 'c.
        (unsafe { get(self.raw.handle, pod_set, to_abi(resource), &mut out) } != 0).then_some(out)
    }
    /// Calls with each resource that one pod of the set asks for, and how much.
    pub fn each_pod_request<F: FnMut(&str, i64)>(&self, pod_set: u32, mut call: F) {
        let mut each = Each::new(&mut call);
        if let Some(walk) = accessor!(self, each_pod_request) {
            let context = core::ptr::from_mut(&mut each).cast();
            // SAFETY: table and handle are valid for 'c; `each` outlives the call.
            unsafe { walk(self.raw.handle, pod_set, Some(amount::<F>), context) };
        }
        each.end();
    }
    /// The ClusterQueue of the admission.
    pub fn admitted_by(&self) -> Option<&'c str> {
        let get = accessor!(self, admitted_by)?;
        // SAFETY: table and handle are valid for 'c.
        self.maybe(|out| Some(unsafe { get(self.raw.handle, out) }))
    }
    /// The flavor that the admission assigns to a resource of a pod set.
    pub fn admitted_flavor(&self, pod_set: u32, resource: &str) -> Option<&'c str> {
        let get = accessor!(self, admitted_flavor)?;
        // SAFETY: table and handle are valid for 'c.
        self.maybe(|out| Some(unsafe { get(self.raw.handle, pod_set, to_abi(resource), out) }))
    }
    /// How many pods of a pod set the admission grants.
    pub fn admitted_count(&self, pod_set: u32) -> Option<i32> {
        let (get, mut out) = (accessor!(self, admitted_count)?, 0);
        // SAFETY: table and handle are valid for 'c.
        (unsafe { get(self.raw.handle, pod_set, &mut out) } != 0).then_some(out)
    }
    /// `True`, `False` or `Unknown`.
    pub fn condition(&self, kind: &str) -> Option<&'c str> {
        let get = accessor!(self, condition)?;
        // SAFETY: table and handle are valid for 'c.
        self.maybe(|out| Some(unsafe { get(self.raw.handle, to_abi(kind), out) }))
    }
    /// Since when a condition is True, in nanoseconds since 1970 UTC; `None` when it is not, or
    /// with a host that is older than this.
    pub fn true_since(&self, kind: &str) -> Option<i64> {
        let get = accessor!(self, condition_details)?;
        let mut out = abi::Condition {
            status: abi::Str::default(),
            reason: abi::Str::default(),
            message: abi::Str::default(),
            since: 0,
        };
        // SAFETY: table and handle are valid for 'c, and the texts are filled when it is there.
        unsafe {
            let found = get(self.raw.handle, to_abi(kind), &mut out) != 0;
            (found && to_str(out.status) == "True").then_some(out.since)
        }
    }
    /// `spec.maximumExecutionTimeSeconds`
    pub fn maximum_execution_seconds(&self) -> Option<i32> {
        let (get, mut out) = (accessor!(self, maximum_execution_seconds)?, 0);
        // SAFETY: table and handle are valid for 'c.
        (unsafe { get(self.raw.handle, &mut out) } != 0).then_some(out)
    }
    /// How long it ran in earlier admissions, which counts against the maximum.
    pub fn past_execution_seconds(&self) -> i32 {
        // SAFETY: table and handle are valid for 'c.
        accessor!(self, past_execution_seconds).map_or(0, |get| unsafe { get(self.raw.handle) })
    }
    /// Calls with each owner reference; never with a host that is older than this.
    pub fn each_owner<F: FnMut(Owner<'_>)>(&self, mut call: F) {
        let mut each = Each::new(&mut call);
        if let Some(walk) = accessor!(self, each_owner) {
            let context = core::ptr::from_mut(&mut each).cast();
            // SAFETY: table and handle are valid for 'c; `each` outlives the call.
            unsafe { walk(self.raw.handle, Some(owner::<F>), context) };
        }
        each.end();
    }
    /// The object in v1beta2 as compact JSON: all that decides about it. Made anew by each call, so
    /// not for the hooks of a cycle. Empty with a host that is older than this.
    pub fn json(&self) -> String {
        accessor!(self, json).map_or(String::new(), |get| {
            // SAFETY: table and handle are valid for 'c; the sink outlives the call.
            collected(|out| unsafe { get(self.raw.handle, out) }).1
        })
    }
    /// The fields that plugins added, as JSON, or empty. Not for hooks of a cycle.
    pub fn extensions(&self) -> &'c str {
        self.text(accessor!(self, extensions))
    }
}

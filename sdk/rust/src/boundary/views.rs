//! What hooks are asked, and where they answer: views that die when the hook returns.

use super::capacity::{ClusterQueue, Flavor};
use super::text::{to_abi, to_str};
use super::workload::Workload;
use crate::abi;
use crate::values::{CheckAttempt, Event, FieldProblem, ObjectRef, Operation};
use core::marker::PhantomData;

/// A view of a struct that the host lends to a hook.
macro_rules! view {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])*
        pub struct $name<'c> {
            raw: *const abi::$name,
            call: PhantomData<&'c ()>,
        }

        impl $name<'_> {
            /// # Safety
            /// The struct is the host's, valid for 'c, inside of a hook.
            pub(super) unsafe fn new(raw: *const abi::$name) -> Self {
                $name { raw, call: PhantomData }
            }
        })*
    };
}

/// The same for a place to answer, which in C is called a sink.
macro_rules! answer {
    ($($(#[$doc:meta])* $name:ident $raw:ident)*) => {
        $($(#[$doc])*
        pub struct $name<'c> {
            raw: *const abi::$raw,
            call: PhantomData<&'c mut ()>,
        }

        impl $name<'_> {
            /// # Safety
            /// The sink is the host's, valid for 'c, inside of a hook.
            pub(super) unsafe fn new(raw: *const abi::$raw) -> Self {
                $name { raw, call: PhantomData }
            }
        })*
    };
}

/// A member of the struct behind a view, or the default where an older host does not have it.
macro_rules! get {
    ($self:ident, $type:ident, $name:ident) => {
        // SAFETY: new() promises that the struct is valid, and it starts with its size.
        unsafe { member!($self.raw, abi::$type, $name) }.unwrap_or_default()
    };
}

/// The same for a text.
macro_rules! text {
    ($self:ident, $type:ident, $name:ident) => {
        // SAFETY: new() promises that the struct and its texts are valid for 'c, inside of a hook.
        unsafe { to_str(member!($self.raw, abi::$type, $name).unwrap_or_default()) }
    };
}

/// Calls a function of a sink with its context, if the host has it.
macro_rules! tell {
    ($self:ident, $type:ident, $name:ident $(, $argument:expr)*) => {
        // SAFETY: new() promises that the sink is valid; its functions copy the texts.
        unsafe {
            if let (Some(Some(tell)), Some(context)) = (
                member!($self.raw, abi::$type, $name),
                member!($self.raw, abi::$type, context),
            ) {
                tell(context $(, $argument)*);
            }
        }
    };
}

/// A workload of the struct behind a view.
macro_rules! workload {
    ($self:ident, $type:ident, $name:ident) => {
        // SAFETY: new() promises that the struct and its workload are valid for 'c. The member is
        // one that every host has.
        unsafe { Workload::new(core::ptr::addr_of!((*$self.raw).$name).read()) }
    };
}

view! {
    /// Which flavors are not for a pod set? (flavor-filter/1)
    FilterQuery
    /// May it preempt, and whom not? (preemption-veto/1)
    VetoQuery
    /// Whose key? (queue-order/1)
    OrderQuery
    /// A ClusterQueue. (queue-watch/1)
    Queue
    /// What was decided. (post-admit/1)
    Notification
    /// An object that is written. (validator/1)
    Write
    /// An AdmissionCheck that exists, changed, or is gone. (check-controller/1)
    Check
    /// An attempt that begins. (check-controller/1)
    CheckQuery
    /// An attempt that is over. (check-controller/1)
    CheckCancel
}

answer! {
    /// Where a filter names the flavors to skip.
    FilterAnswer FilterSink
    /// Where a veto is given.
    VetoAnswer VetoSink
    /// Where a key is given; the last call counts.
    OrderAnswer OrderSink
    /// Where a validator says what is wrong.
    FieldErrors FieldErrorSink
    /// Where check_changed says whether the check can be carried out. Saying nothing: it can.
    Activity ActivitySink
}

impl<'c> FilterQuery<'c> {
    /// Dense id of the ClusterQueue.
    pub fn queue(&self) -> u32 {
        get!(self, FilterQuery, queue)
    }
    /// Whose pod set it is.
    pub fn workload(&self) -> Workload<'c> {
        workload!(self, FilterQuery, workload)
    }
    /// The number of the pod set.
    pub fn pod_set(&self) -> u32 {
        get!(self, FilterQuery, pod_set)
    }
    /// The names of the flavors, in order.
    pub fn flavors(&self) -> impl ExactSizeIterator<Item = &'c str> {
        // SAFETY: the members are ones that every host has.
        let (first, count) = unsafe { ((*self.raw).flavors, (*self.raw).flavor_count) };
        // SAFETY: `flavors` points to `flavor_count` texts, valid for 'c.
        (0..count as usize).map(move |i| unsafe { to_str(first.add(i).read()) })
    }
    /// Labels and taints of a flavor by its number; `None` with a host that is older than this.
    pub fn flavor_details(&self, flavor: usize) -> Option<Flavor<'c>> {
        // SAFETY: new() promises that the struct is valid; the list is as long as the flavors, and
        // its handles are read with the table beside it.
        unsafe {
            let api = member!(self.raw, abi::FilterQuery, flavor_api)?;
            let handles = member!(self.raw, abi::FilterQuery, flavor_handles)?;
            if api.is_null() || handles.is_null() || flavor >= (*self.raw).flavor_count as usize {
                return None;
            }
            Some(Flavor::new(api, handles.add(flavor).read()))
        }
    }
    /// Quotas and cohort of the ClusterQueue; `None` with a host that is older than this.
    pub fn cluster_queue(&self) -> Option<ClusterQueue<'c>> {
        // SAFETY: new() promises that the struct is valid, and what it points to for 'c.
        unsafe {
            ClusterQueue::new(
                member!(self.raw, abi::FilterQuery, cluster_queue_api),
                member!(self.raw, abi::FilterQuery, cluster_queue),
            )
        }
    }
}

impl FilterAnswer<'_> {
    /// Flavor number `flavor` of the query is not for this pod set; the reason is shown to people,
    /// an empty one is not.
    pub fn skip(&mut self, flavor: usize, reason: &str) {
        tell!(
            self,
            FilterSink,
            skip,
            u32::try_from(flavor).unwrap_or(u32::MAX),
            to_abi(reason)
        );
    }
}

impl<'c> VetoQuery<'c> {
    /// Dense id of the preemptor's ClusterQueue.
    pub fn queue(&self) -> u32 {
        get!(self, VetoQuery, queue)
    }
    /// Quotas and cohort of that ClusterQueue; `None` with a host that is older than this.
    pub fn cluster_queue(&self) -> Option<ClusterQueue<'c>> {
        // SAFETY: new() promises that the struct is valid, and what it points to for 'c.
        unsafe {
            ClusterQueue::new(
                member!(self.raw, abi::VetoQuery, cluster_queue_api),
                member!(self.raw, abi::VetoQuery, cluster_queue),
            )
        }
    }
    /// Who wants to preempt.
    pub fn preemptor(&self) -> Workload<'c> {
        workload!(self, VetoQuery, preemptor)
    }
    /// Since when a candidate is admitted, in nanoseconds since 1970 UTC; `None`: it only holds
    /// quota, or the host is older than this.
    pub fn admitted_at(&self, candidate: usize) -> Option<i64> {
        // SAFETY: new() promises that the struct is valid; the list is as long as the candidates.
        unsafe {
            let times = member!(self.raw, abi::VetoQuery, admitted_at)?;
            if times.is_null() || candidate as u64 >= (*self.raw).candidate_count {
                return None;
            }
            Some(times.add(candidate).read()).filter(|time| *time != 0)
        }
    }
    /// Who might be preempted; none: only "may it preempt at all?"
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = Workload<'c>> {
        // SAFETY: the members are ones that every host has.
        let (first, count, api) = unsafe {
            (
                (*self.raw).candidates,
                (*self.raw).candidate_count,
                (*self.raw).preemptor.api,
            )
        };
        // SAFETY: `candidates` points to `candidate_count` workloads, valid for 'c, to be read with
        // the preemptor's table.
        (0..count as usize).map(move |i| unsafe {
            Workload::new(abi::WorkloadRef {
                api,
                handle: first.add(i).read(),
            })
        })
    }
}

impl VetoAnswer<'_> {
    /// The preemptor may not preempt at all for now; the reason is shown to people.
    pub fn may_not_preempt(&mut self, reason: &str) {
        tell!(self, VetoSink, may_not_preempt, to_abi(reason));
    }
    /// Candidate number `candidate` of the query is no victim.
    pub fn protect(&mut self, candidate: usize) {
        tell!(self, VetoSink, protect, candidate as u64);
    }
    /// The same; people see the reason when the preemptor finds no victims.
    pub fn protect_because(&mut self, candidate: usize, reason: &str) {
        // SAFETY: new() promises that the sink is valid, and it starts with its size.
        let known = unsafe { member!(self.raw, abi::VetoSink, protect_because) }.flatten();
        if known.is_none() {
            return self.protect(candidate); // an older host
        }
        tell!(
            self,
            VetoSink,
            protect_because,
            candidate as u64,
            to_abi(reason)
        );
    }
}

impl<'c> OrderQuery<'c> {
    /// Dense id of the ClusterQueue.
    pub fn queue(&self) -> u32 {
        get!(self, OrderQuery, queue)
    }
    /// Its name.
    pub fn cluster_queue(&self) -> &'c str {
        text!(self, OrderQuery, cluster_queue)
    }
    /// `NAMESPACE/NAME`.
    pub fn local_queue(&self) -> &'c str {
        text!(self, OrderQuery, local_queue)
    }
}

impl OrderAnswer<'_> {
    /// Low keys go first. `because` is shown to people and may be empty.
    pub fn key(&mut self, key: i64, because: &str) {
        tell!(self, OrderSink, key, key, to_abi(because));
    }
}

impl<'c> Queue<'c> {
    /// Dense id: from 0, never given to another queue.
    pub fn id(&self) -> u32 {
        get!(self, Queue, id)
    }
    /// Its name.
    pub fn name(&self) -> &'c str {
        text!(self, Queue, name)
    }
    /// The object, plugins' fields included.
    pub fn json(&self) -> &'c str {
        text!(self, Queue, json)
    }
}

impl<'c> Notification<'c> {
    /// What happened.
    pub fn event(&self) -> Event {
        Event::of(get!(self, Notification, event))
    }
    /// The place in the order of all notifications.
    pub fn sequence(&self) -> u64 {
        get!(self, Notification, sequence)
    }
    /// To whom.
    pub fn workload(&self) -> Workload<'c> {
        workload!(self, Notification, workload)
    }
    /// Why; may be empty.
    pub fn reason(&self) -> &'c str {
        text!(self, Notification, reason)
    }
    /// Further workloads that took part, `NAMESPACE/NAME`.
    pub fn others(&self) -> impl ExactSizeIterator<Item = &'c str> {
        // SAFETY: the members are ones that every host has.
        let (first, count) = unsafe { ((*self.raw).others, (*self.raw).other_count) };
        // SAFETY: `others` points to `other_count` texts, valid for 'c.
        (0..count as usize).map(move |i| unsafe { to_str(first.add(i).read()) })
    }
}

impl<'c> Write<'c> {
    /// What is done with it.
    pub fn operation(&self) -> Operation {
        match get!(self, Write, operation) {
            abi::WRITE_CREATE => Operation::Create,
            abi::WRITE_DELETE => Operation::Delete,
            _ => Operation::Update,
        }
    }
    /// `GROUP/VERSION`, or `VERSION` for the core group.
    pub fn api_version(&self) -> &'c str {
        text!(self, Write, api_version)
    }
    /// Its kind.
    pub fn kind(&self) -> &'c str {
        text!(self, Write, kind)
    }
    /// JSON as it would be stored; empty on delete.
    pub fn object(&self) -> &'c str {
        text!(self, Write, object)
    }
    /// JSON as it is stored; empty on create.
    pub fn old(&self) -> &'c str {
        text!(self, Write, old)
    }
    /// Who writes; empty: the host itself, or one that is older than this.
    pub fn user(&self) -> &'c str {
        text!(self, Write, user)
    }
}

impl FieldErrors<'_> {
    /// `path` as `spec.x[0].y`; `value` as JSON, may be empty; `detail` says what is allowed.
    pub fn add(&mut self, problem: FieldProblem, path: &str, value: &str, detail: &str) {
        let kind = match problem {
            FieldProblem::Invalid => abi::FIELD_INVALID,
            FieldProblem::Required => abi::FIELD_REQUIRED,
            FieldProblem::Forbidden => abi::FIELD_FORBIDDEN,
            FieldProblem::NotSupported => abi::FIELD_NOT_SUPPORTED,
            FieldProblem::Duplicate => abi::FIELD_DUPLICATE,
        };
        tell!(
            self,
            FieldErrorSink,
            error,
            kind,
            to_abi(path),
            to_abi(value),
            to_abi(detail)
        );
    }
}

impl<'c> Check<'c> {
    /// The AdmissionCheck's name.
    pub fn name(&self) -> &'c str {
        text!(self, Check, name)
    }
    /// It was deleted, or is another controller's now.
    pub fn gone(&self) -> bool {
        get!(self, Check, gone) == 1
    }
    /// The object; empty when it is gone.
    pub fn json(&self) -> &'c str {
        text!(self, Check, json)
    }
}

impl Activity<'_> {
    /// It can be carried out. `reason` is CamelCase.
    pub fn active(&mut self, reason: &str, message: &str) {
        tell!(
            self,
            ActivitySink,
            active,
            1,
            to_abi(reason),
            to_abi(message)
        );
    }
    /// It cannot: workloads of its queues wait. `reason` is CamelCase, such as `BadParametersRef`.
    pub fn inactive(&mut self, reason: &str, message: &str) {
        tell!(
            self,
            ActivitySink,
            active,
            0,
            to_abi(reason),
            to_abi(message)
        );
    }
}

impl<'c> CheckQuery<'c> {
    /// Whose attempt it is.
    pub fn workload(&self) -> Workload<'c> {
        workload!(self, CheckQuery, workload)
    }
    /// The workload as JSON, v1beta2, with its present status.
    pub fn workload_json(&self) -> &'c str {
        text!(self, CheckQuery, workload_json)
    }
    /// The AdmissionCheck's name.
    pub fn check(&self) -> &'c str {
        text!(self, CheckQuery, check)
    }
    /// The AdmissionCheck.
    pub fn check_json(&self) -> &'c str {
        text!(self, CheckQuery, check_json)
    }
    /// How often this check was tried before for this workload.
    pub fn retry_count(&self) -> i32 {
        get!(self, CheckQuery, retry_count)
    }
    /// To keep, and to report with.
    pub fn attempt(&self) -> CheckAttempt {
        let workload = self.workload();
        CheckAttempt {
            namespace: workload.namespace().into(),
            workload: workload.name().into(),
            uid: workload.uid().into(),
            check: self.check().into(),
            attempt: get!(self, CheckQuery, attempt),
        }
    }
}

impl<'c> CheckCancel<'c> {
    /// Which one.
    pub fn attempt(&self) -> CheckAttempt {
        CheckAttempt {
            namespace: text!(self, CheckCancel, namespace_of).into(),
            workload: text!(self, CheckCancel, name).into(),
            uid: text!(self, CheckCancel, uid).into(),
            check: text!(self, CheckCancel, check).into(),
            attempt: get!(self, CheckCancel, attempt),
        }
    }
    /// A sentence for logs.
    pub fn why(&self) -> &'c str {
        text!(self, CheckCancel, why)
    }
}

/// The object that reconcile() is to look at; `None`: it is at another place (`remote`).
///
/// # Safety
/// The struct is the host's, valid during the call, inside of a hook.
pub(super) unsafe fn object_of(raw: *const abi::Reconcile) -> Option<ObjectRef> {
    // SAFETY: as the caller says; the texts are copied.
    unsafe {
        let text = |text: Option<abi::Str>| to_str(text.unwrap_or_default()).to_owned();
        let remote = text(member!(raw, abi::Reconcile, remote));
        remote.is_empty().then(|| ObjectRef {
            api_version: text(member!(raw, abi::Reconcile, api_version)),
            kind: text(member!(raw, abi::Reconcile, kind)),
            namespace: text(member!(raw, abi::Reconcile, namespace_of)),
            name: text(member!(raw, abi::Reconcile, name)),
        })
    }
}

//! What a plugin may be: `Plugin`, and one trait per extension point.
//!
//! A type provides the extension points whose traits it implements; `export_plugin!` finds them.
//! The contract of the host's threads is in the signatures: hooks of a cycle run on many threads at
//! once and get `&self` of a type that is `Sync`; all others run one at a time, never beside one of
//! a cycle, and get `&mut self`. Objects and state may be used only in the hooks that get a
//! `Turn`, and only until these return. Every panic is a fault.

use crate::boundary::{
    Activity, Check, CheckCancel, CheckQuery, Config, FieldErrors, FilterAnswer, FilterQuery, Host,
    Look, Notification, OrderAnswer, OrderQuery, Queue, Turn, VetoAnswer, VetoQuery, Workload,
    Write,
};
use crate::errors::{Fault, StartError};
use crate::values::{Again, Outcome, PositionAge, Search, SearchStep, Told};
use crate::ObjectRef;

/// A plugin: one object per instance. Several may exist at once, so keep state in it, not in
/// globals. Hooks may be called from any thread of the host, hence `Send`.
pub trait Plugin: Send + Sized + 'static {
    /// One line for `sluice plugin list`.
    const DESCRIPTION: &'static str = "";
    /// JSON Schema of the configuration; empty: it takes none. The host checks the configuration
    /// and fills in the defaults (`docs/plugins/configuration.md`).
    const CONFIG_SCHEMA: &'static str = "";

    /// Makes an instance. Of the services only log and configuration may be used here. `[load]`
    fn new(host: &Host, config: &Config<'_>) -> Result<Self, StartError>;

    /// From now on hooks are called. `[control]`
    fn activate(&mut self) -> Result<(), StartError> {
        Ok(())
    }

    /// No more hooks are called once this returned. Objects may be written when the plugin is
    /// turned off while the host goes on. Threads are joined here. `[control]`
    fn deactivate(&mut self, turn: &Turn<'_>) -> Result<(), Fault> {
        let _ = turn;
        Ok(())
    }
}

/// flavor-filter/1: which flavors are not for a pod set.
pub trait FlavorFilter: Plugin + Sync {
    /// Must not block, and answer the same for the same question. `[cycle]`
    fn filter(&self, query: &FilterQuery<'_>, answer: &mut FilterAnswer<'_>) -> Result<(), Fault>;

    /// Part of the workload's shape. To be written when the answer depends on more than pod sets
    /// and priority: a workload is parked together with its equals. `[control]`
    fn shape_key(&mut self, workload: &Workload<'_>) -> Result<String, Fault> {
        let _ = workload;
        Ok(String::new())
    }
}

/// flavor-search/1: how far the walk through the flavors goes, and which result is better.
pub trait FlavorSearch: Plugin + Sync {
    /// `[cycle]`
    fn after_flavor(&self, step: &SearchStep) -> Result<Search, Fault>;
    /// Whether `a` is strictly better than `b`. `[cycle]`
    fn better(&self, queue: u32, a: Outcome, b: Outcome) -> Result<bool, Fault>;
    /// Whether the recorded position still holds. `[cycle]`
    fn keep_position(&self, age: &PositionAge) -> Result<bool, Fault>;
}

/// preemption-veto/1: who may not preempt, and who may not be preempted.
pub trait PreemptionVeto: Plugin + Sync {
    /// `[cycle]`
    fn veto(&self, query: &VetoQuery<'_>, answer: &mut VetoAnswer<'_>) -> Result<(), Fault>;
}

/// queue-watch/1: the ClusterQueues, once each and again on change.
pub trait QueueWatch: Plugin {
    /// `[control]`
    fn queue_changed(&mut self, queue: &Queue<'_>) -> Result<(), Fault>;
}

/// queue-order/1: keys of LocalQueues and workloads, the lower first.
pub trait QueueOrder: Plugin {
    /// The key of all workloads of a LocalQueue. `[control]`
    fn local_queue(
        &mut self,
        query: &OrderQuery<'_>,
        answer: &mut OrderAnswer<'_>,
    ) -> Result<(), Fault> {
        let _ = (query, answer);
        Ok(())
    }
    /// The key of one workload among those of its LocalQueue. `[control]`
    fn workload(
        &mut self,
        workload: &Workload<'_>,
        answer: &mut OrderAnswer<'_>,
    ) -> Result<(), Fault> {
        let _ = (workload, answer);
        Ok(())
    }
}

/// post-admit/1: what was decided, after it was committed.
pub trait PostAdmit: Plugin {
    /// May come twice for the same. `[control]`
    fn notify(&mut self, turn: &Turn<'_>, what: &Notification<'_>) -> Result<Told, Fault>;
    /// Of which events it wants to be told: the name of the event, and ` claimed` behind it where
    /// only workloads matter that the plugin claims (`workload-traits/1`). None: of all. `[load]`
    fn events(&self) -> Vec<String> {
        Vec::new()
    }
}

/// timers/1: called when a timer is due that was set with `Host::set_timer`.
pub trait Timers: Plugin {
    /// `now` is the time of the host's clock. `[control]`
    fn fired(&mut self, turn: &Turn<'_>, timer: u64, now: i64) -> Result<(), Fault>;
}

/// schema/1: fields that the plugin adds, and kinds.
pub trait Schema: Plugin {
    /// A JSON list of contributions (`docs/plugins/schema.md`). `[load]`
    fn contribute(&self) -> Result<String, Fault>;
}

/// validator/1: defaults and validates an object when it is written.
pub trait Validator: Plugin {
    /// `GROUP/KIND` (or `KIND`) of what it wants to see; words behind it, see ext/validator.h, say
    /// of which objects API servers ask. `[load]`
    fn kinds(&self) -> Vec<String>;
    /// The whole object with defaults filled in, as JSON; `None`: there is nothing to change. Not
    /// asked on delete. `[control]`
    fn set_defaults(&mut self, write: &Write<'_>) -> Result<Option<String>, Fault> {
        let _ = write;
        Ok(None)
    }
    /// Accepts the write by reporting no error. `[control]`
    fn validate(
        &mut self,
        look: &Look<'_>,
        write: &Write<'_>,
        errors: &mut FieldErrors<'_>,
    ) -> Result<(), Fault>;
}

/// check-controller/1: answers for AdmissionChecks. What became of an attempt is told with
/// `Host::report`, from any thread.
pub trait CheckController: Plugin {
    /// The values of `spec.controllerName` that it answers for. `[load]`
    fn controllers(&self) -> Vec<String>;
    /// An AdmissionCheck of such a name exists, changed or is gone. `[control]`
    fn check_changed(
        &mut self,
        turn: &Turn<'_>,
        check: &Check<'_>,
        activity: &mut Activity<'_>,
    ) -> Result<(), Fault> {
        let _ = (turn, check, activity);
        Ok(())
    }
    /// Starts the attempt, or goes on with it: comes again after a restart. Must not wait for the
    /// result. `[control]`
    fn begin(&mut self, turn: &Turn<'_>, query: &CheckQuery<'_>) -> Result<(), Fault>;
    /// Stops what was started; may be an attempt that was never seen. `[control]`
    fn cancel(&mut self, turn: &Turn<'_>, cancel: &CheckCancel<'_>) -> Result<(), Fault>;
    /// What there is to say of an attempt beside its state, for whoever asks why the workload
    /// waits: a sentence each. It names nothing that the workload's own object does not. `[control]`
    fn explain(&mut self, look: &Look<'_>, query: &CheckQuery<'_>) -> Result<Vec<String>, Fault> {
        let _ = (look, query);
        Ok(Vec::new())
    }
}

/// controller/1: keeps objects in line with other objects.
pub trait Controller: Plugin {
    /// The kinds that it watches, `GROUP/VERSION KIND` each, see ext/controller.h. `[load]`
    fn kinds(&self) -> Vec<String>;
    /// Brings one object into line. It may be gone. All writes of a call take effect together when
    /// it answers `Ok`, and none when it does not. `[control]`
    fn reconcile(&mut self, turn: &Turn<'_>, what: &ObjectRef) -> Result<Again, Fault>;
}

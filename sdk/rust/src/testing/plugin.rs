//! TestedPlugin: every question that a host asks, in plain values.

use super::capacity::{FakeClusterQueue, FakeFlavor};
use super::host::FakeHost;
use super::workload::FakeWorkload;
use crate::boundary::{Exported, FakeCalls};
use crate::errors::{Fault, StartError};
use crate::json::Json;
use crate::values::{
    Again, Event, FieldProblem, ObjectRef, Operation, Outcome, PositionAge, Search, SearchStep,
    Told,
};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::time::Duration;

/// A flavor that a filter skips.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Skip {
    pub flavor: String,
    pub reason: String,
}

/// What a veto says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VetoGiven {
    /// The reason.
    pub may_not_preempt: Option<String>,
    /// Numbers of candidates.
    pub protects: Vec<usize>,
    /// Why, by number, where it says so.
    pub because: BTreeMap<usize, String>,
}

/// The key of a LocalQueue or workload; 0 where the plugin says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct KeyGiven {
    pub key: i64,
    pub because: String,
}

/// One attempt at a check; the first one at a check `check`, until a test says otherwise.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FakeAttempt {
    pub check: String,
    pub check_json: String,
    pub attempt: u64,
    pub retry_count: i32,
}

impl Default for FakeAttempt {
    fn default() -> Self {
        FakeAttempt {
            check: "check".into(),
            check_json: "{}".into(),
            attempt: 1,
            retry_count: 0,
        }
    }
}

/// An object that is written, as JSON; `old` is empty when it is created.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FakeWrite {
    pub operation: Operation,
    pub api_version: String,
    pub kind: String,
    pub object: String,
    pub old: String,
    /// Who writes.
    pub user: String,
}

impl FakeWrite {
    /// An object that is created.
    pub fn create(api_version: &str, kind: &str, object: &str) -> Self {
        FakeWrite {
            operation: Operation::Create,
            api_version: api_version.into(),
            kind: kind.into(),
            object: object.into(),
            old: String::new(),
            user: "somebody".into(),
        }
    }
}

/// What a validator says is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct FieldError {
    pub problem: FieldProblem,
    pub path: String,
    pub value: String,
    pub detail: String,
}

/// One instance of a plugin on a fake host. It is turned off and ended when it is dropped.
pub struct TestedPlugin<'h, T> {
    host: &'h FakeHost,
    calls: FakeCalls<'h>,
    of: PhantomData<T>,
}

/// The configuration with the defaults of its schema.
fn filled_in(mut config: Json, schema: &Json) -> Json {
    for (name, property) in schema.member("properties").map_or(&[][..], Json::members) {
        if let (None, Some(default)) = (config.member(name), property.member("default")) {
            config.set(name, default.clone());
        }
        if property.member("properties").is_some() && config.member(name).is_some() {
            let inner = config.entry(name);
            *inner = filled_in(std::mem::take(inner), property);
        }
    }
    config
}

/// Skips by the names of their flavors.
fn named(skips: Vec<(u32, String)>, flavors: &[&str]) -> Result<Vec<Skip>, Fault> {
    let name = |flavor: u32| match flavors.get(flavor as usize) {
        Some(&name) => Ok(name.into()),
        None => Err(Fault::new(format!(
            "it skips flavor {flavor} of {}",
            flavors.len()
        ))),
    };
    skips
        .into_iter()
        .map(|(flavor, reason)| {
            Ok(Skip {
                flavor: name(flavor)?,
                reason,
            })
        })
        .collect()
}

impl<'h, T: Exported> TestedPlugin<'h, T> {
    /// create() and activate(). `config` is JSON; the defaults are filled in.
    pub fn start(host: &'h FakeHost, config: &str) -> Result<Self, StartError> {
        let schema = if T::CONFIG_SCHEMA.is_empty() {
            "{}"
        } else {
            T::CONFIG_SCHEMA
        };
        let schema = Json::parse(schema).expect("the schema of the configuration is JSON");
        let config = Json::parse(config).expect("the configuration is JSON");
        let calls = FakeCalls::start::<T>(host.tables(), filled_in(config, &schema))?;
        Ok(TestedPlugin {
            host,
            calls,
            of: PhantomData,
        })
    }

    /// flavor-filter/1, for the first pod set.
    pub fn filter(
        &mut self,
        workload: &FakeWorkload,
        flavors: &[&str],
    ) -> Result<Vec<Skip>, Fault> {
        self.filter_pod_set(workload, 0, flavors)
    }

    /// flavor-filter/1, for a pod set by its number.
    pub fn filter_pod_set(
        &mut self,
        workload: &FakeWorkload,
        pod_set: u32,
        flavors: &[&str],
    ) -> Result<Vec<Skip>, Fault> {
        let skips = self.calls.filter(workload, pod_set, flavors, None)?;
        named(skips, flavors)
    }

    /// flavor-filter/1, for the first pod set, with all that a host says of flavors and the queue.
    pub fn filter_with(
        &mut self,
        workload: &FakeWorkload,
        flavors: &[FakeFlavor],
        queue: &FakeClusterQueue,
    ) -> Result<Vec<Skip>, Fault> {
        let names: Vec<&str> = flavors.iter().map(|each| each.name.as_str()).collect();
        let there = Some((flavors, queue));
        named(self.calls.filter(workload, 0, &names, there)?, &names)
    }

    /// Of flavor-filter/1.
    pub fn shape_key(&mut self, workload: &FakeWorkload) -> Result<String, Fault> {
        self.calls.shape_key(workload)
    }

    /// flavor-search/1: how far the walk goes.
    pub fn after_flavor(&mut self, step: &SearchStep) -> Result<Search, Fault> {
        self.calls.after_flavor(step).map(Search::of)
    }

    /// flavor-search/1: whether `a` is better than `b`.
    pub fn better(&mut self, a: Outcome, b: Outcome) -> Result<bool, Fault> {
        self.calls.better(0, a, b)
    }

    /// flavor-search/1: whether the position still holds.
    pub fn keep_position(&mut self, age: &PositionAge) -> Result<bool, Fault> {
        self.calls.keep_position(age)
    }

    /// preemption-veto/1.
    pub fn veto(
        &mut self,
        preemptor: &FakeWorkload,
        candidates: &[&FakeWorkload],
    ) -> Result<VetoGiven, Fault> {
        self.calls.veto(preemptor, candidates, None)
    }

    /// The same with what a host says of the preemptor's queue.
    pub fn veto_with(
        &mut self,
        preemptor: &FakeWorkload,
        candidates: &[&FakeWorkload],
        queue: &FakeClusterQueue,
    ) -> Result<VetoGiven, Fault> {
        self.calls.veto(preemptor, candidates, Some(queue))
    }

    /// queue-watch/1.
    pub fn queue_changed(&mut self, id: u32, name: &str, json: &str) -> Result<(), Fault> {
        self.calls.queue_changed(id, name, json)
    }

    /// queue-order/1: the key of a LocalQueue (`NAMESPACE/NAME`).
    pub fn local_queue_key(
        &mut self,
        cluster_queue: &str,
        local_queue: &str,
    ) -> Result<KeyGiven, Fault> {
        self.calls.local_queue_key(cluster_queue, local_queue)
    }

    /// queue-order/1: the key of a workload.
    pub fn workload_key(&mut self, workload: &FakeWorkload) -> Result<KeyGiven, Fault> {
        self.calls.workload_key(workload)
    }

    /// post-admit/1.
    pub fn notify(
        &mut self,
        event: Event,
        workload: &FakeWorkload,
        reason: &str,
    ) -> Result<Told, Fault> {
        self.calls.notify(event, workload, reason)
    }

    /// schema/1.
    pub fn schema(&mut self) -> Result<String, Fault> {
        self.calls.schema()
    }

    /// validator/1: the kinds that it wants to see.
    pub fn validated_kinds(&mut self) -> Result<Vec<String>, Fault> {
        self.calls.validated_kinds()
    }

    /// validator/1; `None`: there is nothing to change.
    pub fn set_defaults(&mut self, write: &FakeWrite) -> Result<Option<String>, Fault> {
        self.calls.set_defaults(write)
    }

    /// validator/1: what is wrong.
    pub fn validate(&mut self, write: &FakeWrite) -> Result<Vec<FieldError>, Fault> {
        self.calls.validate(write)
    }

    /// check-controller/1: the names that it answers for.
    pub fn controllers(&mut self) -> Result<Vec<String>, Fault> {
        self.calls.controllers()
    }

    /// check-controller/1: whether the check can be carried out; reason and message.
    pub fn check_changed(
        &mut self,
        name: &str,
        json: &str,
    ) -> Result<(bool, String, String), Fault> {
        self.calls.check_changed(name, json)
    }

    /// check-controller/1.
    pub fn begin(&mut self, workload: &FakeWorkload, attempt: &FakeAttempt) -> Result<(), Fault> {
        self.calls.begin(workload, attempt)
    }

    /// check-controller/1: what it says beside the state.
    pub fn explain(
        &mut self,
        workload: &FakeWorkload,
        attempt: &FakeAttempt,
    ) -> Result<Vec<String>, Fault> {
        self.calls.explain(workload, attempt)
    }

    /// check-controller/1.
    pub fn cancel(&mut self, workload: &FakeWorkload, attempt: &FakeAttempt) -> Result<(), Fault> {
        self.calls.cancel(workload, attempt)
    }

    /// controller/1: the kinds that it watches.
    pub fn watched_kinds(&mut self) -> Result<Vec<String>, Fault> {
        self.calls.watched_kinds()
    }

    /// controller/1.
    pub fn reconcile(&mut self, object: &ObjectRef) -> Result<Again, Fault> {
        self.calls.reconcile(object)
    }

    /// Moves the clock; timers fire in order, each at its own time.
    pub fn advance(&mut self, by: Duration) -> Result<(), Fault> {
        let end = self.host.now() + i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
        loop {
            let timers = self.host.timers();
            let next = timers.iter().min_by_key(|&(&timer, &at)| (at, timer));
            match next {
                Some((&timer, &at)) if at <= end => {
                    self.host.set_now(self.host.now().max(at));
                    self.calls.fired(timer, self.host.now())?;
                }
                _ => break,
            }
        }
        self.host.set_now(end);
        Ok(())
    }
}

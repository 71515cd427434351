//! FakeHost: what a test sets and reads. The tables that the plugin sees are in the boundary.

use super::objects::FakeObjects;
use crate::boundary::FakeTables;
use crate::json::Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::MutexGuard;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// 0 debug, 1 info, 2 warning, 3 error.
    pub level: i32,
    /// What it says.
    pub text: String,
}

/// An event that the plugin emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RecordedEvent {
    pub warning: bool,
    pub about: crate::ObjectRef,
    pub reason: String,
    pub message: String,
}

/// What a plugin reported of an attempt at a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RecordedReport {
    /// `NAMESPACE/NAME`
    pub workload: String,
    pub uid: String,
    pub check: String,
    pub attempt: u64,
    /// Pending, Ready, Retry or Rejected.
    pub state: String,
    pub reason: String,
    pub message: String,
    pub requeue_after_seconds: Option<i32>,
    pub pod_set_updates: String,
}

#[derive(Clone, Debug)]
pub(crate) struct RecordedMetric {
    pub(crate) kind: i32,
    pub(crate) name: String,
    pub(crate) labels: Vec<String>,
    pub(crate) values: BTreeMap<Vec<String>, i64>,
}

/// All that a fake host holds.
pub(crate) struct Recorded {
    pub(crate) now: i64,
    pub(crate) simulated: bool,
    pub(crate) absent: BTreeSet<String>,
    pub(crate) config: Json,
    pub(crate) timers_allowed: bool,
    pub(crate) timers: BTreeMap<u64, i64>,
    pub(crate) log: Vec<LogLine>,
    pub(crate) events: Vec<RecordedEvent>,
    pub(crate) reports: Vec<RecordedReport>,
    pub(crate) requeued: Vec<String>,
    pub(crate) order_changed: Vec<String>,
    pub(crate) metrics: Vec<RecordedMetric>,
    pub(crate) objects: FakeObjects,
    pub(crate) state: BTreeMap<String, String>,
    /// The thread of a call in which objects may be used.
    pub(crate) calling: Option<ThreadId>,
    /// Why the last call failed.
    pub(crate) fault: String,
}

impl Recorded {
    pub(crate) fn add_metric(&mut self, kind: i32, name: String, labels: Vec<String>) {
        self.metrics.push(RecordedMetric {
            kind,
            name,
            labels,
            values: BTreeMap::new(),
        });
    }
}

/// A host for unit tests. Its clock stands at 2026-01-01T00:00:00Z.
pub struct FakeHost {
    tables: Box<FakeTables>,
}

impl Default for FakeHost {
    fn default() -> Self {
        FakeHost::new()
    }
}

impl FakeHost {
    /// 2026-01-01T00:00:00Z
    pub const START: i64 = 1_767_225_600_000_000_000;

    /// With all services, and no objects.
    pub fn new() -> Self {
        FakeHost {
            tables: FakeTables::new(Recorded {
                now: Self::START,
                simulated: false,
                absent: BTreeSet::new(),
                config: Json::object(),
                timers_allowed: false,
                timers: BTreeMap::new(),
                log: Vec::new(),
                events: Vec::new(),
                reports: Vec::new(),
                requeued: Vec::new(),
                order_changed: Vec::new(),
                metrics: Vec::new(),
                objects: FakeObjects::default(),
                state: BTreeMap::new(),
                calling: None,
                fault: String::new(),
            }),
        }
    }

    pub(crate) fn tables(&self) -> &FakeTables {
        &self.tables
    }

    fn read(&self) -> MutexGuard<'_, Recorded> {
        self.tables.recorded()
    }

    /// From now on this host does not have the service (`clock/1`), as an older one.
    pub fn without(&self, service: &str) {
        self.read().absent.insert(service.into());
    }
    /// Says whether this is a simulation, in which a plugin must have no effect outside.
    pub fn simulate(&self, simulated: bool) {
        self.read().simulated = simulated;
    }

    /// Nanoseconds since 1970 UTC.
    pub fn now(&self) -> i64 {
        self.read().now
    }
    /// Sets the clock; fires nothing. See also `TestedPlugin::advance`.
    pub fn set_now(&self, now: i64) {
        self.read().now = now;
    }
    /// When each timer that is set is due.
    pub fn timers(&self) -> BTreeMap<u64, i64> {
        self.read().timers.clone()
    }

    /// The log of the plugin.
    pub fn log(&self) -> Vec<LogLine> {
        self.read().log.clone()
    }
    /// Its events.
    pub fn events(&self) -> Vec<RecordedEvent> {
        self.read().events.clone()
    }
    /// Its reports of checks, in order.
    pub fn reports(&self) -> Vec<RecordedReport> {
        self.read().reports.clone()
    }
    /// What was reported last of this workload (`NAMESPACE/NAME`); empty without a report.
    pub fn state_of(&self, workload: &str, check: &str) -> String {
        let of = |report: &&RecordedReport| report.workload == workload && report.check == check;
        self.read()
            .reports
            .iter()
            .rev()
            .find(of)
            .map_or(String::new(), |last| last.state.clone())
    }
    /// Workloads that it had requeued, in order.
    pub fn requeued(&self) -> Vec<String> {
        self.read().requeued.clone()
    }
    /// LocalQueues whose key it said to be another one, in order.
    pub fn order_changed(&self) -> Vec<String> {
        self.read().order_changed.clone()
    }
    /// 0 when it was never written.
    pub fn metric(&self, name: &str, labels: &[&str]) -> i64 {
        let labels: Vec<String> = labels.iter().map(|&label| label.into()).collect();
        let read = self.read();
        let metric = read.metrics.iter().find(|metric| metric.name == name);
        metric
            .and_then(|metric| metric.values.get(&labels))
            .copied()
            .unwrap_or(0)
    }

    /// Creates or replaces an object, as `kubectl apply` would; as it is then.
    pub fn put_object(&self, json: &str) -> Json {
        let object = Json::parse(json).unwrap_or_else(|error| panic!("{error}: {json}"));
        self.read().objects.put(object)
    }
    /// An object, by kind, namespace (empty: cluster-wide) and name.
    pub fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<Json> {
        self.read().objects.find(kind, namespace, name).cloned()
    }
    /// Deletes an object and what it owns; false: there was none.
    pub fn remove_object(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.read()
            .objects
            .remove(kind, namespace, name, "")
            .is_ok()
    }
    /// The plugin's own keys and values.
    pub fn state(&self) -> BTreeMap<String, String> {
        self.read().state.clone()
    }

    /// Waits, in real time, for something that a thread of the plugin does; false: it did not come.
    pub fn wait_until(&self, mut condition: impl FnMut(&FakeHost) -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        while !condition(self) {
            if Instant::now() > end {
                return condition(self);
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        true
    }
}

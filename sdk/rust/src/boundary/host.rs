//! The services that may be used from anywhere, at any time.

use super::text::{collected, to_abi};
use crate::abi;
use crate::errors::StartError;
use crate::values::{CheckAnswer, CheckAttempt, ObjectRef};
use core::mem::size_of;
use std::sync::{Arc, PoisonError, RwLock};

/// The tables of the host. Those that it does not have are NULL.
#[derive(Clone, Copy)]
pub(super) struct Tables {
    pub(super) host: *const abi::Host,
    log: *const abi::Log,
    clock: *const abi::Clock,
    config: *const abi::Config,
    events: *const abi::Events,
    metrics: *const abi::Metrics,
    requeue: *const abi::Requeue,
    checks: *const abi::CheckReporter,
    pub(super) objects: *const abi::Objects,
    pub(super) state: *const abi::State,
}

// SAFETY: the tables are constants of the host, and their functions that are used through `Host`
// are tagged [any]; those tagged [control] (objects, state) are used through `Turn` only, which
// stays on the thread of its call.
unsafe impl Send for Tables {}
// SAFETY: as above.
unsafe impl Sync for Tables {}

/// The host: log, clock, reports, metrics. A handle to keep, to clone and to use on any thread.
///
/// Once the plugin has ended it is silent: reports are refused, the clock stands at 0. A service
/// that the host does not have is silent in the same way.
#[derive(Clone)]
pub struct Host {
    open: Arc<RwLock<Option<Tables>>>,
}

/// A metric of the plugin's own.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    number: u32,
}

impl Host {
    /// # Safety
    /// The table is valid until close() returned.
    pub(super) unsafe fn new(host: *const abi::Host) -> Self {
        // SAFETY: create() is under way, so the table is valid, and service() may be called.
        let find = |id: &str| unsafe {
            match member!(host, abi::Host, service) {
                Some(Some(service)) => service(host, to_abi(id)),
                _ => core::ptr::null(),
            }
        };
        let tables = Tables {
            host,
            log: find(abi::SVC_LOG).cast(),
            clock: find(abi::SVC_CLOCK).cast(),
            config: find(abi::SVC_CONFIG).cast(),
            events: find(abi::SVC_EVENTS).cast(),
            metrics: find(abi::SVC_METRICS).cast(),
            requeue: find(abi::SVC_REQUEUE).cast(),
            checks: find(abi::SVC_CHECK_REPORTER).cast(),
            objects: find(abi::SVC_OBJECTS).cast(),
            state: find(abi::SVC_STATE).cast(),
        };
        Host {
            open: Arc::new(RwLock::new(Some(tables))),
        }
    }

    /// Waits for calls of other threads; from then on nothing reaches the host.
    pub(super) fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// `absent` when the plugin has ended.
    pub(super) fn with<R>(&self, absent: R, call: impl FnOnce(&Tables) -> R) -> R {
        match &*self.open.read().unwrap_or_else(PoisonError::into_inner) {
            Some(tables) => call(tables),
            None => absent,
        }
    }

    /// Why the call that runs on this thread is about to fail.
    pub(super) fn report_fault(&self, text: &str) {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with((), |t| unsafe {
            if let Some(Some(report)) = member!(t.host, abi::Host, report_fault) {
                report(t.host, to_abi(text));
            }
        });
    }

    fn log(&self, level: i32, text: &str) {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with((), |t| unsafe {
            if let Some(Some(write)) = member!(t.log, abi::Log, write) {
                write(t.host, level, to_abi(text));
            }
        });
    }

    /// A line in the host's log.
    pub fn debug(&self, text: &str) {
        self.log(abi::LOG_DEBUG, text);
    }
    /// A line in the host's log.
    pub fn info(&self, text: &str) {
        self.log(abi::LOG_INFO, text);
    }
    /// A line in the host's log.
    pub fn warn(&self, text: &str) {
        self.log(abi::LOG_WARNING, text);
    }
    /// A line in the host's log.
    pub fn error(&self, text: &str) {
        self.log(abi::LOG_ERROR, text);
    }

    /// Nanoseconds since 1970 UTC, on the one clock that there is: never ask the machine.
    pub fn now(&self) -> i64 {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with(0, |t| unsafe {
            match member!(t.clock, abi::Clock, now) {
                Some(Some(now)) => now(t.host),
                _ => 0,
            }
        })
    }

    /// `Timers::fired` is called at `at` or, when that has passed, in the next instant; a timer of
    /// the same number is moved. False: the plugin has no `Timers`, or the host no clock.
    pub fn set_timer(&self, timer: u64, at: i64) -> bool {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with(false, |t| unsafe {
            match member!(t.clock, abi::Clock, set_timer) {
                Some(Some(set)) => set(t.host, timer, at) == abi::OK,
                _ => false,
            }
        })
    }

    /// A timer that is not set is no error.
    pub fn cancel_timer(&self, timer: u64) {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with((), |t| unsafe {
            if let Some(Some(cancel)) = member!(t.clock, abi::Clock, cancel_timer) {
                cancel(t.host, timer);
            }
        });
    }

    /// In a simulation nothing outside is real: start no program, send nothing.
    pub fn simulated(&self) -> bool {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with(false, |t| unsafe {
            match member!(t.clock, abi::Clock, is_virtual) {
                Some(Some(is_virtual)) => is_virtual(t.host) == 1,
                _ => false,
            }
        })
    }

    /// What became of an attempt. An error: the host refuses the report, with its sentence.
    pub fn report(&self, attempt: &CheckAttempt, answer: &CheckAnswer) -> Result<(), String> {
        let (mut after, mut reason, mut updates) = (-1, "", "");
        match answer {
            CheckAnswer::Retry {
                after_seconds: Some(seconds),
                ..
            } => {
                after = i32::try_from(*seconds).unwrap_or(i32::MAX);
            }
            CheckAnswer::Pending {
                preemption_required: true,
                ..
            } => reason = "PreemptionRequired",
            CheckAnswer::Ready {
                pod_set_updates, ..
            } => updates = pod_set_updates,
            _ => {}
        }
        let raw = abi::CheckReport {
            size: size_of::<abi::CheckReport>() as u32,
            requeue_after_seconds: after,
            attempt: attempt.attempt,
            namespace_of: to_abi(&attempt.namespace),
            name: to_abi(&attempt.workload),
            uid: to_abi(&attempt.uid),
            check: to_abi(&attempt.check),
            state: to_abi(answer.state()),
            reason: to_abi(reason),
            message: to_abi(answer.message()),
            pod_set_updates: to_abi(updates),
        };
        self.with(Err("the plugin has ended".into()), |t| {
            // SAFETY: the table is valid while with() runs; the function is [any].
            let report = match unsafe { member!(t.checks, abi::CheckReporter, report) } {
                Some(Some(report)) => report,
                _ => return Err("this host takes no reports of checks".into()),
            };
            // SAFETY: as above; the texts outlive the call.
            match collected(|error| unsafe { report(t.host, &raw, error) }) {
                (abi::OK, _) => Ok(()),
                (_, why) => Err(why),
            }
        })
    }

    /// A parked workload (`NAMESPACE/NAME`) gets another turn: a skip or a veto may have ended.
    pub fn requeue(&self, workload: &str) {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with((), |t| unsafe {
            if let Some(Some(requeue)) = member!(t.requeue, abi::Requeue, requeue) {
                requeue(t.host, to_abi(workload));
            }
        });
    }

    /// The key of a LocalQueue (`NAMESPACE/NAME`) is another one now.
    pub fn order_changed(&self, local_queue: &str) {
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with((), |t| unsafe {
            if let Some(Some(changed)) = member!(t.requeue, abi::Requeue, order_changed) {
                changed(t.host, to_abi(local_queue));
            }
        });
    }

    /// A Kubernetes event about an object; `reason` is CamelCase, `message` a sentence.
    pub fn event(&self, warning: bool, about: &ObjectRef, reason: &str, message: &str) {
        let raw = abi::Event {
            size: size_of::<abi::Event>() as u32,
            warning: i32::from(warning),
            api_version: to_abi(&about.api_version),
            kind: to_abi(&about.kind),
            namespace_of: to_abi(&about.namespace),
            name: to_abi(&about.name),
            reason: to_abi(reason),
            message: to_abi(message),
        };
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with((), |t| unsafe {
            if let Some(Some(emit)) = member!(t.events, abi::Events, emit) {
                emit(t.host, &raw);
            }
        });
    }

    /// A counter, exported as `sluice_plugin_PLUGIN_NAME`.
    pub fn counter(&self, name: &str, help: &str, labels: &[&str]) -> Result<Metric, StartError> {
        self.metric(abi::METRIC_COUNTER, name, help, labels)
    }
    /// A gauge, exported as `sluice_plugin_PLUGIN_NAME`.
    pub fn gauge(&self, name: &str, help: &str, labels: &[&str]) -> Result<Metric, StartError> {
        self.metric(abi::METRIC_GAUGE, name, help, labels)
    }

    fn metric(
        &self,
        kind: i32,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> Result<Metric, StartError> {
        let labels: Vec<abi::Str> = labels.iter().map(|label| to_abi(label)).collect();
        let raw = abi::MetricSpec {
            size: size_of::<abi::MetricSpec>() as u32,
            kind,
            unit: abi::UNIT_NONE,
            label_count: labels.len() as u32,
            name: to_abi(name),
            help: to_abi(help),
            labels: labels.as_ptr(),
        };
        let mut number = 0;
        // SAFETY: the table is valid while with() runs; the function is [any].
        let code = self.with(abi::OK, |t| unsafe {
            match member!(t.metrics, abi::Metrics, register_metric) {
                Some(Some(register)) => register(t.host, &raw, &mut number),
                _ => abi::OK,
            }
        });
        match code {
            abi::OK => Ok(Metric { number }),
            _ => Err(StartError::Failed(format!(
                "the host refuses the metric {name}"
            ))),
        }
    }

    /// Adds to a counter or gauge; one value per label. False: the host refuses it.
    pub fn add(&self, metric: Metric, values: &[&str], delta: i64) -> bool {
        let values: Vec<abi::Str> = values.iter().map(|value| to_abi(value)).collect();
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with(true, |t| unsafe {
            match member!(t.metrics, abi::Metrics, add) {
                Some(Some(add)) => {
                    let count = values.len() as u32;
                    add(t.host, metric.number, values.as_ptr(), count, delta) == abi::OK
                }
                _ => true,
            }
        })
    }

    /// Sets a gauge; one value per label. False: the host refuses it.
    pub fn set(&self, metric: Metric, values: &[&str], value: i64) -> bool {
        let values: Vec<abi::Str> = values.iter().map(|value| to_abi(value)).collect();
        // SAFETY: the table is valid while with() runs; the function is [any].
        self.with(true, |t| unsafe {
            match member!(t.metrics, abi::Metrics, set) {
                Some(Some(set)) => {
                    let count = values.len() as u32;
                    set(t.host, metric.number, values.as_ptr(), count, value) == abi::OK
                }
                _ => true,
            }
        })
    }
}

/// The plugin's configuration, checked against its schema, defaults filled in.
///
/// By JSON pointer (RFC 6901): `/key/0/key`; the empty one is the whole document. `None`: there is
/// no value of that type.
pub struct Config<'c> {
    host: &'c Host,
    text: &'c str,
}

impl<'c> Config<'c> {
    pub(super) fn new(host: &'c Host, text: &'c str) -> Self {
        Config { host, text }
    }

    /// The whole configuration as JSON, as create() got it; for those who parse it.
    pub fn text(&self) -> &'c str {
        self.text
    }

    /// A text, without quotes.
    pub fn string(&self, pointer: &str) -> Option<String> {
        self.host.with(None, |t| {
            // SAFETY: the table is valid while with() runs; the function is [any].
            let get = unsafe { member!(t.config, abi::Config, get_string) }??;
            // SAFETY: as above.
            match collected(|out| unsafe { get(t.host, to_abi(pointer), out) }) {
                (1, text) => Some(text),
                _ => None,
            }
        })
    }

    /// A whole number.
    pub fn int(&self, pointer: &str) -> Option<i64> {
        let mut out = 0;
        // SAFETY: the table is valid while with() runs; the function is [any].
        let found = self.host.with(0, |t| unsafe {
            match member!(t.config, abi::Config, get_int) {
                Some(Some(get)) => get(t.host, to_abi(pointer), &mut out),
                _ => 0,
            }
        });
        (found == 1).then_some(out)
    }

    /// True or false.
    pub fn bool(&self, pointer: &str) -> Option<bool> {
        let mut out = 0;
        // SAFETY: the table is valid while with() runs; the function is [any].
        let found = self.host.with(0, |t| unsafe {
            match member!(t.config, abi::Config, get_bool) {
                Some(Some(get)) => get(t.host, to_abi(pointer), &mut out),
                _ => 0,
            }
        });
        (found == 1).then_some(out != 0)
    }

    /// Any value, as JSON.
    pub fn json(&self, pointer: &str) -> Option<String> {
        self.host.with(None, |t| {
            // SAFETY: the table is valid while with() runs; the function is [any].
            let get = unsafe { member!(t.config, abi::Config, get_json) }??;
            // SAFETY: as above.
            match collected(|out| unsafe { get(t.host, to_abi(pointer), out) }) {
                (1, text) => Some(text),
                _ => None,
            }
        })
    }
}

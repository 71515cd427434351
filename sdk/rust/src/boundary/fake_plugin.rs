//! One instance of a plugin, called through its C tables, for `testing::TestedPlugin`.

use super::fake_capacity::{flavor_handle, queue_handle, FLAVOR_API, QUEUE_API};
use super::fake_host::{text_of, FakeTables};
use super::fake_workload::reference;
use super::instance::Root;
use super::text::{collected, to_abi};
use super::thunks::Exported;
use crate::abi;
use crate::errors::{Fault, StartError};
use crate::json::Json;
use crate::testing::{
    FakeAttempt, FakeClusterQueue, FakeFlavor, FakeWorkload, FakeWrite, FieldError, KeyGiven,
    VetoGiven,
};
use crate::values::{
    Again, Event, FieldProblem, ObjectRef, Operation, Outcome, PositionAge, SearchStep, Told,
};
use core::ffi::c_void;
use core::mem::size_of;

/// An instance that is active. It is turned off and ended when it is dropped.
pub(crate) struct FakeCalls<'h> {
    host: &'h FakeTables,
    root: *const abi::Plugin,
    instance: *mut abi::Instance,
}

/// The size that a struct of ours starts with.
fn size<T>() -> u32 {
    size_of::<T>() as u32
}

/// A sink that collects: its context is a vector on the stack of the call.
macro_rules! sink {
    ($type:ident, $into:ident, $($name:ident: $function:expr),*) => {
        abi::$type {
            size: size::<abi::$type>(),
            reserved: 0,
            context: core::ptr::from_mut(&mut $into).cast(),
            $($name: Some($function),)*
        }
    };
}

/// What a context points to.
///
/// # Safety
/// The context of a sink!() of that type, whose call runs.
unsafe fn context_of<'c, T>(context: *mut c_void) -> &'c mut T {
    // SAFETY: as the caller says.
    unsafe { &mut *context.cast() }
}

/// Handle and table of a ClusterQueue; NULL both as of an older host.
fn queue_of(
    queue: Option<&FakeClusterQueue>,
) -> (*const abi::ClusterQueueHandle, *const abi::ClusterQueueApi) {
    match queue {
        Some(queue) => (queue_handle(queue), &raw const QUEUE_API),
        None => (core::ptr::null(), core::ptr::null()),
    }
}

impl<'h> FakeCalls<'h> {
    pub(crate) fn start<T: Exported>(
        host: &'h FakeTables,
        config: Json,
    ) -> Result<Self, StartError> {
        let text = config.to_string();
        host.recorded().config = config;
        let mut calls = FakeCalls {
            host,
            root: Root::<T>::table(),
            instance: core::ptr::null_mut(),
        };
        let mut instance = core::ptr::null_mut();
        let out = &raw mut instance;
        // SAFETY: the root table of a plugin, complete; all arguments outlive the call.
        calls.started(|root, error| unsafe {
            (*root).create.expect("create")(&host.table, to_abi(&text), out, error)
        })?;
        calls.instance = instance;
        let timers = !calls.table::<abi::Timers>(abi::EXT_TIMERS).is_null();
        host.recorded().timers_allowed = timers;
        // SAFETY: the instance was created.
        calls.started(|root, error| unsafe {
            (*root).activate.expect("activate")(instance, error)
        })?;
        Ok(calls)
    }

    fn started(
        &self,
        call: impl FnOnce(*const abi::Plugin, *const abi::Sink) -> i32,
    ) -> Result<(), StartError> {
        match collected(|error| call(self.root, error)) {
            (abi::OK, _) => Ok(()),
            (abi::REFUSED, why) => Err(StartError::Refused(why)),
            (_, why) => Err(StartError::Failed(why)),
        }
    }

    fn table<T>(&self, id: &str) -> *const T {
        // SAFETY: the instance was created; the table of an id is of its type.
        unsafe { (*self.root).extension.expect("extension")(self.instance, to_abi(id)).cast() }
    }

    /// Runs a hook: what it writes is kept when it succeeds. `call` gets the table of the id.
    fn hook<T>(&self, id: &str, call: impl FnOnce(*const T) -> i32) -> Result<i32, Fault> {
        let table = self.table::<T>(id);
        if table.is_null() {
            return Err(Fault::new(format!("the plugin does not provide {id}")));
        }
        let before = {
            let mut recorded = self.host.recorded();
            recorded.calling = Some(std::thread::current().id());
            recorded.fault.clear();
            (recorded.objects.clone(), recorded.state.clone())
        };
        let code = call(table);
        let mut recorded = self.host.recorded();
        recorded.calling = None;
        if code == abi::OK {
            return Ok(code);
        }
        (recorded.objects, recorded.state) = before;
        match code {
            abi::RETRY => Ok(code),
            _ => Err(Fault::new(recorded.fault.clone())),
        }
    }

    /// Runs a hook that writes a text.
    fn written<T>(
        &self,
        id: &str,
        call: impl FnOnce(*const T, *const abi::Sink) -> i32,
    ) -> Result<String, Fault> {
        let (code, text) = collected(|out| self.hook(id, |table| call(table, out)));
        code.map(|_| text)
    }

    pub(crate) fn filter(
        &self,
        workload: &FakeWorkload,
        pod_set: u32,
        flavors: &[&str],
        there: Option<(&[FakeFlavor], &FakeClusterQueue)>,
    ) -> Result<Vec<(u32, String)>, Fault> {
        unsafe extern "C" fn skip(context: *mut c_void, flavor: u32, reason: abi::Str) {
            // SAFETY: the context of the sink below; a valid text.
            unsafe { context_of::<Vec<(u32, String)>>(context).push((flavor, text_of(reason))) };
        }
        let names: Vec<abi::Str> = flavors.iter().map(|name| to_abi(name)).collect();
        let handles: Vec<_> = there
            .iter()
            .flat_map(|(flavors, _)| flavors.iter().map(flavor_handle))
            .collect();
        let (cluster_queue, cluster_queue_api) = queue_of(there.map(|(_, queue)| queue));
        let query = abi::FilterQuery {
            size: size::<abi::FilterQuery>(),
            queue: 0,
            workload: reference(workload),
            pod_set,
            flavor_count: names.len() as u32,
            flavors: names.as_ptr(),
            flavor_handles: handles.as_ptr(),
            flavor_api: match there {
                Some(_) => &raw const FLAVOR_API,
                None => core::ptr::null(),
            },
            cluster_queue,
            cluster_queue_api,
        };
        let mut skips = Vec::new();
        let sink = sink!(FilterSink, skips, skip: skip);
        self.hook(abi::EXT_FLAVOR_FILTER, |table: *const abi::FlavorFilter| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).filter.expect("filter")(self.instance, &query, &sink) }
        })?;
        Ok(skips)
    }

    pub(crate) fn shape_key(&self, workload: &FakeWorkload) -> Result<String, Fault> {
        self.written(
            abi::EXT_FLAVOR_FILTER,
            |table: *const abi::FlavorFilter, out| {
                // SAFETY: a complete table; all arguments outlive the call.
                unsafe {
                    (*table).shape_key.expect("shape_key")(self.instance, reference(workload), out)
                }
            },
        )
    }

    pub(crate) fn after_flavor(&self, step: &SearchStep) -> Result<i32, Fault> {
        let best = step.best.unwrap_or(step.current);
        let step = abi::SearchStep {
            size: size::<abi::SearchStep>(),
            queue: step.queue,
            current: step.current.raw(),
            best: best.raw(),
            has_best: i32::from(step.best.is_some()),
            reserved: 0,
        };
        self.searched(|table, out| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).after_flavor.expect("after_flavor")(self.instance, &step, out) }
        })
    }

    pub(crate) fn better(&self, queue: u32, a: Outcome, b: Outcome) -> Result<bool, Fault> {
        let size = size::<abi::SearchPair>();
        let pair = abi::SearchPair {
            size,
            queue,
            a: a.raw(),
            b: b.raw(),
        };
        let answer = self.searched(|table, out| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).better.expect("better")(self.instance, &pair, out) }
        });
        answer.map(|better| better == 1)
    }

    pub(crate) fn keep_position(&self, age: &PositionAge) -> Result<bool, Fault> {
        let age = abi::PositionAge {
            size: size::<abi::PositionAge>(),
            queue: age.queue,
            cycles: age.cycles,
            queue_generations: age.queue_generations,
            tree_generations: age.tree_generations,
        };
        let answer = self.searched(|table, out| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).keep_position.expect("keep_position")(self.instance, &age, out) }
        });
        answer.map(|keep| keep == 1)
    }

    /// Runs a hook of flavor-search/1; what it answers.
    fn searched(
        &self,
        call: impl FnOnce(*const abi::FlavorSearch, *mut i32) -> i32,
    ) -> Result<i32, Fault> {
        let mut answer = -1;
        let out = &raw mut answer;
        self.hook(abi::EXT_FLAVOR_SEARCH, |table| call(table, out))?;
        Ok(answer)
    }

    pub(crate) fn veto(
        &self,
        preemptor: &FakeWorkload,
        candidates: &[&FakeWorkload],
        queue: Option<&FakeClusterQueue>,
    ) -> Result<VetoGiven, Fault> {
        unsafe extern "C" fn may_not(context: *mut c_void, reason: abi::Str) {
            // SAFETY: the context of the sink below; a valid text.
            unsafe {
                context_of::<VetoGiven>(context).may_not_preempt = Some(text_of(reason));
            }
        }
        unsafe extern "C" fn protect(context: *mut c_void, candidate: u64) {
            // SAFETY: the context of the sink below.
            unsafe {
                context_of::<VetoGiven>(context)
                    .protects
                    .push(candidate as usize)
            };
        }
        unsafe extern "C" fn protect_because(
            context: *mut c_void,
            candidate: u64,
            reason: abi::Str,
        ) {
            // SAFETY: the context of the sink below; a valid text.
            unsafe {
                let given = context_of::<VetoGiven>(context);
                given.protects.push(candidate as usize);
                given.because.insert(candidate as usize, text_of(reason));
            }
        }
        let handles: Vec<_> = candidates
            .iter()
            .map(|each| reference(each).handle)
            .collect();
        let admitted_at: Vec<i64> = candidates
            .iter()
            .map(|each| match each.conditions.get("Admitted") {
                Some(status) if status == "True" => {
                    each.since.get("Admitted").copied().unwrap_or_default()
                }
                _ => 0,
            })
            .collect();
        let (cluster_queue, cluster_queue_api) = queue_of(queue);
        let query = abi::VetoQuery {
            size: size::<abi::VetoQuery>(),
            queue: 0,
            preemptor: reference(preemptor),
            candidate_count: handles.len() as u64,
            candidates: handles.as_ptr(),
            cluster_queue,
            cluster_queue_api,
            admitted_at: admitted_at.as_ptr(),
        };
        let mut given = VetoGiven::default();
        let sink = sink!(VetoSink, given, may_not_preempt: may_not, protect: protect,
            protect_because: protect_because);
        self.hook(
            abi::EXT_PREEMPTION_VETO,
            |table: *const abi::PreemptionVeto| {
                // SAFETY: a complete table; all arguments outlive the call.
                unsafe { (*table).veto.expect("veto")(self.instance, &query, &sink) }
            },
        )?;
        Ok(given)
    }

    pub(crate) fn queue_changed(&self, id: u32, name: &str, json: &str) -> Result<(), Fault> {
        let size = size::<abi::Queue>();
        let queue = abi::Queue {
            size,
            id,
            name: to_abi(name),
            json: to_abi(json),
        };
        self.hook(abi::EXT_QUEUE_WATCH, |table: *const abi::QueueWatch| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).queue_changed.expect("queue_changed")(self.instance, &queue) }
        })
        .map(drop)
    }

    fn key(
        &self,
        call: impl FnOnce(*const abi::QueueOrder, *const abi::OrderSink) -> i32,
    ) -> Result<KeyGiven, Fault> {
        unsafe extern "C" fn give(context: *mut c_void, key: i64, because: abi::Str) {
            // SAFETY: the context of the sink below; a valid text.
            unsafe {
                *context_of::<KeyGiven>(context) = KeyGiven {
                    key,
                    because: text_of(because),
                };
            }
        }
        let mut given = KeyGiven::default();
        let sink = sink!(OrderSink, given, key: give);
        self.hook(abi::EXT_QUEUE_ORDER, |table| call(table, &sink))?;
        Ok(given)
    }

    pub(crate) fn local_queue_key(
        &self,
        cluster_queue: &str,
        local_queue: &str,
    ) -> Result<KeyGiven, Fault> {
        let query = abi::OrderQuery {
            size: size::<abi::OrderQuery>(),
            queue: 0,
            cluster_queue: to_abi(cluster_queue),
            local_queue: to_abi(local_queue),
        };
        // SAFETY: a complete table; all arguments outlive the call.
        self.key(|table, out| unsafe {
            (*table).local_queue.expect("local_queue")(self.instance, &query, out)
        })
    }

    pub(crate) fn workload_key(&self, workload: &FakeWorkload) -> Result<KeyGiven, Fault> {
        // SAFETY: a complete table; all arguments outlive the call.
        self.key(|table, out| unsafe {
            (*table).workload.expect("workload")(self.instance, reference(workload), out)
        })
    }

    pub(crate) fn notify(
        &self,
        event: Event,
        workload: &FakeWorkload,
        reason: &str,
    ) -> Result<Told, Fault> {
        let notification = abi::Notification {
            size: size::<abi::Notification>(),
            event: event.number(),
            sequence: 1,
            workload: reference(workload),
            reason: to_abi(reason),
            other_count: 0,
            others: core::ptr::null(),
        };
        let code = self.hook(abi::EXT_POST_ADMIT, |table: *const abi::PostAdmit| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).notify.expect("notify")(self.instance, &notification) }
        })?;
        Ok(if code == abi::RETRY {
            Told::TellAgain
        } else {
            Told::Done
        })
    }

    pub(crate) fn fired(&self, timer: u64, now: i64) -> Result<(), Fault> {
        self.host.recorded().timers.remove(&timer);
        self.hook(abi::EXT_TIMERS, |table: *const abi::Timers| {
            // SAFETY: a complete table.
            unsafe { (*table).fired.expect("fired")(self.instance, timer, now) }
        })
        .map(drop)
    }

    pub(crate) fn schema(&self) -> Result<String, Fault> {
        self.written(abi::EXT_SCHEMA, |table: *const abi::Schema, out| {
            // SAFETY: a complete table; the sink outlives the call.
            unsafe { (*table).contribute.expect("contribute")(self.instance, out) }
        })
    }

    pub(crate) fn validated_kinds(&self) -> Result<Vec<String>, Fault> {
        let text = self.written(abi::EXT_VALIDATOR, |table: *const abi::Validator, out| {
            // SAFETY: a complete table; the sink outlives the call.
            unsafe { (*table).kinds.expect("kinds")(self.instance, out) }
        })?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    pub(crate) fn set_defaults(&self, write: &FakeWrite) -> Result<Option<String>, Fault> {
        let raw = raw_write(write);
        let text = self.written(abi::EXT_VALIDATOR, |table: *const abi::Validator, out| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).set_defaults.expect("set_defaults")(self.instance, &raw, out) }
        })?;
        Ok((!text.is_empty()).then_some(text))
    }

    pub(crate) fn validate(&self, write: &FakeWrite) -> Result<Vec<FieldError>, Fault> {
        unsafe extern "C" fn add(
            context: *mut c_void,
            kind: i32,
            path: abi::Str,
            value: abi::Str,
            detail: abi::Str,
        ) {
            let problem = match kind {
                abi::FIELD_REQUIRED => FieldProblem::Required,
                abi::FIELD_FORBIDDEN => FieldProblem::Forbidden,
                abi::FIELD_NOT_SUPPORTED => FieldProblem::NotSupported,
                abi::FIELD_DUPLICATE => FieldProblem::Duplicate,
                _ => FieldProblem::Invalid,
            };
            // SAFETY: the context of the sink below; valid texts.
            unsafe {
                let (path, value, detail) = (text_of(path), text_of(value), text_of(detail));
                let error = FieldError {
                    problem,
                    path,
                    value,
                    detail,
                };
                context_of::<Vec<FieldError>>(context).push(error);
            }
        }
        let raw = raw_write(write);
        let mut errors = Vec::new();
        let sink = sink!(FieldErrorSink, errors, error: add);
        self.hook(abi::EXT_VALIDATOR, |table: *const abi::Validator| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).validate.expect("validate")(self.instance, &raw, &sink) }
        })?;
        Ok(errors)
    }

    pub(crate) fn controllers(&self) -> Result<Vec<String>, Fault> {
        let id = abi::EXT_CHECK_CONTROLLER;
        let text = self.written(id, |table: *const abi::CheckController, out| {
            // SAFETY: a complete table; the sink outlives the call.
            unsafe { (*table).controllers.expect("controllers")(self.instance, out) }
        })?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    pub(crate) fn check_changed(
        &self,
        name: &str,
        json: &str,
    ) -> Result<(bool, String, String), Fault> {
        type Given = (bool, String, String);
        unsafe extern "C" fn give(
            context: *mut c_void,
            active: i32,
            reason: abi::Str,
            message: abi::Str,
        ) {
            // SAFETY: the context of the sink below; valid texts.
            unsafe {
                *context_of::<Given>(context) = (active != 0, text_of(reason), text_of(message));
            }
        }
        let size = size::<abi::Check>();
        let check = abi::Check {
            size,
            gone: 0,
            name: to_abi(name),
            json: to_abi(json),
        };
        let mut given: Given = (true, String::new(), String::new());
        let sink = sink!(ActivitySink, given, active: give);
        self.hook(
            abi::EXT_CHECK_CONTROLLER,
            |table: *const abi::CheckController| {
                // SAFETY: a complete table; all arguments outlive the call.
                unsafe {
                    (*table).check_changed.expect("check_changed")(self.instance, &check, &sink)
                }
            },
        )?;
        Ok(given)
    }

    pub(crate) fn begin(
        &self,
        workload: &FakeWorkload,
        attempt: &FakeAttempt,
    ) -> Result<(), Fault> {
        let json = workload.json().to_string();
        let query = raw_query(workload, &json, attempt);
        self.hook(
            abi::EXT_CHECK_CONTROLLER,
            |table: *const abi::CheckController| {
                // SAFETY: a complete table; all arguments outlive the call.
                unsafe { (*table).begin.expect("begin")(self.instance, &query) }
            },
        )
        .map(drop)
    }

    pub(crate) fn explain(
        &self,
        workload: &FakeWorkload,
        attempt: &FakeAttempt,
    ) -> Result<Vec<String>, Fault> {
        let json = workload.json().to_string();
        let query = raw_query(workload, &json, attempt);
        let text = self.written(
            abi::EXT_CHECK_CONTROLLER,
            |table: *const abi::CheckController, out| {
                // SAFETY: a complete table; all arguments outlive the call.
                unsafe { (*table).explain.expect("explain")(self.instance, &query, out) }
            },
        )?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    pub(crate) fn cancel(
        &self,
        workload: &FakeWorkload,
        attempt: &FakeAttempt,
    ) -> Result<(), Fault> {
        let cancel = abi::CheckCancel {
            size: size::<abi::CheckCancel>(),
            reserved: 0,
            attempt: attempt.attempt,
            namespace_of: to_abi(&workload.namespace),
            name: to_abi(&workload.name),
            uid: to_abi(&workload.uid),
            check: to_abi(&attempt.check),
            why: to_abi("the test says so"),
        };
        self.hook(
            abi::EXT_CHECK_CONTROLLER,
            |table: *const abi::CheckController| {
                // SAFETY: a complete table; all arguments outlive the call.
                unsafe { (*table).cancel.expect("cancel")(self.instance, &cancel) }
            },
        )
        .map(drop)
    }

    pub(crate) fn watched_kinds(&self) -> Result<Vec<String>, Fault> {
        let text = self.written(abi::EXT_CONTROLLER, |table: *const abi::Controller, out| {
            // SAFETY: a complete table; the sink outlives the call.
            unsafe { (*table).kinds.expect("kinds")(self.instance, out) }
        })?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    pub(crate) fn reconcile(&self, object: &ObjectRef) -> Result<Again, Fault> {
        let what = abi::Reconcile {
            size: size::<abi::Reconcile>(),
            reserved: 0,
            api_version: to_abi(&object.api_version),
            kind: to_abi(&object.kind),
            namespace_of: to_abi(&object.namespace),
            name: to_abi(&object.name),
            remote: abi::Str::default(),
        };
        let mut again = 0;
        let out = &raw mut again;
        self.hook(abi::EXT_CONTROLLER, |table: *const abi::Controller| {
            // SAFETY: a complete table; all arguments outlive the call.
            unsafe { (*table).reconcile.expect("reconcile")(self.instance, &what, out) }
        })?;
        Ok(Again::of_ms(again))
    }
}

/// REQUIRES: all three outlive what is done with it.
fn raw_query(workload: &FakeWorkload, json: &str, attempt: &FakeAttempt) -> abi::CheckQuery {
    abi::CheckQuery {
        size: size::<abi::CheckQuery>(),
        retry_count: attempt.retry_count,
        attempt: attempt.attempt,
        workload: reference(workload),
        workload_json: to_abi(json),
        check: to_abi(&attempt.check),
        check_json: to_abi(&attempt.check_json),
    }
}

/// REQUIRES: the write outlives what is done with it.
fn raw_write(write: &FakeWrite) -> abi::Write {
    abi::Write {
        size: size::<abi::Write>(),
        operation: match write.operation {
            Operation::Create => abi::WRITE_CREATE,
            Operation::Update => abi::WRITE_UPDATE,
            Operation::Delete => abi::WRITE_DELETE,
        },
        api_version: to_abi(&write.api_version),
        kind: to_abi(&write.kind),
        object: to_abi(&write.object),
        old: to_abi(&write.old),
        user: to_abi(&write.user),
    }
}

impl Drop for FakeCalls<'_> {
    fn drop(&mut self) {
        if self.instance.is_null() {
            return;
        }
        self.host.recorded().calling = Some(std::thread::current().id());
        let instance = self.instance;
        // SAFETY: the instance was created, and nobody uses it any more.
        let ended = self
            .started(|root, error| unsafe { (*root).deactivate.expect("off")(instance, error) });
        self.host.recorded().calling = None;
        // SAFETY: as above.
        unsafe { (*self.root).destroy.expect("destroy")(instance) };
        if let (Err(error), false) = (ended, std::thread::panicking()) {
            panic!("deactivate failed: {}", error.text());
        }
    }
}

//! The tables of `testing::FakeHost`: services in C terms over what it records.

use super::text::{to_abi, to_bytes};
use crate::abi;
use crate::testing::{LogLine, Recorded, RecordedEvent, RecordedReport};
use crate::values::ObjectRef;
use core::ffi::c_void;
use core::mem::size_of;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A host's table, and what stands behind it. It stays where it is: the table holds its address.
pub(crate) struct FakeTables {
    pub(super) table: abi::Host,
    recorded: Mutex<Recorded>,
}

impl FakeTables {
    pub(crate) fn new(recorded: Recorded) -> Box<Self> {
        let table = abi::Host {
            size: size_of::<abi::Host>() as u32,
            abi_major: abi::ABI_MAJOR,
            abi_minor: abi::ABI_MINOR,
            reserved: 0,
            handle: core::ptr::null_mut(),
            version: to_abi("fake"),
            service: Some(service),
            report_fault: Some(report_fault),
        };
        let mut made = Box::new(FakeTables {
            table,
            recorded: Mutex::new(recorded),
        });
        made.table.handle = core::ptr::from_mut(&mut *made).cast();
        made
    }

    /// Not to be held while the plugin is called.
    pub(crate) fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stands behind a table. Only the lock is touched, so any thread may ask.
///
/// # Safety
/// A table of a FakeTables that is alive.
unsafe fn of<'h>(host: *const abi::Host) -> MutexGuard<'h, Recorded> {
    // SAFETY: as the caller says; the lock is not moved as long as the box lives.
    unsafe {
        let fake = (*host).handle.cast::<FakeTables>();
        (*core::ptr::addr_of!((*fake).recorded))
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text of the plugin. One that is no UTF-8 is mended, as a host does.
///
/// # Safety
/// The text is valid during the call.
pub(super) unsafe fn text_of(text: abi::Str) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { to_bytes(text) }).into_owned()
}

/// Writes into a sink of the plugin, which may be NULL.
///
/// # Safety
/// NULL or a valid sink.
unsafe fn tell(sink: *const abi::Sink, text: &str) {
    // SAFETY: as the caller says.
    unsafe {
        if let Some(Some(write)) = member!(sink, abi::Sink, write) {
            write((*sink).context, to_abi(text));
        }
    }
}

unsafe extern "C" fn report_fault(host: *const abi::Host, text: abi::Str) {
    // SAFETY: the plugin gives its host's table and a valid text.
    unsafe { of(host).fault = text_of(text) };
}

unsafe extern "C" fn service(host: *const abi::Host, id: abi::Str) -> *const c_void {
    // SAFETY: the plugin gives its host's table and a valid text.
    let id = unsafe {
        let id = text_of(id);
        if of(host).absent.contains(&id) {
            return core::ptr::null();
        }
        id
    };
    match id.as_str() {
        abi::SVC_LOG => (&raw const LOG).cast(),
        abi::SVC_CLOCK => (&raw const CLOCK).cast(),
        abi::SVC_CONFIG => (&raw const CONFIG).cast(),
        abi::SVC_EVENTS => (&raw const EVENTS).cast(),
        abi::SVC_METRICS => (&raw const METRICS).cast(),
        abi::SVC_REQUEUE => (&raw const REQUEUE).cast(),
        abi::SVC_CHECK_REPORTER => (&raw const CHECKS).cast(),
        abi::SVC_OBJECTS => (&raw const OBJECTS).cast(),
        abi::SVC_STATE => (&raw const STATE).cast(),
        _ => core::ptr::null(),
    }
}

/// A function of a service: what follows runs with what the host records, and with texts.
macro_rules! serve {
    ($name:ident($host:ident $(, $argument:ident: $type:ty)*) $(-> $answer:ty)? $body:block) => {
        unsafe extern "C" fn $name($host: *const abi::Host $(, $argument: $type)*) $(-> $answer)? {
            // SAFETY: the plugin gives its host's table, and what is valid during the call.
            unsafe {
                #[allow(unused_mut)]
                let mut $host = of($host);
                $body
            }
        }
    };
}

static LOG: abi::Log = abi::Log {
    size: size_of::<abi::Log>() as u32,
    reserved: 0,
    write: Some(log),
};

serve!(log(host, level: i32, text: abi::Str) {
    let text = text_of(text);
    host.log.push(LogLine { level, text });
});

static CLOCK: abi::Clock = abi::Clock {
    size: size_of::<abi::Clock>() as u32,
    reserved: 0,
    now: Some(now),
    set_timer: Some(set_timer),
    cancel_timer: Some(cancel_timer),
    is_virtual: Some(is_virtual),
};

serve!(now(host) -> i64 { host.now });
serve!(is_virtual(host) -> i32 { i32::from(host.simulated) });
serve!(set_timer(host, timer: u64, at: i64) -> i32 {
    if !host.timers_allowed {
        return abi::FAILED;
    }
    host.timers.insert(timer, at);
    abi::OK
});
serve!(cancel_timer(host, timer: u64) {
    host.timers.remove(&timer);
});

static CONFIG: abi::Config = abi::Config {
    size: size_of::<abi::Config>() as u32,
    reserved: 0,
    get_string: Some(get_string),
    get_int: Some(get_int),
    get_bool: Some(get_bool),
    get_json: Some(get_json),
};

serve!(get_string(host, pointer: abi::Str, out: *const abi::Sink) -> i32 {
    let found = host.config.str_at(&text_of(pointer));
    found.map_or(0, |text| { tell(out, text); 1 })
});
serve!(get_int(host, pointer: abi::Str, out: *mut i64) -> i32 {
    let found = host.config.int_at(&text_of(pointer));
    found.map_or(0, |number| { out.write(number); 1 })
});
serve!(get_bool(host, pointer: abi::Str, out: *mut i32) -> i32 {
    let found = host.config.bool_at(&text_of(pointer));
    found.map_or(0, |value| { out.write(i32::from(value)); 1 })
});
serve!(get_json(host, pointer: abi::Str, out: *const abi::Sink) -> i32 {
    let found = host.config.at(&text_of(pointer));
    found.map_or(0, |value| { tell(out, &value.to_string()); 1 })
});

static EVENTS: abi::Events = abi::Events {
    size: size_of::<abi::Events>() as u32,
    reserved: 0,
    emit: Some(emit),
};

serve!(emit(host, event: *const abi::Event) {
    let event = &*event;
    host.events.push(RecordedEvent {
        warning: event.warning == 1,
        about: ObjectRef {
            api_version: text_of(event.api_version),
            kind: text_of(event.kind),
            namespace: text_of(event.namespace_of),
            name: text_of(event.name),
        },
        reason: text_of(event.reason),
        message: text_of(event.message),
    });
});

static METRICS: abi::Metrics = abi::Metrics {
    size: size_of::<abi::Metrics>() as u32,
    reserved: 0,
    register_metric: Some(register_metric),
    add: Some(add_metric),
    set: Some(set_metric),
};

/// Texts of an array.
///
/// # Safety
/// `first` points to `count` valid texts.
unsafe fn texts_of(first: *const abi::Str, count: u32) -> Vec<String> {
    // SAFETY: as the caller says.
    (0..count as usize)
        .map(|i| unsafe { text_of(first.add(i).read()) })
        .collect()
}

serve!(register_metric(host, spec: *const abi::MetricSpec, out: *mut u32) -> i32 {
    let (kind, name) = ((*spec).kind, text_of((*spec).name));
    let labels = texts_of((*spec).labels, (*spec).label_count);
    let known = host.metrics.iter().position(|metric| metric.name == name);
    let number = match known {
        Some(i) if host.metrics[i].kind == kind && host.metrics[i].labels == labels => i,
        Some(_) => return abi::REFUSED,
        None => {
            host.add_metric(kind, name, labels);
            host.metrics.len() - 1
        }
    };
    out.write(number as u32);
    abi::OK
});

/// Adds to a metric or sets it.
///
/// # Safety
/// `values` points to `count` valid texts.
unsafe fn write_metric(
    host: &mut Recorded,
    metric: u32,
    values: *const abi::Str,
    count: u32,
    change: impl FnOnce(&mut i64),
) -> i32 {
    match host.metrics.get_mut(metric as usize) {
        Some(metric) if metric.labels.len() == count as usize => {
            // SAFETY: as the caller says.
            let values = unsafe { texts_of(values, count) };
            change(metric.values.entry(values).or_default());
            abi::OK
        }
        _ => abi::REFUSED,
    }
}

serve!(add_metric(host, metric: u32, values: *const abi::Str, count: u32, delta: i64) -> i32 {
    write_metric(&mut host, metric, values, count, |value| *value += delta)
});
serve!(set_metric(host, metric: u32, values: *const abi::Str, count: u32, to: i64) -> i32 {
    write_metric(&mut host, metric, values, count, |value| *value = to)
});

static REQUEUE: abi::Requeue = abi::Requeue {
    size: size_of::<abi::Requeue>() as u32,
    reserved: 0,
    requeue: Some(requeue),
    traits_changed: Some(traits_changed),
    order_changed: Some(order_changed),
    ended: Some(traits_changed),
};

serve!(requeue(host, workload: abi::Str) {
    let workload = text_of(workload);
    host.requeued.push(workload);
});
/// And `ended`: of workload-traits/1, which plugins in Rust do not provide.
unsafe extern "C" fn traits_changed(_: *const abi::Host, _: abi::Str) {}
serve!(order_changed(host, local_queue: abi::Str) {
    let local_queue = text_of(local_queue);
    host.order_changed.push(local_queue);
});

static CHECKS: abi::CheckReporter = abi::CheckReporter {
    size: size_of::<abi::CheckReporter>() as u32,
    reserved: 0,
    report: Some(report),
};

serve!(report(host, raw: *const abi::CheckReport, error: *const abi::Sink) -> i32 {
    let raw = &*raw;
    let after = raw.requeue_after_seconds;
    let report = RecordedReport {
        workload: format!("{}/{}", text_of(raw.namespace_of), text_of(raw.name)),
        uid: text_of(raw.uid),
        check: text_of(raw.check),
        attempt: raw.attempt,
        state: text_of(raw.state),
        reason: text_of(raw.reason),
        message: text_of(raw.message),
        requeue_after_seconds: (after >= 0).then_some(after),
        pod_set_updates: text_of(raw.pod_set_updates),
    };
    if report.check.is_empty() || report.uid.is_empty() {
        tell(error, "a report names the workload's uid and the check");
        return abi::REFUSED;
    }
    host.reports.push(report);
    abi::OK
});

static OBJECTS: abi::Objects = abi::Objects {
    size: size_of::<abi::Objects>() as u32,
    reserved: 0,
    get: Some(get),
    list: Some(list),
    create: Some(create),
    update: Some(update),
    patch: Some(patch),
    remove: Some(remove),
    release_claim: None,
};

/// Gives what `ask` answers to the plugin, if objects may be used now, on this thread.
///
/// # Safety
/// The sinks are NULL or valid.
unsafe fn reply(
    mut host: MutexGuard<'_, Recorded>,
    out: *const abi::Sink,
    error: *const abi::Sink,
    ask: impl FnOnce(&mut Recorded) -> Result<String, (i32, String)>,
) -> i32 {
    let answer = if host.calling == Some(std::thread::current().id()) {
        ask(&mut host)
    } else {
        Err((
            abi::OBJECTS_NOT_NOW,
            "objects and state may be used inside a call only".into(),
        ))
    };
    drop(host);
    // SAFETY: as the caller says.
    unsafe {
        match answer {
            Ok(text) => {
                tell(out, &text);
                abi::OBJECTS_OK
            }
            Err((code, why)) => {
                tell(error, &why);
                code
            }
        }
    }
}

/// Kind, namespace and name.
///
/// # Safety
/// The struct is valid.
unsafe fn names(raw: *const abi::ObjectRef) -> (String, String, String) {
    // SAFETY: as the caller says.
    unsafe {
        (
            text_of((*raw).kind),
            text_of((*raw).namespace_of),
            text_of((*raw).name),
        )
    }
}

serve!(get(
    host, what: *const abi::ObjectRef, out: *const abi::Sink, error: *const abi::Sink
) -> i32 {
    let (kind, namespace, name) = names(what);
    reply(host, out, error, |host| host.objects.get(&kind, &namespace, &name))
});
serve!(list(
    host, what: *const abi::ObjectRef, selector: abi::Str, out: *const abi::Sink,
    error: *const abi::Sink
) -> i32 {
    let (kind, namespace, _) = names(what);
    let selector = text_of(selector);
    reply(host, out, error, |host| host.objects.list(&kind, &namespace, &selector))
});
serve!(create(host, object: abi::Str, out: *const abi::Sink, error: *const abi::Sink) -> i32 {
    let object = text_of(object);
    reply(host, out, error, |host| host.objects.create(&object))
});
serve!(update(
    host, object: abi::Str, part: abi::Str, out: *const abi::Sink, error: *const abi::Sink
) -> i32 {
    let (object, part) = (text_of(object), text_of(part));
    reply(host, out, error, |host| host.objects.update(&object, &part))
});
serve!(patch(
    host, what: *const abi::ObjectRef, part: abi::Str, merge: abi::Str, out: *const abi::Sink,
    error: *const abi::Sink
) -> i32 {
    let (kind, namespace, name) = names(what);
    let (part, merge) = (text_of(part), text_of(merge));
    reply(host, out, error, |host| {
        host.objects.patch((&kind, &namespace, &name), &part, &merge)
    })
});
serve!(remove(
    host, what: *const abi::ObjectRef, uid: abi::Str, error: *const abi::Sink
) -> i32 {
    let (kind, namespace, name) = names(what);
    let uid = text_of(uid);
    reply(host, core::ptr::null(), error, |host| {
        host.objects.remove(&kind, &namespace, &name, &uid)
    })
});

static STATE: abi::State = abi::State {
    size: size_of::<abi::State>() as u32,
    reserved: 0,
    get: Some(get_state),
    set: Some(set_state),
    remove: Some(remove_state),
    keys: Some(state_keys),
};

serve!(get_state(host, key: abi::Str, out: *const abi::Sink) -> i32 {
    let key = text_of(key);
    reply(host, out, core::ptr::null(), |host| {
        host.state.get(&key).cloned().ok_or((abi::OBJECTS_NOT_FOUND, String::new()))
    })
});
serve!(set_state(host, key: abi::Str, value: abi::Str) -> i32 {
    let (key, value) = (text_of(key), text_of(value));
    reply(host, core::ptr::null(), core::ptr::null(), |host| {
        if key.is_empty() || key.len() > 253 || value.len() > 65536 {
            return Err((abi::OBJECTS_INVALID, String::new()));
        }
        host.state.insert(key, value);
        Ok(String::new())
    })
});
serve!(remove_state(host, key: abi::Str) -> i32 {
    let key = text_of(key);
    reply(host, core::ptr::null(), core::ptr::null(), |host| {
        host.state.remove(&key);
        Ok(String::new())
    })
});
serve!(state_keys(host, prefix: abi::Str, call: abi::KeyFn, context: *mut c_void) -> i32 {
    let prefix = text_of(prefix);
    let mut found = Vec::new();
    let code = reply(host, core::ptr::null(), core::ptr::null(), |host| {
        found.extend(host.state.keys().filter(|key| key.starts_with(&prefix)).cloned());
        Ok(String::new())
    });
    if let Some(call) = call {
        for key in &found {
            call(context, to_abi(key));
        }
    }
    code
});

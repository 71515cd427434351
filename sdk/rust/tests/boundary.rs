//! What must not get through the line: panics, texts that are no UTF-8, hosts that are older or
//! that break their word, handles that outlive the plugin.

// Here is a host in C terms: what it promises stands beside each struct that it makes.
#![allow(clippy::undocumented_unsafe_blocks)]

use sluice_plugin::abi;
use sluice_plugin::export::Root;
use sluice_plugin::testing::{FakeAttempt, FakeHost, FakeWorkload, FakeWrite, TestedPlugin};
use sluice_plugin::*;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::rc::Rc;
use std::time::Duration;

thread_local! {
    /// The handle that the last instance of this thread leaves behind.
    static KEPT: RefCell<Option<Host>> = const { RefCell::new(None) };
    /// The last fault that a raw host heard of on this thread.
    static FAULT: RefCell<String> = const { RefCell::new(String::new()) };
    /// What the log of a raw host does.
    static ON_LOG: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Does what the labels of a workload, or its configuration, say.
struct Odd {
    host: Host,
    fired: Vec<u64>,
}

struct PanicsWhenDropped;
impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("twice");
    }
}

impl Plugin for Odd {
    const CONFIG_SCHEMA: &'static str = r#"{"type": "object", "properties": {
        "start": {"type": "string", "default": "well"},
        "inner": {"type": "object", "properties": {"n": {"type": "integer", "default": 7}}}}}"#;

    fn new(host: &Host, config: &Config<'_>) -> Result<Self, StartError> {
        KEPT.set(Some(host.clone()));
        match config.string("/start").as_deref() {
            Some("refused") => return Err(StartError::refused("not like this")),
            Some("failed") => Err("x".parse::<i32>().unwrap_err())?,
            Some("panic") => panic!("no start"),
            _ => {}
        }
        Ok(Odd {
            host: host.clone(),
            fired: Vec::new(),
        })
    }
}

impl FlavorFilter for Odd {
    fn filter(&self, query: &FilterQuery<'_>, answer: &mut FilterAnswer<'_>) -> Result<(), Fault> {
        let workload = query.workload();
        match workload.label("do") {
            Some("panic") => panic!("{} is odd", workload.name()),
            Some("panic-any") => std::panic::panic_any(PanicsWhenDropped),
            Some("panic-in-each") => workload.each_label(|key, _| panic!("at {key}")),
            Some("fault") => return Err(Fault::new("no luck")),
            Some("error") => drop("x".parse::<i32>()?),
            Some("count") => {
                let mut seen = Vec::new();
                workload.each_label(|key, value| seen.push(format!("{key}={value}")));
                answer.skip(query.flavors().len() - 1, &seen.join(","));
            }
            _ => {}
        }
        Ok(())
    }

    fn shape_key(&mut self, workload: &Workload<'_>) -> Result<String, Fault> {
        Ok(workload
            .admitted_count(0)
            .map_or("none".into(), |count| count.to_string()))
    }
}

impl Timers for Odd {
    fn fired(&mut self, turn: &Turn<'_>, timer: u64, now: i64) -> Result<(), Fault> {
        self.fired.push(timer);
        self.host.debug("a timer fired");
        turn.state().set(
            "fired",
            &format!("{:?} {}", self.fired, now - FakeHost::START),
        )?;
        Ok(())
    }
}

impl CheckController for Odd {
    fn controllers(&self) -> Vec<String> {
        vec!["example.com/a".into(), "example.com/b".into()]
    }
    fn begin(&mut self, turn: &Turn<'_>, query: &CheckQuery<'_>) -> Result<(), Fault> {
        let object = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made"}}"#;
        turn.objects().create(object)?;
        turn.state().set("begun", query.workload().name())?;
        self.host
            .set_timer(query.attempt().attempt, self.host.now() + 1_000);
        if query.retry_count() > 0 {
            return Err(Fault::new("nothing of it shall be"));
        }
        let answer = CheckAnswer::Pending {
            message: "m".into(),
            preemption_required: true,
        };
        self.host
            .report(&query.attempt(), &answer)
            .map_err(Fault::new)
    }
    fn cancel(&mut self, _: &Turn<'_>, cancel: &CheckCancel<'_>) -> Result<(), Fault> {
        self.host
            .report(
                &cancel.attempt(),
                &CheckAnswer::retry_after(cancel.why(), 5),
            )
            .map_err(Fault::new)
    }
}

impl Validator for Odd {
    fn kinds(&self) -> Vec<String> {
        vec!["ConfigMap".into()]
    }
    fn validate(
        &mut self,
        look: &Look<'_>,
        write: &Write<'_>,
        errors: &mut FieldErrors<'_>,
    ) -> Result<(), Fault> {
        let object = json::Json::parse(write.object())?;
        let name = object.str_at("/metadata/name").unwrap_or("");
        if look
            .objects()
            .find(&ObjectRef::new("v1", "Secret", "", name))?
            .is_some()
        {
            let path = "metadata.name";
            errors.add(
                FieldProblem::Duplicate,
                path,
                &format!("{name:?}"),
                "is a Secret's",
            );
        }
        Ok(())
    }
}

impl Controller for Odd {
    fn kinds(&self) -> Vec<String> {
        vec!["v1 ConfigMap".into()]
    }
    fn reconcile(&mut self, turn: &Turn<'_>, what: &ObjectRef) -> Result<Again, Fault> {
        match turn.objects().find(what)? {
            Some(_) => {
                turn.objects()
                    .patch(what, Part::Whole, r#"{"data":{"seen":"yes"}}"#)?;
                Ok(Again::InMillis(500))
            }
            None => Ok(Again::OnChange),
        }
    }
}

export_plugin!(Odd, "odd", "1.0.0");

fn does(what: &str) -> FakeWorkload {
    FakeWorkload::new("team-a", "train").label("do", what)
}

#[test]
fn a_panic_is_a_fault_with_its_text_and_the_plugin_goes_on() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<Odd>::start(&host, "{}").unwrap();
    for (what, text) in [
        ("panic", "it panicked: train is odd"),
        ("panic-any", "it panicked with something that is no text"),
        ("panic-in-each", "it panicked: at do"),
        ("fault", "no luck"),
        ("error", "invalid digit found in string"),
    ] {
        assert_eq!(
            plugin.filter(&does(what), &["spot"]).unwrap_err().text(),
            text
        );
    }
    let skips = plugin
        .filter(&does("count").label("a", "ü"), &["x", "spot"])
        .unwrap();
    assert_eq!(
        (skips[0].flavor.as_str(), skips[0].reason.as_str()),
        ("spot", "a=ü,do=count")
    );
}

#[test]
fn a_start_is_refused_or_fails_with_its_sentence() {
    let host = FakeHost::new();
    let start = |how: &str| {
        let config = format!(r#"{{"start": "{how}"}}"#);
        TestedPlugin::<Odd>::start(&host, &config).err()
    };
    assert_eq!(
        start("refused"),
        Some(StartError::Refused("not like this".into()))
    );
    let failed = "invalid digit found in string";
    assert_eq!(start("failed"), Some(StartError::Failed(failed.into())));
    assert_eq!(
        start("panic"),
        Some(StartError::Failed("it panicked: no start".into()))
    );
    assert_eq!(start("well"), None);
}

#[test]
fn what_a_failed_call_wrote_is_dropped() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<Odd>::start(&host, "{}").unwrap();
    let workload = FakeWorkload::new("team-a", "train");
    let again = FakeAttempt {
        retry_count: 1,
        ..FakeAttempt::default()
    };
    let text = plugin.begin(&workload, &again).unwrap_err();
    assert_eq!(text.text(), "nothing of it shall be");
    assert!(host.object("ConfigMap", "", "made").is_none() && host.state().is_empty());
    plugin.begin(&workload, &FakeAttempt::default()).unwrap();
    assert!(host.object("ConfigMap", "", "made").is_some());
    assert_eq!(host.state()["begun"], "train");
    let report = &host.reports()[0];
    assert_eq!(
        (report.state.as_str(), report.reason.as_str()),
        ("Pending", "PreemptionRequired")
    );
    assert_eq!(
        (report.workload.as_str(), report.attempt),
        ("team-a/train", 1)
    );
    let exists = plugin
        .begin(&workload, &FakeAttempt::default())
        .unwrap_err();
    assert_eq!(exists.text(), "ConfigMap made already exists");
    plugin.cancel(&workload, &FakeAttempt::default()).unwrap();
    assert_eq!(host.reports()[1].requeue_after_seconds, Some(5));
    assert_eq!(host.state_of("team-a/train", "check"), "Retry");
    assert_eq!(
        plugin.controllers().unwrap(),
        ["example.com/a", "example.com/b"]
    );
}

#[test]
fn timers_fire_in_order_at_their_time() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<Odd>::start(&host, "{}").unwrap();
    plugin
        .begin(
            &does(""),
            &FakeAttempt {
                attempt: 2,
                ..FakeAttempt::default()
            },
        )
        .unwrap();
    plugin.advance(Duration::from_nanos(999)).unwrap();
    assert!(!host.state().contains_key("fired"));
    plugin.advance(Duration::from_nanos(1)).unwrap();
    assert_eq!(host.state()["fired"], "[2] 1000");
    assert!(host.timers().is_empty());
}

#[test]
fn validators_look_and_controllers_write() {
    let host = FakeHost::new();
    host.put_object(r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"taken"}}"#);
    let mut plugin = TestedPlugin::<Odd>::start(&host, "{}").unwrap();
    let write = |name: &str| {
        FakeWrite::create(
            "v1",
            "ConfigMap",
            &format!(r#"{{"metadata":{{"name":"{name}"}}}}"#),
        )
    };
    assert_eq!(plugin.validate(&write("free")).unwrap(), []);
    let errors = plugin.validate(&write("taken")).unwrap();
    assert_eq!(
        (errors[0].path.as_str(), errors[0].value.as_str()),
        ("metadata.name", "\"taken\"")
    );
    assert_eq!(errors[0].problem, FieldProblem::Duplicate);
    let wrong = plugin
        .validate(&FakeWrite::create("v1", "ConfigMap", "no"))
        .unwrap_err();
    assert_eq!(wrong.text(), "not JSON at byte 0: a value is expected");
    assert_eq!(plugin.set_defaults(&write("free")).unwrap(), None);

    let what = ObjectRef::new("v1", "ConfigMap", "", "a");
    assert_eq!(plugin.reconcile(&what).unwrap(), Again::OnChange);
    host.put_object(r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#);
    assert_eq!(plugin.reconcile(&what).unwrap(), Again::InMillis(500));
    assert_eq!(
        host.object("ConfigMap", "", "a")
            .unwrap()
            .str_at("/data/seen"),
        Some("yes")
    );
    assert_eq!(plugin.watched_kinds().unwrap(), ["v1 ConfigMap"]);
}

#[test]
fn a_host_without_services_is_silent() {
    let host = FakeHost::new();
    for service in abi::IDS.iter().copied().flatten().map(|(_, id)| id) {
        host.without(service);
    }
    let mut plugin = TestedPlugin::<Odd>::start(&host, r#"{"start": "refused"}"#).unwrap();
    let fault = plugin
        .begin(&does(""), &FakeAttempt::default())
        .unwrap_err();
    assert_eq!(fault.text(), "this host has no such service");
    assert_eq!(plugin.filter(&does(""), &["spot"]).unwrap(), []);
}

/// The raw root, as a host in C sees it.
struct Raw {
    root: *const abi::Plugin,
    instance: *mut abi::Instance,
}

unsafe extern "C" fn no_service(_: *const abi::Host, _: abi::Str) -> *const c_void {
    std::ptr::null()
}
unsafe extern "C" fn keep_fault(_: *const abi::Host, text: abi::Str) {
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr.cast::<u8>(), text.len as usize) };
    FAULT.set(String::from_utf8(bytes.to_vec()).unwrap());
}
unsafe extern "C" fn ignore(_: *mut c_void, _: abi::Str) {}
unsafe extern "C" fn skip(_: *mut c_void, _: u32, _: abi::Str) {}

fn text(text: &[u8]) -> abi::Str {
    abi::Str {
        ptr: text.as_ptr().cast::<c_char>(),
        len: text.len() as u64,
    }
}

fn raw_host(size: usize) -> abi::Host {
    abi::Host {
        size: size as u32,
        abi_major: 1,
        abi_minor: 0,
        reserved: 0,
        handle: std::ptr::null_mut(),
        version: text(b"raw"),
        service: Some(no_service),
        report_fault: Some(keep_fault),
    }
}

fn sink() -> abi::Sink {
    let size = std::mem::size_of::<abi::Sink>() as u32;
    abi::Sink {
        size,
        reserved: 0,
        context: std::ptr::null_mut(),
        write: Some(ignore),
    }
}

impl Raw {
    fn new(host: &abi::Host) -> Raw {
        let mut raw = Raw {
            root: Root::<Odd>::table(),
            instance: std::ptr::null_mut(),
        };
        let mut instance = std::ptr::null_mut();
        let create = unsafe { (*raw.root).create.unwrap() };
        assert_eq!(
            unsafe { create(host, text(b"{}"), &mut instance, &sink()) },
            abi::OK
        );
        raw.instance = instance;
        raw
    }

    fn table<T>(&self, id: &str) -> *const T {
        unsafe { (*self.root).extension.unwrap()(self.instance, text(id.as_bytes())).cast() }
    }

    fn fire(&self, timer: u64) -> i32 {
        let table = self.table::<abi::Timers>("timers/1");
        unsafe { (*table).fired.unwrap()(self.instance, timer, 0) }
    }

    fn filter(&self, api: &abi::WorkloadApi, flavor: abi::Str) -> i32 {
        let query = abi::FilterQuery {
            size: std::mem::size_of::<abi::FilterQuery>() as u32,
            queue: 0,
            workload: abi::WorkloadRef {
                api,
                handle: std::ptr::null(),
            },
            pod_set: 0,
            flavor_count: 1,
            flavors: &flavor,
            flavor_handles: std::ptr::null(),
            flavor_api: std::ptr::null(),
            cluster_queue: std::ptr::null(),
            cluster_queue_api: std::ptr::null(),
        };
        let out = abi::FilterSink {
            size: std::mem::size_of::<abi::FilterSink>() as u32,
            reserved: 0,
            context: std::ptr::null_mut(),
            skip: Some(skip),
        };
        let table = self.table::<abi::FlavorFilter>("flavor-filter/1");
        unsafe { (*table).filter.unwrap()(self.instance, &query, &out) }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        unsafe { (*self.root).destroy.unwrap()(self.instance) };
    }
}

unsafe extern "C" fn broken_label(
    _: *const abi::WorkloadHandle,
    _: abi::Str,
    out: *mut abi::Str,
) -> i32 {
    unsafe { out.write(text(b"caf\xe9")) };
    1
}

/// A table of accessors that knows `size` bytes of itself.
fn accessors(size: usize) -> Box<abi::WorkloadApi> {
    let mut api: Box<abi::WorkloadApi> = Box::new(unsafe { std::mem::zeroed() });
    api.size = size as u32;
    api.label = Some(broken_label);
    api
}

#[test]
fn a_text_that_is_no_utf_8_is_a_fault() {
    let host = raw_host(std::mem::size_of::<abi::Host>());
    let raw = Raw::new(&host);
    let api = accessors(std::mem::size_of::<abi::WorkloadApi>());
    assert_eq!(raw.filter(&api, text(b"spot")), abi::FAILED);
    assert_eq!(FAULT.take(), "the host gave a text that is no UTF-8");
}

#[test]
fn what_an_older_host_does_not_have_is_absent() {
    // Neither report_fault nor label() is known to this host: neither is called.
    let host = raw_host(std::mem::offset_of!(abi::Host, report_fault));
    let raw = Raw::new(&host);
    let api = accessors(std::mem::offset_of!(abi::WorkloadApi, label));
    assert_eq!(raw.filter(&api, text(b"spot")), abi::OK);
    for id in [
        "",
        "flavor-filter",
        "flavor-filter/10",
        "queue-watch/1",
        "post-admit/1",
    ] {
        assert!(raw.table::<c_void>(id).is_null(), "{id}");
    }
}

#[test]
fn a_handle_is_used_on_other_threads() {
    let host = FakeHost::new();
    host.simulate(true);
    let _plugin = TestedPlugin::<Odd>::start(&host, "{}").unwrap();
    let kept = KEPT.take().unwrap();
    let thread = std::thread::spawn(move || {
        let attempt = CheckAttempt {
            namespace: "team-a".into(),
            workload: "train".into(),
            uid: "uid".into(),
            check: "check".into(),
            attempt: 1,
        };
        let refused = kept.report(&CheckAttempt::default(), &CheckAnswer::rejected("no"));
        kept.error(&format!("{} {:?}", kept.simulated(), refused));
        kept.report(&attempt, &CheckAnswer::rejected("no"))
    });
    assert!(host.wait_until(|host| host.state_of("team-a/train", "check") == "Rejected"));
    assert_eq!(thread.join().unwrap(), Ok(()));
    let line = r#"true Err("a report names the workload's uid and the check")"#;
    assert_eq!(host.log()[0].text, line);
}

#[test]
fn a_handle_that_outlives_the_plugin_is_silent() {
    let host = FakeHost::new();
    let plugin = TestedPlugin::<Odd>::start(&host, "{}").unwrap();
    let kept = KEPT.take().unwrap();
    assert_eq!(kept.now(), FakeHost::START);
    drop(plugin);
    assert_eq!(kept.now(), 0);
    assert!(!kept.set_timer(1, 1) && !kept.simulated());
    kept.info("nobody hears it");
    assert!(host.log().is_empty());
    let why = kept
        .report(&CheckAttempt::default(), &CheckAnswer::ready(""))
        .unwrap_err();
    assert_eq!(why, "the plugin has ended");
    let refused = TestedPlugin::<Odd>::start(&host, r#"{"start": "refused"}"#);
    assert!(refused.is_err() && KEPT.take().unwrap().now() == 0);
}

unsafe extern "C" fn call_back(_: *const abi::Host, _: i32, _: abi::Str) {
    ON_LOG.with_borrow(|call| call.as_ref().unwrap()());
}

unsafe extern "C" fn only_log(_: *const abi::Host, id: abi::Str) -> *const c_void {
    static LOG: abi::Log = abi::Log {
        size: std::mem::size_of::<abi::Log>() as u32,
        reserved: 0,
        write: Some(call_back),
    };
    let id = unsafe { std::slice::from_raw_parts(id.ptr.cast::<u8>(), id.len as usize) };
    if id == b"log/1" {
        (&raw const LOG).cast()
    } else {
        std::ptr::null()
    }
}

#[test]
fn a_host_that_calls_it_within_a_call_is_told_so() {
    let host = abi::Host {
        service: Some(only_log),
        ..raw_host(std::mem::size_of::<abi::Host>())
    };
    let raw = Rc::new(Raw::new(&host));
    let within = Rc::clone(&raw);
    ON_LOG.set(Some(Box::new(move || {
        let api = accessors(std::mem::size_of::<abi::WorkloadApi>());
        assert_eq!(within.filter(&api, text(b"spot")), abi::FAILED);
        assert_eq!(within.fire(2), abi::FAILED);
        assert_eq!(FAULT.take(), "the host called it within another call of it");
    })));
    assert_eq!(raw.fire(1), abi::FAILED); // without state/1
    assert_eq!(FAULT.take(), "the plugin's state cannot be written: NotNow");
    ON_LOG.set(None);
    assert_eq!(Rc::strong_count(&raw), 1);
}

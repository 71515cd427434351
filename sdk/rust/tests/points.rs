//! Every extension point and service once, through the tables of C and back.

mod every_point;

use every_point::EveryPoint;
use sluice_plugin::testing::{FakeHost, FakeWorkload, FakeWrite, KeyGiven, TestedPlugin};
use sluice_plugin::{
    Again, Event, FieldProblem, Mode, ObjectRef, Operation, Outcome, PositionAge, Search,
    SearchStep, Told,
};

fn started(host: &FakeHost) -> TestedPlugin<'_, EveryPoint> {
    TestedPlugin::start(host, "{}").unwrap()
}

#[test]
fn a_filter_reads_pod_sets() {
    let host = FakeHost::new();
    let mut workload = FakeWorkload::new("team-a", "train");
    workload.pod_sets[0].count = 3;
    workload.pod_sets[0].requests.insert("cpu".into(), 2000);
    workload.pod_sets[0]
        .requests
        .insert("memory".into(), 1 << 30);
    let skips = started(&host)
        .filter(&workload, &["large", "small"])
        .unwrap();
    assert_eq!((skips[0].flavor.as_str(), skips.len()), ("small", 1));
    assert_eq!(skips[0].reason, "too large, of 2 resources");
    assert_eq!(
        started(&host)
            .filter_pod_set(&workload, 1, &["small"])
            .unwrap(),
        []
    );
}

#[test]
fn a_search_compares() {
    let host = FakeHost::new();
    let mut plugin = started(&host);
    let of = |mode, borrow_level| Outcome { mode, borrow_level };
    let mut after = |mode, best| {
        plugin
            .after_flavor(&SearchStep {
                queue: 0,
                current: of(mode, 0),
                best,
            })
            .unwrap()
    };
    assert_eq!(after(Mode::Fit, None), Search::StopHere);
    assert_eq!(after(Mode::Preempt, None), Search::GoOn);
    assert_eq!(
        after(Mode::Preempt, Some(of(Mode::Reclaim, 1))),
        Search::StopBest
    );
    assert!(plugin.better(of(Mode::Fit, 0), of(Mode::Fit, 1)).unwrap());
    assert!(!plugin
        .better(of(Mode::Reclaim, 0), of(Mode::Fit, 1))
        .unwrap());
    for (cycles, queue_generations, kept) in [(1, 0, true), (2, 0, false), (1, 1, false)] {
        let age = PositionAge {
            queue: 0,
            cycles,
            queue_generations,
            tree_generations: 0,
        };
        assert_eq!(plugin.keep_position(&age).unwrap(), kept);
    }
}

#[test]
fn a_veto_protects() {
    let host = FakeHost::new();
    let mut preemptor = FakeWorkload::new("team-a", "train");
    let plain = FakeWorkload::new("team-b", "a");
    let kept = FakeWorkload::new("team-b", "b").annotation("example.com/keep", "");
    let given = started(&host).veto(&preemptor, &[&plain, &kept]).unwrap();
    assert_eq!((given.may_not_preempt, given.protects), (None, vec![1]));
    let mut runs = kept.clone();
    runs.conditions.insert("Admitted".into(), "True".into());
    runs.since.insert("Admitted".into(), 7);
    let given = started(&host).veto(&preemptor, &[&runs]).unwrap();
    assert_eq!(given.because[&0], "it runs since 7");
    preemptor.priority = -1;
    let given = started(&host).veto(&preemptor, &[]).unwrap();
    assert_eq!(
        given.may_not_preempt.as_deref(),
        Some("it is not important")
    );
}

#[test]
fn queues_are_known_and_ordered() {
    let host = FakeHost::new();
    let mut plugin = started(&host);
    plugin.queue_changed(2, "shared", "{}").unwrap();
    assert_eq!(host.metric("queues", &[]), 3);
    assert!(plugin.queue_changed(0, "broken", "{").is_err());
    let key = plugin.local_queue_key("shared", "team-a/q").unwrap();
    assert_eq!(
        key,
        KeyGiven {
            key: 14,
            because: "short names first".into()
        }
    );
    let mut workload = FakeWorkload::new("team-a", "train");
    assert_eq!(plugin.workload_key(&workload).unwrap(), KeyGiven::default());
    workload.controller = Some(("Job".into(), "train".into()));
    let key = plugin.workload_key(&workload).unwrap();
    assert_eq!(
        key,
        KeyGiven {
            key: -1,
            because: "Job train first".into()
        }
    );
}

#[test]
fn notifications_are_counted_or_come_again() {
    let host = FakeHost::new();
    let mut plugin = started(&host);
    let workload = FakeWorkload::new("team-a", "train");
    assert_eq!(
        plugin
            .notify(Event::Preempting, &workload, "later")
            .unwrap(),
        Told::TellAgain
    );
    for event in [
        Event::Admitted,
        Event::Evicted,
        Event::Admitted,
        Event::Unknown(99),
    ] {
        assert_eq!(plugin.notify(event, &workload, "").unwrap(), Told::Done);
    }
    assert_eq!(
        (
            host.metric("told", &["Admitted"]),
            host.metric("told", &["Preempting"])
        ),
        (2, 0)
    );
    assert_eq!(host.requeued(), ["team-a/train"]);
    assert_eq!(host.order_changed(), ["team-a/queue"]);
    let event = &host.events()[0];
    assert_eq!((event.warning, event.about.name.as_str()), (true, "train"));
    assert_eq!(
        (event.reason.as_str(), event.message.as_str()),
        ("Seen", "it was evicted")
    );
}

#[test]
fn defaults_are_set_and_deletion_is_refused() {
    let host = FakeHost::new();
    let mut plugin = started(&host);
    let mut write = FakeWrite::create("kueue.x-k8s.io/v1beta2", "Workload", "{}");
    let made = plugin.set_defaults(&write).unwrap().unwrap();
    assert_eq!(made, r#"{"metadata":{"labels":{"seen":"yes"}}}"#);
    write.object = made;
    assert_eq!(plugin.set_defaults(&write).unwrap(), None);
    assert_eq!(plugin.validate(&write).unwrap(), []);
    write.operation = Operation::Delete;
    assert_eq!(
        plugin.validate(&write).unwrap()[0].problem,
        FieldProblem::Forbidden
    );
    assert_eq!(
        plugin.validated_kinds().unwrap(),
        ["kueue.x-k8s.io/Workload"]
    );
    assert_eq!(plugin.schema().unwrap(), "[]");
}

#[test]
fn a_check_says_whether_it_can_be_carried_out() {
    let host = FakeHost::new();
    let mut plugin = started(&host);
    let (active, reason, _) = plugin.check_changed("ask", r#"{"spec": {}}"#).unwrap();
    assert_eq!((active, reason.as_str()), (false, "BadParametersRef"));
    assert!(
        plugin
            .check_changed("ask", r#"{"spec": {"parameters": {}}}"#)
            .unwrap()
            .0
    );
    plugin
        .begin(&FakeWorkload::new("team-a", "train"), &Default::default())
        .unwrap();
    assert_eq!(host.reports()[0].pod_set_updates, "[]");
    let said = plugin.explain(&FakeWorkload::new("team-a", "train"), &Default::default());
    assert_eq!(said.unwrap(), ["check asked", "nobody else"]);
}

#[test]
fn a_controller_lists_and_keeps() {
    let host = FakeHost::new();
    let mut plugin = started(&host);
    let what = ObjectRef::new("v1", "ConfigMap", "team-a", "a");
    for (name, again) in [("a", Again::OnChange), ("b", Again::AtOnce)] {
        let metadata = format!(r#"{{"namespace": "team-a", "name": "{name}"}}"#);
        let kind = r#""apiVersion": "v1", "kind": "ConfigMap""#;
        host.put_object(&format!(r#"{{{kind}, "metadata": {metadata}}}"#));
        assert_eq!(plugin.reconcile(&what).unwrap(), again);
    }
    assert_eq!(host.state()["a"], "2");
    assert!(host.remove_object("ConfigMap", "team-a", "b"));
    drop(plugin);
    let lines: Vec<_> = host
        .log()
        .into_iter()
        .map(|line| (line.level, line.text))
        .collect();
    assert_eq!(lines, [(1, "here".to_owned()), (2, "gone".to_owned())]);
}

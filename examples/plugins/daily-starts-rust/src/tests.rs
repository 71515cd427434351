use super::DailyStarts;
use sluice_plugin::testing::{FakeAttempt, FakeHost, FakeWorkload, TestedPlugin};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

fn states(host: &FakeHost, names: &[&str]) -> Vec<String> {
    names
        .iter()
        .map(|name| host.state_of(&format!("team-a/{name}"), "check"))
        .collect()
}

#[test]
fn what_comes_after_them_waits_for_midnight() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<DailyStarts>::start(&host, r#"{"perDay": 2}"#).unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        plugin
            .begin(&FakeWorkload::new("team-a", name), &FakeAttempt::default())
            .unwrap();
    }
    assert_eq!(
        states(&host, &["a", "b", "c", "d"]),
        ["Ready", "Ready", "Pending", "Pending"]
    );
    assert_eq!(
        host.reports()[2].message,
        "2 started today, waits for midnight"
    );
    plugin.advance(23 * HOUR).unwrap();
    assert_eq!(states(&host, &["c"]), ["Pending"]);
    plugin.advance(HOUR).unwrap();
    assert_eq!(
        states(&host, &["c", "d", "e"]),
        ["Ready", "Ready", "Pending"]
    );
    plugin.advance(24 * HOUR).unwrap();
    assert_eq!(states(&host, &["e"]), ["Ready"]);
    assert!(host.timers().is_empty());
}

#[test]
fn namespaces_do_not_count_for_each_other_and_a_restart_forgets_nobody() {
    let host = FakeHost::new();
    let one = r#"{"perDay": 1}"#;
    let mut plugin = TestedPlugin::<DailyStarts>::start(&host, one).unwrap();
    let first = FakeAttempt::default();
    plugin
        .begin(&FakeWorkload::new("team-a", "a"), &first)
        .unwrap();
    plugin
        .begin(&FakeWorkload::new("team-b", "a"), &first)
        .unwrap();
    assert_eq!(host.state_of("team-b/a", "check"), "Ready");
    drop(plugin);
    let mut plugin = TestedPlugin::<DailyStarts>::start(&host, one).unwrap();
    plugin
        .begin(&FakeWorkload::new("team-a", "a"), &first)
        .unwrap();
    plugin
        .begin(&FakeWorkload::new("team-a", "b"), &first)
        .unwrap();
    assert_eq!(states(&host, &["a", "b"]), ["Ready", "Pending"]);
}

#[test]
fn what_is_cancelled_waits_no_more() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<DailyStarts>::start(&host, r#"{"perDay": 1}"#).unwrap();
    for name in ["a", "b", "c"] {
        plugin
            .begin(&FakeWorkload::new("team-a", name), &FakeAttempt::default())
            .unwrap();
    }
    plugin
        .cancel(&FakeWorkload::new("team-a", "b"), &FakeAttempt::default())
        .unwrap();
    plugin.advance(24 * HOUR).unwrap();
    assert_eq!(states(&host, &["b", "c"]), ["Pending", "Ready"]);
}

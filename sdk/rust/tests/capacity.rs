//! What a hook sees of flavors, of its ClusterQueue and of a whole workload.

use sluice_plugin::testing::{FakeClusterQueue, FakeFlavor, FakeHost, FakeWorkload, TestedPlugin};
use sluice_plugin::{
    export_plugin, Config, Fault, FilterAnswer, FilterQuery, FlavorFilter, Host, Plugin,
    PreemptionVeto, Quota, StartError, VetoAnswer, VetoQuery,
};

struct Looks;

impl Plugin for Looks {
    fn new(_: &Host, _: &Config<'_>) -> Result<Self, StartError> {
        Ok(Looks)
    }
}

impl FlavorFilter for Looks {
    fn filter(&self, query: &FilterQuery<'_>, answer: &mut FilterAnswer<'_>) -> Result<(), Fault> {
        for i in 0..query.flavors().len() {
            let Some(flavor) = query.flavor_details(i) else {
                answer.skip(i, "an older host");
                continue;
            };
            let mut seen = format!("{} disk={:?}", flavor.name(), flavor.node_label("disk"));
            flavor.each_node_label(|key, value| seen += &format!(" {key}={value}"));
            flavor.each_node_taint(|taint| {
                assert_ne!(taint.key, "panic", "the plugin does not like it");
                seen += &format!(" {}={}:{}", taint.key, taint.value, taint.effect);
            });
            let queue = query.cluster_queue().expect("a queue");
            seen += &format!(
                " of {}",
                queue.quota(flavor.name(), "cpu").map_or(0, |q| q.nominal)
            );
            answer.skip(i, &seen);
        }
        assert!(query.flavor_details(query.flavors().len()).is_none());
        Ok(())
    }
}

impl PreemptionVeto for Looks {
    fn veto(&self, query: &VetoQuery<'_>, answer: &mut VetoAnswer<'_>) -> Result<(), Fault> {
        let mut seen = query.preemptor().json();
        query.preemptor().each_owner(|owner| {
            seen += &format!(" {}/{} {}", owner.kind, owner.name, owner.controller)
        });
        if let Some(queue) = query.cluster_queue() {
            seen += &format!(" {} in {:?}", queue.name(), queue.cohort());
            queue.each_quota(|flavor, resource, quota| {
                seen += &format!(" {flavor}.{resource}={:?}", quota.borrowing_limit);
            });
        }
        answer.may_not_preempt(&seen);
        Ok(())
    }
}

export_plugin!(Looks, "looks", "1.0.0");

fn queue() -> FakeClusterQueue {
    let mut queue = FakeClusterQueue::new("q").quota("spot", "cpu", 4000);
    let limited = Quota {
        nominal: 1,
        borrowing_limit: Some(2),
        lending_limit: None,
    };
    queue.quotas.push(("spot".into(), "gpu".into(), limited));
    queue.cohort = "all".into();
    queue
}

#[test]
fn labels_taints_and_quotas_are_seen() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<Looks>::start(&host, "{}").unwrap();
    let workload = FakeWorkload::new("team-a", "train");
    let flavors = [
        FakeFlavor::new("spot")
            .node_label("disk", "ssd")
            .node_taint("spot", "true", "NoSchedule"),
        FakeFlavor::new("bare"),
    ];
    let skips = plugin.filter_with(&workload, &flavors, &queue()).unwrap();
    assert_eq!(
        skips[0].reason,
        "spot disk=Some(\"ssd\") disk=ssd spot=true:NoSchedule of 4000"
    );
    assert_eq!(skips[1].reason, "bare disk=None of 0");
    let older = plugin.filter(&workload, &["spot"]).unwrap();
    assert_eq!(older[0].reason, "an older host");
}

#[test]
fn a_panic_below_the_host_is_a_fault() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<Looks>::start(&host, "{}").unwrap();
    let flavors = [FakeFlavor::new("f").node_taint("panic", "", "NoSchedule")];
    let fault = plugin
        .filter_with(&FakeWorkload::new("a", "b"), &flavors, &queue())
        .unwrap_err();
    assert!(fault.text().contains("does not like it"), "{fault}");
}

#[test]
fn the_whole_workload_and_its_queue_are_seen() {
    let host = FakeHost::new();
    let mut plugin = TestedPlugin::<Looks>::start(&host, "{}").unwrap();
    let mut workload = FakeWorkload::new("team-a", "train");
    workload.json = "{}".into();
    workload.controller = Some(("Job".into(), "j".into()));
    let said = |given: sluice_plugin::testing::VetoGiven| given.may_not_preempt.unwrap();
    let given = plugin.veto_with(&workload, &[], &queue()).unwrap();
    assert_eq!(
        said(given),
        "{} Job/j true q in \"all\" spot.cpu=None spot.gpu=Some(2)"
    );
    assert_eq!(said(plugin.veto(&workload, &[]).unwrap()), "{} Job/j true");
}

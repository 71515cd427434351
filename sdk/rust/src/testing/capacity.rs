//! Flavors and a ClusterQueue for a test: plain members, seen by the plugin as it sees real ones.

use crate::values::Quota;
use std::collections::BTreeMap;

/// A flavor without labels and taints, until a test says otherwise.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct FakeFlavor {
    pub name: String,
    pub node_labels: BTreeMap<String, String>,
    /// Key, value and effect of each.
    pub node_taints: Vec<(String, String, String)>,
}

impl FakeFlavor {
    /// A flavor of that name.
    pub fn new(name: &str) -> Self {
        FakeFlavor {
            name: name.into(),
            ..FakeFlavor::default()
        }
    }
    /// The same with a label of its nodes.
    pub fn node_label(mut self, key: &str, value: &str) -> Self {
        self.node_labels.insert(key.into(), value.into());
        self
    }
    /// The same with a taint of its nodes.
    pub fn node_taint(mut self, key: &str, value: &str, effect: &str) -> Self {
        self.node_taints
            .push((key.into(), value.into(), effect.into()));
        self
    }
}

/// A ClusterQueue without quota and cohort, until a test says otherwise.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct FakeClusterQueue {
    pub name: String,
    pub cohort: String,
    /// Flavor, resource and quota of each, in order.
    pub quotas: Vec<(String, String, Quota)>,
}

impl FakeClusterQueue {
    /// A queue of that name.
    pub fn new(name: &str) -> Self {
        FakeClusterQueue {
            name: name.into(),
            ..FakeClusterQueue::default()
        }
    }
    /// The same with quota of its own.
    pub fn quota(mut self, flavor: &str, resource: &str, nominal: i64) -> Self {
        let quota = Quota {
            nominal,
            borrowing_limit: None,
            lending_limit: None,
        };
        self.quotas.push((flavor.into(), resource.into(), quota));
        self
    }
}

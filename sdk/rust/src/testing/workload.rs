//! A workload for a test: plain members, seen by the plugin as it sees real ones.

use crate::json::Json;
use std::collections::BTreeMap;

/// A pod set.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct FakePodSet {
    pub name: String,
    pub count: i32,
    pub min_count: Option<i32>,
    /// What one pod asks for; milli for cpu.
    pub requests: BTreeMap<String, i64>,
    /// What the admission assigns.
    pub flavors: BTreeMap<String, String>,
    /// What the admission grants.
    pub granted_count: Option<i32>,
}

/// A workload of one pod set of one pod, until a test says otherwise.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FakeWorkload {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub queue_name: String,
    pub priority: i32,
    pub created_at: i64,
    pub active: bool,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    /// Kind and name of the owner.
    pub controller: Option<(String, String)>,
    pub pod_sets: Vec<FakePodSet>,
    pub admitted_by: Option<String>,
    pub conditions: BTreeMap<String, String>,
    /// When the status of a condition became what it is; ns since 1970 UTC.
    pub since: BTreeMap<String, i64>,
    pub maximum_execution_seconds: Option<i32>,
    pub past_execution_seconds: i32,
    pub extensions: String,
    /// What `Workload::json` answers.
    pub json: String,
}

impl FakeWorkload {
    /// Its uid is `uid-NAMESPACE-NAME`.
    pub fn new(namespace: &str, name: &str) -> Self {
        FakeWorkload {
            namespace: namespace.into(),
            name: name.into(),
            uid: format!("uid-{namespace}-{name}"),
            queue_name: "queue".into(),
            priority: 0,
            created_at: 0,
            active: true,
            json: String::new(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            controller: None,
            pod_sets: vec![FakePodSet {
                name: "main".into(),
                count: 1,
                ..FakePodSet::default()
            }],
            admitted_by: None,
            conditions: BTreeMap::new(),
            since: BTreeMap::new(),
            maximum_execution_seconds: None,
            past_execution_seconds: 0,
            extensions: String::new(),
        }
    }

    /// With a label.
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// With an annotation.
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.into(), value.into());
        self
    }

    /// As the object that a check gets.
    pub fn json(&self) -> Json {
        let texts = |from: &BTreeMap<String, String>| {
            let pairs = from
                .iter()
                .map(|(key, value)| (key.clone(), value.as_str().into()));
            Json::Object(pairs.collect())
        };
        let mut out = Json::object();
        out.set("apiVersion", "kueue.x-k8s.io/v1beta2".into());
        out.set("kind", "Workload".into());
        let metadata = out.entry("metadata");
        metadata.set("namespace", self.namespace.as_str().into());
        metadata.set("name", self.name.as_str().into());
        metadata.set("uid", self.uid.as_str().into());
        metadata.set("labels", texts(&self.labels));
        metadata.set("annotations", texts(&self.annotations));
        let spec = out.entry("spec");
        spec.set("queueName", self.queue_name.as_str().into());
        spec.set("priority", i64::from(self.priority).into());
        spec.set("active", self.active.into());
        let pod_sets = self.pod_sets.iter().map(|set| {
            let mut out = Json::object();
            out.set("name", set.name.as_str().into());
            out.set("count", i64::from(set.count).into());
            out
        });
        spec.set("podSets", Json::Array(pod_sets.collect()));
        out
    }
}

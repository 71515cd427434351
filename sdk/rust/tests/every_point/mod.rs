//! A plugin that provides every extension point there is in Rust, and uses what the examples do
//! not.

use sluice_plugin::*;

/// The plugin.
pub struct EveryPoint {
    host: Host,
    told: Metric,
    queues: Metric,
    known: Vec<String>,
}

impl Plugin for EveryPoint {
    const DESCRIPTION: &'static str = "provides every extension point";

    fn new(host: &Host, _: &Config<'_>) -> Result<Self, StartError> {
        Ok(EveryPoint {
            host: host.clone(),
            told: host.counter("told", "Notifications.", &["event"])?,
            queues: host.gauge("queues", "Queues that are known.", &[])?,
            known: Vec::new(),
        })
    }

    fn activate(&mut self) -> Result<(), StartError> {
        self.host.info("here");
        Ok(())
    }

    fn deactivate(&mut self, _: &Turn<'_>) -> Result<(), Fault> {
        self.host.warn("gone");
        Ok(())
    }
}

impl FlavorFilter for EveryPoint {
    fn filter(&self, query: &FilterQuery<'_>, answer: &mut FilterAnswer<'_>) -> Result<(), Fault> {
        let workload = query.workload();
        let wanted = workload.pod_request(query.pod_set(), "cpu").unwrap_or(0);
        let mut resources = 0;
        workload.each_pod_request(query.pod_set(), |_, _| resources += 1);
        for (i, flavor) in query.flavors().enumerate() {
            if flavor == "small"
                && wanted * i64::from(workload.pod_set_count(query.pod_set())) > 4000
            {
                answer.skip(i, &format!("too large, of {resources} resources"));
            }
        }
        Ok(())
    }
}

impl FlavorSearch for EveryPoint {
    fn after_flavor(&self, step: &SearchStep) -> Result<Search, Fault> {
        Ok(match (step.current.mode, step.best) {
            (Mode::Fit, _) => Search::StopHere,
            (Mode::Preempt, Some(_)) => Search::StopBest,
            _ => Search::GoOn,
        })
    }
    fn better(&self, _: u32, a: Outcome, b: Outcome) -> Result<bool, Fault> {
        Ok((a.mode, -a.borrow_level) > (b.mode, -b.borrow_level))
    }
    fn keep_position(&self, age: &PositionAge) -> Result<bool, Fault> {
        Ok(age.cycles <= 1 && age.queue_generations == 0 && age.tree_generations == 0)
    }
}

impl PreemptionVeto for EveryPoint {
    fn veto(&self, query: &VetoQuery<'_>, answer: &mut VetoAnswer<'_>) -> Result<(), Fault> {
        if query.preemptor().priority() < 0 {
            answer.may_not_preempt("it is not important");
        }
        for (i, candidate) in query.candidates().enumerate() {
            if candidate.annotation("example.com/keep").is_some() {
                match query.admitted_at(i) {
                    Some(since) => answer.protect_because(i, &format!("it runs since {since}")),
                    None => answer.protect(i),
                }
            }
        }
        Ok(())
    }
}

impl QueueWatch for EveryPoint {
    fn queue_changed(&mut self, queue: &Queue<'_>) -> Result<(), Fault> {
        json::Json::parse(queue.json())?;
        let id = usize::try_from(queue.id())?;
        if self.known.len() <= id {
            self.known.resize(id + 1, String::new());
        }
        self.known[id] = queue.name().into();
        self.host
            .set(self.queues, &[], i64::try_from(self.known.len())?);
        Ok(())
    }
}

impl QueueOrder for EveryPoint {
    fn local_queue(
        &mut self,
        query: &OrderQuery<'_>,
        answer: &mut OrderAnswer<'_>,
    ) -> Result<(), Fault> {
        let length = query.local_queue().len() + query.cluster_queue().len();
        answer.key(i64::try_from(length)?, "short names first");
        Ok(())
    }
    fn workload(
        &mut self,
        workload: &Workload<'_>,
        answer: &mut OrderAnswer<'_>,
    ) -> Result<(), Fault> {
        if let Some((kind, name)) = workload.controller() {
            answer.key(-1, &format!("{kind} {name} first"));
        }
        Ok(())
    }
}

impl PostAdmit for EveryPoint {
    fn notify(&mut self, _: &Turn<'_>, what: &Notification<'_>) -> Result<Told, Fault> {
        let workload = what.workload();
        if what.event() == Event::Preempting && what.reason() == "later" {
            return Ok(Told::TellAgain);
        }
        self.host
            .add(self.told, &[&format!("{:?}", what.event())], 1);
        if what.event() == Event::Evicted {
            let (namespace, name) = (workload.namespace(), workload.name());
            let about = ObjectRef::new("kueue.x-k8s.io/v1beta2", "Workload", namespace, name);
            self.host.event(true, &about, "Seen", "it was evicted");
            self.host.requeue(&workload.key());
            self.host
                .order_changed(&format!("{namespace}/{}", workload.queue_name()));
        }
        Ok(Told::Done)
    }
}

impl Timers for EveryPoint {
    fn fired(&mut self, _: &Turn<'_>, timer: u64, _: i64) -> Result<(), Fault> {
        self.host.cancel_timer(timer);
        Ok(())
    }
}

impl Schema for EveryPoint {
    fn contribute(&self) -> Result<String, Fault> {
        Ok("[]".into())
    }
}

impl Validator for EveryPoint {
    fn kinds(&self) -> Vec<String> {
        vec!["kueue.x-k8s.io/Workload".into()]
    }
    fn set_defaults(&mut self, write: &Write<'_>) -> Result<Option<String>, Fault> {
        let mut object = json::Json::parse(write.object())?;
        if object.str_at("/metadata/labels/seen").is_some() {
            return Ok(None);
        }
        object
            .entry("metadata")
            .entry("labels")
            .set("seen", "yes".into());
        Ok(Some(object.to_string()))
    }
    fn validate(
        &mut self,
        _: &Look<'_>,
        write: &Write<'_>,
        errors: &mut FieldErrors<'_>,
    ) -> Result<(), Fault> {
        if write.operation() == Operation::Delete {
            errors.add(FieldProblem::Forbidden, "metadata.name", "", "it stays");
        }
        Ok(())
    }
}

impl CheckController for EveryPoint {
    fn controllers(&self) -> Vec<String> {
        vec!["example.com/every".into()]
    }
    fn check_changed(
        &mut self,
        _: &Turn<'_>,
        check: &Check<'_>,
        activity: &mut Activity<'_>,
    ) -> Result<(), Fault> {
        if !check.gone()
            && json::Json::parse(check.json())?
                .at("/spec/parameters")
                .is_none()
        {
            activity.inactive("BadParametersRef", "it has no parameters");
        }
        Ok(())
    }
    fn begin(&mut self, _: &Turn<'_>, query: &CheckQuery<'_>) -> Result<(), Fault> {
        let answer = CheckAnswer::Ready {
            message: "go".into(),
            pod_set_updates: "[]".into(),
        };
        self.host
            .report(&query.attempt(), &answer)
            .map_err(Fault::new)
    }
    fn cancel(&mut self, _: &Turn<'_>, _: &CheckCancel<'_>) -> Result<(), Fault> {
        Ok(())
    }
    fn explain(&mut self, _: &Look<'_>, query: &CheckQuery<'_>) -> Result<Vec<String>, Fault> {
        Ok(vec![
            format!("{} asked", query.check()),
            "nobody else".into(),
        ])
    }
}

impl Controller for EveryPoint {
    fn kinds(&self) -> Vec<String> {
        vec!["v1 ConfigMap".into()]
    }
    fn reconcile(&mut self, turn: &Turn<'_>, what: &ObjectRef) -> Result<Again, Fault> {
        let all = turn
            .objects()
            .list("v1", "ConfigMap", &what.namespace, "")?;
        let count = json::Json::parse(&all)?.items().len();
        turn.state().set(&what.name, &count.to_string())?;
        Ok(if count > 1 {
            Again::AtOnce
        } else {
            Again::OnChange
        })
    }
}

export_plugin!(EveryPoint, "every-point", "1.0.0");

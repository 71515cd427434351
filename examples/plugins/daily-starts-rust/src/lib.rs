//! An admission check: so many workloads of each namespace start on one day, UTC; what comes after
//! them waits for midnight, in the order in which it came.
#![deny(unsafe_code)]

use sluice_plugin::{
    export_plugin, CheckAnswer, CheckAttempt, CheckCancel, CheckController, CheckQuery, Config,
    Fault, Host, Plugin, StartError, Timers, Turn,
};

#[cfg(test)]
mod tests;

const DAY: i64 = 86_400_000_000_000; // ns, as all times
const MIDNIGHT: u64 = 1;

struct DailyStarts {
    host: Host,
    controller: String,
    per_day: usize,
    /// Who waits, the first first.
    waiting: Vec<CheckAttempt>,
}

impl Plugin for DailyStarts {
    const DESCRIPTION: &'static str = "lets so many workloads of a namespace start on one day";
    const CONFIG_SCHEMA: &'static str = r#"{
        "type": "object",
        "properties": {
            "controllerName": {
                "type": "string", "minLength": 1, "default": "example.com/daily-starts"
            },
            "perDay": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10}
        }
    }"#;

    fn new(host: &Host, config: &Config<'_>) -> Result<Self, StartError> {
        let per_day = config.int("/perDay").unwrap_or(10);
        Ok(DailyStarts {
            host: host.clone(),
            controller: config
                .string("/controllerName")
                .unwrap_or_else(|| "example.com/daily-starts".into()),
            per_day: usize::try_from(per_day)
                .map_err(|_| StartError::refused("perDay: must not be negative"))?,
            waiting: Vec::new(),
        })
    }
}

impl DailyStarts {
    /// Lets it start, or says what it waits for; true: it started. Who started today is kept under
    /// the namespace, as `DAY UID UID …`: whoever is there already starts again for nothing.
    fn answer(&self, turn: &Turn<'_>, attempt: &CheckAttempt) -> Result<bool, Fault> {
        let today = (self.host.now() / DAY).to_string();
        let kept = turn.state().get(&attempt.namespace)?.unwrap_or_default();
        let mut started: Vec<&str> = match kept.split_once(' ') {
            Some((day, uids)) if day == today => uids.split(' ').collect(),
            _ => Vec::new(),
        };
        let answer = if started.contains(&attempt.uid.as_str()) {
            CheckAnswer::ready("it started today")
        } else if started.len() < self.per_day {
            started.push(&attempt.uid);
            turn.state().set(
                &attempt.namespace,
                &format!("{today} {}", started.join(" ")),
            )?;
            CheckAnswer::ready(format!("start {} of {} today", started.len(), self.per_day))
        } else {
            CheckAnswer::pending(format!(
                "{} started today, waits for midnight",
                started.len()
            ))
        };
        self.host.report(attempt, &answer).map_err(Fault::new)?;
        Ok(matches!(answer, CheckAnswer::Ready { .. }))
    }

    fn wait_for_midnight(&self) {
        if !self.waiting.is_empty() {
            self.host
                .set_timer(MIDNIGHT, (self.host.now() / DAY + 1) * DAY);
        }
    }
}

impl CheckController for DailyStarts {
    fn controllers(&self) -> Vec<String> {
        vec![self.controller.clone()]
    }

    fn begin(&mut self, turn: &Turn<'_>, query: &CheckQuery<'_>) -> Result<(), Fault> {
        let attempt = query.attempt();
        if !self.answer(turn, &attempt)? && !self.waiting.contains(&attempt) {
            self.waiting.push(attempt);
            self.wait_for_midnight();
        }
        Ok(())
    }

    fn cancel(&mut self, _: &Turn<'_>, cancel: &CheckCancel<'_>) -> Result<(), Fault> {
        let attempt = cancel.attempt();
        self.waiting.retain(|waiting| *waiting != attempt);
        Ok(())
    }
}

impl Timers for DailyStarts {
    fn fired(&mut self, turn: &Turn<'_>, _: u64, _: i64) -> Result<(), Fault> {
        let mut left = Vec::new();
        for attempt in &self.waiting {
            if !self.answer(turn, attempt)? {
                left.push(attempt.clone());
            }
        }
        self.waiting = left;
        self.wait_for_midnight();
        Ok(())
    }
}

export_plugin!(DailyStarts, "daily-starts", "1.0.0");

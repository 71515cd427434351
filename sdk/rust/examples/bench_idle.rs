//! What `hook_bench` of Sluice measures, in Rust: hooks of a cycle that do next to nothing, so that
//! the way there counts. The same as bench/hook_plugin.cpp does in its.
#![deny(unsafe_code)]

use sluice_plugin::{
    export_plugin, Config, Fault, FilterAnswer, FilterQuery, FlavorFilter, FlavorSearch, Host,
    Mode, Outcome, Plugin, PositionAge, PreemptionVeto, Search, SearchStep, StartError, VetoAnswer,
    VetoQuery,
};

struct Idle;

impl Plugin for Idle {
    fn new(_: &Host, _: &Config<'_>) -> Result<Self, StartError> {
        Ok(Idle)
    }
}

impl FlavorFilter for Idle {
    fn filter(&self, query: &FilterQuery<'_>, answer: &mut FilterAnswer<'_>) -> Result<(), Fault> {
        if query.workload().priority() < 0 {
            answer.skip(0, "never");
        }
        Ok(())
    }
}

impl FlavorSearch for Idle {
    fn after_flavor(&self, step: &SearchStep) -> Result<Search, Fault> {
        Ok(if step.current.mode == Mode::Fit {
            Search::StopHere
        } else {
            Search::GoOn
        })
    }
    fn better(&self, _: u32, a: Outcome, b: Outcome) -> Result<bool, Fault> {
        Ok(a.mode > b.mode)
    }
    fn keep_position(&self, age: &PositionAge) -> Result<bool, Fault> {
        Ok(age.cycles <= 1)
    }
}

impl PreemptionVeto for Idle {
    fn veto(&self, query: &VetoQuery<'_>, answer: &mut VetoAnswer<'_>) -> Result<(), Fault> {
        if query.preemptor().priority() < 0 {
            answer.may_not_preempt("never");
        }
        Ok(())
    }
}

export_plugin!(Idle, "bench-idle", "1.0.0");

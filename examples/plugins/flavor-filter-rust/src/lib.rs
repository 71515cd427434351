//! Workloads with the label `tier: production` never run on spot capacity. The same hook as in
//! ../flavor-filter, in Rust.
#![deny(unsafe_code)]

use sluice_plugin::{
    export_plugin, Config, Fault, FilterAnswer, FilterQuery, FlavorFilter, Host, Plugin,
    StartError, Workload,
};

struct ProductionOffSpot;

impl Plugin for ProductionOffSpot {
    const DESCRIPTION: &'static str = "keeps production off spot capacity";

    fn new(_: &Host, _: &Config<'_>) -> Result<Self, StartError> {
        Ok(ProductionOffSpot)
    }
}

impl FlavorFilter for ProductionOffSpot {
    fn filter(&self, query: &FilterQuery<'_>, answer: &mut FilterAnswer<'_>) -> Result<(), Fault> {
        if query.workload().label("tier") == Some("production") {
            for (i, flavor) in query.flavors().enumerate() {
                if flavor.starts_with("spot") {
                    answer.skip(i, "spot is not for production");
                }
            }
        }
        Ok(())
    }

    fn shape_key(&mut self, workload: &Workload<'_>) -> Result<String, Fault> {
        Ok(workload.label("tier").unwrap_or("").into())
    }
}

export_plugin!(ProductionOffSpot, "production-off-spot", "1.0.0");

#[cfg(test)]
mod tests {
    use super::ProductionOffSpot;
    use sluice_plugin::testing::{FakeHost, FakeWorkload, TestedPlugin};

    #[test]
    fn production_stays_off_spot() {
        let host = FakeHost::new();
        let mut plugin = TestedPlugin::<ProductionOffSpot>::start(&host, "{}").unwrap();
        let production = FakeWorkload::new("team-a", "train").label("tier", "production");
        let skips = plugin
            .filter(&production, &["on-demand", "spot", "spot-large"])
            .unwrap();
        let flavors: Vec<_> = skips.iter().map(|skip| skip.flavor.as_str()).collect();
        assert_eq!(flavors, ["spot", "spot-large"]);
        assert_eq!(skips[0].reason, "spot is not for production");
    }

    #[test]
    fn others_run_anywhere_and_are_no_equals_of_production() {
        let host = FakeHost::new();
        let mut plugin = TestedPlugin::<ProductionOffSpot>::start(&host, "{}").unwrap();
        let other = FakeWorkload::new("team-a", "try");
        assert_eq!(plugin.filter(&other, &["on-demand", "spot"]).unwrap(), []);
        assert_eq!(plugin.shape_key(&other).unwrap(), "");
        assert_eq!(
            plugin
                .shape_key(&other.label("tier", "production"))
                .unwrap(),
            "production"
        );
    }
}

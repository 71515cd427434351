//! A host for unit tests: `FakeHost` has the services of a real one and a clock that moves only
//! when a test moves it; `TestedPlugin` asks one instance of a plugin what a host asks.
//!
//! The plugin is called through the same C tables as in a host, so panics, refused configurations
//! and faults are seen as a host sees them. What it writes in a call that fails is dropped. The
//! configuration's defaults are filled in from its schema, whose rules are not checked.
//!
//! ```
//! # use sluice_plugin::*;
//! # struct Small;
//! # impl Plugin for Small {
//! #     fn new(_: &Host, _: &Config<'_>) -> Result<Self, StartError> { Ok(Small) }
//! # }
//! # impl FlavorFilter for Small {
//! #     fn filter(&self, q: &FilterQuery<'_>, a: &mut FilterAnswer<'_>) -> Result<(), Fault> {
//! #         if q.workload().pod_set_count(0) > 4 { a.skip(0, "spot is for small pod sets"); }
//! #         Ok(())
//! #     }
//! # }
//! # export_plugin!(Small, "small", "1.0.0");
//! use sluice_plugin::testing::{FakeHost, FakeWorkload, TestedPlugin};
//!
//! let host = FakeHost::new();
//! let mut plugin = TestedPlugin::<Small>::start(&host, "{}").unwrap();
//! let mut workload = FakeWorkload::new("team-a", "train");
//! workload.pod_sets[0].count = 8;
//! let skips = plugin.filter(&workload, &["spot"]).unwrap();
//! assert_eq!(skips[0].reason, "spot is for small pod sets");
//! ```

mod capacity;
mod host;
mod objects;
mod plugin;
mod workload;

pub use capacity::{FakeClusterQueue, FakeFlavor};
pub use host::{FakeHost, LogLine, RecordedEvent, RecordedReport};
pub use plugin::{FakeAttempt, FakeWrite, FieldError, KeyGiven, Skip, TestedPlugin, VetoGiven};
pub use workload::{FakePodSet, FakeWorkload};

pub(crate) use host::Recorded;

//! The line to the host: the only module with `unsafe` in it.
//!
//! What lies outside of it cannot break memory safety, whatever it does; what lies inside relies on
//! what the C headers promise of the host (`sdk/include/sluice/abi.h`): pointers are valid until
//! the call returns, `[control]` calls come one at a time and never beside a `[cycle]` call, the
//! host's table is valid from create() until destroy() returned.
//!
//! - `text`: texts and sinks, both ways
//! - `host`, `turn`: the services
//! - `workload`, `capacity`, `views`: what hooks are asked, and where they answer
//! - `instance`, `thunks`: the functions that the host calls, under the guard
//! - `fake_*`: a host in Rust, for tests

#[macro_use]
mod text;
mod capacity;
mod fake_capacity;
mod fake_host;
mod fake_plugin;
mod fake_workload;
mod host;
mod instance;
mod thunks;
mod turn;
mod views;
mod workload;

pub use capacity::{ClusterQueue, Flavor, Taint};
pub use host::{Config, Host, Metric};
pub use instance::{metadata, Root};
pub use thunks::{Absent, Exported, Extension, Probe};
pub use turn::{Look, Objects, Readable, State, Turn};
pub use views::*;
pub use workload::{Owner, Workload};

pub(crate) use fake_host::FakeTables;
pub(crate) use fake_plugin::FakeCalls;

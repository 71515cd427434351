//! Plugins for Sluice in Rust: shared libraries that the host loads and asks which workloads may
//! start, where, and when.
//!
//! ```
//! use sluice_plugin::{
//!     export_plugin, Config, Fault, FilterAnswer, FilterQuery, FlavorFilter, Host, Plugin,
//!     StartError, Workload,
//! };
//!
//! struct StableForProduction;
//!
//! impl Plugin for StableForProduction {
//!     fn new(_: &Host, _: &Config<'_>) -> Result<Self, StartError> {
//!         Ok(StableForProduction)
//!     }
//! }
//!
//! impl FlavorFilter for StableForProduction {
//!     fn filter(
//!         &self,
//!         query: &FilterQuery<'_>,
//!         answer: &mut FilterAnswer<'_>,
//!     ) -> Result<(), Fault> {
//!         if query.workload().label("tier") == Some("production") {
//!             for (i, flavor) in query.flavors().enumerate() {
//!                 if flavor.starts_with("spot") {
//!                     answer.skip(i, "spot is not for production");
//!                 }
//!             }
//!         }
//!         Ok(())
//!     }
//!     fn shape_key(&mut self, workload: &Workload<'_>) -> Result<String, Fault> {
//!         Ok(workload.label("tier").unwrap_or("").into())
//!     }
//! }
//!
//! export_plugin!(StableForProduction, "stable-for-production", "1.0.0");
//! # fn main() {}
//! ```
//!
//! A type provides the extension points whose traits it implements. The crate needs nothing but
//! Rust's own library. `unsafe` is in one module of it, and nowhere in a plugin.
//!
//! Not wrapped: workload-traits/1, job-mapping/1, pod-gate/1 and remotes/1. For these take C++ or
//! C.
#![deny(unsafe_code)]

pub mod abi;
#[allow(unsafe_code)]
mod boundary;
mod errors;
pub mod json;
mod points;
pub mod testing;

mod values;

pub use boundary::{
    Activity, Check, CheckCancel, CheckQuery, ClusterQueue, Config, FieldErrors, FilterAnswer,
    FilterQuery, Flavor, Host, Look, Metric, Notification, Objects, OrderAnswer, OrderQuery, Owner,
    Queue, Readable, State, Taint, Turn, VetoAnswer, VetoQuery, Workload, Write,
};
pub use errors::{Fault, ObjectCode, ObjectError, StartError};
pub use points::{
    CheckController, Controller, FlavorFilter, FlavorSearch, Plugin, PostAdmit, PreemptionVeto,
    QueueOrder, QueueWatch, Schema, Timers, Validator,
};
pub use values::{
    Again, CheckAnswer, CheckAttempt, Event, FieldProblem, Mode, ObjectRef, Operation, Outcome,
    Part, PositionAge, Quota, Search, SearchStep, Told,
};

/// What `export_plugin!` uses.
#[doc(hidden)]
pub mod export {
    pub use crate::boundary::{metadata, Absent, Exported, Extension, Probe, Root};
}

/// Makes a type the plugin of this library: `export_plugin!(Type, "name", "1.0.0");`, once.
///
/// It writes the metadata that the host reads from the file, and the one function that the library
/// exports. The file has to be called NAME.so. A crate with a plugin has the type `cdylib`.
#[macro_export]
macro_rules! export_plugin {
    ($type:ty, $name:expr, $version:expr $(,)?) => {
        impl $crate::export::Exported for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = $version;
            const EXTENSIONS: &'static [Option<$crate::export::Extension<$type>>] = {
                #[allow(unused_imports)]
                use $crate::export::{Absent as _, Probe};
                &[
                    Probe::<$type>::CHECK_CONTROLLER,
                    Probe::<$type>::CONTROLLER,
                    Probe::<$type>::FLAVOR_FILTER,
                    Probe::<$type>::FLAVOR_SEARCH,
                    Probe::<$type>::POST_ADMIT,
                    Probe::<$type>::PREEMPTION_VETO,
                    Probe::<$type>::QUEUE_ORDER,
                    Probe::<$type>::QUEUE_WATCH,
                    Probe::<$type>::SCHEMA,
                    Probe::<$type>::TIMERS,
                    Probe::<$type>::VALIDATOR,
                ]
            };
        }

        const _: () = {
            let mut i = 0;
            let mut provided = 0;
            let extensions = <$type as $crate::export::Exported>::EXTENSIONS;
            while i < extensions.len() {
                provided += extensions[i].is_some() as usize;
                i += 1;
            }
            assert!(
                provided > 0,
                "this type implements no extension point, such as FlavorFilter"
            );
        };

        #[cfg(not(panic = "unwind"))]
        compile_error!("a plugin needs panic = \"unwind\": else a panic of it ends the host");

        const _: () = {
            #[allow(unsafe_code)]
            #[used]
            #[unsafe(link_section = ".sluice")]
            static METADATA: $crate::abi::Metadata = $crate::export::metadata($name, $version);

            #[allow(unsafe_code)]
            #[unsafe(no_mangle)]
            pub extern "C" fn sluice_plugin_entry(
                _host_abi_major: u32,
                _host_abi_minor: u32,
            ) -> *const $crate::abi::Plugin {
                // Named here, so that the linker keeps it.
                std::hint::black_box(core::ptr::addr_of!(METADATA));
                $crate::export::Root::<$type>::table()
            }
        };
    };
}

//! The C interface as it is in `sdk/include/sluice`, struct for struct.
//!
//! Plugins need none of this: the rest of the crate wraps it. It is public for what the crate does
//! not wrap. Names are those of the headers without `sluice_` and `_t`; what a member means stands
//! there. `tests/layout.rs` has a C compiler compare each struct and each number with the headers.

#[macro_use]
mod layout;
mod ext;
mod svc;
mod workload;

pub use ext::*;
pub use layout::{Field, Layout};
pub use svc::*;
pub use workload::*;

use core::ffi::{c_char, c_void};

/// A handle: only its address means something.
macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        })*
    };
}
opaque! {
    /// The plugin's own object.
    Instance
    /// The host's record of a plugin.
    HostHandle
    /// A workload of the host.
    WorkloadHandle
    /// A flavor.
    FlavorHandle
    /// A ClusterQueue.
    ClusterQueueHandle
}

c_numbers! { ROOT_NUMBERS;
    SLUICE_ABI_MAJOR ABI_MAJOR: u32 = 1,
    SLUICE_ABI_MINOR ABI_MINOR: u32 = 0,
    SLUICE_OK OK: i32 = 0,
    SLUICE_RETRY RETRY: i32 = 1,
    SLUICE_REFUSED REFUSED: i32 = 2,
    SLUICE_FAILED FAILED: i32 = 3,
}

c_structs! { ROOT_LAYOUTS;
    /// A borrowed UTF-8 text.
    sluice_str Str { ptr: *const c_char, len: u64 }
    /// Takes text from the function that is called.
    sluice_sink Sink {
        size: u32,
        reserved: u32,
        context: *mut c_void,
        write: c_fn!(*mut c_void, Str),
    }
    /// What the host offers.
    sluice_host Host {
        size: u32,
        abi_major: u32,
        abi_minor: u32,
        reserved: u32,
        handle: *mut HostHandle,
        version: Str,
        service: c_fn!(*const Host, Str; *const c_void),
        report_fault: c_fn!(*const Host, Str),
    }
    /// What a plugin is.
    sluice_plugin Plugin {
        size: u32,
        abi_major: u32,
        abi_minor: u32,
        reserved: u32,
        name: Str,
        version: Str,
        description: Str,
        config_schema: Str,
        create: c_fn!(*const Host, Str, *mut *mut Instance, *const Sink; i32),
        activate: c_fn!(*mut Instance, *const Sink; i32),
        deactivate: c_fn!(*mut Instance, *const Sink; i32),
        destroy: c_fn!(*mut Instance),
        extension: c_fn!(*mut Instance, Str; *const c_void),
    }
    /// What lies in the section `.sluice` of the file.
    sluice_metadata Metadata {
        magic: [u8; 8],
        size: u32,
        abi_major: u32,
        abi_minor: u32,
        reserved: u32,
        name: [u8; 64],
        version: [u8; 32],
    }
}

impl Default for Str {
    fn default() -> Self {
        Str {
            ptr: core::ptr::null(),
            len: 0,
        }
    }
}

/// Every struct of this module, for the comparison with the headers.
pub const LAYOUTS: &[&[Layout]] = &[ROOT_LAYOUTS, WORKLOAD_LAYOUTS, EXT_LAYOUTS, SVC_LAYOUTS];
/// Every number of this module by its name in C.
pub const NUMBERS: &[&[(&str, i64)]] = &[ROOT_NUMBERS, EXT_NUMBERS, SVC_NUMBERS];
/// Every id of this module by its name in C.
pub const IDS: &[&[(&str, &str)]] = &[EXT_IDS, SVC_IDS];

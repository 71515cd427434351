//! An instance of a plugin, the guard around everything that the host calls, and the root table.

use super::host::{Config, Host};
use super::text::{to_abi, to_str, HostBroke, HostSink};
use super::thunks::{extension, Exported};
use super::turn::Turn;
use crate::abi;
use crate::errors::{Fault, StartError};
use crate::points::Plugin;
use core::cell::UnsafeCell;
use core::mem::size_of;
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

/// What the opaque handle of the C interface stands for.
pub(super) struct Instance<T> {
    pub(super) host: Host,
    /// A `[control]` call is under way. The host sees to it that there is one at a time; this makes
    /// a fault of a host that does not, where a second `&mut` would be made.
    busy: AtomicBool,
    object: UnsafeCell<T>,
}

/// Ends a `[control]` call, also when it panics.
struct Busy<'i>(&'i AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T: Plugin> Instance<T> {
    /// # Safety
    /// A handle of create() of the same type, that was not destroyed.
    pub(super) unsafe fn of<'i>(handle: *mut abi::Instance) -> &'i Instance<T> {
        // SAFETY: create() made the handle of a Box of this type.
        unsafe { &*handle.cast::<Instance<T>>() }
    }

    /// Calls with the object, which nobody else has meanwhile; a fault where the host calls within
    /// another call.
    ///
    /// # Safety
    /// The host keeps its word: no other call of this instance runs on another thread.
    unsafe fn alone<R>(&self, call: impl FnOnce(&mut T) -> R) -> Result<R, Fault> {
        if self.busy.swap(true, Ordering::Acquire) {
            return Err(Fault::new("the host called it within another call of it"));
        }
        let _busy = Busy(&self.busy);
        // SAFETY: `busy` keeps other control calls out, the host those of a cycle.
        Ok(call(unsafe { &mut *self.object.get() }))
    }

    /// Runs a `[control]` hook.
    ///
    /// # Safety
    /// The host keeps its word: no other call of this instance runs.
    pub(super) unsafe fn control(
        &self,
        hook: impl FnOnce(&mut T, &Turn<'_>) -> Result<i32, Fault>,
    ) -> i32 {
        // SAFETY: as the caller says.
        guarded(&self.host, || unsafe {
            self.alone(|object| hook(object, &Turn::new(&self.host)))?
        })
    }

    /// Runs a `[cycle]` hook, on many threads at once.
    ///
    /// # Safety
    /// The host keeps its word: no control call runs.
    pub(super) unsafe fn cycle(&self, hook: impl FnOnce(&T) -> Result<(), Fault>) -> i32
    where
        T: Sync,
    {
        guarded(&self.host, || {
            if self.busy.load(Ordering::Acquire) {
                return Err(Fault::new("the host called it within another call of it"));
            }
            // SAFETY: no `&mut` is there: no control call runs, as the host promises.
            hook(unsafe { &*self.object.get() })?;
            Ok(abi::OK)
        })
    }
}

/// What a panic says; `None`: it carries something that is no text.
fn text_of(payload: &(dyn Any + Send)) -> Option<String> {
    if let Some(broke) = payload.downcast_ref::<HostBroke>() {
        return Some(broke.0.into());
    }
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.map(|text| format!("it panicked: {text}"))
}

/// The answer, or the text of the panic. Nothing unwinds out of here: what a panic carries that is
/// no text is forgotten instead of dropped, because dropping it may panic again.
fn caught<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        text_of(&*payload).unwrap_or_else(|| {
            std::mem::forget(payload);
            "it panicked with something that is no text".into()
        })
    })
}

/// Runs a hook under the guard.
fn guarded(host: &Host, hook: impl FnOnce() -> Result<i32, Fault>) -> i32 {
    let text = match caught(hook) {
        Ok(Ok(code)) => return code,
        Ok(Err(fault)) => fault.text().to_owned(),
        Err(text) => text,
    };
    host.report_fault(&text);
    abi::FAILED
}

/// The same for the start and the end, whose sentence goes into a sink.
fn guarded_start(sink: &HostSink<'_>, start: impl FnOnce() -> Result<(), StartError>) -> i32 {
    match caught(start) {
        Ok(Ok(())) => abi::OK,
        Ok(Err(StartError::Refused(text))) => {
            sink.write(&text);
            abi::REFUSED
        }
        Ok(Err(StartError::Failed(text))) | Err(text) => {
            sink.write(&text);
            abi::FAILED
        }
    }
}

unsafe extern "C" fn create<T: Plugin>(
    host: *const abi::Host,
    config: abi::Str,
    out: *mut *mut abi::Instance,
    error: *const abi::Sink,
) -> i32 {
    // SAFETY: the sink is valid during the call.
    let error = unsafe { HostSink::new(error) };
    guarded_start(&error, || {
        // SAFETY: the host's table is valid until destroy() returned, and destroy() closes it;
        // without an instance it is closed below.
        let host = unsafe { Host::new(host) };
        // A plugin that does not start may have kept the handle, too.
        struct Close<'h>(Option<&'h Host>);
        impl Drop for Close<'_> {
            fn drop(&mut self) {
                if let Some(host) = self.0 {
                    host.close();
                }
            }
        }
        let mut close = Close(Some(&host));
        // SAFETY: the text is valid during the call, which is under the guard.
        let object = T::new(&host, &Config::new(&host, unsafe { to_str(config) }))?;
        close.0 = None;
        drop(close);
        let instance = Box::new(Instance {
            host,
            busy: AtomicBool::new(false),
            object: UnsafeCell::new(object),
        });
        // SAFETY: `out` is where the host wants the handle.
        unsafe { out.write(Box::into_raw(instance).cast()) };
        Ok(())
    })
}

unsafe extern "C" fn activate<T: Plugin>(
    instance: *mut abi::Instance,
    error: *const abi::Sink,
) -> i32 {
    // SAFETY: a handle of create(), no other call of it runs; the sink is valid during the call.
    let (instance, error) = unsafe { (Instance::<T>::of(instance), HostSink::new(error)) };
    // SAFETY: as above.
    guarded_start(&error, || match unsafe { instance.alone(T::activate) } {
        Ok(started) => started,
        Err(fault) => Err(StartError::Failed(fault.text().to_owned())),
    })
}

unsafe extern "C" fn deactivate<T: Plugin>(
    instance: *mut abi::Instance,
    error: *const abi::Sink,
) -> i32 {
    // SAFETY: a handle of create(), no other call of it runs; the sink is valid during the call.
    let (instance, error) = unsafe { (Instance::<T>::of(instance), HostSink::new(error)) };
    let turn = Turn::new(&instance.host);
    guarded_start(&error, || {
        // SAFETY: as above.
        match unsafe { instance.alone(|object| object.deactivate(&turn)) } {
            Ok(Ok(())) => Ok(()),
            Ok(Err(fault)) | Err(fault) => Err(StartError::Failed(fault.text().to_owned())),
        }
    })
}

unsafe extern "C" fn destroy<T: Plugin>(instance: *mut abi::Instance) {
    // SAFETY: a handle of create(), of this type, that nobody uses any more.
    let instance = unsafe { Box::from_raw(instance.cast::<Instance<T>>()) };
    let Instance { host, object, .. } = *instance;
    if let Err(text) = caught(|| drop(object)) {
        host.error(&format!("while it ended: {text}"));
    }
    host.close();
}

/// The root table of a plugin.
pub struct Root<T>(core::marker::PhantomData<T>);

impl<T: Exported> Root<T> {
    const TABLE: &'static abi::Plugin = &abi::Plugin {
        size: size_of::<abi::Plugin>() as u32,
        abi_major: abi::ABI_MAJOR,
        abi_minor: abi::ABI_MINOR,
        reserved: 0,
        name: to_abi(T::NAME),
        version: to_abi(T::VERSION),
        description: to_abi(T::DESCRIPTION),
        config_schema: to_abi(T::CONFIG_SCHEMA),
        create: Some(create::<T>),
        activate: Some(activate::<T>),
        deactivate: Some(deactivate::<T>),
        destroy: Some(destroy::<T>),
        extension: Some(extension::<T>),
    };

    /// What the entry answers.
    pub fn table() -> *const abi::Plugin {
        Self::TABLE
    }
}

/// The record of the section `.sluice`. Fails to compile for a name that no plugin can have.
pub const fn metadata(name: &str, version: &str) -> abi::Metadata {
    let mut bytes = [0; 64];
    let text = name.as_bytes();
    assert!(
        !text.is_empty() && text.len() < 64,
        "the name of a plugin has 1 to 63 letters"
    );
    let mut i = 0;
    while i < text.len() {
        assert!(
            matches!(text[i], b'a'..=b'z' | b'0'..=b'9' | b'-'),
            "the name of a plugin may hold only a-z, 0-9 and -"
        );
        bytes[i] = text[i];
        i += 1;
    }
    let mut number = [0; 32];
    let text = version.as_bytes();
    assert!(
        !text.is_empty() && text.len() < 32,
        "the version of a plugin has 1 to 31 letters"
    );
    i = 0;
    while i < text.len() {
        number[i] = text[i];
        i += 1;
    }
    abi::Metadata {
        magic: *b"SLUICEv\0",
        size: size_of::<abi::Metadata>() as u32,
        abi_major: abi::ABI_MAJOR,
        abi_minor: abi::ABI_MINOR,
        reserved: 0,
        name: bytes,
        version: number,
    }
}

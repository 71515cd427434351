//! Objects and state: services for the calls in which they are allowed, on the thread of the call.
//!
//! A `Turn` is lent to such a hook and cannot be kept, nor sent to another thread:
//!
//! ```compile_fail,E0277
//! # use sluice_plugin::Turn;
//! fn keep(turn: &Turn<'_>) {
//!     std::thread::scope(|scope| {
//!         scope.spawn(|| turn.objects());
//!     });
//! }
//! ```

use super::host::{Host, Tables};
use super::text::{collected, to_abi, to_bytes};
use crate::abi;
use crate::errors::{ObjectCode, ObjectError};
use crate::values::{ObjectRef, Part};
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::size_of;
use core::ops::Deref;

/// Objects may be read while this lives: `Validator::validate`.
pub struct Look<'c> {
    host: &'c Host,
    thread: PhantomData<*const ()>,
}

/// Objects and state may be read and written while this lives. The writes of a call take effect
/// together when it answers `Ok`, and none of them when it does not.
pub struct Turn<'c> {
    look: Look<'c>,
}

/// The host's objects, to be read, as JSON.
#[derive(Clone, Copy)]
pub struct Readable<'t> {
    host: &'t Host,
    thread: PhantomData<*const ()>,
}

/// The host's objects, to be read and written, as JSON, by the rules of its API.
#[derive(Clone, Copy)]
pub struct Objects<'t> {
    read: Readable<'t>,
}

/// Keys and values of the plugin's own, kept by the host.
#[derive(Clone, Copy)]
pub struct State<'t> {
    host: &'t Host,
    thread: PhantomData<*const ()>,
}

impl<'c> Look<'c> {
    /// REQUIRES: the call that runs on this thread is one in which objects may be read.
    pub(super) fn new(host: &'c Host) -> Self {
        Look {
            host,
            thread: PhantomData,
        }
    }

    /// The host's objects.
    pub fn objects(&self) -> Readable<'_> {
        Readable {
            host: self.host,
            thread: PhantomData,
        }
    }
}

impl<'c> Turn<'c> {
    /// REQUIRES: the call that runs on this thread is one in which objects may be written.
    pub(super) fn new(host: &'c Host) -> Self {
        Turn {
            look: Look::new(host),
        }
    }

    /// The host's objects.
    pub fn objects(&self) -> Objects<'_> {
        Objects {
            read: self.look.objects(),
        }
    }

    /// The plugin's own keys and values.
    pub fn state(&self) -> State<'_> {
        State {
            host: self.look.host,
            thread: PhantomData,
        }
    }
}

fn code_of(code: i32) -> ObjectCode {
    match code {
        abi::OBJECTS_NOT_FOUND => ObjectCode::NotFound,
        abi::OBJECTS_ALREADY_EXISTS => ObjectCode::AlreadyExists,
        abi::OBJECTS_CONFLICT => ObjectCode::Conflict,
        abi::OBJECTS_FORBIDDEN => ObjectCode::Forbidden,
        abi::OBJECTS_NOT_NOW => ObjectCode::NotNow,
        abi::OBJECTS_FAILED => ObjectCode::Failed,
        _ => ObjectCode::Invalid,
    }
}

fn not_now(what: &str) -> ObjectError {
    ObjectError {
        code: ObjectCode::NotNow,
        text: format!("this host {what}"),
    }
}

fn raw(reference: &ObjectRef) -> abi::ObjectRef {
    abi::ObjectRef {
        size: size_of::<abi::ObjectRef>() as u32,
        reserved: 0,
        api_version: to_abi(&reference.api_version),
        kind: to_abi(&reference.kind),
        namespace_of: to_abi(&reference.namespace),
        name: to_abi(&reference.name),
    }
}

/// What the host answers: the object, or why not.
fn asked(
    host: &Host,
    call: impl FnOnce(&Tables, *const abi::Sink, *const abi::Sink) -> Option<i32>,
) -> Result<String, ObjectError> {
    host.with(Err(not_now("has ended the plugin")), |t| {
        let mut error = String::new();
        let (answer, object) = collected(|out| {
            let (code, why) = collected(|sink| call(t, out, sink));
            error = why;
            code
        });
        match answer {
            Some(abi::OBJECTS_OK) => Ok(object),
            Some(code) => Err(ObjectError {
                code: code_of(code),
                text: error,
            }),
            None => Err(not_now("has no such service")),
        }
    })
}

impl Readable<'_> {
    /// The object.
    pub fn get(&self, object: &ObjectRef) -> Result<String, ObjectError> {
        // SAFETY: the table is valid while with() runs; this is the thread of a call in which
        // objects may be read.
        asked(self.host, |t, out, error| unsafe {
            let get = member!(t.objects, abi::Objects, get)??;
            Some(get(t.host, &raw(object), out, error))
        })
    }

    /// `None` when there is no such object.
    pub fn find(&self, object: &ObjectRef) -> Result<Option<String>, ObjectError> {
        match self.get(object) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code == ObjectCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A JSON list, by namespace and name. An empty namespace: of all; `selector`: labels,
    /// `a=b,c in (d,e)`; empty: all.
    pub fn list(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        selector: &str,
    ) -> Result<String, ObjectError> {
        let kind = ObjectRef::new(api_version, kind, namespace, "");
        // SAFETY: as get().
        asked(self.host, |t, out, error| unsafe {
            let list = member!(t.objects, abi::Objects, list)??;
            Some(list(t.host, &raw(&kind), to_abi(selector), out, error))
        })
    }
}

impl<'t> Deref for Objects<'t> {
    type Target = Readable<'t>;
    fn deref(&self) -> &Readable<'t> {
        &self.read
    }
}

impl Objects<'_> {
    /// The object names its apiVersion, kind, name (or generateName) and namespace; as made.
    pub fn create(&self, object: &str) -> Result<String, ObjectError> {
        // SAFETY: the table is valid while with() runs; this is the thread of a call in which
        // objects may be written.
        asked(self.read.host, |t, out, error| unsafe {
            let create = member!(t.objects, abi::Objects, create)??;
            Some(create(t.host, to_abi(object), out, error))
        })
    }

    /// Replaces the object, or its status. With a resourceVersion in it: only if that is the
    /// present one.
    pub fn update(&self, object: &str, part: Part) -> Result<String, ObjectError> {
        // SAFETY: as create().
        asked(self.read.host, |t, out, error| unsafe {
            let update = member!(t.objects, abi::Objects, update)??;
            Some(update(
                t.host,
                to_abi(object),
                to_abi(part.subresource()),
                out,
                error,
            ))
        })
    }

    /// JSON merge patch (RFC 7396).
    pub fn patch(
        &self,
        object: &ObjectRef,
        part: Part,
        merge: &str,
    ) -> Result<String, ObjectError> {
        // SAFETY: as create().
        asked(self.read.host, |t, out, error| unsafe {
            let patch = member!(t.objects, abi::Objects, patch)??;
            let part = to_abi(part.subresource());
            Some(patch(t.host, &raw(object), part, to_abi(merge), out, error))
        })
    }

    /// Deletes the object, and in the background what it owns; with a uid only that one.
    pub fn remove(&self, object: &ObjectRef, uid: Option<&str>) -> Result<(), ObjectError> {
        // SAFETY: as create().
        asked(self.read.host, |t, _, error| unsafe {
            let remove = member!(t.objects, abi::Objects, remove)??;
            Some(remove(
                t.host,
                &raw(object),
                to_abi(uid.unwrap_or("")),
                error,
            ))
        })
        .map(drop)
    }
}

impl State<'_> {
    fn asked(
        &self,
        what: &str,
        call: impl FnOnce(&Tables, *const abi::Sink) -> Option<i32>,
    ) -> Result<String, ObjectError> {
        asked(self.host, |t, out, _| call(t, out)).map_err(|error| ObjectError {
            text: format!("the plugin's state cannot be {what}: {:?}", error.code),
            ..error
        })
    }

    /// `None` when there is no such key.
    pub fn get(&self, key: &str) -> Result<Option<String>, ObjectError> {
        // SAFETY: the table is valid while with() runs; this is the thread of a call in which state
        // may be used.
        let value = self.asked("read", |t, out| unsafe {
            let get = member!(t.state, abi::State, get)??;
            Some(get(t.host, to_abi(key), out))
        });
        match value {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code == ObjectCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a value of at most 65536 bytes under a key of at most 253.
    pub fn set(&self, key: &str, value: &str) -> Result<(), ObjectError> {
        // SAFETY: as get().
        self.asked("written", |t, _| unsafe {
            let set = member!(t.state, abi::State, set)??;
            Some(set(t.host, to_abi(key), to_abi(value)))
        })
        .map(drop)
    }

    /// One that is not there is no error.
    pub fn remove(&self, key: &str) -> Result<(), ObjectError> {
        // SAFETY: as get().
        self.asked("removed", |t, _| unsafe {
            let remove = member!(t.state, abi::State, remove)??;
            Some(remove(t.host, to_abi(key)))
        })
        .map(drop)
    }

    /// The keys that start with `prefix`, in order of bytes.
    pub fn keys(&self, prefix: &str) -> Result<Vec<String>, ObjectError> {
        unsafe extern "C" fn push(context: *mut c_void, key: abi::Str) {
            // SAFETY: `context` is the vector of keys(), which waits for the host; the key is valid
            // until this returns. One without an address is left out instead of unwound.
            unsafe {
                if !key.ptr.is_null() {
                    let text = String::from_utf8_lossy(to_bytes(key)).into_owned();
                    (*context.cast::<Vec<String>>()).push(text);
                }
            }
        }
        let mut found: Vec<String> = Vec::new();
        // SAFETY: as get(); push() does not call the host.
        self.asked("listed", |t, _| unsafe {
            let keys = member!(t.state, abi::State, keys)??;
            let context = core::ptr::from_mut(&mut found).cast();
            Some(keys(t.host, to_abi(prefix), Some(push), context))
        })?;
        Ok(found)
    }
}

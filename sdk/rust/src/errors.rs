//! Why something did not work: `Fault` ends a hook, `StartError` a start, `ObjectError` a read or
//! a write of an object.

use std::error::Error;
use std::fmt;

/// A call that failed unexpectedly. What follows depends on the extension point and on the plugin's
/// `failurePolicy`: `docs/plugins/faults.md`. Every error turns into one with `?`.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    text: String,
}

impl Fault {
    /// With the reason, which is shown to people.
    pub fn new(text: impl Into<String>) -> Self {
        Fault { text: text.into() }
    }

    /// The reason.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<E: Error> From<E> for Fault {
    fn from(error: E) -> Self {
        Fault::new(error.to_string())
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Fault: {}", self.text)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// Why a plugin does not start. Every error turns into one with `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The configuration is wrong; a sentence for who wrote it.
    Refused(String),
    /// Something unexpected.
    Failed(String),
}

impl StartError {
    /// The configuration is wrong, in a sentence for who wrote it.
    pub fn refused(text: impl Into<String>) -> Self {
        StartError::Refused(text.into())
    }

    /// The sentence.
    pub fn text(&self) -> &str {
        match self {
            StartError::Refused(text) | StartError::Failed(text) => text,
        }
    }
}

impl<E: Error> From<E> for StartError {
    fn from(error: E) -> Self {
        StartError::Failed(error.to_string())
    }
}

/// What the host answers about objects (svc/objects.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectCode {
    /// No such object, or no such kind.
    NotFound,
    /// There is one of that name.
    AlreadyExists,
    /// It changed since it was read, or its state forbids it.
    Conflict,
    /// The object or the arguments make no sense.
    Invalid,
    /// The plugin may not.
    Forbidden,
    /// Not inside a call in which objects may be used, or the host has no such service.
    NotNow,
    /// Something unexpected in the host.
    Failed,
}

/// A read or a write that did not work. As the end of a hook it makes the call fail: nothing of it
/// is written, and it is repeated later. Of a write that was refused that is no step toward
/// quarantine (`docs/plugins/faults.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectError {
    /// What kind of error.
    pub code: ObjectCode,
    /// A sentence.
    pub text: String,
}

impl fmt::Display for ObjectError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Error for ObjectError {}

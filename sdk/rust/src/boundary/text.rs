//! Texts and sinks. A text of the host that is no UTF-8 ends a hook as a fault; where it is copied
//! outside of a hook, U+FFFD stands for what is wrong.

use crate::abi;
use core::ffi::{c_char, c_void};
use core::marker::PhantomData;
use std::panic::resume_unwind;

/// The value of a member of a struct of the host, or `None` when its maker did not know the member.
/// No reference to the struct is made: it may be shorter than ours.
///
/// REQUIRES (unsafe): the pointer is NULL or points to a struct that starts with its `size`.
macro_rules! member {
    ($pointer:expr, $type:ty, $field:ident) => {{
        let pointer: *const $type = $pointer;
        if pointer.is_null() {
            None
        } else {
            let end = $crate::boundary::text::end_of(core::mem::offset_of!($type, $field), |p| {
                core::ptr::addr_of!((*(p as *const $type)).$field)
            });
            let size = core::ptr::addr_of!((*pointer).size).read();
            if end <= size as usize {
                Some(core::ptr::addr_of!((*pointer).$field).read())
            } else {
                None
            }
        }
    }};
}

/// Where a member ends; the function only tells its type, and is never called.
pub(super) const fn end_of<T, F>(offset: usize, _: unsafe fn(*const T) -> *const F) -> usize {
    offset + core::mem::size_of::<F>()
}

/// A panic with a text of ours: no message is printed, the guard makes a fault of it.
pub(super) struct HostBroke(pub &'static str);

/// REQUIRES: `text` outlives what the host does with it.
pub(super) const fn to_abi(text: &str) -> abi::Str {
    abi::Str {
        ptr: text.as_ptr().cast::<c_char>(),
        len: text.len() as u64,
    }
}

/// The bytes of a text of the host.
///
/// # Safety
/// The text is one that the host gave, and is valid for 'a.
pub(super) unsafe fn to_bytes<'a>(text: abi::Str) -> &'a [u8] {
    if text.len == 0 {
        return &[];
    }
    match usize::try_from(text.len) {
        Ok(len) if len <= isize::MAX as usize && !text.ptr.is_null() => {
            // SAFETY: not NULL, not longer than a slice may be; valid for 'a as the caller says.
            unsafe { core::slice::from_raw_parts(text.ptr.cast::<u8>(), len) }
        }
        _ => resume_unwind(Box::new(HostBroke(
            "the host gave a text without an address",
        ))),
    }
}

/// A text that lives as long as the call of a hook. One that is no UTF-8 makes the call a fault.
///
/// # Safety
/// As `to_bytes`. Only inside of a hook, where the guard is.
pub(super) unsafe fn to_str<'a>(text: abi::Str) -> &'a str {
    // SAFETY: the same promise.
    match core::str::from_utf8(unsafe { to_bytes(text) }) {
        Ok(text) => text,
        Err(_) => resume_unwind(Box::new(HostBroke("the host gave a text that is no UTF-8"))),
    }
}

/// A sink of ours that the host writes into.
///
/// REQUIRES: `into` outlives the sink.
fn collector(into: &mut Vec<u8>) -> abi::Sink {
    unsafe extern "C" fn push(context: *mut c_void, text: abi::Str) {
        // SAFETY: `context` is the vector of collected(), which waits for the host; the text is
        // valid until this returns. A text without an address is left out instead of unwound.
        unsafe {
            if !text.ptr.is_null() || text.len == 0 {
                (*context.cast::<Vec<u8>>()).extend_from_slice(to_bytes(text));
            }
        }
    }
    abi::Sink {
        size: core::mem::size_of::<abi::Sink>() as u32,
        reserved: 0,
        context: core::ptr::from_mut(into).cast(),
        write: Some(push),
    }
}

/// What `call` answers, and what it wrote into the sink.
pub(super) fn collected<R>(call: impl FnOnce(*const abi::Sink) -> R) -> (R, String) {
    let mut bytes = Vec::new();
    let sink = collector(&mut bytes);
    let answer = call(&sink);
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    (answer, text)
}

/// A sink of the host that we write into, valid during the call.
pub(super) struct HostSink<'c> {
    sink: *const abi::Sink,
    call: PhantomData<&'c ()>,
}

impl HostSink<'_> {
    /// # Safety
    /// NULL or a sink that is valid during the call.
    pub(super) unsafe fn new(sink: *const abi::Sink) -> Self {
        HostSink {
            sink,
            call: PhantomData,
        }
    }

    pub(super) fn write(&self, text: &str) {
        // SAFETY: the sink is valid as new() says; the text is copied before write() returns.
        unsafe {
            if let (Some(Some(write)), Some(context)) = (
                member!(self.sink, abi::Sink, write),
                member!(self.sink, abi::Sink, context),
            ) {
                write(context, to_abi(text));
            }
        }
    }
}

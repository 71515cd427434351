//! The tables of the extension points: each function turns the arguments of C into views, and calls
//! the hook under the guard.

use super::instance::Instance;
use super::text::HostSink;
use super::turn::Look;
use super::views::*;
use super::workload::Workload;
use crate::abi;
use crate::errors::Fault;
use crate::points::*;
use crate::values::{Again, Outcome, PositionAge, SearchStep, Told};
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::size_of;

/// A table of a plugin `T`, by the id of its extension point. Only `Probe` makes one, so it fits.
pub struct Extension<T> {
    id: &'static str,
    table: *const c_void,
    of: PhantomData<fn(T)>,
}

/// What `export_plugin!` says about a type.
pub trait Exported: Plugin {
    /// As in the metadata and in the file's name.
    const NAME: &'static str;
    /// Semantic version.
    const VERSION: &'static str;
    /// What it provides.
    const EXTENSIONS: &'static [Option<Extension<Self>>];
}

/// Knows which extension points a type provides: the constants here, or those of `Absent`, which
/// are `None`, where the type does not implement the trait.
pub struct Probe<T>(PhantomData<T>);

macro_rules! points {
    ($($constant:ident: $trait:ident = $id:ident, $table:ident;)*) => {
        $(impl<T: $trait> Probe<T> {
            #[allow(missing_docs)]
            pub const $constant: Option<Extension<T>> = Some(Extension {
                id: abi::$id,
                table: (&$table::<T>() as *const abi::$trait).cast(),
                of: PhantomData,
            });
        })*

        /// What `Probe` finds where a type does not implement a trait.
        pub trait Absent<T> {
            $(#[allow(missing_docs)] const $constant: Option<Extension<T>> = None;)*
        }
        impl<T> Absent<T> for Probe<T> {}
    };
}

points! {
    CHECK_CONTROLLER: CheckController = EXT_CHECK_CONTROLLER, check_controller;
    CONTROLLER: Controller = EXT_CONTROLLER, controller;
    FLAVOR_FILTER: FlavorFilter = EXT_FLAVOR_FILTER, flavor_filter;
    FLAVOR_SEARCH: FlavorSearch = EXT_FLAVOR_SEARCH, flavor_search;
    POST_ADMIT: PostAdmit = EXT_POST_ADMIT, post_admit;
    PREEMPTION_VETO: PreemptionVeto = EXT_PREEMPTION_VETO, preemption_veto;
    QUEUE_ORDER: QueueOrder = EXT_QUEUE_ORDER, queue_order;
    QUEUE_WATCH: QueueWatch = EXT_QUEUE_WATCH, queue_watch;
    SCHEMA: Schema = EXT_SCHEMA, schema;
    TIMERS: Timers = EXT_TIMERS, timers;
    VALIDATOR: Validator = EXT_VALIDATOR, validator;
}

/// The table of an extension point that the plugin provides, or NULL.
pub(super) unsafe extern "C" fn extension<T: Exported>(
    _: *mut abi::Instance,
    id: abi::Str,
) -> *const c_void {
    if id.ptr.is_null() {
        return core::ptr::null();
    }
    // SAFETY: the text is valid during the call, and has an address; no id is as long as to unwind.
    let id = unsafe { core::slice::from_raw_parts(id.ptr.cast::<u8>(), id.len as usize) };
    T::EXTENSIONS
        .iter()
        .flatten()
        .find(|extension| extension.id.as_bytes() == id)
        .map_or(core::ptr::null(), |extension| extension.table)
}

/// A `[control]` hook of the instance behind the handle.
///
/// # Safety
/// A handle of create::<T>(); the host keeps its word about threads.
unsafe fn control<T: Plugin>(
    instance: *mut abi::Instance,
    hook: impl FnOnce(&mut T, &crate::Turn<'_>) -> Result<i32, Fault>,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { Instance::<T>::of(instance).control(hook) }
}

/// A `[cycle]` hook of the instance behind the handle.
///
/// # Safety
/// A handle of create::<T>(); the host keeps its word about threads.
unsafe fn cycle<T: Plugin + Sync>(
    instance: *mut abi::Instance,
    hook: impl FnOnce(&T) -> Result<(), Fault>,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { Instance::<T>::of(instance).cycle(hook) }
}

/// One function of a table: under the guard, in the words of Rust.
macro_rules! thunk {
    (control $name:ident<$T:ident: $trait:ident>($($argument:ident: $type:ty),*)
     |$object:ident, $turn:ident| $body:block) => {
        unsafe extern "C" fn $name<$T: $trait>(
            instance: *mut abi::Instance, $($argument: $type),*
        ) -> i32 {
            // SAFETY: all pointers are the host's and valid during the call (ext/*.h).
            unsafe { control::<$T>(instance, |$object, $turn| $body) }
        }
    };
    (cycle $name:ident<$T:ident: $trait:ident>($($argument:ident: $type:ty),*)
     |$object:ident| $body:block) => {
        unsafe extern "C" fn $name<$T: $trait>(
            instance: *mut abi::Instance, $($argument: $type),*
        ) -> i32 {
            // SAFETY: all pointers are the host's and valid during the call (ext/*.h).
            unsafe { cycle::<$T>(instance, |$object| $body) }
        }
    };
}

const fn size_of_u32<T>() -> u32 {
    size_of::<T>() as u32
}

thunk!(cycle filter<T: FlavorFilter>(
    query: *const abi::FilterQuery, out: *const abi::FilterSink
) |object| { object.filter(&FilterQuery::new(query), &mut FilterAnswer::new(out)) });

thunk!(control shape_key<T: FlavorFilter>(
    workload: abi::WorkloadRef, out: *const abi::Sink
) |object, _turn| {
    HostSink::new(out).write(&object.shape_key(&Workload::new(workload))?);
    Ok(abi::OK)
});

const fn flavor_filter<T: FlavorFilter>() -> abi::FlavorFilter {
    abi::FlavorFilter {
        size: size_of_u32::<abi::FlavorFilter>(),
        reserved: 0,
        filter: Some(filter::<T>),
        shape_key: Some(shape_key::<T>),
    }
}

thunk!(cycle after_flavor<T: FlavorSearch>(
    step: *const abi::SearchStep, verdict: *mut i32
) |object| {
    let best = Outcome::of((*step).best);
    let step = SearchStep {
        queue: (*step).queue,
        current: Outcome::of((*step).current),
        best: ((*step).has_best != 0).then_some(best),
    };
    verdict.write(object.after_flavor(&step)?.number());
    Ok(())
});

thunk!(cycle better<T: FlavorSearch>(pair: *const abi::SearchPair, out: *mut i32) |object| {
    let (a, b) = (Outcome::of((*pair).a), Outcome::of((*pair).b));
    out.write(i32::from(object.better((*pair).queue, a, b)?));
    Ok(())
});

thunk!(cycle keep_position<T: FlavorSearch>(
    age: *const abi::PositionAge, out: *mut i32
) |object| {
    let age = PositionAge {
        queue: (*age).queue,
        cycles: (*age).cycles,
        queue_generations: (*age).queue_generations,
        tree_generations: (*age).tree_generations,
    };
    out.write(i32::from(object.keep_position(&age)?));
    Ok(())
});

const fn flavor_search<T: FlavorSearch>() -> abi::FlavorSearch {
    abi::FlavorSearch {
        size: size_of_u32::<abi::FlavorSearch>(),
        reserved: 0,
        after_flavor: Some(after_flavor::<T>),
        better: Some(better::<T>),
        keep_position: Some(keep_position::<T>),
    }
}

thunk!(cycle veto<T: PreemptionVeto>(
    query: *const abi::VetoQuery, out: *const abi::VetoSink
) |object| { object.veto(&VetoQuery::new(query), &mut VetoAnswer::new(out)) });

const fn preemption_veto<T: PreemptionVeto>() -> abi::PreemptionVeto {
    abi::PreemptionVeto {
        size: size_of_u32::<abi::PreemptionVeto>(),
        reserved: 0,
        veto: Some(veto::<T>),
    }
}

thunk!(control order_local_queue<T: QueueOrder>(
    query: *const abi::OrderQuery, out: *const abi::OrderSink
) |object, _turn| {
    object.local_queue(&OrderQuery::new(query), &mut OrderAnswer::new(out))?;
    Ok(abi::OK)
});

thunk!(control order_workload<T: QueueOrder>(
    workload: abi::WorkloadRef, out: *const abi::OrderSink
) |object, _turn| {
    object.workload(&Workload::new(workload), &mut OrderAnswer::new(out))?;
    Ok(abi::OK)
});

const fn queue_order<T: QueueOrder>() -> abi::QueueOrder {
    abi::QueueOrder {
        size: size_of_u32::<abi::QueueOrder>(),
        reserved: 0,
        local_queue: Some(order_local_queue::<T>),
        workload: Some(order_workload::<T>),
    }
}

thunk!(control queue_changed<T: QueueWatch>(queue: *const abi::Queue) |object, _turn| {
    object.queue_changed(&Queue::new(queue))?;
    Ok(abi::OK)
});

const fn queue_watch<T: QueueWatch>() -> abi::QueueWatch {
    abi::QueueWatch {
        size: size_of_u32::<abi::QueueWatch>(),
        reserved: 0,
        queue_changed: Some(queue_changed::<T>),
    }
}

thunk!(control notify<T: PostAdmit>(what: *const abi::Notification) |object, turn| {
    Ok(match object.notify(turn, &Notification::new(what))? {
        Told::Done => abi::OK,
        Told::TellAgain => abi::RETRY,
    })
});

thunk!(control told_events<T: PostAdmit>(out: *const abi::Sink) |object, _turn| {
    HostSink::new(out).write(&object.events().join("\n"));
    Ok(abi::OK)
});

const fn post_admit<T: PostAdmit>() -> abi::PostAdmit {
    abi::PostAdmit {
        size: size_of_u32::<abi::PostAdmit>(),
        reserved: 0,
        notify: Some(notify::<T>),
        events: Some(told_events::<T>),
    }
}

thunk!(control fired<T: Timers>(timer: u64, now: i64) |object, turn| {
    object.fired(turn, timer, now)?;
    Ok(abi::OK)
});

const fn timers<T: Timers>() -> abi::Timers {
    abi::Timers {
        size: size_of_u32::<abi::Timers>(),
        reserved: 0,
        fired: Some(fired::<T>),
    }
}

thunk!(control contribute<T: Schema>(out: *const abi::Sink) |object, _turn| {
    HostSink::new(out).write(&object.contribute()?);
    Ok(abi::OK)
});

const fn schema<T: Schema>() -> abi::Schema {
    abi::Schema {
        size: size_of_u32::<abi::Schema>(),
        reserved: 0,
        contribute: Some(contribute::<T>),
    }
}

thunk!(control validated_kinds<T: Validator>(out: *const abi::Sink) |object, _turn| {
    HostSink::new(out).write(&Validator::kinds(object).join("\n"));
    Ok(abi::OK)
});

thunk!(control set_defaults<T: Validator>(
    write: *const abi::Write, out: *const abi::Sink
) |object, _turn| {
    if let Some(text) = object.set_defaults(&Write::new(write))? {
        HostSink::new(out).write(&text);
    }
    Ok(abi::OK)
});

/// Objects may be read here, and not written, so the turn becomes a look.
unsafe extern "C" fn validate<T: Validator>(
    instance: *mut abi::Instance,
    write: *const abi::Write,
    out: *const abi::FieldErrorSink,
) -> i32 {
    // SAFETY: all pointers are the host's and valid during the call (ext/validator.h).
    unsafe {
        let host = Instance::<T>::of(instance).host.clone();
        control::<T>(instance, |object, _turn| {
            object.validate(
                &Look::new(&host),
                &Write::new(write),
                &mut FieldErrors::new(out),
            )?;
            Ok(abi::OK)
        })
    }
}

const fn validator<T: Validator>() -> abi::Validator {
    abi::Validator {
        size: size_of_u32::<abi::Validator>(),
        reserved: 0,
        kinds: Some(validated_kinds::<T>),
        set_defaults: Some(set_defaults::<T>),
        validate: Some(validate::<T>),
    }
}

thunk!(control controllers<T: CheckController>(out: *const abi::Sink) |object, _turn| {
    HostSink::new(out).write(&object.controllers().join("\n"));
    Ok(abi::OK)
});

thunk!(control check_changed<T: CheckController>(
    check: *const abi::Check, out: *const abi::ActivitySink
) |object, turn| {
    object.check_changed(turn, &Check::new(check), &mut Activity::new(out))?;
    Ok(abi::OK)
});

thunk!(control begin<T: CheckController>(query: *const abi::CheckQuery) |object, turn| {
    object.begin(turn, &CheckQuery::new(query))?;
    Ok(abi::OK)
});

thunk!(control cancel<T: CheckController>(cancelled: *const abi::CheckCancel) |object, turn| {
    object.cancel(turn, &CheckCancel::new(cancelled))?;
    Ok(abi::OK)
});

/// Objects may be read here, and not written, so the turn becomes a look.
unsafe extern "C" fn explain<T: CheckController>(
    instance: *mut abi::Instance,
    query: *const abi::CheckQuery,
    out: *const abi::Sink,
) -> i32 {
    // SAFETY: all pointers are the host's and valid during the call (ext/check_controller.h).
    unsafe {
        let host = Instance::<T>::of(instance).host.clone();
        control::<T>(instance, |object, _turn| {
            let lines = object.explain(&Look::new(&host), &CheckQuery::new(query))?;
            HostSink::new(out).write(&lines.join("\n"));
            Ok(abi::OK)
        })
    }
}

const fn check_controller<T: CheckController>() -> abi::CheckController {
    abi::CheckController {
        size: size_of_u32::<abi::CheckController>(),
        reserved: 0,
        controllers: Some(controllers::<T>),
        check_changed: Some(check_changed::<T>),
        begin: Some(begin::<T>),
        cancel: Some(cancel::<T>),
        explain: Some(explain::<T>),
    }
}

thunk!(control watched_kinds<T: Controller>(out: *const abi::Sink) |object, _turn| {
    HostSink::new(out).write(&Controller::kinds(object).join("\n"));
    Ok(abi::OK)
});

thunk!(control reconcile<T: Controller>(
    what: *const abi::Reconcile, again_after_ms: *mut i64
) |object, turn| {
    // Objects of other places are not wrapped; without `remotes/1` none is ever named.
    let again = match object_of(what) {
        Some(what) => object.reconcile(turn, &what)?,
        None => Again::OnChange,
    };
    again_after_ms.write(again.to_ms());
    Ok(abi::OK)
});

const fn controller<T: Controller>() -> abi::Controller {
    abi::Controller {
        size: size_of_u32::<abi::Controller>(),
        reserved: 0,
        kinds: Some(watched_kinds::<T>),
        reconcile: Some(reconcile::<T>),
    }
}

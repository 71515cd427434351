//! What plugins answer and keep: plain values, without any tie to a call.

use crate::abi;

/// Which attempt at a check a report is about. To be kept as long as you like.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckAttempt {
    /// The workload's namespace.
    pub namespace: String,
    /// The workload's name.
    pub workload: String,
    /// The workload's uid.
    pub uid: String,
    /// The AdmissionCheck's name.
    pub check: String,
    /// The number of the attempt.
    pub attempt: u64,
}

/// What became of an attempt at a check, with a message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckAnswer {
    /// Not yet.
    Pending {
        /// For people.
        message: String,
        /// It passes only when others give way.
        preemption_required: bool,
    },
    /// The workload may start.
    Ready {
        /// For people.
        message: String,
        /// A JSON list of what the pods of the started job get in addition; may be empty.
        pod_set_updates: String,
    },
    /// Evict it, and try again.
    Retry {
        /// For people.
        message: String,
        /// Not before; `None`: the host decides.
        after_seconds: Option<u32>,
    },
    /// Never: the workload is deactivated.
    Rejected {
        /// For people.
        message: String,
    },
}

impl CheckAnswer {
    /// Not yet.
    pub fn pending(message: impl Into<String>) -> Self {
        CheckAnswer::Pending {
            message: message.into(),
            preemption_required: false,
        }
    }
    /// The workload may start.
    pub fn ready(message: impl Into<String>) -> Self {
        CheckAnswer::Ready {
            message: message.into(),
            pod_set_updates: String::new(),
        }
    }
    /// Evict it, and try again when the host likes to.
    pub fn retry(message: impl Into<String>) -> Self {
        CheckAnswer::Retry {
            message: message.into(),
            after_seconds: None,
        }
    }
    /// Evict it, and try again, not before so many seconds have passed.
    pub fn retry_after(message: impl Into<String>, seconds: u32) -> Self {
        CheckAnswer::Retry {
            message: message.into(),
            after_seconds: Some(seconds),
        }
    }
    /// Never.
    pub fn rejected(message: impl Into<String>) -> Self {
        CheckAnswer::Rejected {
            message: message.into(),
        }
    }
    /// `Pending`, `Ready`, `Retry` or `Rejected`.
    pub fn state(&self) -> &'static str {
        match self {
            CheckAnswer::Pending { .. } => "Pending",
            CheckAnswer::Ready { .. } => "Ready",
            CheckAnswer::Retry { .. } => "Retry",
            CheckAnswer::Rejected { .. } => "Rejected",
        }
    }
    /// For people.
    pub fn message(&self) -> &str {
        match self {
            CheckAnswer::Pending { message, .. }
            | CheckAnswer::Ready { message, .. }
            | CheckAnswer::Retry { message, .. }
            | CheckAnswer::Rejected { message } => message,
        }
    }
}

/// When `reconcile` wants to be called again for the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Only when something changes.
    OnChange,
    /// After so many milliseconds, also if nothing changes.
    InMillis(u32),
    /// After what else is due: for work that is done in pieces.
    AtOnce,
}

impl Again {
    /// As the C interface says it.
    pub(crate) fn to_ms(self) -> i64 {
        match self {
            Again::OnChange | Again::InMillis(0) => 0,
            Again::InMillis(ms) => i64::from(ms),
            Again::AtOnce => abi::AGAIN_AT_ONCE,
        }
    }
    /// The reverse, for tests.
    pub(crate) fn of_ms(ms: i64) -> Self {
        match ms {
            0 => Again::OnChange,
            ms if ms < 0 => Again::AtOnce,
            ms => Again::InMillis(u32::try_from(ms).unwrap_or(u32::MAX)),
        }
    }
}

/// Which object: `GROUP/VERSION` (or `VERSION`), kind, namespace (empty: cluster-wide) and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// `GROUP/VERSION`, or `VERSION`.
    pub api_version: String,
    /// For example `Workload`.
    pub kind: String,
    /// Empty for cluster-wide kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectRef {
    /// An object, in a namespace or (`""`) cluster-wide.
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        ObjectRef {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

/// Which part of an object a write is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All but the status.
    Whole,
    /// The status.
    Status,
}

impl Part {
    /// As the C interface names it.
    pub(crate) fn subresource(self) -> &'static str {
        match self {
            Part::Whole => "",
            Part::Status => "status",
        }
    }
}

/// What is done with an object that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// There was none.
    Create,
    /// There was one.
    Update,
    /// There will be none.
    Delete,
}

/// What is wrong with a field, worded as Kubernetes words it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FieldProblem {
    Invalid,
    Required,
    Forbidden,
    NotSupported,
    Duplicate,
}

/// What happened to a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Event {
    Reserved,
    /// It issued preemptions; the others are its victims.
    Preempting,
    WaitingForVictims,
    Admitted,
    ReservationLost,
    /// With the reason.
    Evicted,
    Deactivated,
    Finished,
    /// One that this crate does not know: to be ignored.
    Unknown(i32),
}

impl Event {
    pub(crate) fn of(number: i32) -> Self {
        match number {
            abi::EVENT_RESERVED => Event::Reserved,
            abi::EVENT_PREEMPTING => Event::Preempting,
            abi::EVENT_WAITING_FOR_VICTIMS => Event::WaitingForVictims,
            abi::EVENT_ADMITTED => Event::Admitted,
            abi::EVENT_RESERVATION_LOST => Event::ReservationLost,
            abi::EVENT_EVICTED => Event::Evicted,
            abi::EVENT_DEACTIVATED => Event::Deactivated,
            abi::EVENT_FINISHED => Event::Finished,
            other => Event::Unknown(other),
        }
    }
    pub(crate) fn number(self) -> i32 {
        match self {
            Event::Reserved => abi::EVENT_RESERVED,
            Event::Preempting => abi::EVENT_PREEMPTING,
            Event::WaitingForVictims => abi::EVENT_WAITING_FOR_VICTIMS,
            Event::Admitted => abi::EVENT_ADMITTED,
            Event::ReservationLost => abi::EVENT_RESERVATION_LOST,
            Event::Evicted => abi::EVENT_EVICTED,
            Event::Deactivated => abi::EVENT_DEACTIVATED,
            Event::Finished => abi::EVENT_FINISHED,
            Event::Unknown(other) => other,
        }
    }
}

/// Whether a notification was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It was.
    Done,
    /// Not now: to be told again later.
    TellAgain,
}

/// How well a flavor serves a request, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Mode {
    NoFit,
    /// Preemption is allowed but finds no victims.
    NoCandidates,
    /// Victims, at least one in the own queue.
    Preempt,
    /// Victims, all of them in other queues.
    Reclaim,
    Fit,
}

/// A mode, and how high up the cohort tree one has to borrow; 0: nothing is borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Outcome {
    pub mode: Mode,
    pub borrow_level: i32,
}

impl Outcome {
    pub(crate) fn of(raw: abi::Outcome) -> Self {
        let mode = match raw.mode {
            abi::MODE_NO_CANDIDATES => Mode::NoCandidates,
            abi::MODE_PREEMPT => Mode::Preempt,
            abi::MODE_RECLAIM => Mode::Reclaim,
            abi::MODE_FIT => Mode::Fit,
            _ => Mode::NoFit,
        };
        Outcome {
            mode,
            borrow_level: raw.borrow_level,
        }
    }
    pub(crate) fn raw(self) -> abi::Outcome {
        let mode = match self.mode {
            Mode::NoFit => abi::MODE_NO_FIT,
            Mode::NoCandidates => abi::MODE_NO_CANDIDATES,
            Mode::Preempt => abi::MODE_PREEMPT,
            Mode::Reclaim => abi::MODE_RECLAIM,
            Mode::Fit => abi::MODE_FIT,
        };
        abi::Outcome {
            mode,
            borrow_level: self.borrow_level,
        }
    }
}

/// A flavor was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchStep {
    /// Dense id.
    pub queue: u32,
    /// Of this flavor.
    pub current: Outcome,
    /// The best before this flavor.
    pub best: Option<Outcome>,
}

/// How far the walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Keep the better one and try the next flavor.
    GoOn,
    /// Take this flavor, even if an earlier one was better.
    StopHere,
    /// Stop with the better of this one and the best so far.
    StopBest,
}

impl Search {
    pub(crate) fn of(number: i32) -> Self {
        match number {
            abi::SEARCH_STOP_HERE => Search::StopHere,
            abi::SEARCH_STOP_BEST => Search::StopBest,
            _ => Search::GoOn,
        }
    }
    pub(crate) fn number(self) -> i32 {
        match self {
            Search::GoOn => abi::SEARCH_GO_ON,
            Search::StopHere => abi::SEARCH_STOP_HERE,
            Search::StopBest => abi::SEARCH_STOP_BEST,
        }
    }
}

/// What happened since the scan position was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionAge {
    /// Dense id.
    pub queue: u32,
    /// 1: recorded in the cycle just before this one.
    pub cycles: u64,
    /// Changes of the queue's holders and configuration.
    pub queue_generations: u64,
    /// The same, of all queues of its cohort tree together.
    pub tree_generations: u64,
}

/// What a ClusterQueue has of one resource of one flavor; milli for cpu, base units for all else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Its own.
    pub nominal: i64,
    /// How much it may borrow; `None`: there is no limit.
    pub borrowing_limit: Option<i64>,
    /// How much it lends at most; `None`: there is no limit.
    pub lending_limit: Option<i64>,
}

impl Quota {
    pub(crate) fn of(raw: abi::Quota) -> Self {
        let limit = |value: i64| (value >= 0).then_some(value);
        Quota {
            nominal: raw.nominal,
            borrowing_limit: limit(raw.borrowing_limit),
            lending_limit: limit(raw.lending_limit),
        }
    }
    pub(crate) fn raw(self) -> abi::Quota {
        abi::Quota {
            nominal: self.nominal,
            borrowing_limit: self.borrowing_limit.unwrap_or(-1),
            lending_limit: self.lending_limit.unwrap_or(-1),
        }
    }
}

"""What a plugin answers: values, nothing more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

Json = Any
"""What json.loads gives."""

MOST_SECONDS = 2**31 - 1
FIELD_ERROR_KINDS = ("Invalid", "Required", "Forbidden", "NotSupported", "Duplicate")


def text_of(value: Any, what: str) -> str:
    """The value, which is a text. Another one would end the process when the host reads it."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {value!r}; it must be a str")
    return value


def _whole_seconds(seconds: Any) -> int:
    """Rounded up: nobody is tried again before the time that was asked for."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"after_seconds is {seconds!r}; it must be a number")
    if not 0 <= seconds <= MOST_SECONDS:  # which no NaN is
        raise ValueError(f"after_seconds is {seconds!r}; it must be from 0 to {MOST_SECONDS}")
    return math.ceil(seconds)


@dataclass(frozen=True)
class CheckAnswer:
    """What became of an attempt at a check; made by pending(), ready(), retry(), rejected(). What
    the protocol has no form for is refused here, where it was said."""

    state: str
    message: str
    preemption_required: bool = False
    after_seconds: Optional[int] = None
    pod_set_updates: Optional[List[Dict[str, Json]]] = None

    def __post_init__(self) -> None:
        text_of(self.message, "the message")
        if self.after_seconds is not None:
            object.__setattr__(self, "after_seconds", _whole_seconds(self.after_seconds))
        updates = self.pod_set_updates
        if updates is not None and not (isinstance(updates, (list, tuple)) and
                                        all(isinstance(each, dict) for each in updates)):
            raise TypeError(f"pod_set_updates is {updates!r}; it must be a list of dict")


def pending(message: str, preemption_required: bool = False) -> CheckAnswer:
    """Still at work. With preemption_required it can only pass when others give way."""
    return CheckAnswer("Pending", message, preemption_required=preemption_required)


def ready(message: str, pod_set_updates: Optional[List[Dict[str, Json]]] = None) -> CheckAnswer:
    """Passed. pod_set_updates: a list of {"name": POD SET, "labels": {}, "annotations": {},
    "nodeSelector": {}, "tolerations": []}: what the pods of that pod set get in addition."""
    return CheckAnswer("Ready", message, pod_set_updates=pod_set_updates)


def retry(message: str, after_seconds: Optional[Union[int, float]] = None) -> CheckAnswer:
    """Not now: the workload is evicted, and tried again after so many seconds; a fraction of one
    is rounded up."""
    whole = None if after_seconds is None else _whole_seconds(after_seconds)
    return CheckAnswer("Retry", message, after_seconds=whole)


def rejected(message: str) -> CheckAnswer:
    """Not at all: the workload is deactivated."""
    return CheckAnswer("Rejected", message)


@dataclass(frozen=True)
class Activity:
    """Whether a check can be carried out; made by active() and inactive()."""

    is_active: bool
    reason: str
    message: str

    def __post_init__(self) -> None:
        text_of(self.reason, "the reason")
        text_of(self.message, "the message")


def active(message: str = "The controller of the check carries it out") -> Activity:
    return Activity(True, "Active", message)


def inactive(reason: str, message: str) -> Activity:
    """reason is one word, for example BadParametersRef."""
    return Activity(False, reason, message)


@dataclass(frozen=True)
class FieldError:
    """Why a write is refused: a field by its path (`spec.x[0].y`), its value, what is allowed."""

    path: str
    detail: str
    value: Json = None
    kind: str = "Invalid"
    """Invalid, Required, Forbidden, NotSupported or Duplicate."""

    def __post_init__(self) -> None:
        text_of(self.path, "the path")
        text_of(self.detail, "the detail")
        if self.kind not in FIELD_ERROR_KINDS:
            raise ValueError(f"the kind is {self.kind!r}; it must be one of "
                             f"{', '.join(FIELD_ERROR_KINDS)}")

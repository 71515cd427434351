"""What a plugin answers: values, nothing more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

Json = Any
"""What json.loads gives."""


@dataclass(frozen=True)
class CheckAnswer:
    """What became of an attempt at a check; made by pending(), ready(), retry(), rejected()."""

    state: str
    message: str
    preemption_required: bool = False
    after_seconds: Optional[int] = None
    pod_set_updates: Optional[List[Dict[str, Json]]] = None


def pending(message: str, preemption_required: bool = False) -> CheckAnswer:
    """Still at work. With preemption_required it can only pass when others give way."""
    return CheckAnswer("Pending", message, preemption_required=preemption_required)


def ready(message: str, pod_set_updates: Optional[List[Dict[str, Json]]] = None) -> CheckAnswer:
    """Passed. pod_set_updates: a list of {"name": POD SET, "labels": {}, "annotations": {},
    "nodeSelector": {}, "tolerations": []}: what the pods of that pod set get in addition."""
    return CheckAnswer("Ready", message, pod_set_updates=pod_set_updates)


def retry(message: str, after_seconds: Optional[int] = None) -> CheckAnswer:
    """Not now: the workload is evicted, and tried again after so many seconds."""
    return CheckAnswer("Retry", message, after_seconds=after_seconds)


def rejected(message: str) -> CheckAnswer:
    """Not at all: the workload is deactivated."""
    return CheckAnswer("Rejected", message)


@dataclass(frozen=True)
class Activity:
    """Whether a check can be carried out; made by active() and inactive()."""

    is_active: bool
    reason: str
    message: str


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

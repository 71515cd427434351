"""The class that plugins derive from, what it is asked, and the loop that answers the host."""

from __future__ import annotations

import concurrent.futures
import math
import os
import socket
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Dict, List, Optional, Sequence, Type

from ._answers import Activity, CheckAnswer, FieldError, Json, pending
from ._host import Host
from ._wire import PROTOCOL, Message, Wire, encode

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds before decide() is asked again after it raised."""


class Refused(Exception):
    """Raised by __init__() or activate(): the plugin is refused with this sentence."""


class Failed(Exception):
    """Raised by a method: this question cannot be answered now, and why."""


class TellMeAgain(Exception):
    """Raised by notify(): not now."""


@dataclass(frozen=True)
class Attempt:
    """Which attempt a report is about."""

    namespace: str
    name: str
    uid: str
    check: str
    number: int


@dataclass(frozen=True)
class CheckQuery:
    """An attempt that begins."""

    attempt: Attempt
    retry_count: int
    workload: Dict[str, Json]
    """The Workload (v1beta2), with its present status."""
    check: Dict[str, Json]
    """The AdmissionCheck."""

    @property
    def labels(self) -> Dict[str, str]:
        return self.workload["metadata"].get("labels") or {}

    @property
    def annotations(self) -> Dict[str, str]:
        return self.workload["metadata"].get("annotations") or {}


@dataclass(frozen=True)
class CheckCancel:
    """An attempt that is over."""

    attempt: Attempt
    why: str


@dataclass(frozen=True)
class ObjectRef:
    api_version: str
    kind: str
    name: str
    namespace: str


@dataclass(frozen=True)
class Write:
    """A write that is judged: operation is Create, Update or Delete."""

    operation: str
    api_version: str
    kind: str
    object: Optional[Dict[str, Json]]
    old: Optional[Dict[str, Json]]
    user: str = ""
    """Who writes; empty: the host itself."""


@dataclass(frozen=True)
class Notification:
    """What was decided: Reserved, Preempting, WaitingForVictims, Admitted, ReservationLost,
    Evicted, Deactivated or Finished. Ignore events that you do not know."""

    event: str
    sequence: int
    workload: Dict[str, Json]
    reason: str
    others: List[str]


class Plugin:
    """What a plugin is. A subclass provides an extension point by having its method."""

    name: ClassVar[str]
    """As the configuration of the host lists it."""
    version: ClassVar[str] = "0.0.0"
    description: ClassVar[str] = ""
    config_schema: ClassVar[Optional[Dict[str, Json]]] = None
    """JSON Schema of the configuration; None: it takes none. docs/plugins/configuration.md lists
    the keywords."""
    check_controllers: ClassVar[Sequence[str]] = ()
    """Values of spec.controllerName that it answers for."""
    watched_kinds: ClassVar[Sequence[str]] = ()
    """`GROUP/VERSION KIND`: objects that reconcile() is called for."""
    validated_kinds: ClassVar[Sequence[str]] = ()
    """`GROUP/KIND`: objects whose writes validate() and set_defaults() see. validate() has to be
    there; one that only sets defaults accepts everything in it."""
    told_events: ClassVar[Sequence[str]] = ()
    """Events that notify() is called for: `Admitted`, or `Admitted claimed`, which is of workloads
    that the plugin claims. None: all."""
    schema: ClassVar[Optional[Dict[str, Json]]] = None
    """What it adds to kinds (docs/plugins/schema.md)."""

    def __init__(self, host: Host, config: Dict[str, Json]) -> None:
        self.host = host
        self.config = config

    def activate(self) -> None:
        """From now on the others are called."""

    def deactivate(self) -> None:
        """Nothing is called any more; the process is ended."""

    # Methods that a subclass may have:
    #   check_changed(name: str, check: Optional[dict]) -> Optional[Activity]
    #   begin_check(query: CheckQuery) -> Optional[CheckAnswer]   must not wait for anything
    #   decide(query: CheckQuery) -> CheckAnswer                  instead: on a thread, may wait
    #   cancel_check(cancel: CheckCancel) -> None
    #   explain_check(query: CheckQuery) -> Sequence[str]         sentences for who asks why
    #   reconcile(what: ObjectRef) -> Optional[float]             seconds; look again then
    #   validate(write: Write) -> Sequence[FieldError]
    #   set_defaults(write: Write) -> Optional[dict]              the whole object
    #   notify(told: Notification) -> None
    #   timer(number: int) -> None


class _Deciding:
    """Runs decide() on threads, where it may wait; in a simulation within the call. However
    decide() ends, a report is sent or it is asked again: nobody would look into a Future."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._lock = threading.Lock()
        self._asked: Dict[Attempt, int] = {}  # how often
        self._pool = concurrent.futures.ThreadPoolExecutor(8, "decide")

    def begin(self, query: CheckQuery) -> None:
        if self._plugin.host.simulated:
            self._plugin.host.report(query.attempt, self._decide(query))
            return
        with self._lock:
            if query.attempt in self._asked:  # the host began it again
                return
            self._asked[query.attempt] = 0
        self._pool.submit(self._run, query)

    def cancel(self, attempt: Attempt) -> None:
        with self._lock:
            self._asked.pop(attempt, None)

    def _decide(self, query: CheckQuery) -> CheckAnswer:
        return self._plugin.decide(query)  # type: ignore[attr-defined]

    def _run(self, query: CheckQuery) -> None:
        with self._lock:
            if query.attempt not in self._asked:
                return
        host = self._plugin.host
        try:
            report = host._report(  # pylint: disable=protected-access
                query.attempt, self._decide(query))
        except BaseException as error:  # pylint: disable=broad-except  # sys.exit(), too
            self._again(query, error)
            return
        with self._lock:
            if self._asked.pop(query.attempt, None) is None:
                return
        host._wire.send_body(report)  # pylint: disable=protected-access

    def _again(self, query: CheckQuery, error: BaseException) -> None:
        with self._lock:
            if query.attempt not in self._asked:
                return
            times = self._asked[query.attempt]
            self._asked[query.attempt] += 1
        pause = min(FIRST_PAUSE * 2 ** min(times, 20), LONGEST_PAUSE)
        traceback.print_exception(type(error), error, error.__traceback__)
        self._plugin.host.report(query.attempt, pending(
            f"{_sentence(error)}; it is tried again in {pause:g} s"))
        timer = threading.Timer(pause, lambda: self._pool.submit(self._run, query))
        timer.daemon = True
        timer.start()


def _sentence(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # pylint: disable=broad-except  # an exception's own __str__()
        text = "it does not say why"
    return text if isinstance(error, (Failed, Refused)) else f"{type(error).__name__}: {text}"


def _is_list_of(values: Any, kind: type) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(each, kind) for each in values)


def _check_lists(kind: Type[Plugin]) -> None:
    """A str is a sequence of its letters, which nobody means here."""
    for field in ("check_controllers", "watched_kinds", "validated_kinds", "told_events"):
        names = getattr(kind, field)
        if not isinstance(names, (list, tuple, set, frozenset)) or \
                not all(isinstance(name, str) for name in names):
            raise Refused(f"{kind.__name__}.{field} is {names!r}; it must be a list of str")


def _attempt(call: Message, workload: Optional[Message] = None) -> Attempt:
    where = call if workload is None else workload["metadata"]
    return Attempt(where.get("namespace", ""), where["name"], where.get("uid", ""), call["check"],
                   call["attempt"])


class Loop:
    """Answers the calls of one host, one after the other."""

    def __init__(self, kind: Type[Plugin], wire: Wire) -> None:
        self._kind = kind
        self._wire = wire
        self._host = Host(wire)
        self._plugin: Optional[Plugin] = None
        self._deciding: Optional[_Deciding] = None
        self._answers: Dict[str, Callable[[Message], Message]] = {
            "plugin.create": self._create,
            "plugin.activate": self._activate,
            "plugin.deactivate": self._deactivate,
            "check-controller.check_changed": self._check_changed,
            "check-controller.begin": self._begin,
            "check-controller.cancel": self._cancel,
            "check-controller.explain": self._explain,
            "controller.reconcile": self._reconcile,
            "validator.validate": self._validate,
            "validator.set_defaults": self._set_defaults,
            "post-admit.notify": self._notify,
            "timers.fired": self._timer,
        }

    def run(self) -> None:
        """Until the host hangs up."""
        hello = self._wire.receive()
        if hello is None:
            return
        if hello["hello"]["protocol"] != PROTOCOL:
            print(f"the host speaks protocol {hello['hello']['protocol']}, this package "
                  f"speaks {PROTOCOL}", file=sys.stderr)
        said: Message = {"protocol": PROTOCOL, "name": self._kind.name,
                         "version": self._kind.version, "description": self._kind.description}
        if self._kind.config_schema is not None:
            said["configSchema"] = self._kind.config_schema
        self._wire.send({"hello": said})
        while True:
            call = self._wire.receive()
            if call is None:
                return
            self._wire.send_body(self._written_answer(call))

    def _written_answer(self, call: Message) -> bytes:
        answer = self._answer(call)
        try:
            return encode({"answer": call["call"], **answer})
        except (TypeError, ValueError, RecursionError) as error:
            return encode({"answer": call["call"], "failed": _sentence(error)})

    def _answer(self, call: Message) -> Message:
        self._host._now = call["now"]  # pylint: disable=protected-access
        self._host._caller = threading.get_ident()  # pylint: disable=protected-access
        try:
            return self._answers[call["hook"]](call)
        except Refused as refused:
            return {"refused": str(refused)}
        except TellMeAgain:
            return {"retry": True}
        except EOFError:
            raise
        except Exception as error:  # pylint: disable=broad-except
            if not isinstance(error, Failed):
                traceback.print_exc()
            return {"failed": _sentence(error)}
        finally:
            self._host._caller = None  # pylint: disable=protected-access

    def _has(self, method: str) -> bool:
        return callable(getattr(self._kind, method, None))

    def _points(self) -> Message:
        kind = self._kind
        points: Message = {}
        if kind.check_controllers:
            points["check-controller/1"] = {"controllers": list(kind.check_controllers),
                                            "explains": self._has("explain_check")}
        if kind.watched_kinds:
            points["controller/1"] = {"kinds": list(kind.watched_kinds)}
        if kind.validated_kinds:
            points["validator/1"] = {"kinds": list(kind.validated_kinds),
                                     "setsDefaults": self._has("set_defaults")}
        if self._has("timer"):
            points["timers/1"] = {}
        if self._has("notify"):
            points["post-admit/1"] = {"events": list(kind.told_events)}
        if kind.schema is not None:
            points["schema/1"] = {"contribution": kind.schema}
        return points

    def _create(self, call: Message) -> Message:
        self._host.simulated = call["simulated"]
        kind = self._kind
        _check_lists(kind)
        if kind.check_controllers and not (self._has("begin_check") or self._has("decide")):
            raise Refused(f"{kind.__name__} names check_controllers, but has neither "
                          "begin_check() nor decide()")
        for field, method in (("watched_kinds", "reconcile"), ("validated_kinds", "validate"),
                              ("told_events", "notify")):
            if getattr(kind, field) and not self._has(method):
                raise Refused(f"{kind.__name__} names {field}, but has no {method}()")
        self._plugin = kind(self._host, call["config"])
        if self._has("decide"):
            self._deciding = _Deciding(self._plugin)
        return {"points": self._points()}

    def _asked(self) -> Any:
        if self._plugin is None:
            raise Failed("it was not created")
        return self._plugin

    def _activate(self, _: Message) -> Message:
        self._asked().activate()
        return {}

    def _deactivate(self, _: Message) -> Message:
        self._asked().deactivate()
        return {}

    def _check_changed(self, call: Message) -> Message:
        if not self._has("check_changed"):
            return {}
        activity: Optional[Activity] = self._asked().check_changed(call["check"],
                                                                   call["checkObject"])
        if activity is None:
            return {}
        if not isinstance(activity, Activity):
            raise TypeError(f"check_changed() gives {activity!r}; it must be what active() or "
                            "inactive() make")
        return {"active": activity.is_active, "reason": activity.reason,
                "message": activity.message}

    @staticmethod
    def _query(call: Message) -> CheckQuery:
        return CheckQuery(_attempt(call, call["workload"]), call["retryCount"], call["workload"],
                          call["checkObject"])

    def _explain(self, call: Message) -> Message:
        lines: Sequence[str] = self._asked().explain_check(self._query(call))
        if not _is_list_of(lines, str):
            raise TypeError(f"explain_check() gives {lines!r}; it must be a list of str")
        return {"lines": list(lines)}

    def _begin(self, call: Message) -> Message:
        query = self._query(call)
        if self._has("begin_check"):
            answer: Optional[CheckAnswer] = self._asked().begin_check(query)
            if answer is not None:
                self._host.report(query.attempt, answer)
                return {}
        if self._deciding is not None:
            self._deciding.begin(query)
        return {}

    def _cancel(self, call: Message) -> Message:
        cancel = CheckCancel(_attempt(call), call["why"])
        if self._deciding is not None:
            self._deciding.cancel(cancel.attempt)
        if self._has("cancel_check"):
            self._asked().cancel_check(cancel)
        return {}

    def _reconcile(self, call: Message) -> Message:
        seconds: Optional[float] = self._asked().reconcile(
            ObjectRef(call["apiVersion"], call["kind"], call["name"], call["namespace"]))
        if seconds is None:
            return {}
        return {"againAfterMs": math.ceil(seconds * 1000) if seconds > 0 else -1}

    def _validate(self, call: Message) -> Message:
        errors: Sequence[FieldError] = self._asked().validate(_write(call)) or ()
        if not _is_list_of(errors, FieldError):
            raise TypeError(f"validate() gives {errors!r}; it must be a list of FieldError")
        return {"errors": [{"kind": error.kind, "path": error.path, "detail": error.detail,
                            **({} if error.value is None else {"value": error.value})}
                           for error in errors]}

    def _set_defaults(self, call: Message) -> Message:
        changed = self._asked().set_defaults(_write(call))
        if changed is None:
            return {}
        if not isinstance(changed, dict):
            raise TypeError(f"set_defaults() gives {changed!r}; it must be a dict, or None")
        return {"object": changed}

    def _notify(self, call: Message) -> Message:
        self._asked().notify(Notification(call["event"], call["sequence"], call["workload"],
                                          call["reason"], call["others"]))
        return {}

    def _timer(self, call: Message) -> Message:
        self._asked().timer(call["timer"])
        return {}


def _write(call: Message) -> Write:
    return Write(call["operation"], call["apiVersion"], call["kind"], call["object"], call["old"],
                 call.get("user", ""))


def main(kind: Type[Plugin]) -> None:
    """Answers the host that started this process, until it hangs up. Does not return."""
    number = os.environ.get("SLUICE_PLUGIN_FD", "")
    if not number.isdigit():
        sys.exit(f"{kind.name} is a plugin of Sluice: a host starts it, with `command:` in "
                 "plugins.load of its configuration")
    connection = socket.socket(fileno=int(number))
    connection.set_inheritable(False)
    sys.stdout.reconfigure(line_buffering=True)  # what is printed is in the host's log at once
    try:
        Loop(kind, Wire(connection)).run()
    except (BrokenPipeError, ConnectionResetError, EOFError):
        pass
    sys.stdout.flush()
    os._exit(0)  # threads that still decide have nobody to tell

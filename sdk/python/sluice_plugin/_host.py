"""What the host does for a plugin."""

from __future__ import annotations

import datetime
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from ._answers import CheckAnswer, Json, text_of
from ._wire import Wire, encode

if TYPE_CHECKING:
    from ._plugin import Attempt

SECOND = 1_000_000_000
# Characters of a text in a note, of which the host shows less: a note of more than 1 MiB would end
# the process, and a character is twelve bytes at most.
_MOST_SHOWN = 64 << 10


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        raise TypeError(f"{what} is {value!r}; it must be a whole number")
    return int(value)


class ObjectError(Exception):
    """What the host said to a request. code: NotFound, AlreadyExists, Conflict, Invalid, Forbidden,
    NotNow or Failed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


class Objects:
    """The host's objects, of all kinds, as json.loads gives them. What a call writes takes effect
    together when it returns, and not at all when it raises. Within the methods that the page lists,
    on their thread; elsewhere the code is NotNow."""

    def __init__(self, ask: Callable[..., Json]) -> None:
        self._ask = ask

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Json:
        return self._ask("objects.get", apiVersion=api_version, kind=kind, name=name,
                         namespace=namespace)

    def find(self, api_version: str, kind: str, name: str, namespace: str = "") -> Json:
        """As get(), but None where there is no such object."""
        try:
            return self.get(api_version, kind, name, namespace)
        except ObjectError as error:
            if error.code == "NotFound":
                return None
            raise

    def list(self, api_version: str, kind: str, namespace: str = "",
             selector: str = "") -> List[Json]:
        """namespace empty: all; selector: `a=b,c in (d,e)`."""
        return self._ask("objects.list", apiVersion=api_version, kind=kind, namespace=namespace,
                         selector=selector)

    def create(self, obj: Json) -> Json:
        return self._ask("objects.create", object=obj)

    def update(self, obj: Json, subresource: str = "") -> Json:
        return self._ask("objects.update", object=obj, subresource=subresource)

    def patch(self, api_version: str, kind: str, name: str, merge: Json, namespace: str = "",
              subresource: str = "") -> Json:
        """A JSON merge patch."""
        return self._ask("objects.patch", apiVersion=api_version, kind=kind, name=name,
                         namespace=namespace, subresource=subresource, object=merge)

    def remove(self, api_version: str, kind: str, name: str, namespace: str = "",
               uid: str = "") -> None:
        self._ask("objects.remove", apiVersion=api_version, kind=kind, name=name,
                  namespace=namespace, uid=uid)


class State:
    """Keys and texts of the plugin's own, kept by the host over restarts. Where objects may be
    used, and in the same transaction."""

    def __init__(self, ask: Callable[..., Json]) -> None:
        self._ask = ask

    def get(self, key: str) -> Optional[str]:
        try:
            return self._ask("state.get", key=key)
        except ObjectError as error:
            if error.code == "NotFound":
                return None
            raise

    def set(self, key: str, value: str) -> None:
        self._ask("state.set", key=key, value=value)

    def remove(self, key: str) -> None:
        self._ask("state.remove", key=key)

    def keys(self, prefix: str = "") -> List[str]:
        return self._ask("state.keys", prefix=prefix)


class Host:
    """The services of the host. All but objects and state may be used by any thread."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._requests = 0
        self._caller: Optional[int] = None
        self._now = 0
        self.simulated = False
        """In a simulation nothing outside is real: start no program, send nothing."""
        self.objects = Objects(self._ask)
        self.state = State(self._ask)

    # ---- time

    def now(self) -> int:
        """ns since 1970 UTC, on the host's clock. Never ask the machine for the time."""
        return self._now if self.simulated else time.time_ns()

    def now_utc(self) -> datetime.datetime:
        """The same, to the microsecond."""
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=self.now() // 1000)

    def set_timer(self, number: int, at: int) -> None:
        """The plugin's timer(number) is called at `at` (ns since 1970 UTC)."""
        self._note("timer", timer=_whole(number, "the timer"), at=_whole(at, "its time"))

    def set_timer_in(self, number: int, seconds: float) -> None:
        self.set_timer(number, self.now() + int(seconds * SECOND))

    def cancel_timer(self, number: int) -> None:
        self._note("timer", timer=_whole(number, "the timer"))

    # ---- for people

    def debug(self, text: str) -> None:
        self._note("log", level=0, text=str(text))

    def info(self, text: str) -> None:
        self._note("log", level=1, text=str(text))

    def warn(self, text: str) -> None:
        self._note("log", level=2, text=str(text))

    def error(self, text: str) -> None:
        self._note("log", level=3, text=str(text))

    def event(self, api_version: str, kind: str, name: str, reason: str, message: str,
              namespace: str = "", warning: bool = False) -> None:
        """An event about an object, for `kubectl describe`; reason is one word."""
        texts = {"apiVersion": api_version, "kind": kind, "name": name, "namespace": namespace,
                 "reason": reason, "message": message}
        for what, value in texts.items():
            text_of(value, f"the event's {what}")
        self._note("event", warning=bool(warning), **texts)

    def count(self, name: str, by: int = 1, help: str = "", **labels: str) -> None:
        """Adds to the counter sluice_plugin_PLUGIN_NAME."""
        self._metric(name, help, labels, {"add": _whole(by, name), "gauge": False})

    def gauge(self, name: str, value: int, help: str = "", **labels: str) -> None:
        """Sets the gauge sluice_plugin_PLUGIN_NAME."""
        self._metric(name, help, labels, {"set": _whole(value, name), "gauge": True})

    def _metric(self, name: str, text: str, labels: Dict[str, str], rest: Dict[str, Any]) -> None:
        self._note("metric", name=text_of(name, "the metric"), help=str(text or name),
                   labels=list(labels),
                   values=[str(value) for value in labels.values()], **rest)

    # ---- the engine

    def report(self, attempt: Attempt, answer: CheckAnswer) -> None:
        """What became of an attempt. What makes no sense is refused, and logged by the host."""
        self._wire.send_body(self._report(attempt, answer))

    @staticmethod
    def _report(attempt: Attempt, answer: CheckAnswer) -> bytes:
        """The report, written: what cannot be raises here, before anybody counts on it."""
        if not isinstance(answer, CheckAnswer):
            raise TypeError(f"the answer is {answer!r}; it must be what pending(), ready(), "
                            "retry() or rejected() make")
        more: Dict[str, Any] = {}
        if answer.after_seconds is not None:
            more["requeueAfterSeconds"] = answer.after_seconds
        if answer.pod_set_updates is not None:
            more["podSetUpdates"] = answer.pod_set_updates
        return encode({"note": "report", "namespace": attempt.namespace, "name": attempt.name,
                       "uid": attempt.uid, "check": attempt.check, "attempt": attempt.number,
                       "state": answer.state, "message": answer.message,
                       "reason": "PreemptionRequired" if answer.preemption_required else "",
                       **more})

    def requeue(self, workload: str) -> None:
        """A parked workload (`namespace/name`) gets another turn."""
        self._note("requeue", workload=text_of(workload, "the workload"))

    # ---- the wire

    def _note(self, note: str, **members: Any) -> None:
        short = {name: value[:_MOST_SHOWN] if isinstance(value, str) else value
                 for name, value in members.items()}
        self._wire.send({"note": note, **short})

    def _ask(self, service: str, **members: Any) -> Json:
        if threading.get_ident() != self._caller:
            raise ObjectError("NotNow", "objects and state may be used within a call of the host "
                              "only, on the thread of the call")
        self._requests += 1
        self._wire.send({"request": self._requests, "service": service, **members})
        reply = self._wire.receive()
        if reply is None or reply.get("reply") != self._requests:
            raise EOFError("the host hung up")
        if "code" in reply:
            raise ObjectError(reply["code"], reply.get("error", ""))
        return reply.get("result")

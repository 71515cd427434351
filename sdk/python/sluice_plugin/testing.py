"""A host for unit tests: it speaks to a plugin as a real one does, over a socket, in one process.

    with FakeHost(OfficeHours, {"from": 8}) as host:
        host.begin("a")
        assert host.reports["a"].state == "Ready"

It is a simulation to the plugin, unless `simulated` is false: time stands where `host.time` is set.
Works in unittest and in pytest.
"""

from __future__ import annotations

import socket
import threading
from typing import Any, Dict, List, Optional, Type

from ._answers import CheckAnswer, Json
from ._host import SECOND
from ._plugin import Loop, Plugin
from ._wire import PROTOCOL, REVISION, Message, Wire


class CallFailed(AssertionError):
    """The plugin answered that it failed or refuses; the text says why."""


class FakeHost:
    """One plugin, created and active while the `with` block runs."""

    def __init__(self, kind: Type[Plugin], config: Optional[Dict[str, Json]] = None,
                 simulated: bool = True) -> None:
        self.time = 1_700_000_000 * SECOND
        self.reports: Dict[str, CheckAnswer] = {}
        """The last answer for each workload, by its name."""
        self.notes: List[Message] = []
        """All that it said without being asked, in order."""
        self.timers: Dict[int, int] = {}
        self.objects: Dict[tuple, Json] = {}
        """What it reads and writes, by (apiVersion, kind, namespace, name)."""
        self.state: Dict[str, str] = {}
        self._config = config or {}
        self._simulated = simulated
        self._calls = 0
        self._attempts: Dict[str, int] = {}
        ours, theirs = socket.socketpair()
        self._wire = Wire(ours)
        self._theirs = theirs
        self._changed = threading.Condition()
        self._answers: Dict[int, Message] = {}
        self._gone = ""
        self._loop = Loop(kind, Wire(theirs))
        self._plugin = threading.Thread(target=self._serve, daemon=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self.hello: Message = {}
        self.points: Message = {}

    def __enter__(self) -> FakeHost:
        self._plugin.start()
        self._wire.send({"hello": {"protocol": PROTOCOL, "revision": REVISION, "host": "test",
                                   "plugin": "test"}})
        said = self._wire.receive()
        assert said is not None
        self.hello = said["hello"]
        self._reader.start()
        self.points = self.call("plugin.create", config=self._config,
                                simulated=self._simulated)["points"]
        self.call("plugin.activate")
        return self

    def __exit__(self, *_: object) -> None:
        if not self._gone:
            self.call("plugin.deactivate")
        self._wire._socket.shutdown(socket.SHUT_RDWR)  # pylint: disable=protected-access
        self._plugin.join(5)
        self._reader.join(5)
        self._wire.close()
        self._theirs.close()

    def _serve(self) -> None:
        """What ends the loop would end the process."""
        why = "the host hung up"
        try:
            self._loop.run()
        except BaseException as error:  # pylint: disable=broad-except  # sys.exit(), too
            why = f"{type(error).__name__}: {error}"
        with self._changed:
            self._gone = why
            self._changed.notify_all()

    # ---- asking the plugin

    def call(self, hook: str, **members: Any) -> Message:
        """Any call of the protocol, and its answer."""
        self._calls += 1
        number = self._calls
        self._wire.send({"call": number, "hook": hook, "now": self.time, **members})
        with self._changed:
            self._changed.wait_for(lambda: number in self._answers or self._gone, 30)
            if number not in self._answers:
                raise CallFailed(f"{hook}: it is gone: {self._gone}" if self._gone else
                                 f"{hook}: it did not answer within 30 s")
            answer = self._answers.pop(number)
        for key in ("failed", "refused"):
            if key in answer:
                raise CallFailed(answer[key])
        return answer

    def begin(self, name: str, namespace: str = "default", check: Optional[Json] = None,
              **workload: Json) -> None:
        """An attempt at the check begins for a workload of this name; `workload`: metadata and
        spec of it, where the test needs them."""
        self._attempts[name] = self._attempts.get(name, 0) + 1
        metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}",
                    **workload.pop("metadata", {})}
        self.call("check-controller.begin", attempt=self._attempts[name], retryCount=0,
                  check="check", checkObject=check or {"metadata": {"name": "check"}},
                  workload={"metadata": metadata, "spec": workload.pop("spec", {}), **workload})

    def explain(self, name: str, namespace: str = "default",
                check: Optional[Json] = None) -> List[str]:
        """What it says of the attempt that began last, to whoever asks."""
        return list(self.call(
            "check-controller.explain", attempt=self._attempts.get(name, 1), retryCount=0,
            check="check", checkObject=check or {"metadata": {"name": "check"}},
            workload={"metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
                      "spec": {}})["lines"])

    def cancel(self, name: str, namespace: str = "default", why: str = "Evicted") -> None:
        self.call("check-controller.cancel", attempt=self._attempts.get(name, 1), check="check",
                  namespace=namespace, name=name, uid=f"uid-{name}", why=why)

    def validate(self, obj: Json, old: Json = None) -> List[Json]:
        """The errors; an empty list: it is accepted."""
        return self.call("validator.validate", **self._write(obj, old))["errors"]

    def set_defaults(self, obj: Json, old: Json = None) -> Json:
        """The object with its defaults; the same where there is nothing to change."""
        return self.call("validator.set_defaults", **self._write(obj, old)).get("object") or obj

    @staticmethod
    def _write(obj: Json, old: Json) -> Dict[str, Json]:
        return {"operation": "Create" if old is None else "Update", "old": old, "object": obj,
                "apiVersion": obj["apiVersion"], "kind": obj["kind"]}

    def reconcile(self, api_version: str, kind: str, name: str,
                  namespace: str = "") -> Optional[float]:
        """Seconds after which it wants to look again."""
        again = self.call("controller.reconcile", apiVersion=api_version, kind=kind, name=name,
                          namespace=namespace).get("againAfterMs")
        return None if again is None else max(again, 0) / 1000

    def advance(self, seconds: float) -> None:
        """Time goes on; timers that are due are called, in order."""
        until = self.time + int(seconds * SECOND)
        while self.timers and min(self.timers.values()) <= until:
            number = min(self.timers, key=lambda each: (self.timers[each], each))
            self.time = max(self.time, self.timers.pop(number))
            self.call("timers.fired", timer=number)
        self.time = until

    def wait_for_report(self, name: str, state: str, seconds: float = 10) -> CheckAnswer:
        """For answers that come from a thread."""
        with self._changed:
            self._changed.wait_for(
                lambda: name in self.reports and self.reports[name].state == state, seconds)
            assert name in self.reports, f"no report about {name}"
            assert self.reports[name].state == state, self.reports[name]
            return self.reports[name]

    # ---- answering the plugin

    def _read(self) -> None:
        while True:
            try:
                said = self._wire.receive()
            except OSError:
                return
            if said is None:
                return
            if "request" in said:
                self._wire.send({"reply": said["request"], **self._reply(said)})
                continue
            with self._changed:
                if "answer" in said:
                    self._answers[said["answer"]] = said
                elif "note" in said:
                    self._take(said)
                self._changed.notify_all()

    def _take(self, note: Message) -> None:
        self.notes.append(note)
        if note["note"] == "report":
            self.reports[note["name"]] = CheckAnswer(
                note["state"], note["message"], note["reason"] == "PreemptionRequired",
                note.get("requeueAfterSeconds"), note.get("podSetUpdates"))
        if note["note"] == "timer" and "at" in note:
            self.timers[note["timer"]] = note["at"]
        elif note["note"] == "timer":
            self.timers.pop(note["timer"], None)

    def _reply(self, request: Message) -> Message:
        service, what = request["service"].split(".")
        if service == "state":
            return self._state_reply(what, request)
        obj = request.get("object")
        if what in ("create", "update"):
            key = (obj["apiVersion"], obj["kind"], obj["metadata"].get("namespace", ""),
                   obj["metadata"]["name"])
        else:
            key = (request["apiVersion"], request["kind"], request["namespace"],
                   request.get("name", ""))
        if what == "list":
            return {"result": [each for at, each in sorted(self.objects.items())
                               if at[:2] == key[:2] and key[2] in ("", at[2])]}
        if what == "create" and key in self.objects:
            return {"code": "AlreadyExists", "error": f"{key[1]} {key[3]} exists"}
        if what != "create" and key not in self.objects:
            return {"code": "NotFound", "error": f"{key[1]} {key[3]} does not exist"}
        if what == "remove":
            del self.objects[key]
            return {"result": None}
        if what in ("create", "update"):
            self.objects[key] = obj
        if what == "patch":
            part = {request["subresource"]: obj} if request["subresource"] else obj
            self.objects[key] = _merged(self.objects[key], part)
        return {"result": self.objects[key]}

    def _state_reply(self, what: str, request: Message) -> Message:
        if what == "set":
            self.state[request["key"]] = request["value"]
        if what == "remove":
            self.state.pop(request["key"], None)
        if what == "keys":
            return {"result": sorted(k for k in self.state if k.startswith(request["prefix"]))}
        if what == "get" and request["key"] not in self.state:
            return {"code": "NotFound", "error": "no such key"}
        return {"result": self.state.get(request["key"]) if what == "get" else None}


def _merged(old: Json, merge: Json) -> Json:
    """RFC 7396."""
    if not isinstance(merge, dict):
        return merge
    out = dict(old) if isinstance(old, dict) else {}
    for key, value in merge.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merged(out.get(key), value)
    return out


__all__ = ["CallFailed", "FakeHost"]

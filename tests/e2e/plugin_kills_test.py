#!/usr/bin/env python3
"""A plugin's process, killed and stopped again and again while a host is at work: every check is
answered, none twice, every object that it keeps in line is in line, what it judges is stored where
the writer was told so and nowhere else; and how long others waited.

    plugin_kills_test.py --sluice build/dev/bin/sluice --source . [--kills 1000]

The times are printed, not judged: they are those of the machine, too. What the same writers waited
while nothing was killed stands beside them.
"""
import argparse
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest

from host import eventually
from rest import Rest
from two_stages import GROUP, World
from wire import Watch, Wire

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--source", required=True)
OPTIONS.add_argument("--kills", type=int, default=int(os.environ.get("SLUICE_PROCESS_KILLS", 10)))
OPTIONS.add_argument("--seed", type=int, default=int(os.environ.get("SLUICE_FIRST_SEED", 1)))
LEAST_WRITES = 50
BEGAN = 19  # of what the system says of a process, from its state on
PULSE = 0.004
LEAST_STALL = 0.001
GOAL = 0.05  # seconds that a write of others may wait for the plugin
OPTIONS, LEFT = OPTIONS.parse_known_args()
SDK = os.path.join(os.path.abspath(OPTIONS.source), "sdk", "python")

PLUGIN = '''
import sluice_plugin as sluice

class Asked(sluice.Plugin):
    name = "asked"
    check_controllers = ["example.com/asked"]
    watched_kinds = ["v1 ConfigMap"]
    validated_kinds = ["Secret"]

    def begin_check(self, query):
        return sluice.ready(f"attempt {query.attempt.number}")  # the same in each of its lives

    def reconcile(self, what):
        object = self.host.objects.find(what.api_version, what.kind, what.name, what.namespace)
        wanted = object and (object.get("data") or {}).get("wanted")
        if wanted and object["data"].get("done") != wanted:
            self.host.state.set(what.name, wanted)
            self.host.objects.patch(what.api_version, what.kind, what.name,
                                    {"data": {"done": wanted}}, namespace=what.namespace)

    def validate(self, write):
        return []

if __name__ == "__main__":
    sluice.main(Asked)
'''


def in_line(paths):
    """For how many seconds threads were ready to run and had no processor, by thread."""
    out = []
    for path in paths:
        with open(path, encoding="ascii") as text:
            out.append(int(text.read().split()[1]) * 1e-9)
    return out


def write_on(kubeconfig, stop, results):
    """Changes an object that no plugin cares for, again and again until it is told to stop, but
    some times in any case: on a busy machine it may begin late."""
    rest = Rest(kubeconfig)
    accounts = "/api/v1/namespaces/team/serviceaccounts"
    name = f"other-{os.getpid()}"
    status, answer = rest.send("POST", accounts, {"metadata": {"name": name}})
    assert status in (201, 409), answer
    waits = []
    own = [f"/proc/{os.getpid()}/schedstat"]
    while len(waits) < LEAST_WRITES or not stop.is_set():
        lined, began = in_line(own)[0], time.monotonic()
        status, answer = rest.send("PATCH", f"{accounts}/{name}",
                                   {"metadata": {"annotations": {"write": str(len(waits))}}},
                                   "application/merge-patch+json")
        assert status == 200, answer
        wait = time.monotonic() - began
        waits.append((began, wait, in_line(own)[0] - lined))
    results.put(("waits", waits))


def feel(host, stop, results):
    """When the threads of the host through which a write goes waited for a processor, and how long:
    what the machine owes, not the host."""
    paths = []
    for thread in os.listdir(f"/proc/{host}/task"):
        with open(f"/proc/{host}/task/{thread}/comm", encoding="ascii") as name:
            if name.read().strip() in ("control", "store", "io-api", "plugin-process"):
                paths.append(f"/proc/{host}/task/{thread}/schedstat")
    stalls = []
    before, began = in_line(paths), time.monotonic()
    while not stop.is_set():
        time.sleep(PULSE)
        now, end = in_line(paths), time.monotonic()
        longest = max(b - a for a, b in zip(before, now))
        if longest > LEAST_STALL:
            stalls.append((began, end, longest))
        before, began = now, end
    results.put(("stalls", stalls))


class Writers:
    """Others, in processes of their own, what each of their writes waited, and what of it the host
    had no processor."""

    def __init__(self, host, count=2):
        kubeconfig = host.kubeconfig
        context = multiprocessing.get_context("spawn")
        self.stop, self.results = context.Event(), context.Queue()
        self.all = [context.Process(target=write_on, args=(kubeconfig, self.stop, self.results),
                                    daemon=True)
                    for _ in range(count)]
        self.all.append(context.Process(target=feel, daemon=True,
                                        args=(host.process.pid, self.stop, self.results)))
        for each in self.all:
            each.start()

    def end(self):
        self.stop.set()
        got = [self.results.get(timeout=180) for _ in self.all]
        for each in self.all:
            each.join()
        waits = sum((list_ for what, list_ in got if what == "waits"), [])
        return waits, next(list_ for what, list_ in got if what == "stalls")


def told(name, measured):
    writes, stalls = measured
    waits = sorted(wait for _, wait, _ in writes)
    at = lambda share: 1e3 * waits[min(len(waits) - 1, int(share * len(waits)))]
    print(f"{name}: {len(waits)} writes of others, median {at(0.5):.1f} ms, "
          f"99 % {at(0.99):.1f} ms, 99.9 % {at(0.999):.1f} ms, longest {at(1):.1f} ms", flush=True)
    for began, wait, own in sorted(writes, key=lambda each: -each[1])[:5]:
        if wait > GOAL:
            line = sum(stall for start, end, stall in stalls
                       if start < began + wait and end > began)
            print(f"  {1e3 * wait:.1f} ms, of which the host waited for a processor for "
                  f"{1e3 * min(wait, line):.1f} ms, the writer for {1e3 * own:.1f} ms", flush=True)


class Followed(threading.Thread):
    """What every workload's check said, each time it said something else."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.said = {}
        self.wire = Wire(host)
        self.start()

    def run(self):
        watch = Watch(self.wire, f"{GROUP}/namespaces/team/workloads")
        while event := watch.next():
            workload = event["object"]
            for check in workload.get("status", {}).get("admissionChecks", []):
                said = self.said.setdefault(workload["metadata"]["name"], [])
                now = (check["state"], check["message"])
                if not said or said[-1] != now:
                    said.append(now)

    def is_answered(self, name):
        return any(state == "Ready" for state, _ in self.said.get(name, []))


class Kills(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sluice-kills-")
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "asked.py"), "w", encoding="utf-8") as file:
            file.write(PLUGIN)
        self.world = World(os.path.abspath(OPTIONS.sluice), json.dumps({
            "directory": self.folder, "load": [{
                "name": "asked", "isolation": "process",
                "command": [sys.executable, "-B", "asked.py"],
                "process": {"environment": {"PYTHONPATH": SDK}, "callTimeout": "1s",
                            "startTimeout": "5s", "firstPause": "5ms",
                            "longestPause": "20ms"}}]}), memory=True)
        self.addCleanup(self.world.end)
        self.world.flavor("f")
        self.world.create(f"{GROUP}/admissionchecks", {
            "metadata": {"name": "ask"}, "spec": {"controllerName": "example.com/asked"}})
        self.world.queue("q", ["ask"], {"f": 1_000_000})
        self.random = random.Random(OPTIONS.seed)
        self.struck = set()
        self.judged, self.stored = 0, []  # writes of Secrets, and those that were accepted

    def children(self):
        """The processes of the plugin: children of the host's threads that run another program.
        Each as its number and when it began: numbers come again."""
        host = self.world.host.process.pid
        own = os.readlink(f"/proc/{host}/exe")
        out = []
        for thread in os.listdir(f"/proc/{host}/task"):
            try:
                with open(f"/proc/{host}/task/{thread}/children", encoding="ascii") as text:
                    out += [(int(pid), self.stat_of(pid)[BEGAN]) for pid in text.read().split()
                            if os.readlink(f"/proc/{pid}/exe") != own]
            except OSError:
                pass  # it has ended
        return out

    def work(self, name):
        self.world.workload(name, "q")
        self.assertEqual(self.world.rest.send("POST", "/api/v1/namespaces/team/configmaps", {
            "metadata": {"name": name}, "data": {"wanted": name}})[0], 201)
        self.judged += 1
        status, answer = self.world.rest.send("POST", "/api/v1/namespaces/team/secrets",
                                              {"metadata": {"name": name}})
        if status == 201:
            self.stored.append(name)
        else:
            self.assertIn("plugin asked, validator.validate: ", answer["message"])

    def blow(self):
        """Most are killed; some hang, and are ended by the host."""
        for each in self.children():
            self.struck.add(each)
            try:
                os.kill(each[0], signal.SIGSTOP if self.random.random() < 0.1 else signal.SIGKILL)
            except ProcessLookupError:
                pass  # it was between two lives

    def alive(self):
        found = self.children()
        return bool(found) and all(each not in self.struck and self.is_running(each[0])
                                   for each in found)

    def lives(self):
        try:
            eventually(self.alive, "the plugin's next life")
        except AssertionError as error:
            raise AssertionError(f"{error}; there are {self.children()}, {len(self.struck)} were "
                                 f"struck\n{self.last_words()}") from error

    def last_words(self):
        lines = self.world.host.log().splitlines()
        return "\n".join([line for line in lines if " audit: " not in line][-30:])

    @staticmethod
    def stat_of(pid):
        """What the system says of it, from its state on."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as text:
            return text.read().rsplit(")", 1)[1].split()

    def is_running(self, pid):
        try:
            return self.stat_of(pid)[0] not in "TZ"
        except OSError:
            return False

    def test_it_loses_no_answer_and_gives_none_twice(self):
        followed = Followed(self.world.host)
        quiet = Writers(self.world.host)
        for n in range(max(20, OPTIONS.kills // 4)):
            self.work(f"quiet-{n}")
        told("nobody killed", quiet.end())

        writers = Writers(self.world.host)
        for n in range(OPTIONS.kills):
            self.work(f"w-{n}-0")  # one that hangs is ended when it is asked
            self.lives()
            if self.random.random() < 0.7:  # else it may be on its way into life
                eventually(lambda name=f"w-{n}-0": followed.is_answered(name), "an answer")
            self.work(f"w-{n}-1")
            self.blow()
        waits = writers.end()
        self.work("last")
        self.lives()

        names = [f"w-{n}-{i}" for n in range(OPTIONS.kills) for i in range(2)]
        listed = lambda path: {each["metadata"]["name"]: each
                               for each in self.world.rest.get(path)["items"]}

        def unanswered():
            now = listed(f"{GROUP}/namespaces/team/workloads")
            return [name for name in names if all(
                each["state"] != "Ready"
                for each in now[name].get("status", {}).get("admissionChecks", []))]
        eventually(lambda: not unanswered(), "every check is answered")

        def undone():
            now = listed("/api/v1/namespaces/team/configmaps")
            return [name for name in names if now[name]["data"].get("done") != name]
        eventually(lambda: not undone(), "every object is in line")

        def not_admitted():
            now = listed(f"{GROUP}/namespaces/team/workloads")
            return [name for name in names if ("Admitted", "True") not in [
                (each["type"], each["status"]) for each in now[name]["status"]["conditions"]]]
        eventually(lambda: not not_admitted(), "every workload is admitted")
        eventually(lambda: all(map(followed.is_answered, names)), "every answer was seen")
        for name in names:
            ready = [said for said in followed.said[name] if said[0] == "Ready"]
            self.assertEqual(len(ready), 1, f"{name} was answered as {followed.said[name]}")
            self.assertEqual(followed.said[name][-1][0], "Ready", name)
        secrets = listed("/api/v1/namespaces/team/secrets")
        self.assertEqual(sorted(secrets), sorted(self.stored))
        print(f"of {self.judged} writes that it judges, {len(secrets)} were accepted", flush=True)
        deaths = len(re.findall("its process is gone", self.world.host.log()))
        self.assertGreaterEqual(deaths, OPTIONS.kills)
        told(f"{deaths} deaths", waits)
        held = re.search(r'^sluice_plugin_longest_hold_seconds\{.*"asked".*\} (\S+)$',
                         self.world.rest.send("GET", "/metrics")[1], re.MULTILINE)
        self.assertIsNotNone(held, self.world.rest.send("GET", "/metrics"))
        print(f"of that the plugin's, at most: {1e3 * float(held[1]):.1f} ms", flush=True)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *LEFT], verbosity=2)

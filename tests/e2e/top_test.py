#!/usr/bin/env python3
"""`sluice top` as a person has it: in a terminal, into a pipe, and with few rights; and
`sluice explain --watch`.

    top_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from host import Host, eventually
from rest import Rest

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
SECONDS = 180  # a host that is busy with other tests
OBJECTS = (
    (f"{KUEUE}/resourceflavors", {"metadata": {"name": "spot"}}),
    (f"{KUEUE}/clusterqueues", {"metadata": {"name": "cq"}, "spec": {
        "cohortName": "lab", "namespaceSelector": {}, "resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [{"name": "spot", "resources": [{
                "name": "cpu", "nominalQuota": 4}]}]}]}}),
    ("/api/v1/namespaces", {"metadata": {"name": "team"}}),
    (f"{KUEUE}/namespaces/team/localqueues",
     {"metadata": {"name": "main"}, "spec": {"clusterQueue": "cq"}}),
    ("/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings", {
        "metadata": {"name": "ann"}, "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}]}),
)
WORKLOADS = f"{KUEUE}/namespaces/team/workloads"


def workload(name, cpu):
    return {"metadata": {"name": name}, "spec": {"queueName": "main", "podSets": [{
        "name": "main", "count": 1, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{
                "name": "c", "image": "any",
                "resources": {"requests": {"cpu": str(cpu)}}}]}}}]}}


class Screen:
    """A program in a terminal of its own, and what can be read there."""

    MOVE = re.compile(r"\x1b\[(\d+);1H")
    PAINT = re.compile(r"\x1b\[\d*m")

    def __init__(self, command, environment, rows=24, columns=120):
        self.main, terminal = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(terminal)
        self.process = subprocess.Popen(command, stdin=terminal, stdout=terminal,
                                        stderr=terminal, env=environment, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.terminal = terminal  # kept open: its settings are looked at in the end
        self.raw, self.lines = "", {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.main)
        os.close(self.terminal)

    def resize(self, rows, columns):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.2):
        if not select.select([self.main], [], [], seconds)[0]:
            return
        new = os.read(self.main, 65536).decode(errors="replace")
        self.raw += new
        for part in re.split(r"(?=\x1b\[\d+;1H)|(?=\x1b\[2J)", new):
            if part.startswith("\x1b[2J"):
                self.lines = {}
            place = self.MOVE.match(part)
            if place:
                text = self.PAINT.sub("", part[place.end():].split("\x1b[K")[0])
                self.lines[int(place.group(1))] = text.rstrip()

    def text(self):
        return "\n".join(self.lines.get(i, "") for i in range(1, max(self.lines, default=0) + 1))

    def until(self, condition, what):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if condition(self.text()):
                return self.text()
            self.read()
        raise AssertionError(f"not seen: {what}\n{self.text()}\n{self.raw[-2000:]!r}")

    def shows(self, word):
        return self.until(lambda text: word in text, word)

    def lacks(self, word):
        return self.until(lambda text: word not in text, f"no {word}")

    def type(self, keys):
        os.write(self.main, keys)

    def end(self):
        """The exit status; everything was read."""
        while self.process.poll() is None:
            self.read(0.05)
        self.read(0.05)
        return self.process.returncode

    def restored(self):
        return (termios.tcgetattr(self.terminal) == self.before
                and self.raw.rstrip().endswith("\x1b[0m\x1b[?25h\x1b[?1049l"))


class Top(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.host = Host(cls.sluice, extra="executor: { type: none }\n")
        cls.addClassCleanup(cls.host.__exit__)
        tokens = os.path.join(cls.host.folder, "tokens")
        with open(tokens, "w", encoding="utf-8") as out:
            out.write("the-token-of-ann,ann,uid-ann\n")
        cls.start_host()
        cls.rest = Rest(cls.host.kubeconfig)
        for path, body in OBJECTS:
            code, answer = cls.rest.send("POST", path, body)
            assert code == 201, (path, answer)
        with open(cls.host.kubeconfig, encoding="utf-8") as text:
            own = re.sub(r"token: \S+", "token: the-token-of-ann", text.read())
        cls.ann = os.path.join(cls.host.folder, "ann.kubeconfig")
        with open(cls.ann, "w", encoding="utf-8") as out:
            out.write(own)

    @classmethod
    def start_host(cls):
        """With a token for ann, who is not in the configuration that Host writes."""
        tokens = os.path.join(cls.host.folder, "tokens")
        with open(cls.host.config, encoding="utf-8") as text:
            content = text.read()
        with open(cls.host.config, "w", encoding="utf-8") as out:
            out.write(content.replace("server: { ", f"server: {{ tokenFile: {tokens}, "))
        cls.host.start()

    def setUp(self):
        for name, cpu in (("runs", 1), ("waits", 5)):
            self.add(name, cpu)
        eventually(lambda: self.status("runs", "Admitted"), "a workload runs")
        eventually(lambda: self.status("waits", "QuotaReserved", "False"), "another waits")
        counts = {"admittedWorkloads": 1, "pendingWorkloads": 1}
        eventually(lambda: counts.items() <= self.rest.get(f"{KUEUE}/clusterqueues/cq")
                   .get("status", {}).items(), "the queue counts them")

    def tearDown(self):
        for each in self.rest.get(WORKLOADS)["items"]:
            self.rest.send("DELETE", f"{WORKLOADS}/{each['metadata']['name']}")

    def add(self, name, cpu):
        self.assertEqual(self.rest.send("POST", WORKLOADS, workload(name, cpu))[0], 201)

    def status(self, name, condition, value="True"):
        conditions = self.rest.get(f"{WORKLOADS}/{name}").get("status", {}).get("conditions", [])
        return {"type": condition, "status": value}.items() <= next(
            (each for each in conditions if each["type"] == condition), {}).items()

    def command(self, *words):
        return [self.sluice, "top", *words]

    def screen(self, *words, rows=24, columns=120, **more):
        environment = self.host.environment(TERM="xterm", **more)
        if not more:
            environment.pop("NO_COLOR", None)
        return Screen(self.command(*words), environment, rows, columns)

    def run_plain(self, *words, **environment):
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False,
                              timeout=SECONDS, stdin=subprocess.DEVNULL,
                              env=self.host.environment(**environment))

    def test_a_workload_comes_and_leaves_and_q_ends_it(self):
        with self.screen() as screen:
            text = screen.shows("team/waits")
            self.assertRegex(text, r"cq +lab +1 +1 +spot +cpu +4 +1 +0 +0 +25 %")
            self.assertNotIn("team/runs", text)
            self.assertRegex(text, r"team/waits +cq +0 +waiting +\S+ +couldn't assign flavors")
            self.add("another", 9)
            screen.shows("team/another")
            screen.shows("2 waiting")
            self.rest.send("DELETE", f"{WORKLOADS}/another")
            screen.lacks("team/another")
            self.assertIn("\x1b[33m", screen.raw)  # colours
            screen.type(b"q")
            self.assertEqual(screen.end(), 0)
            self.assertTrue(screen.restored(), screen.raw[-200:])

    def test_keys_change_what_is_shown(self):
        with self.screen() as screen:
            screen.shows("team/waits")
            screen.type(b"a")
            screen.shows("team/runs")
            screen.type(b"s")
            screen.shows("by waiting")
            screen.type(b"\t")
            screen.lacks("WORKLOAD")
            screen.type(b"\t")
            screen.lacks("NOMINAL")
            screen.type(b"\x03")  # control-C
            self.assertEqual(screen.end(), 0)
            self.assertTrue(screen.restored())

    def test_it_follows_the_size_of_the_terminal(self):
        with self.screen(rows=24, columns=120) as screen:
            screen.shows("team/waits")
            screen.resize(8, 40)
            screen.until(lambda text: text.count("\n") == 7, "8 lines")
            self.assertLessEqual(max(map(len, screen.text().split("\n"))), 40)
            screen.resize(30, 100)
            screen.until(lambda text: text.count("\n") == 29, "30 lines")

    def test_signals_leave_the_terminal_as_it_was(self):
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(each), self.screen() as screen:
                screen.shows("team/waits")
                screen.process.send_signal(each)
                self.assertEqual(screen.end(), 128 + each)
                self.assertTrue(screen.restored())

    def test_no_colour_where_nobody_wants_it(self):
        with self.screen(NO_COLOR="1") as screen:
            screen.shows("team/waits")
            screen.type(b"q")
            self.assertEqual(screen.end(), 0)
            self.assertNotRegex(screen.raw, r"\x1b\[3\dm")

    def test_a_host_that_goes_is_told_and_followed_again(self):
        with self.screen() as screen:
            screen.shows("team/waits")
            try:
                self.host.stop()
                screen.shows("cannot connect to ")
            finally:
                self.start_host()
            screen.lacks("cannot connect to ")
            self.add("after", 9)
            screen.shows("team/after")

    def test_into_a_pipe_it_is_plain_and_ends(self):
        for words in ((), ("--once",)):
            done = self.run_plain(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertNotIn("\x1b", done.stdout)
            self.assertRegex(done.stdout, r"(?m)^cq +lab +1 +1 +spot +cpu +4 +1 +0 +0 +25 %$")
            self.assertRegex(done.stdout, r"(?m)^team/waits +cq +0 +waiting ")
            self.assertNotIn("team/runs", done.stdout)

    def test_on_a_terminal_once_prints_and_ends(self):
        with self.screen("--once") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertIn("team/waits", screen.raw)
            self.assertNotIn("\x1b", screen.raw)

    def test_filters_and_json(self):
        for words, queues, workloads in (
                (("--all",), ["cq"], ["runs", "waits"]), (("-n", "team"), ["cq"], ["waits"]),
                (("-n", "default"), [], []), (("--cohort", "lab"), ["cq"], ["waits"]),
                (("--queue", "cq", "-a"), ["cq"], ["runs", "waits"])):
            with self.subTest(words):
                done = self.run_plain("-o", "json", *words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                seen = json.loads(done.stdout)
                self.assertEqual([each["name"] for each in seen["queues"]], queues)
                self.assertEqual(sorted(each["name"] for each in seen["workloads"]), workloads)

    def test_who_may_read_a_namespace_sees_it_and_is_told_what_is_hidden(self):
        done = self.run_plain("--kubeconfig", self.ann, "-n", "team")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("team/waits", done.stdout)
        self.assertRegex(done.stderr, "warning: clusterqueues.kueue.x-k8s.io is forbidden: ")
        done = self.run_plain("--kubeconfig", self.ann)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: workloads.kueue.x-k8s.io is forbidden: ", done.stderr)
        self.assertIn("--namespace", done.stderr)

    def test_wrong_usage_is_told(self):
        done = self.run_plain("--sort", "size")
        self.assertEqual(done.returncode, 2)
        self.assertIn("priority", done.stderr)
        for words, told in (
                (("--queue", "cq,x"), "error: there is no ClusterQueue x; there are: cq\n"),
                (("--cohort", "other"), "error: there is no Cohort other; there are: lab\n")):
            done = self.run_plain(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", told))
        done = self.run_plain("--kubeconfig", "/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere", done.stderr)

    def test_explain_tells_again_until_the_end(self):
        watching = subprocess.Popen(
            [self.sluice, "explain", "--watch", "-o", "json", "team/waits"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.host.environment())
        first = json.loads(watching.stdout.readline())
        self.assertEqual(first["state"], "Pending")
        quota = {"op": "replace", "value": 9, "path":
                 "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"}
        try:
            self.assertEqual(self.rest.send("PATCH", f"{KUEUE}/clusterqueues/cq", [quota],
                                            "application/json-patch+json")[0], 200)
            seen = first
            while seen["state"] != "Admitted":
                seen = json.loads(watching.stdout.readline())
            self.rest.send("DELETE", f"{WORKLOADS}/waits")
            out, err = watching.communicate(timeout=SECONDS)
            self.assertEqual((watching.returncode, err), (0, "waits is gone\n"), out)
        finally:
            self.rest.send("PATCH", f"{KUEUE}/clusterqueues/cq", [quota | {"value": 4}],
                           "application/json-patch+json")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Top.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

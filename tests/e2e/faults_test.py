#!/usr/bin/env python3
"""Checks whose controller misbehaves, in a live host: a plugin that throws, lies, is slow or hangs;
a controller outside that sends nonsense. The host says who it is and why, and everybody else goes
on; nobody starts, and nobody is evicted, because of a fault.

    faults_test.py --sluice build/dev/bin/sluice --plugins build/dev/tests/plugins
"""
import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from host import eventually
from two_stages import GROUP, World

OPTIONS = None
SIMULATED = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: { name: f }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: { name: q }
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [ { name: f, resources: [ { name: cpu, nominalQuota: 1 } ] } ]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: { name: q, namespace: default }
spec: { clusterQueue: q }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: { name: w, namespace: default }
spec:
  queueName: q
  podSets:
  - name: main
    count: 1
    template:
      spec: { containers: [ { name: c, resources: { requests: { cpu: 1 } } } ] }
"""
STATUS = f"{GROUP}/namespaces/team/workloads/{{}}/status"


def plugins(**config):
    entry = json.dumps({"name": "checks-a", "config": config})
    return f"{{ directory: {OPTIONS.plugins}, load: [ {entry} ] }}"


class Faults(unittest.TestCase):
    def start(self, **config):
        self.world = World(OPTIONS.sluice, plugins(**config))
        self.addCleanup(self.world.end)
        self.world.flavor("f")
        self.world.create(f"{GROUP}/admissionchecks", {
            "metadata": {"name": "ask"}, "spec": {"controllerName": "example.com/check"}})
        self.world.queue("asks", ["ask"], {"f": 100})
        self.world.queue("free", [], {"f": 100})

    def logged(self, text):
        eventually(lambda: text in self.world.host.log(), f"{text!r} in the log:\n"
                   + self.world.host.log()[-1500:])

    def others_go_on(self, name):
        self.world.workload(name, "free")
        self.world.becomes(name, "admitted")

    def active(self, kind, name):
        status = self.world.rest.get(f"{GROUP}/{kind}/{name}").get("status", {})
        return next((each for each in status.get("conditions", []) if each["type"] == "Active"),
                    {"reason": "", "message": ""})


class Plugin(Faults):
    def test_throws(self):
        self.start(mode="throw-begin")
        world, names = self.world, [f"w{n}" for n in range(5)]
        # Checks that failed are begun again after a while, which counts too: on a slow machine the
        # fifth fault may be one of those.
        for number, name in enumerate(names):
            if "quarantined" in world.host.log():
                names = names[:number]
                break
            world.workload(name, "asks")
            eventually(lambda name=name: world.state(name) == "reserved"
                       or "quarantined" in world.host.log(), f"{name} has a turn")
        self.logged("plugin checks-a: check-controller.begin: it failed: no beginning")
        self.others_go_on("x")
        # The fifth was one too many: it is called no more, and check, queue and newcomers say so.
        self.logged("plugin checks-a: quarantined after 5 faults")
        eventually(lambda: self.active("admissionchecks", "ask")["reason"] == "PluginFault", "told")
        why = "plugin checks-a is quarantined after 5 faults, the last: plugin checks-a, " \
              "check-controller.begin: it failed: no beginning"
        self.assertIn(why, self.active("admissionchecks", "ask")["message"])
        eventually(lambda: why in self.active("clusterqueues", "asks")["message"], "the queue")
        world.workload("late", "asks")
        eventually(lambda: why in world.condition("late", "QuotaReserved")["message"], "late says")
        self.assertEqual({world.state(name) for name in names[:-1]}, {"reserved"})
        # A plugin that was mended takes over.
        self.assertTrue(world.host.reload(plugins(mode="ready")), world.host.log())
        for name in [*names, "late"]:
            world.becomes(name, "admitted")

    def test_does_not_know_its_check(self):
        self.start(mode="throw")
        eventually(lambda: self.active("admissionchecks", "ask")["reason"] == "PluginFault", "told")
        why = "plugin checks-a, check-controller.check_changed: it failed: no check"
        eventually(lambda: why in self.active("clusterqueues", "asks")["message"], "the queue")
        self.world.workload("w", "asks")
        eventually(lambda: "no check" in self.world.condition("w", "QuotaReserved")["message"],
                   "the workload says why")
        self.others_go_on("x")

    def test_lies(self):
        self.start(mode="other-attempt")  # it answers for an attempt that there is not
        world = self.world
        world.workload("w", "asks")
        for mode, text in (("other-attempt", ""),
                           ("other-pod-set", "a report updates a pod set that the workload does "
                                             "not have"),
                           ("bad-updates", "check-reporter refused a report: pod_set_updates has "
                                           "to be a list"),
                           ("bad-retry", "check-reporter refused a report: requeue_after_seconds "
                                         "is -7")):
            self.assertTrue(world.host.reload(plugins(mode=mode)), world.host.log())
            self.logged(text)
            self.others_go_on(f"x-{mode}")
            self.assertEqual(world.state("w"), "reserved", mode)
            self.assertEqual(world.checks("w"), {"ask": "Pending"})
        self.assertTrue(world.host.reload(plugins(mode="ready")), world.host.log())
        world.becomes("w", "admitted")

    def test_is_slow(self):
        """Each call takes 0.5 s; between two of them the others have their turn."""
        self.start(sleepMs=500)
        world, names = self.world, [f"w{n}" for n in range(8)]
        # All at once: calls take four seconds, however long a client needs for its requests.
        with concurrent.futures.ThreadPoolExecutor(len(names) + 1) as pool:
            made = [pool.submit(world.workload, name, "asks") for name in names]
            made.append(pool.submit(world.workload, "x", "free"))
        for each in made:
            each.result()
        for name in [*names, "x"]:
            world.becomes(name, "admitted")
        # By the order of the store: who was admitted is not written again.
        last = {name: int(world.get(name)["metadata"]["resourceVersion"])
                for name in [*names, "x"]}
        self.assertLess(last["x"], max(last.values()),
                        "the others waited until all calls were made")

    def test_hangs(self):
        """For a while. Reads are answered, and the log says for whom the writes wait."""
        self.start(sleepMs=8000)
        world = self.world
        world.workload("w", "asks")
        self.logged("plugin checks-a, check-controller.begin of team/w has not come back for")
        world.rest.get(f"{GROUP}/clusterqueues/free")
        world.becomes("w", "admitted")
        self.logged("check-controller.begin took")  # and so does the warning, when it came back
        self.others_go_on("x")


class Process(unittest.TestCase):
    """Plugins that take the process along, or would."""

    def start(self, *names):
        self.world = World(OPTIONS.sluice, self.listed(*names))
        self.addCleanup(self.world.end)
        self.world.flavor("f")
        self.world.queue("q", [], {"f": 100})

    @staticmethod
    def listed(*names):
        listed = ", ".join(f"{{ name: {name} }}" for name in names)
        return f"{{ directory: {OPTIONS.plugins}, load: [ {listed} ] }}"

    def submit(self, name):
        """Whose write is never answered: another thread waits for it."""
        def write():
            with contextlib.suppress(OSError, AssertionError, http.client.HTTPException):
                self.world.workload(name, "q")
        threading.Thread(target=write, daemon=True).start()

    def logged(self, text):
        eventually(lambda: text in self.world.host.log(), f"{text!r} in the log:\n"
                   + self.world.host.log()[-1500:])

    def restart(self, *names):
        host = self.world.host
        host.process.wait(timeout=180)
        host.process.stdout.close()
        host.plugins = self.listed(*names)
        host.write_config(host.store, host.extra)
        host.start()

    def test_a13_a_hook_that_never_returns(self):
        self.start("hangs")
        host, rest = self.world.host, self.world.rest
        self.submit("w")
        self.logged("plugin hangs, flavor-filter.filter of team/w has not come back for")
        eventually(lambda: rest.send("GET", "/readyz")[0] == 503, "not ready")
        for part in ("[-]plugins failed: plugin hangs, flavor-filter.filter of team/w",
                     "[-]control failed: the turn of the control thread"):
            eventually(lambda what=part: what in rest.send("GET", "/readyz?verbose")[1], part)
        code, answer = rest.send("GET", "/readyz?verbose")
        self.assertEqual(code, 503)
        self.assertIn("[+]store ok", answer)
        self.assertEqual(rest.send("GET", "/livez")[0], 200)
        self.assertEqual(rest.send("GET", "/readyz/store")[0], 200)
        # SIGTERM ends it all the same, and says what it waited for.
        host.process.send_signal(signal.SIGTERM)
        self.assertEqual(host.process.wait(timeout=180), 1)
        self.logged("is ended; it waits for")
        self.logged("Everything that was acknowledged is on disk")
        self.restart()
        self.world.rest.get(f"{GROUP}/clusterqueues/q")
        self.world.workload("x", "q")
        self.world.becomes("x", "admitted")

    def test_a13_simulate_says_which_hook_hangs(self):
        with tempfile.TemporaryDirectory() as folder:
            config, manifest = os.path.join(folder, "c.yaml"), os.path.join(folder, "m.yaml")
            with open(config, "w", encoding="utf-8") as out:
                out.write("apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
                          f"plugins: {self.listed('hangs')}\n")
            with open(manifest, "w", encoding="utf-8") as out:
                out.write(SIMULATED)
            run = subprocess.Popen([OPTIONS.sluice, "simulate", "--config", config, manifest],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                self.assertIn("plugin hangs, flavor-filter.filter of default/w has not come back",
                              run.stderr.readline())
            finally:
                run.kill()
                run.wait()
                run.stderr.close()

    def test_a14_a_crash_has_a_name_and_two_are_enough(self):
        self.start("crashes")
        for death in (1, 2):
            self.submit(f"w{death}")
            self.world.host.process.wait(timeout=180)
            told = f"inside plugin crashes: flavor-filter.filter of team/w{death}, signal 11"
            self.logged("sluice: the process dies " + told)
            self.restart("crashes")
            self.logged("the host died last time " + told)
        self.logged("plugin crashes: quarantined: the host died inside it 2 times")
        self.world.workload("w", "q")
        eventually(lambda: "plugin crashes is quarantined: the host died inside it 2 times"
                   in self.world.condition("w", "QuotaReserved")["message"], "w says why")
        listed = subprocess.run([OPTIONS.sluice, "plugin", "list", "--config",
                                 self.world.host.config], capture_output=True, text=True,
                                check=True).stdout
        self.assertRegex(listed, "crashes .* quarantined: the host died inside it 2 times")
        # A reload forgets; so would another file.
        self.assertTrue(self.world.host.reload(self.listed()), self.world.host.log())
        self.world.becomes("w", "admitted")

    def test_a15_a_plugin_is_tried_before_it_is_loaded(self):
        self.start()
        host = self.world.host
        self.assertFalse(host.reload(self.listed("create-crashes")))
        self.logged("the plugins were tried in a process of their own, which died of signal 11")
        self.logged("inside plugin create-crashes: plugin.create, signal 11")
        self.assertFalse(host.reload(self.listed("create-exits")))
        self.logged("inside plugin create-exits: plugin.create, it ended the process")
        self.assertFalse(host.reload(self.listed("create-leaves")))
        self.logged("ended with status 0 before it had come to its end: plugin create-leaves")
        self.world.workload("w", "q")
        self.world.becomes("w", "admitted")

    def test_a15_a_thread_that_outlives_its_plugin(self):
        self.start("outlives")
        for names in ((), ("outlives",), ()):
            self.assertTrue(self.world.host.reload(self.listed(*names)), self.world.host.log())
        self.world.workload("w", "q")
        self.world.becomes("w", "admitted")


class Outside(unittest.TestCase):
    """What a controller that speaks to the API may send, and the answer to it."""

    def test_nonsense(self):
        world = World(OPTIONS.sluice)
        self.addCleanup(world.end)
        world.flavor("f")
        world.check("ask")
        world.queue("asks", ["ask"], {"f": 100})
        world.workload("w", "asks")
        world.becomes("w", "reserved")
        when = "2026-01-01T00:00:00Z"
        good = {"name": "ask", "state": "Ready", "message": "", "lastTransitionTime": when}

        def entry(**changes):
            return {key: value for key, value in (good | changes).items() if value is not None}

        cases = (  # entry or entries, code, what the answer names
            (entry(state="ready"), 422, 'status.admissionChecks[0].state'),
            (entry(state=None), 422, "status.admissionChecks[0].state"),
            (entry(state=7), 422, "admissionChecks"),
            (entry(name=None), 422, "status.admissionChecks[0].name"),
            (entry(name="other"), 422, "is not among the admission checks"),
            (entry(message="x" * 40000), 422, "message"),
            (entry(lastTransitionTime="yesterday"), 422, "yesterday"),
            (entry(state="Retry", requeueAfterSeconds=-1), 422, "requeueAfterSeconds"),
            (entry(state="Retry", requeueAfterSeconds="soon"), 422, "requeueAfterSeconds"),
            (entry(reason="PreemptionRequired"), 422, "only while the state is Pending"),
            (entry(podSetUpdates=[{"name": "nobody"}]), 422, "nobody"),
            (entry(podSetUpdates="all"), 422, "podSetUpdates"),
            (entry(podSetUpdates=[{"name": "main", "labels": {"a b": "c"}}]), 422, "a b"),
            ([entry(), entry(state="Rejected")], 422, "status.admissionChecks[1]"),
            ("Ready", 422, "admissionChecks"),
        )
        for wrong, code, text in cases:
            with self.subTest(wrong=str(wrong)[:80]):
                listed = [wrong] if isinstance(wrong, dict) else wrong
                answer = world.patch(STATUS.format("w"), {"status": {"admissionChecks": listed}},
                                     code)
                self.assertIn(text, answer["message"])
                self.assertEqual(world.checks("w"), {"ask": "Pending"})
                self.assertEqual(world.state("w"), "reserved")
        code, answer = world.rest.send("PATCH", STATUS.format("w"), "no object",
                                       "application/merge-patch+json")
        self.assertEqual(code, 400, answer)
        # Two that read the same version: one of them is told to read again.
        read = world.get("w")["metadata"]["resourceVersion"]
        world.answer("w", "ask", "Pending", message="mine", version=read)
        stale = world.answer("w", "ask", "Ready", expect=409, version=read)
        self.assertIn("the object has been modified", stale["message"])
        self.assertEqual(world.state("w"), "reserved")
        world.answer("w", "ask", "Ready")
        world.becomes("w", "admitted")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--plugins", required=True, help="the folder of the tests' plugins")
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.plugins = os.path.abspath(OPTIONS.plugins)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

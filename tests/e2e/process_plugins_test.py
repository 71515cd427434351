#!/usr/bin/env python3
"""Plugins in a process of their own in a live host and in a simulation: a check in Python, killed
in the middle, and a library that is isolated.

    process_plugins_test.py --sluice build/dev/bin/sluice --source . \\
        --plugins build/dev/tests/plugins
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from host import eventually
from two_stages import GROUP, World

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--source", required=True)
OPTIONS.add_argument("--plugins", required=True, help="where the plugins of the tests are")
OPTIONS, REST = OPTIONS.parse_known_args()
SDK = os.path.join(os.path.abspath(OPTIONS.source), "sdk", "python")

PLUGIN = '''
import os
import sluice_plugin as sluice

class Asked(sluice.Plugin):
    name = "asked"
    check_controllers = ["example.com/asked"]
    validated_kinds = ["kueue.x-k8s.io/Workload"]

    def activate(self):
        self.host.warn(f"process {os.getpid()}")
        self.host.count("starts", help="Starts of it")

    def begin_check(self, query):
        if query.attempt.name == "held":
            return sluice.pending(f"held by {os.getpid()}")
        return sluice.ready("go", [{"name": "main", "labels": {"by": "python"}}])

    def validate(self, write):
        if write.object and write.object["metadata"]["name"] == "bad":
            return [sluice.FieldError("metadata.name", "not this name", value="bad")]

if __name__ == "__main__":
    sluice.main(Asked)
'''


def entry(name, **more):
    return {"name": name, "isolation": "process", **more}


class Processes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sluice-process-")
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "asked.py"), "w", encoding="utf-8") as file:
            file.write(PLUGIN)

    def world(self, folder, loaded, controller):
        plugins = json.dumps({"directory": folder, "load": [loaded]})
        world = World(os.path.abspath(OPTIONS.sluice), plugins)
        self.addCleanup(world.end)
        world.flavor("f")
        world.create(f"{GROUP}/admissionchecks", {
            "metadata": {"name": "ask"}, "spec": {"controllerName": controller}})
        world.queue("q", ["ask"], {"f": 100})
        return world

    def python(self):
        return self.world(self.folder, entry(
            "asked", command=[sys.executable, "-B", "asked.py"],
            process={"environment": {"PYTHONPATH": SDK}}), "example.com/asked")

    @staticmethod
    def pid(world):
        """Of the process that said so last."""
        return int(eventually(lambda: re.findall(r"process (\d+)\b", world.host.log()),
                              "the plugin says its process")[-1])

    def test_a_check_in_python_admits_and_is_begun_again_after_its_death(self):
        world = self.python()
        world.workload("good", "q")
        world.becomes("good", "admitted")
        self.assertEqual(world.get("good")["status"]["admissionChecks"][0]["podSetUpdates"],
                         [{"name": "main", "labels": {"by": "python"}}])
        world.workload("held", "q")
        says = lambda: world.get("held")["status"].get("admissionChecks", [{}])[0].get("message")
        first = self.pid(world)
        eventually(lambda: says() == f"held by {first}", f"held by {first}, not {says()}")
        os.kill(first, signal.SIGKILL)
        eventually(lambda: self.pid(world) != first, "another process")
        second = self.pid(world)
        eventually(lambda: says() == f"held by {second}", f"held by {second}, not {says()}")
        self.assertEqual(world.state("good"), "admitted")
        eventually(lambda: "was ended by signal 9" in world.host.log(), "it is told how it ended")
        world.workload("next", "q")
        world.becomes("next", "admitted")

    def test_a_validator_in_python_refuses(self):
        world = self.python()
        code, answer = world.rest.send("POST", f"{GROUP}/namespaces/team/workloads", {
            "metadata": {"name": "bad"}, "spec": {"queueName": "q", "podSets": [{
                "name": "main", "count": 1, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [{"name": "c"}]}}}]}})
        self.assertEqual(code, 422)
        self.assertIn("metadata.name: Invalid value: \"bad\": not this name", str(answer))

    def test_killed_again_and_again_it_loses_no_answer(self):
        world = self.python()
        for n in range(5):
            for i in range(4):
                world.workload(f"w{n}-{i}", "q")
            pid = self.pid(world)
            os.kill(pid, signal.SIGKILL)
            eventually(lambda before=pid: self.pid(world) != before, "another process")
        for n in range(5):
            for i in range(4):
                world.becomes(f"w{n}-{i}", "admitted")

    def test_it_ends_with_its_host(self):
        world = self.python()
        pid = self.pid(world)
        world.crash()

        def gone():
            try:
                with open(f"/proc/{pid}/status", encoding="ascii") as status:
                    return "\nState:\tZ" in status.read()
            except OSError:
                return True
        eventually(gone, "the process is gone")
        eventually(lambda: self.pid(world) != pid, "the next host has one of its own")

    def test_a_library_is_isolated_as_it_is(self):
        world = self.world(OPTIONS.plugins, entry("checks-a"), "example.com/check")
        world.workload("good", "q")
        world.becomes("good", "admitted")

    def test_which_plugins_of_the_product_may(self):
        """Those that no decision waits for; the others are refused, and told why."""
        in_cycle = "a scheduling cycle asks it thousands of times"
        in_decision = "what it answers belongs to a decision that is being made"
        refused = {"flavor-fungibility": ("flavor-search/1", in_cycle),
                   "concurrent-admission": ("flavor-filter/1", in_cycle),
                   "elastic-jobs": ("flavor-filter/1", in_cycle),
                   "pod-groups": ("workload-traits/1", in_decision),
                   "admission-fair-sharing": ("queue-order/1", in_decision)}
        config = os.path.join(self.folder, "sluice.yaml")
        objects = os.path.join(self.folder, "objects.json")
        with open(objects, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
                       "metadata": {"name": "f"}}, file)
        for name in [*refused, "provisioning-check", "multi-cluster"]:
            with self.subTest(name):
                with open(config, "w", encoding="utf-8") as file:
                    json.dump({"apiVersion": "config.sluice.dev/v1alpha1",
                               "kind": "Configuration", "plugins": {"load": [entry(name)]}}, file)
                run = subprocess.run([OPTIONS.sluice, "simulate", "--config", config, objects],
                                     capture_output=True, text=True, check=False)
                if name not in refused:
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    continue
                point, why = refused[name]
                self.assertEqual(run.returncode, 1)
                self.assertIn(f"plugin {name} cannot be created: {point} is not for a process of "
                              f"its own: {why}", run.stderr)
                self.assertIn("load it without `isolation`", run.stderr)

    def test_a_simulation_asks_the_same_process(self):
        config = os.path.join(self.folder, "sluice.yaml")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
                       "store": {"path": "memory"},
                       "plugins": {"directory": self.folder, "load": [entry(
                           "asked", command=[sys.executable, "-B", "asked.py"],
                           process={"environment": {"PYTHONPATH": SDK}})]}}, file)
        objects = os.path.join(self.folder, "objects.json")
        group = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
        quota = {"coveredResources": ["cpu"], "flavors": [
            {"name": "f", "resources": [{"name": "cpu", "nominalQuota": 4}]}]}
        pods = {"name": "main", "count": 1, "template": {"spec": {"containers": [
            {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}}
        with open(objects, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": [
                {**group, "kind": "ResourceFlavor", "metadata": {"name": "f"}},
                {**group, "kind": "AdmissionCheck", "metadata": {"name": "ask"},
                 "spec": {"controllerName": "example.com/asked"}},
                {**group, "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {
                    "namespaceSelector": {}, "resourceGroups": [quota],
                    "admissionChecksStrategy": {"admissionChecks": [{"name": "ask"}]}}},
                {**group, "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "default"},
                 "spec": {"clusterQueue": "q"}},
                *({**group, "kind": "Workload", "metadata": {"name": name, "namespace": "default"},
                   "spec": {"queueName": "q", "podSets": [pods]}} for name in ("good", "held"))]},
                file)
        logs = [subprocess.run([OPTIONS.sluice, "simulate", "--config", config, "--log", "-",
                                objects], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines()[:-1] for _ in range(2)]
        decided = [(each["type"], each["workload"]) for each in map(json.loads, logs[0])]
        self.assertIn(("Admitted", "default/good"), decided)
        self.assertNotIn(("Admitted", "default/held"), decided)
        self.assertEqual(len(logs[0]), len(logs[1]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)

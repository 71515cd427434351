#!/usr/bin/env python3
"""What `sluice simulate` tells of pods and groups of pods.

    simulate_test.py --sluice build/dev/bin/sluice
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

SLUICE = None
KUEUE = "kueue.x-k8s.io"

QUEUE = [
    {"apiVersion": f"{KUEUE}/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}},
    {"apiVersion": f"{KUEUE}/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "c"},
     "spec": {"namespaceSelector": {}, "resourceGroups": [
         {"coveredResources": ["cpu"], "flavors": [
             {"name": "f", "resources": [{"name": "cpu", "nominalQuota": 4}]}]}]}},
    {"apiVersion": f"{KUEUE}/v1beta2", "kind": "LocalQueue",
     "metadata": {"name": "q", "namespace": "default"}, "spec": {"clusterQueue": "c"}}]


def pod(name, cpu, group="", total=0, runtime="60s"):
    metadata = {"name": name, "namespace": "default", "labels": {f"{KUEUE}/queue-name": "q"},
                "annotations": {"sluice.dev/runtime": runtime}}
    if group:
        metadata["labels"][f"{KUEUE}/pod-group-name"] = group
        metadata["annotations"][f"{KUEUE}/pod-group-total-count"] = str(total)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "x", "resources": {"requests": {"cpu": str(cpu)}}}]}}


def simulate(objects, plugins="pod-groups"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "List", "items": QUEUE + objects}, out)
        done = subprocess.run([SLUICE, "simulate", "--plugins", plugins, "--log", "-", path],
                              capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Simulate(unittest.TestCase):
    def test_a_configuration_of_kueue_that_names_the_integration_loads_the_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("kueue.yaml", "case.json")]
            with open(paths[1], "w", encoding="utf-8") as out:
                json.dump({"apiVersion": "v1", "kind": "List",
                           "items": QUEUE + [pod("alone", 1)]}, out)
            for frameworks, held in (("[batch/job]", 0), ("[batch/job, pod]", 1)):
                with open(paths[0], "w", encoding="utf-8") as out:
                    out.write("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                              f"integrations: {{frameworks: {frameworks}}}\n")
                done = subprocess.run(
                    [SLUICE, "simulate", "--config", paths[0], "--log", "-", paths[1]],
                    capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                told = [json.loads(line)["type"] for line in done.stdout.splitlines()]
                self.assertEqual(told.count("Admitted"), held, done.stderr)

    def test_groups_wait_and_run_as_one(self):
        # 4 CPUs: g has 3 · 1, h has 2 · 1. h, the second, waits until g has finished.
        pods = [pod(f"g{i}", 1, "g", 3) for i in range(3)] + [pod(f"h{i}", 1, "h", 2)
                                                              for i in range(2)]
        log = simulate(pods)
        told = [(each["t"], each["type"], each["workload"]) for each in log
                if each["type"] in ("Admitted", "Finished")]
        self.assertEqual(told, [(0, "Admitted", "default/g"), (60, "Finished", "default/g"),
                                (60, "Admitted", "default/h"), (120, "Finished", "default/h")])

    def test_a_pod_alone_is_a_workload_of_its_own(self):
        log = simulate([pod("a", 3), pod("b", 3)])
        admitted = [(each["t"], each["workload"].rsplit("-", 1)[0]) for each in log
                    if each["type"] == "Admitted"]
        self.assertEqual(admitted, [(0, "default/pod-a"), (60, "default/pod-b")])

    def test_what_only_a_cluster_has_is_left_out_with_a_word(self):
        done = subprocess.run(
            [SLUICE, "simulate", "--plugins", "pod-groups", "--log", "-", "-"], check=False,
            input=json.dumps({"apiVersion": "apps/v1", "kind": "StatefulSet",
                              "metadata": {"name": "s", "namespace": "default"}}),
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("apps/v1 StatefulSet: no such kind is known here", done.stderr)

    def test_without_the_plugin_there_is_nothing_to_decide(self):
        self.assertEqual([each["type"] for each in simulate([pod("a", 3)], "none")], ["Summary"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    known, rest = parser.parse_known_args()
    SLUICE = os.path.abspath(known.sluice)
    unittest.main(argv=[sys.argv[0], *rest])

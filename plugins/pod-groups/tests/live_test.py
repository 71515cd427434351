#!/usr/bin/env python3
"""Pods and groups of pods on a live host with kubectl and real processes.

    live_test.py --sluice build/dev/bin/sluice --e2e tests/e2e [TestClass.test_name …]
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS, REST = OPTIONS.parse_known_args()
SLUICE = os.path.abspath(OPTIONS.sluice)
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import Host, eventually

ON = "{ load: [ { name: pod-groups } ] }"
KUEUE = "kueue.x-k8s.io"

# 100m of CPU on nodes with the label kind=here, which this machine gets.
QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: here}
spec: {nodeLabels: {kind: here}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: here, resources: [{name: cpu, nominalQuota: 100m}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq}
spec: {clusterQueue: cq}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
"""
EXTRA = """executor:
  nodes: [{ name: here, labels: { kind: here }, capacity: { cpu: 4, memory: 4Gi } }]
"""


class Live(unittest.TestCase):
    def setUp(self):
        self.host = Host(SLUICE, plugins=ON, extra=EXTRA)
        self.host.start()
        self.addCleanup(self.host.__exit__)
        self.host.kubectl("apply", "-f", "-", stdin=QUEUES)

    def pod(self, name, *arguments, **more):
        """As written() has it."""
        self.host.kubectl("create", "-f", "-",
                          stdin=json.dumps(self.written(name, *arguments, **more)))

    @staticmethod
    def written(name, cpu="50m", command="true", group="", total=0, labels=None, **annotations):
        """Annotations without their domain, with _ for -."""
        metadata = {"name": name, "labels": {f"{KUEUE}/queue-name": "lq"} | (labels or {}),
                    "annotations": {f"{KUEUE}/{key.replace('_', '-')}": value
                                    for key, value in annotations.items()}}
        if group:
            metadata["labels"][f"{KUEUE}/pod-group-name"] = group
            metadata["annotations"][f"{KUEUE}/pod-group-total-count"] = str(total)
        container = {"name": "c", "image": "local", "command": ["sh", "-c", command],
                     "resources": {"requests": {"cpu": cpu}}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
                "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                         "containers": [container]}}

    def group(self, name, count, **more):
        for i in range(count):
            self.pod(f"{name}-{i}", group=name, total=count, **more)

    def get(self, kind, name):
        done = self.host.run("get", kind, name, "-o", "json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def phase(self, name):
        pod = self.get("pod", name)
        if pod is None:
            return "gone"
        if pod["spec"].get("schedulingGates"):
            return "gated"
        return "deleted" if "deletionTimestamp" in pod["metadata"] else pod["status"]["phase"]

    def becomes(self, name, *phases):
        eventually(lambda: self.phase(name) in phases, f"{name} becomes {' or '.join(phases)}")

    def condition(self, workload, kind):
        found = self.get("workload", workload)
        for each in (found or {}).get("status", {}).get("conditions", []):
            if each["type"] == kind:
                return each["status"], each["reason"], each["message"]
        return None

    def workload_of(self, pod):
        def found():
            for each in self.host.json("get", "workloads")["items"]:
                if any(owner["name"] == pod for owner in each["metadata"]["ownerReferences"]):
                    return each["metadata"]["name"]
            return None
        return eventually(found, f"{pod} has a workload")

    def finished(self, workload):
        return eventually(lambda: (self.condition(workload, "Finished") or [None])[0] == "True"
                          and self.condition(workload, "Finished")[1:], f"{workload} finishes")

    def events(self, name):
        return {each["reason"]: each["message"] for each in self.host.json(
            "get", "events", "--field-selector", f"involvedObject.name={name}")["items"]}


class Alone(Live):
    def test_a_pod_waits_starts_on_its_flavor_and_gives_back(self):
        self.pod("first", cpu="100m", command="sleep 600")
        self.becomes("first", "Running")
        pod = self.get("pod", "first")
        self.assertEqual(pod["spec"]["nodeSelector"], {"kind": "here"})
        self.assertEqual(pod["metadata"]["labels"][f"{KUEUE}/podset"], "main")
        self.pod("second", cpu="100m")
        waits = self.workload_of("second")
        eventually(lambda: self.condition(waits, "QuotaReserved"), "it is told why it waits")
        self.assertIn("100m more needed", self.condition(waits, "QuotaReserved")[2])
        self.assertEqual(self.phase("second"), "gated")
        for named in (f"default/{waits}", "pod/second"):
            done = subprocess.run([SLUICE, "explain", named], capture_output=True, text=True,
                                  check=True, env=self.host.environment())
            self.assertIn("100m more needed", done.stdout)
        self.host.kubectl("delete", "pod", "first")
        self.becomes("second", "Succeeded")
        self.assertEqual(self.finished(waits), ("Succeeded", "The pod succeeded"))

    def test_what_fails_says_so(self):
        self.pod("bad", command="exit 3")
        self.assertEqual(self.finished(self.workload_of("bad")), ("Failed", "The pod failed"))

    def test_a_pod_that_is_preempted_is_deleted(self):
        self.pod("low", cpu="100m", command="sleep 600")
        self.becomes("low", "Running")
        self.pod("high", cpu="100m", labels={f"{KUEUE}/priority-class": "high"})
        self.becomes("high", "Succeeded")
        self.becomes("low", "gone")
        self.assertIn("Preempted to accommodate a workload", self.events("low")["Stopped"])

    def test_who_deletes_a_pod_or_its_workload_ends_both(self):
        self.pod("gated", cpu="200m")
        waits = self.workload_of("gated")
        self.host.kubectl("delete", "pod", "gated")
        eventually(lambda: self.get("workload", waits) is None, "its workload goes with it")
        self.pod("runs", command="sleep 600")
        self.becomes("runs", "Running")
        self.host.kubectl("delete", "workload", self.workload_of("runs"))
        self.becomes("runs", "gone")

    def test_nobody_lifts_the_gate_but_the_system(self):
        self.pod("gated", cpu="200m")
        done = self.host.run("patch", "pod", "gated", "--type=json", "-p",
                             '[{"op":"remove","path":"/spec/schedulingGates"}]')
        self.assertIn("is lifted by the system", done.stderr)
        done = self.host.run("label", "pod", "gated", f"{KUEUE}/managed-")
        self.assertEqual(self.get("pod", "gated")["metadata"]["labels"][f"{KUEUE}/managed"],
                         "true")

    def test_pods_of_jobs_and_pods_of_nobody_run_as_ever(self):
        job = {"apiVersion": "batch/v1", "kind": "Job",
               "metadata": {"name": "j", "labels": {f"{KUEUE}/queue-name": "lq"}},
               "spec": {"template": {
                   "metadata": {"labels": {f"{KUEUE}/queue-name": "lq"}},
                   "spec": {"restartPolicy": "Never", "containers": [
                       {"name": "c", "image": "x", "command": ["true"],
                        "resources": {"requests": {"cpu": "100m"}}}]}}}}
        self.host.kubectl("create", "-f", "-", stdin=json.dumps(job))
        self.host.kubectl("wait", "--for=condition=Complete", "--timeout=120s", "job/j")
        self.assertEqual(len(self.host.json("get", "workloads")["items"]), 1)
        self.pod("free", labels={f"{KUEUE}/queue-name": ""})
        self.becomes("free", "Succeeded")


class Groups(Live):
    def test_a_group_starts_and_finishes_as_one(self):
        self.pod("g-0", cpu="30m", group="g", total=3)
        self.pod("g-1", cpu="30m", group="g", total=3)
        self.assertEqual(self.phase("g-0"), "gated")
        self.assertIsNone(self.get("workload", "g"))
        self.assertEqual(self.events("g-0")["ErrWorkloadCompose"],
                         "Waits until all 3 pods of group g are there")
        self.pod("g-2", cpu="10m", group="g", total=3)
        self.assertEqual(self.finished("g"), ("Succeeded", "Pods succeeded: 3/3."))
        sets = self.get("workload", "g")["spec"]["podSets"]
        self.assertEqual(sorted(each["count"] for each in sets), [1, 2], "two shapes")
        for i in range(3):
            eventually(lambda i=i: "finalizers" not in self.get("pod", f"g-{i}")["metadata"],
                       "pods are let go")
        self.host.kubectl("delete", "pods", "--all")
        self.assertIsNone(self.get("workload", "g"), "its workload goes with its pods")

    def test_what_succeeded_gives_its_quota_back(self):
        self.pod("g-0", group="g", total=2)
        self.pod("g-1", group="g", total=2, command="sleep 600")
        self.becomes("g-0", "Succeeded")
        self.pod("next")  # 50m of 100m are free again
        self.becomes("next", "Succeeded")
        self.assertEqual(self.phase("g-1"), "Running")

    def test_a_pod_that_failed_is_replaced_on_the_same_quota(self):
        self.pod("g-0", group="g", total=2, command="exit 1")
        self.pod("g-1", group="g", total=2)
        self.becomes("g-0", "Failed")
        self.becomes("g-1", "Succeeded")
        eventually(lambda: self.condition("g", "WaitingForReplacementPods") == (
            "True", "PodsFailed", "Some Failed pods need replacement"), "it says what it lacks")
        self.pod("again", group="g", total=2)
        self.assertEqual(self.finished("g"), ("Succeeded", "Pods succeeded: 2/2."))

    def test_the_only_pod_of_a_group_is_replaced_on_the_same_quota(self):
        """The old pod is let go when the new one comes; the workload goes with its last owner."""
        self.pod("g-0", group="g", total=1, command="exit 1")
        self.becomes("g-0", "Failed")
        before = self.host.kubectl("get", "workload", "g", "-o", "jsonpath={.metadata.uid}")
        self.host.kubectl("delete", "pod", "g-0", "--wait=false")
        self.pod("again", group="g", total=1)
        self.becomes("g-0", "gone")
        self.assertEqual(self.finished("g"), ("Succeeded", "Pods succeeded: 1/1."))
        self.assertEqual(self.host.kubectl(
            "get", "workload", "g", "-o", "jsonpath={.metadata.uid}"), before)

    def test_a_group_that_may_not_be_tried_again_fails(self):
        self.pod("g-0", group="g", total=2, command="exit 1", retriable_in_group="false")
        self.pod("g-1", group="g", total=2)
        self.assertEqual(self.finished("g"), ("Failed", "Pods succeeded: 1/2."))

    def test_a_preempted_group_waits_for_new_pods_and_runs_again(self):
        self.group("g", 2, command="sleep 600")
        self.becomes("g-1", "Running")
        self.pod("high", cpu="100m", labels={f"{KUEUE}/priority-class": "high"})
        self.becomes("high", "Succeeded")
        eventually(lambda: (self.condition("g", "QuotaReserved") or "  ")[2]
                   == "Waits for 2 of its 2 pods to be made anew",
                   "quota is not held for pods that are not there")
        self.assertEqual(self.condition("g", "WaitingForReplacementPods")[:2],
                         ("True", "Preempted"))
        self.assertEqual(self.phase("g-0"), "deleted", "it stays until it is replaced")
        self.pod("new-0", group="g", total=2)
        self.pod("new-1", group="g", total=2)
        self.assertEqual(self.finished("g"), ("Succeeded", "Pods succeeded: 2/2."))
        self.becomes("g-0", "gone")

    def test_one_too_many_goes(self):
        self.group("g", 2, command="sleep 600")
        self.becomes("g-1", "Running")
        self.pod("late", group="g", total=2)
        self.becomes("late", "gone")
        self.assertEqual(self.events("g")["ExcessPodDeleted"], "Excess pod deleted: late")

    def test_a_group_may_have_hundreds_of_pods(self):
        """Each of them owns its workload. For 150 of 1m each there is no quota: they wait."""
        pods = [self.written(f"m-{i}", "1m", group="many", total=150) for i in range(150)]
        self.host.kubectl("create", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": pods}))
        owners = "jsonpath={.metadata.ownerReferences[*].name}"
        eventually(lambda: len(self.host.run("get", "workload", "many", "-o",
                                             owners).stdout.split()) == 150, "all of them own it")
        self.host.kubectl("delete", "pods", "--all", "--wait=false")

    def test_fast_admission_and_a_group_that_serves(self):
        self.pod("g-0", group="g", total=2, command="sleep 600",
                 pod_group_fast_admission="true", pod_group_serving="true")
        self.becomes("g-0", "Running")
        self.pod("g-1", group="g", total=2, pod_group_fast_admission="true",
                 pod_group_serving="true")
        self.becomes("g-1", "Succeeded")
        self.pod("g-2", group="g", total=2, command="sleep 600",
                 pod_group_fast_admission="true", pod_group_serving="true")
        self.becomes("g-2", "Running")
        self.assertIsNone(self.condition("g", "Finished"))
        self.host.kubectl("delete", "workload", "g")
        for name in ("g-0", "g-2"):
            self.becomes(name, "gone")


class Trouble(Live):
    def crash(self):
        self.host.stop(signal.SIGKILL)
        self.host.start()

    def test_a_kill_in_every_state_loses_nothing(self):
        self.pod("g-0", group="g", total=2, command="sleep 600")
        self.crash()
        self.pod("first", cpu="100m", command="sleep 600")
        self.becomes("first", "Running")
        self.pod("g-1", group="g", total=2)
        eventually(lambda: self.condition("g", "QuotaReserved"), "the group waits")
        self.crash()
        self.assertEqual(self.phase("g-0"), "gated")
        self.host.kubectl("delete", "pod", "first")
        self.becomes("g-0", "Running")
        self.becomes("g-1", "Succeeded")
        self.crash()
        self.assertEqual(self.phase("g-0"), "Running", "it ran on")
        self.host.kubectl("delete", "pod", "g-0", "--wait=false")
        self.becomes("g-0", "deleted")
        self.pod("again", group="g", total=2)
        self.assertEqual(self.finished("g"), ("Succeeded", "Pods succeeded: 2/2."))

    def test_without_the_plugin_nothing_starts_and_nothing_is_lost(self):
        self.pod("first", cpu="100m", command="sleep 600")
        self.becomes("first", "Running")
        self.pod("second", cpu="100m")
        waits = self.workload_of("second")
        self.assertTrue(self.host.reload("{ load: [] }"))
        self.host.kubectl("delete", "pod", "first", "--wait=false")
        self.pod("free")
        self.becomes("free", "Succeeded")
        self.assertEqual(self.phase("second"), "gated")
        eventually(lambda: "pod-groups" in self.condition(waits, "QuotaReserved")[2],
                   "its workload says which plugin it waits for")
        self.assertTrue(self.host.reload(ON))
        self.becomes("first", "gone")
        self.becomes("second", "Succeeded")

    def test_a_namespace_goes_with_its_pods(self):
        self.host.kubectl("create", "namespace", "team")
        queue = {"apiVersion": f"{KUEUE}/v1beta2", "kind": "LocalQueue",
                 "metadata": {"name": "lq", "namespace": "team"}, "spec": {"clusterQueue": "cq"}}
        self.host.kubectl("create", "-f", "-", stdin=json.dumps(queue))
        for name, command in (("runs", "sleep 600"), ("waits", "true")):
            pod = {"apiVersion": "v1", "kind": "Pod",
                   "metadata": {"name": name, "namespace": "team",
                                "labels": {f"{KUEUE}/queue-name": "lq"}},
                   "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                            "containers": [{"name": "c", "image": "x",
                                            "command": ["sh", "-c", command],
                                            "resources": {"requests": {"cpu": "100m"}}}]}}
            self.host.kubectl("create", "-f", "-", stdin=json.dumps(pod))
        self.host.kubectl("delete", "namespace", "team", "--timeout=120s")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + REST)

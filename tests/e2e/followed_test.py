#!/usr/bin/env python3
"""What `sluice observe` and `sluice controller` answer about a cluster that they follow, beyond
reading: what would become of a job, what was. The cluster is a host here, which runs nothing; on a
real control plane: tests/kubernetes.

    followed_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import json
import os
import signal
import sys
import unittest

from followers import Follower
from host import Host, eventually

NO_PODS = "executor: { type: none }\n"
CAPACITY = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 3}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: cq}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: urgent}
value: 100
---
apiVersion: v1
kind: Namespace
metadata: {name: sluice-system}
"""


def job(name, cpu, priority=None):
    labels = {"kueue.x-k8s.io/queue-name": "main"} | (
        {"kueue.x-k8s.io/priority-class": priority} if priority else {})
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": str(cpu)}}}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "spec": {"suspend": True, "template": {"spec": {
                "restartPolicy": "Never", "containers": [container]}}}}


class Case(unittest.TestCase):
    def setUp(self):
        self.host = self.enterContext(Host(SLUICE, memory=True, extra=NO_PODS))
        self.host.kubectl("apply", "-f", "-", stdin=CAPACITY)
        self.host.kubectl("create", "-f", "-", stdin=json.dumps(job("low", 2)))
        self.host.kubectl("wait", "job/low", "--for=jsonpath={.spec.suspend}=false",
                          "--timeout=180s")

    def ask(self, follower, *objects):
        """The status of the answer."""
        done = follower.sluice("what-if", "-o", "json", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": list(objects)}))
        self.assertEqual(done.returncode, 0, done.stderr + follower.log())
        return json.loads(done.stdout)["status"]

    def tries_what_if(self, follower):
        fits, waits = (self.ask(follower, job("asked", cpu)) for cpu in (1, 2))
        self.assertEqual(fits["workloads"][0]["decision"], "Starts")
        self.assertEqual(waits["workloads"][0]["decision"], "Waits")
        urgent = self.ask(follower, job("asked", 3, "urgent"))
        self.assertEqual(urgent["workloads"][0]["decision"], "Starts")
        self.assertEqual([each["job"] for each in urgent["changes"]["evicted"]], ["Job low"])
        # Nobody heard of it.
        names = self.host.kubectl("get", "jobs,workloads", "-A", "-o", "name").split()
        self.assertEqual(len(names), 2, names)
        self.assertFalse(any("asked" in name for name in names))
        self.assertIn("false", self.host.kubectl("get", "job", "low", "-o",
                                                 "jsonpath={.spec.suspend}"))
        return fits

    def refuses_to_write(self, follower):
        done = self.host.run("create", "configmap", "x", KUBECONFIG=follower.kubeconfig)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("only GET and HEAD are served here", done.stderr)
        other = follower.sluice("what-if", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}))
        self.assertNotEqual(other.returncode, 0)
        self.assertIn("this does not follow configmaps; ask the cluster itself", other.stderr)


    def total(self, follower):
        done = follower.sluice("history", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr + follower.log())
        return json.loads(done.stdout)["total"]

    def keeps_a_history(self, command):
        kept = f"history: {{ path: {os.path.join(self.host.folder, command)}.db }}\n"
        with Follower(self.host, command, kept) as follower:
            eventually(lambda: self.total(follower)["started"] == 1, "low has started")
            self.host.kubectl("create", "-f", "-", stdin=json.dumps(job("next", 1)))
            eventually(lambda: self.total(follower)["running"] == 2, "next has, too")
            follower.stop(signal.SIGKILL)
            # What goes on counts on, what ended meanwhile has ended, and nothing counts twice.
            self.host.kubectl("delete", "job", "next")
            eventually(lambda: len(self.host.kubectl("get", "workloads", "-A", "-o", "name")
                                   .split()) == 1, "its workload goes with it")
            follower.start()
            eventually(lambda: self.total(follower)["deleted"] == 1, "the deletion is seen")
            total = self.total(follower)
            self.assertEqual((total["started"], total["running"]), (2, 1))
            self.assertGreater(total["heldHours"]["cpu"], 0)

    def keeps_none_unless_told_where(self, follower):
        done = follower.sluice("history")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("could not find the requested resource", done.stderr)


class Observed(Case):
    def test_what_if_is_what_sluice_would_do_and_nothing_is_written(self):
        with Follower(self.host, "observe") as follower:
            answer = self.tries_what_if(follower)
            self.assertIn("another program decides in this cluster", answer["uncertain"][0])
            self.refuses_to_write(follower)
            self.keeps_none_unless_told_where(follower)

    def test_a_history_is_kept_in_a_file(self):
        self.keeps_a_history("observe")


class Controlled(Case):
    def test_what_if_is_what_would_be_decided_and_nothing_is_written(self):
        with Follower(self.host, "controller") as follower:
            answer = self.tries_what_if(follower)
            self.assertNotIn("uncertain", answer)
            self.refuses_to_write(follower)
            self.keeps_none_unless_told_where(follower)

    def test_a_history_is_kept_in_a_file(self):
        self.keeps_a_history("controller")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    SLUICE = options.sluice
    unittest.main(argv=[sys.argv[0], *rest])

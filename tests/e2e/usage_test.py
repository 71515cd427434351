#!/usr/bin/env python3
"""The Metrics API: `kubectl top` against a live host, and who may look.

    usage_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import os
import re
import sys
import unittest

from host import Host, eventually
from rest import Rest

METRICS = "/apis/metrics.k8s.io/v1beta1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
EXTRA = ("executor: { nodes: [{ name: one, capacity: { cpu: '4', memory: 4Gi } },"
         " { name: two, capacity: { cpu: '4', memory: 4Gi } }] }\n")


def pod(name, node, command):
    return {"metadata": {"name": name, "labels": {"does": name}}, "spec": {
        "nodeName": node, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "c", "image": "any", "command": ["sh", "-c", command]}]}}


class Top(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host = Host(SLUICE, extra=EXTRA).start()
        cls.addClassCleanup(cls.host.__exit__)
        cls.admin = Rest(cls.host.kubeconfig)
        for path, body in (
                ("/api/v1/namespaces", {"metadata": {"name": "team"}}),
                (f"{RBAC}/namespaces/team/rolebindings", {
                    "metadata": {"name": "ann"}, "roleRef": {
                        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "view"},
                    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                                  "name": "ann"}]}),
                # The one that works is a child of the container's first process. It outlives a
                # host that is killed, and ends by itself then.
                ("/api/v1/namespaces/team/pods",
                 pod("busy", "one", "timeout 300 sh -c 'while :; do :; done' & wait")),
                ("/api/v1/namespaces/team/pods", pod("idle", "two", "sleep 600")),
                ("/api/v1/namespaces/default/pods", pod("other", "two", "sleep 600"))):
            code, answer = cls.admin.send("POST", path, body)
            assert code == 201, answer
        cls.addClassCleanup(cls.admin.send, "DELETE", "/api/v1/namespaces/team/pods/busy")
        # What starts a process counts as its own, so the sleepers are busy at first.
        eventually(lambda: cls.cpu_of("busy") > 0.1 and len(cls.pods()) == 3 and
                   max(cls.cpu_of("idle"), cls.cpu_of("other")) < 0.005, "it is measured")

    @classmethod
    def pods(cls):
        return cls.admin.get(f"{METRICS}/pods")["items"]

    @classmethod
    def cpu_of(cls, name):
        """Processors."""
        for each in cls.pods():
            if each["metadata"]["name"] == name:
                return int(each["containers"][0]["usage"]["cpu"][:-1]) / 1e9
        return 0

    def test_shapes_are_those_of_metrics_server(self):
        code, one = self.admin.send("GET", f"{METRICS}/namespaces/team/pods/busy")
        self.assertEqual((code, one["kind"], one["apiVersion"]),
                         (200, "PodMetrics", "metrics.k8s.io/v1beta1"))
        self.assertRegex(one["window"], r"^\d+s$")
        self.assertRegex(one["containers"][0]["usage"]["cpu"], r"^\d+n$")
        self.assertRegex(one["containers"][0]["usage"]["memory"], r"^[1-9]\d*Ki$")
        code, node = self.admin.send("GET", f"{METRICS}/nodes/one")
        self.assertEqual((code, node["kind"]), (200, "NodeMetrics"))
        self.assertEqual(self.admin.send("GET", f"{METRICS}/nodes/three")[0], 404)
        self.assertEqual(self.admin.send("GET", f"{METRICS}/namespaces/team/pods/none")[0], 404)
        self.assertEqual(self.admin.send("POST", f"{METRICS}/namespaces/team/pods", {})[0], 405)
        groups = self.admin.get("/apis")["groups"]
        self.assertIn("metrics.k8s.io", [each["name"] for each in groups])

    def test_kubectl_top_pod(self):
        text = self.host.kubectl("top", "pod", "-n", "team", "--sort-by=cpu")
        lines = text.splitlines()
        self.assertRegex(lines[0], r"NAME +CPU\(cores\) +MEMORY\(bytes\)")
        self.assertTrue(lines[1].startswith("busy"), text)
        self.assertRegex(lines[1], r"busy +\d{2,}m +\d+Mi")
        self.assertRegex(lines[2], r"idle +\dm +\d+Mi")
        self.assertNotIn("other", text)
        self.assertIn("other", self.host.kubectl("top", "pod", "-A"))
        chosen = self.host.kubectl("top", "pod", "-n", "team", "-l", "does=idle", "--containers")
        self.assertIn("idle", chosen)
        self.assertNotIn("busy", chosen)
        self.assertIn("busy", self.host.kubectl("top", "pod", "busy", "-n", "team"))

    def test_kubectl_top_node(self):
        text = self.host.kubectl("top", "node")
        self.assertRegex(text, r"one +\d{2,}m +\d+% +\d+Mi +\d+%")
        self.assertRegex(text, r"two +\d+m +0% +\d+Mi +0%")

    def test_a_tenant_sees_the_pods_of_his_namespace(self):
        as_ann = ("--as", "ann")
        self.assertIn("busy", self.host.kubectl("top", "pod", "-n", "team", *as_ann))
        for args in (("pod", "-A"), ("pod", "-n", "default"), ("node",)):
            done = self.host.run("top", *args, *as_ann)
            self.assertNotEqual(done.returncode, 0)
            self.assertTrue(re.search("forbidden", done.stderr, re.IGNORECASE), done.stderr)
            self.assertNotIn("other", done.stdout)


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--sluice", required=True)
    OPTIONS, REST = PARSER.parse_known_args()
    SLUICE = os.path.abspath(OPTIONS.sluice)
    unittest.main(argv=[sys.argv[0], *REST])

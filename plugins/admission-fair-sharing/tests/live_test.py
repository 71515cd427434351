#!/usr/bin/env python3
"""What a live host shows of use, and that a kill forgets none of it.

    live_test.py --sluice build/dev/bin/sluice --e2e tests/e2e [TestClass.test_name …]
"""
import argparse
import os
import subprocess
import sys
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS, REST = OPTIONS.parse_known_args()
OPTIONS.sluice = os.path.abspath(OPTIONS.sluice)
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import eventually
from two_stages import GROUP, World

TEAM = f"{GROUP}/namespaces/team"
# With a half-life of an hour an entry of 1 CPU counts for 1 · (1 − 2^(−1)) = 0.5; what is used then
# lies between that and 1, however slow the machine.
PLUGINS = ("{ load: [ { name: admission-fair-sharing, config: "
           "{ usageHalfLifeTime: 1h, usageSamplingInterval: 1h } } ] }")


class Live(unittest.TestCase):
    def setUp(self):
        self.world = World(OPTIONS.sluice, plugins=PLUGINS,
                           extra="executor: { type: none }\n")
        self.world.flavor("f")
        self.world.create(f"{GROUP}/clusterqueues", {"metadata": {"name": "shared"}, "spec": {
            "namespaceSelector": {}, "resourceGroups": [self.world.group({"f": 1})],
            "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}})
        for name in "ab":
            self.world.create(f"{TEAM}/localqueues", {
                "metadata": {"name": name}, "spec": {"clusterQueue": "shared"}})

    def tearDown(self):
        self.world.end()

    def reserved(self, name):
        status = self.world.rest.get(f"{TEAM}/workloads/{name}").get("status", {})
        return any(each["type"] == "QuotaReserved" and each["status"] == "True"
                   for each in status.get("conditions", []))

    def used(self, queue):
        status = self.world.rest.get(f"{TEAM}/localqueues/{queue}").get("status", {})
        told = status.get("fairSharing", {}).get("admissionFairSharingStatus", {})
        return float(told.get("consumedResources", {}).get("cpu", 0))

    def explained(self, name):
        done = subprocess.run([OPTIONS.sluice, "explain", f"team/{name}"], capture_output=True,
                              text=True, check=False, env=self.world.host.environment())
        return done.stdout

    def test_order_reason_and_a_kill(self):
        world = self.world
        world.workload("a1", "a")
        eventually(lambda: self.reserved("a1"), "a1 has its quota")
        world.workload("a2", "a")
        world.workload("b1", "b")
        eventually(lambda: "1 of 2 in the ClusterQueue" in self.explained("b1"),
                   "b1, the younger, is in front of a2")
        eventually(lambda: 0.5 <= self.used("a") <= 1, "the status shows what a has used")
        self.assertIn("admission-fair-sharing: LocalQueue team/a has used",
                      self.explained("a2"))
        before = self.used("a")
        world.crash()
        eventually(lambda: "1 of 2 in the ClusterQueue" in self.explained("b1"),
                   "b1 is in front of a2 after a kill")
        self.assertGreaterEqual(self.used("a"), before)
        self.assertLessEqual(self.used("a"), 1, "a1 is not counted as an entry again")
        code, _ = world.rest.send("DELETE", f"{TEAM}/workloads/a1")
        self.assertEqual(code, 200)
        eventually(lambda: self.reserved("b1"), "b1 has what a1 had")
        self.assertFalse(self.reserved("a2"))
        eventually(lambda: self.used("b") >= 0.5, "the entry of b1 counts")

    def test_a_weight_is_checked_and_taken(self):
        code, answer = self.world.rest.send(
            "PATCH", f"{TEAM}/localqueues/a", {"spec": {"fairSharing": {"weight": "-1"}}},
            "application/merge-patch+json")
        self.assertEqual(code, 422, answer)
        self.world.patch(f"{TEAM}/localqueues/a", {"spec": {"fairSharing": {"weight": "2"}}})
        self.world.workload("a1", "a")
        self.world.workload("a2", "a")
        eventually(lambda: "with weight 2" in self.explained("a2"), "explain tells the weight")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + REST)

#!/usr/bin/env python3
"""Two LocalQueues share one ClusterQueue, and what they have used decides who is next.

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
KUEUE = "kueue.x-k8s.io/v1beta2"


def queues(weight_of_a=1, mode="UsageBasedAdmissionFairSharing", strategy="BestEffortFIFO"):
    """A ClusterQueue of 4 CPUs, and the LocalQueues a and b that share it."""
    cluster = {"namespaceSelector": {}, "queueingStrategy": strategy, "resourceGroups": [
        {"coveredResources": ["cpu"], "flavors": [
            {"name": "f", "resources": [{"name": "cpu", "nominalQuota": 4}]}]}]}
    if mode:
        cluster["admissionScope"] = {"admissionMode": mode}
    return [
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "f"}},
        {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "c"}, "spec": cluster},
        {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "a", "namespace": "ns"},
         "spec": {"clusterQueue": "c", "fairSharing": {"weight": str(weight_of_a)}}},
        {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "b", "namespace": "ns"},
         "spec": {"clusterQueue": "c"}}]


def workload(name, cpu, runtime="60s", priority=0):
    """In the LocalQueue of its first letter."""
    return {"apiVersion": KUEUE, "kind": "Workload",
            "metadata": {"name": name, "namespace": "ns",
                         "annotations": {"sluice.dev/runtime": runtime}},
            "spec": {"queueName": name[0], "priority": priority, "podSets": [
                {"name": "main", "count": 1, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [
                        {"name": "c", "image": "x",
                         "resources": {"requests": {"cpu": str(cpu)}}}]}}}]}}


def simulate(objects, events, plugin=True):
    """The order in which quota was reserved, as (seconds, workload)."""
    timeline = {"apiVersion": "sluice.dev/v1alpha1", "kind": "Timeline", "events": [
        {"at": at, "apply": each} for at, each in events]}
    load = [{"name": "admission-fair-sharing",
             "config": {"usageHalfLifeTime": "60s", "usageSamplingInterval": "60s"}}]
    config = {"apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
              "plugins": {"load": load if plugin else []}}
    with tempfile.TemporaryDirectory() as folder:
        case, settings = os.path.join(folder, "case.json"), os.path.join(folder, "sluice.yaml")
        with open(case, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "List", "items": objects + [timeline]}, out)
        with open(settings, "w", encoding="utf-8") as out:
            json.dump(config, out)
        done = subprocess.run([SLUICE, "simulate", "--config", settings, "--log", "-", case],
                              capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    log = [json.loads(line) for line in done.stdout.splitlines()]
    reserved = [(each["t"], each["workload"].split("/")[1]) for each in log
                if each["type"] == "QuotaReserved"]
    return reserved


# Five workloads that fill the queue for 60 s each. Half-life and sampling interval are 60 s, so an
# entry counts for 4 · (1 − 2^(−60/60)) = 2, and in each further minute half of the way to what is
# held then (4 or 0) is made.
FIVE = [("0s", workload("a1", 4)), ("10s", workload("a2", 4)), ("11s", workload("a3", 4)),
        ("12s", workload("b1", 4)), ("13s", workload("b2", 4))]


class Order(unittest.TestCase):
    def order(self, *case, **more):
        return [name for _, name in simulate(*case, **more)]

    def test_who_has_used_less_is_next(self):
        #    t    a                        b                     next
        #    0    0                        0                     a1: a is 2
        #   60    4 + (2 − 4)/2 = 3        0                     b1: b is 2
        #  120    3/2 = 1.5                4 + (2 − 4)/2 = 3     a2: a is 3.5
        #  180    4 + (3.5 − 4)/2 = 3.75   3/2 = 1.5             b2
        #  240    3.75/2 = 1.875           -                     a3
        reserved = simulate(queues(), FIVE)
        self.assertEqual(reserved, [(0, "a1"), (60, "b1"), (120, "a2"), (180, "b2"), (240, "a3")])

    def test_a_weight_divides_what_was_used(self):
        # As above, with a's use by 4: at 120 it is 1.5/4 against 3, at 180 3.75/4 = 0.94 against
        # 1.5.
        self.assertEqual(self.order(queues(weight_of_a=4), FIVE), ["a1", "b1", "a2", "a3", "b2"])

    def test_a_strict_queue_follows_it_too(self):
        self.assertEqual(self.order(queues(strategy="StrictFIFO"), FIVE),
                         ["a1", "b1", "a2", "b2", "a3"])

    def test_without_the_mode_or_the_plugin_it_is_priority_and_time(self):
        by_time = ["a1", "a2", "a3", "b1", "b2"]
        self.assertEqual(self.order(queues(mode="NoAdmissionFairSharing"), FIVE), by_time)
        self.assertEqual(self.order(queues(mode=None), FIVE), by_time)
        self.assertEqual(self.order(queues(), FIVE, plugin=False), by_time)

    def test_use_comes_before_priority_and_priority_decides_within_a_local_queue(self):
        events = [("0s", workload("a1", 4)), ("1s", workload("a2", 4)),
                  ("2s", workload("a3", 4, priority=9)), ("3s", workload("b1", 4, priority=-9))]
        self.assertEqual(self.order(queues(), events), ["a1", "b1", "a3", "a2"])

    def test_what_comes_in_counts_before_the_next_cycle_of_the_same_instant(self):
        # Of eight at once, each 1 of 4 CPUs, four fit. An entry counts for 1 · ½: a 0.5, b 0.5,
        # then both are even and the older is next: a 1, b 1.
        events = [("0s", workload(f"{queue}{i}", 1, runtime="600s"))
                  for queue in "ab" for i in range(4)]
        self.assertEqual(self.order(queues(), events)[:4], ["a0", "b0", "a1", "b1"])
        self.assertEqual(self.order(queues(), events, plugin=False)[:4], ["a0", "a1", "a2", "a3"])

    def test_one_that_never_fits_does_not_keep_time_going_for_ever(self):
        events = [("0s", workload("a1", 4)), ("0s", workload("b1", 5))]
        self.assertEqual(self.order(queues(), events), ["a1"])


def main():
    global SLUICE
    options = argparse.ArgumentParser()
    options.add_argument("--sluice", required=True)
    options, rest = options.parse_known_args()
    SLUICE = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()

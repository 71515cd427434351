#!/usr/bin/env python3
"""`sluice controller` is killed at random moments, or has an API server that refuses, fails and
breaks off, while jobs come, are preempted and end. No version of the store may ever show more quota
held than there is, or a job that runs without an admission; and in the end every job is done, with
one workload.

--kills N: how often (10); --faults N: how many faults at least (40); --seed N: which moments.
"""
import argparse
import random
import sys
import time

import build
from client import eventually
from controller import Witness
from controller_test import Case
from faults import AFTER, BEFORE, FaultyServer

QUOTA = 4
AT_A_TIME = 12


class Killed(Case):
    kills, faults, seed = 10, 40, 7
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.drawn = random.Random(self.seed)
        self.names = []
        self.kueue.make_class("high", 100)
        self.queue("q", QUOTA, preemption={"withinClusterQueue": "LowerPriority"})

    def feed(self):
        """There are always some jobs that are not done."""
        jobs = self.jobs()
        open_ones = sum(not self.is_done(each) for each in jobs.values())
        for _ in range(AT_A_TIME - open_ones):
            name = f"job-{len(self.names)}"
            labels = {"kueue.x-k8s.io/priority-class": "high"} if self.drawn.random() < 0.3 else {}
            self.job(name, "q", cpu=str(self.drawn.randint(1, 3)), runs_for="0.5", **labels)
            self.names.append(name)

    @staticmethod
    def is_done(job):
        return any(each["type"] == "Complete" and each["status"] == "True"
                   for each in job["status"].get("conditions") or [])

    def test_nothing_is_lost_or_given_twice(self):
        witness = Witness(self.api, quota=QUOTA, late_stops=True)
        self.feed()
        controller = self.controller()
        for number in range(self.kills):
            # Now and then before it decides again.
            if self.drawn.random() < 0.8:
                eventually(controller.decides, "it decides")
            time.sleep(self.drawn.uniform(0, 2))
            controller.kill()
            self.feed()
            controller.start(decides=False)
            if (number + 1) % 20 == 0:
                print(f"  {number + 1} kills, {len(self.names)} jobs", flush=True)
        self.all_is_well(witness)

    def test_an_api_server_has_a_bad_day(self):
        witness = Witness(self.api, quota=QUOTA, late_stops=True)
        with FaultyServer(self.cluster, self.drawn, one_in=10) as faulty:
            self.controller(kubeconfig=self.cluster.kubeconfig("one", server=faulty.address))
            every = {*BEFORE, *AFTER, "watch broke off"}
            while sum(faulty.done.values()) < self.faults or set(faulty.done) != every:
                self.feed()
                time.sleep(1)
            print(f"  {dict(faulty.done)}, {len(self.names)} jobs", flush=True)
            self.all_is_well(witness)

    def all_is_well(self, witness):
        eventually(lambda: self.finished(*self.names), "all jobs are done", 600)
        eventually(lambda: self.all_settled(len(self.names)), "all workloads are finished")
        self.assertEqual(witness.judge(), [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=Killed.kills)
    parser.add_argument("--faults", type=int, default=Killed.faults)
    parser.add_argument("--seed", type=int, default=Killed.seed)
    options, sys.argv[1:] = parser.parse_known_args()
    Killed.kills, Killed.faults = options.kills, options.faults
    Killed.seed = options.seed
    build.run_tests(Killed)


if __name__ == "__main__":
    main()

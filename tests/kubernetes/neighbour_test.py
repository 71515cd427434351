#!/usr/bin/env python3
"""`sluice observe` beside Kueue's released manager: what Sluice says that it would do is what Kueue
then does."""
import random
import unittest

import build
from asked import JOBS
from client import eventually
from control_plane import ControlPlane
from controller import WORKLOADS, is_true
from kubelet import Kubelet
from neighbour import NEEDS, Neighbour, may_run
from objects import GROUP, Kueue, install
from observer import compare

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"


class BesideKueue(unittest.TestCase):
    sluice = programs = ""

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane(build.find(cls.programs, "control-plane"))
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        install(cls.cluster, build.find(cls.programs, "crds"))
        cls.cluster.let_observe()
        cls.kubeconfig = cls.cluster.kubeconfig("observer")
        cls.api = cls.cluster.api
        cls.objects = Kueue(cls.api)
        for flavor in ("spot", "reserved"):
            cls.objects.flavor(flavor)
        cls.objects.cluster_queue("jobs", {"spot": "2"})
        cls.objects.local_queue("jobs", "jobs")
        cls.kueue = Neighbour(cls.cluster, build.find(cls.programs, "kueue"))
        cls.enterClassContext(cls.kueue)
        cls.enterClassContext(Kubelet(cls.api))

    def workloads(self):
        """By the name of their job, or their own."""
        def name(workload):
            owners = workload["metadata"].get("ownerReferences")
            return (owners[0] if owners else workload["metadata"])["name"]
        return {name(each): each for each in self.api.items(WORKLOADS)}

    def placed(self):
        """The flavor of each workload that is admitted."""
        return {name: each["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"]
                for name, each in self.workloads().items() if is_true(each, "Admitted")}

    def agreement(self):
        """The comparison, once both let the same workloads wait."""
        def agree():
            document, code = compare(self.sluice, self.kubeconfig)
            return document if code == 0 else None
        return eventually(agree, "both say the same")

    def job(self, name, queue, runs=None, **labels):
        self.api.post(JOBS, {
            "metadata": {"name": name, "labels": {QUEUE: queue} | labels},
            "spec": {"suspend": True, "template": {
                "metadata": {"annotations": {"test/runs-for": runs} if runs else {}},
                "spec": {"restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "none",
                     "resources": {"requests": {"cpu": "1"}}}]}}}})

    def open_queue(self, name, cluster_queue):
        """Lets in all at once who wait for a LocalQueue that does not exist, in Kueue as in what
        Sluice would do. What it would do is returned, and Kueue has done its part then."""
        self.agreement()
        self.kueue.pause()
        try:
            self.objects.local_queue(name, cluster_queue)
            document, _ = compare(self.sluice, self.kubeconfig)
        finally:
            self.kueue.go_on()
        self.agreement()
        return document

    def test_it_foretells_what_kueue_admits_and_where(self):
        numbers = random.Random(7)
        for turn in range(4):
            queue, lender = f"borrows{turn}", f"lends{turn}"
            for name in (queue, lender):
                self.objects.cluster_queue(name, {"spot": "3", "reserved": "2"},
                                           cohortName=f"all{turn}")
            for i in range(10):
                self.objects.workload(f"w{turn}-{i}", queue, str(numbers.randint(1, 3)),
                                      priority=numbers.randint(0, 3))
            document = self.open_queue(queue, queue)
            foretold = {
                each["name"]: each["sluice"]["admission"][0]["flavors"]["cpu"]
                for each in document["workloads"].values() if each["sluice"]["action"] == "Admit"}
            placed = {name: flavor for name, flavor in self.placed().items()
                      if name.startswith(f"w{turn}-")}
            with self.subTest(turn=turn):
                self.assertEqual(placed, foretold)
                self.assertEqual(set(placed.values()), {"spot", "reserved"})

    def test_it_foretells_whom_kueue_preempts(self):
        self.objects.cluster_queue("crowded", {"spot": "3"},
                                   preemption={"withinClusterQueue": "LowerPriority"})
        self.objects.local_queue("crowded", "crowded")
        for name, value in (("low", 1), ("middle", 5), ("high", 9)):
            self.api.post(GROUP + "v1beta2/workloadpriorityclasses", {
                "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
                "metadata": {"name": name}, "value": value})
        for name, priority in (("runs-low", "low"), ("runs-middle", "middle"),
                               ("runs-high", "high")):
            self.job(name, "crowded", **{PRIORITY: priority})
        eventually(lambda: all(self.api.get(f"{JOBS}/runs-{each}")["status"].get("ready")
                               for each in ("low", "middle", "high")), "all of them run")
        for name in ("urgent-1", "urgent-2", "urgent-3"):
            self.job(name, "urgent", **{PRIORITY: "high"})
        eventually(lambda: "urgent-3" in self.workloads(), "they have workloads")
        document = self.open_queue("urgent", "crowded")
        victims = {each["workload"] for each in document["evictions"]}
        foretold = {self.job_of(key) for key in document["workloads"]
                    if document["workloads"][key]["sluice"]["action"] == "Admit"}
        evicted = {name for name, each in self.workloads().items() if is_true(each, "Evicted")}
        self.assertEqual(evicted, {"runs-low", "runs-middle"})
        self.assertEqual({self.job_of(key) for key in victims}, evicted)
        self.assertEqual(foretold, {name for name in self.placed() if name.startswith("urgent")})

    def job_of(self, key):
        """Of the workload with this key."""
        return next(job for job, each in self.workloads().items()
                    if each["metadata"]["name"] == key.split("/")[1])

    def test_jobs_run_and_those_behind_them_wait(self):
        for name, runs in (("short", "1"), ("long", None), ("late", None)):
            self.job(name, "jobs", runs)
        eventually(lambda: self.api.get(JOBS + "/short")["status"].get("succeeded"),
                   "the short job ends")
        eventually(lambda: self.api.get(JOBS + "/late")["status"].get("ready"),
                   "the one behind it runs")
        self.assertNotIn("late", {self.job_of(key) for key in self.agreement()["workloads"]})


def main():
    if not may_run():
        build.skip(NEEDS)
    build.run_tests(BesideKueue, "kueue")


if __name__ == "__main__":
    main()

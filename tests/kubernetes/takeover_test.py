#!/usr/bin/env python3
"""A cluster on which Kueue's released manager decides is taken over by `sluice controller` in the
midst of its work, and given back: nothing that runs is disturbed, and nobody loses his place.

--running N, --waiting M: how many jobs run and wait (30 each).
"""
import argparse
import concurrent.futures
import sys
import time
import unittest

import build
from client import eventually
from control_plane import ControlPlane
from controller import JOBS, WORKLOADS, Controller, holds, is_true, owner_of
from kubelet import NODE, PODS, Kubelet, now
from neighbour import NEEDS, Neighbour, may_run
from objects import GROUP, Kueue, install

NAMESPACED = "/apis/batch/v1/namespaces/default/jobs"
MINE = GROUP + "v1beta2/namespaces/default/workloads"
PRIORITY = "kueue.x-k8s.io/priority-class"
POOL = {"pool": "spot"}


class TakingOver(unittest.TestCase):
    sluice = programs = ""
    running, waiting = 30, 30
    maxDiff = None

    def setUp(self):
        self.cluster = ControlPlane(build.find(self.programs, "control-plane"))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.api = self.cluster.api
        install(self.cluster, build.find(self.programs, "crds"))
        self.api.post("/api/v1/namespaces", {"metadata": {"name": "sluice-system"}})
        kueue = Kueue(self.api)
        kueue.make("ResourceFlavor", "resourceflavors", "spot", {"nodeLabels": POOL})
        kueue.cluster_queue("q", {"spot": str(self.running)})
        kueue.local_queue("q", "q")
        kueue.make_class("high", 100)
        self.enterContext(Kubelet(self.api, cpu=str(2 * self.running), pods=4 * self.running))
        self.api.merge("/api/v1/nodes/" + NODE, {"metadata": {"labels": POOL}})
        self.neighbour = Neighbour(self.cluster, build.find(self.programs, "kueue"))
        self.controller = Controller(self.sluice, self.cluster, "admin", "--plugins", "none")
        self.addCleanup(self.controller.stop)

    # ---- what the cluster has

    def jobs(self):
        return {each["metadata"]["name"]: each for each in self.api.items(JOBS)}

    def workloads(self):
        """By the name of their job, if that is there."""
        names = {each["metadata"]["uid"]: name for name, each in self.jobs().items()}
        return {names[owner_of(each)]: each for each in self.api.items(WORKLOADS)
                if owner_of(each) in names}

    def pods(self):
        """What nobody may touch of the pods that run, by their job."""
        return {each["metadata"]["labels"]["job-name"]:
                (each["metadata"]["uid"], each["status"]["containerStatuses"][0]["restartCount"],
                 each["status"]["startTime"], each["spec"]["nodeSelector"])
                for each in self.api.items(PODS) if each["status"]["phase"] == "Running"}

    def admitted(self):
        return {name for name, each in self.workloads().items()
                if is_true(each, "Admitted") and holds(each)}

    def first(self):
        """Who may be the next one: the highest priority, then the earliest; more than one where
        two are of the same second."""
        def place(workload):
            return -workload["spec"].get("priority", 0), workload["metadata"]["creationTimestamp"]
        waiting = {name: place(each) for name, each in self.workloads().items()
                   if not holds(each) and not is_true(each, "Finished")
                   and each["spec"].get("active", True)}
        return {name for name, at in waiting.items() if at == min(waiting.values())}

    def untouched(self):
        """What is the same before and after another one takes over."""
        return {
            "pods": self.pods(),
            "jobs": {name: (each["metadata"]["uid"], each["metadata"]["generation"], each["spec"])
                     for name, each in self.jobs().items()},
            "workloads": {name: (each["metadata"]["name"], each["metadata"]["uid"], each["spec"],
                                 holds(each) and each["status"]["admission"],
                                 holds(each) and self.since(each))
                          for name, each in self.workloads().items()}}

    @staticmethod
    def since(workload):
        return [(each["type"], each["lastTransitionTime"])
                for each in workload["status"]["conditions"]
                if each["type"] in ("QuotaReserved", "Admitted")]

    # ---- what happens to it

    def job(self, name, **labels):
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
        self.api.post(NAMESPACED, {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"} | labels},
            "spec": {"suspend": True, "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}}}})

    def make(self, prefix, number):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: self.job(f"{prefix}-{i}"), range(number)))

    def end_pod(self, job):
        """The job's pod is done."""
        pod = next(each for each in self.api.items(PODS)
                   if each["metadata"]["labels"]["job-name"] == job)
        done = {"exitCode": 0, "reason": "Completed", "finishedAt": now()}
        status = pod["status"]["containerStatuses"][0] | {"state": {"terminated": done},
                                                          "ready": False}
        path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/status"
        self.api.merge(path, {"status": {"phase": "Succeeded", "containerStatuses": [status]}})

    def next_after(self, what, act):
        """Who is let in when that happens, which has to be the first one, with a pod that runs
        where its flavor is."""
        first, before = self.first(), self.admitted()
        act()
        began = time.monotonic()
        eventually(lambda: self.admitted() - before, f"another one is admitted after {what}")
        self.step(f"after {what} another one is admitted", began)
        come = self.admitted() - before
        self.assertEqual(len(come), 1, what)
        self.assertLessEqual(come, first, what)
        name = come.pop()
        eventually(lambda: name in self.pods(), f"{name} runs")
        self.assertEqual(self.pods()[name][3], POOL)
        return name

    def deactivate(self, job):
        """It is evicted, gives its quota back, and its template is its own again."""
        def act():
            name = self.workloads()[job]["metadata"]["name"]
            self.api.merge(f"{MINE}/{name}", {"spec": {"active": False}})
        come = self.next_after(f"{job} was deactivated", act)
        eventually(lambda: self.jobs()[job]["spec"]["suspend"], f"{job} is stopped")
        eventually(lambda: not self.jobs()[job]["spec"]["template"]["spec"].get("nodeSelector"),
                   f"{job} has its own template")
        return come

    def step(self, text, began):
        print(f"  {time.monotonic() - began:6.1f} s  {text}", flush=True)

    def fill(self):
        self.make("runs", self.running)
        eventually(lambda: len(self.pods()) == self.running, "all of them run", 300)
        self.make("waits", self.waiting)
        self.job("urgent", **{PRIORITY: "high"})
        eventually(lambda: len(self.workloads()) == self.running + self.waiting + 1,
                   "all have workloads", 300)
        eventually(self.all_told, "all that wait were told so", 300)

    def all_told(self):
        return all(each.get("status", {}).get("conditions") for each in self.workloads().values())

    def in_charge(self, begin, ready):
        """Another one takes over: what is untouched before and after, once it has had its time."""
        before, began = self.untouched(), time.monotonic()
        begin()
        self.step("the other one is there", began)
        eventually(ready, "it has written what it had to")
        self.step("and has written what it had to", began)
        self.unchanged(before)
        return before

    def unchanged(self, before, *but):
        """Since then nothing was done to any job but these."""
        after = self.untouched()
        for what, parts in before.items():
            changed = {name: (each, after[what].get(name)) for name, each in parts.items()
                       if each != after[what].get(name) and name not in but}
            self.assertEqual(changed, {}, what)

    def test_there_and_back(self):
        with self.neighbour:
            began = time.monotonic()
            self.fill()
            self.step(f"Kueue runs {self.running} jobs, {self.waiting + 1} wait", began)
        self.kueue_takes_over(self.sluice_takes_over())

    def sluice_takes_over(self):
        """The jobs that it let in."""
        before = self.in_charge(
            self.controller.start,
            lambda: self.controller.metric("sluice_cluster_edits_waiting") == 0)
        others = [self.next_after("a job ended", lambda: self.end_pod("runs-0")),
                  self.next_after("a job was deleted", lambda: self.api.delete(
                      f"{NAMESPACED}/runs-1", propagationPolicy="Background")),
                  self.deactivate("runs-2")]
        self.assertEqual(others[0], "urgent")
        self.unchanged(before, "runs-0", "runs-1", "runs-2", *others)
        self.job("made-meanwhile")
        eventually(lambda: "made-meanwhile" in self.workloads(), "a new job has a workload")
        eventually(lambda: is_true(self.workloads()["runs-0"], "Finished"), "runs-0 is finished")
        eventually(lambda: self.controller.metric("sluice_cluster_edits_waiting") == 0,
                   "all is written")
        self.assertEqual(self.controller.stop(), 0)
        return others

    def kueue_takes_over(self, let_in):
        before = self.in_charge(self.neighbour.__enter__, self.neighbour.is_healthy)
        self.addCleanup(self.neighbour.__exit__)
        others = [self.next_after("a job ended", lambda: self.end_pod("urgent")),
                  self.next_after("a job was deleted", lambda: self.api.delete(
                      f"{NAMESPACED}/runs-3", propagationPolicy="Background")),
                  self.deactivate("runs-4")]
        self.unchanged(before, "urgent", "runs-3", "runs-4", *others)
        # What Sluice gave Kueue can take away; else it would never look at that queue again.
        self.deactivate(let_in[1])
        eventually(lambda: "admission" not in self.workloads()[let_in[1]]["status"],
                   "the admission is gone")


def main():
    if not may_run():
        build.skip(NEEDS)
    parser = argparse.ArgumentParser()
    parser.add_argument("--running", type=int, default=TakingOver.running)
    parser.add_argument("--waiting", type=int, default=TakingOver.waiting)
    options, sys.argv[1:] = parser.parse_known_args()
    TakingOver.running, TakingOver.waiting = options.running, options.waiting
    build.run_tests(TakingOver, "kueue")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What random stories of handovers (handovers.py) showed once, as fixed cases: jobs that Sluice
started, that Kueue stopped and started anew while it decided, and that Sluice finds again."""
import time
import unittest

import build
from asked import JOBS, QUEUES
from client import await_account, eventually
from control_plane import ControlPlane
from controller import WORKLOADS, Controller, holds
from kubelet import NODE, PODS, Kubelet
from neighbour import NEEDS, Neighbour, may_run
from objects import Kueue, install
from pods import DOMAIN, MINE


class Node(Kubelet):
    nodes = {NODE: {"a": "yes", "b": "yes"}}


class There(unittest.TestCase):
    sluice = programs = ""

    def setUp(self):
        self.cluster = ControlPlane(build.find(self.programs, "control-plane"))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.api = self.cluster.api
        install(self.cluster, build.find(self.programs, "crds"))
        self.api.post("/api/v1/namespaces", {"metadata": {"name": "sluice-system"}})
        await_account(self.api, "default")
        self.enterContext(Node(self.api))
        kueue = Kueue(self.api)
        for name in "ab":
            kueue.make("ResourceFlavor", "resourceflavors", name, {"nodeLabels": {name: "yes"}})
        kueue.cluster_queue("q", {"a": "1", "b": "0"},
                            preemption={"withinClusterQueue": "LowerPriority"})
        kueue.local_queue("q", "q")
        self.neighbour = Neighbour(self.cluster, build.find(self.programs, "kueue"))
        self.addCleanup(self.neighbour.process.stop, kill=True)
        self.controller = Controller(self.sluice, self.cluster, "admin", "--plugins", "none")
        self.addCleanup(self.controller.stop)

    def job(self):
        return self.api.get(JOBS + "/j")

    def selector(self):
        return self.job()["spec"]["template"]["spec"].get("nodeSelector")

    def pods(self):
        """Those that are there to run."""
        return [each["metadata"]["uid"] for each in self.api.items(PODS)
                if "deletionTimestamp" not in each["metadata"]]

    def activate(self, active):
        name = self.api.items(WORKLOADS)[0]["metadata"]["name"]
        self.api.merge(f"{MINE}/{name}", {"spec": {"active": active}})

    def runs(self):
        eventually(lambda: self.job()["status"].get("ready"), "it runs")

    def workload(self):
        """The job's."""
        return next(each for each in self.api.items(WORKLOADS)
                    if each["metadata"]["name"].startswith("job-j"))

    def is_stopped(self):
        eventually(lambda: self.job()["spec"]["suspend"] and not self.job()["status"].get("active")
                   and not holds(self.workload()) and not self.selector(),
                   lambda: f"it is stopped, with its own template: {self.job()}", 30)

    def quota(self, **cpu):
        groups = self.api.get(QUEUES + "/q")["spec"]["resourceGroups"]
        for flavor in groups[0]["flavors"]:
            flavor["resources"][0]["nominalQuota"] = cpu[flavor["name"]]
        self.api.merge(QUEUES + "/q", {"spec": {"resourceGroups": groups}})

    def make(self, suspend, **labels):
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
        self.api.post(JOBS, {
            "metadata": {"name": "j", "labels": {DOMAIN + "queue-name": "q", **labels},
                         "annotations": {DOMAIN + "job-min-parallelism": "1"}},
            "spec": {"suspend": suspend, "parallelism": 2, "completions": 9, "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}}}})

    def sluice_starts_it_and_kueue_stops_it(self):
        self.controller.start()
        self.make(suspend=True)
        self.runs()
        self.assertEqual(self.controller.stop(), 0)
        self.neighbour.process.start()
        self.activate(False)
        self.is_stopped()

    def kueue_starts_it(self):
        self.activate(True)
        eventually(lambda: not self.job()["spec"]["suspend"], "Kueue lets it go")
        self.runs()

    def sluice_takes_over(self):
        self.neighbour.process.stop()
        self.controller.start()
        eventually(lambda: self.controller.metric("sluice_cluster_edits_waiting") == 0,
                   "it has written what it had to")

    def test_what_kueue_started_anew_runs_on(self):
        self.sluice_starts_it_and_kueue_stops_it()
        self.kueue_starts_it()
        spec, pods = self.job()["spec"], self.pods()
        self.sluice_takes_over()
        self.assertEqual((self.job()["spec"], self.pods()), (spec, pods))

    def test_on_another_flavor_too_and_its_template_stays_its_own(self):
        self.sluice_starts_it_and_kueue_stops_it()
        self.quota(a="0", b="1")
        self.kueue_starts_it()
        self.assertEqual(self.selector(), {"b": "yes"})
        spec, pods = self.job()["spec"], self.pods()
        self.sluice_takes_over()
        self.assertEqual((self.job()["spec"], self.pods()), (spec, pods))
        self.activate(False)
        self.is_stopped()

    def test_what_a_user_changed_meanwhile_stays(self):
        self.sluice_starts_it_and_kueue_stops_it()
        self.api.merge(JOBS + "/j", {"spec": {"parallelism": 3}})
        self.sluice_takes_over()
        self.assertEqual(self.job()["spec"]["parallelism"], 3)

    def goes_at_once(self, act, **labels):
        """It is stopped as soon as Sluice decides, because of what happened before."""
        self.neighbour.process.start()
        self.make(suspend=True, **labels)
        own = self.job()["spec"]["template"]
        self.runs()
        self.neighbour.process.stop(kill=True)
        workload = self.api.items(WORKLOADS)[0]["metadata"]
        act(f"{MINE}/{workload['name']}")
        self.controller.start()
        self.is_stopped()
        found = self.api.items(WORKLOADS)[0]["metadata"]
        self.assertEqual((found["name"], found["uid"]), (workload["name"], workload["uid"]))
        self.assertEqual(self.job()["spec"]["template"], own)

    def test_who_goes_at_once_as_its_workload_is_off_has_its_own_template(self):
        self.goes_at_once(lambda path: self.api.merge(path, {"spec": {"active": False}}))

    def test_who_goes_at_once_as_its_queue_is_stopped_has_its_own_template(self):
        self.goes_at_once(lambda _: self.api.merge(
            QUEUES + "/q", {"spec": {"stopPolicy": "HoldAndDrain"}}))

    def test_who_goes_at_once_as_its_time_is_over_has_its_own_template(self):
        self.goes_at_once(lambda _: time.sleep(6), **{DOMAIN + "max-exec-time-seconds": "5"})

    def test_who_goes_at_once_for_another_one_has_its_own_template(self):
        self.goes_at_once(lambda _: Kueue(self.api).workload("urgent", "q", "1", priority=100))

    def is_evicted(self, path):
        """As Kueue tells before it stops the job."""
        status = self.api.get(path)["status"]
        self.api.merge(path + "/status", {"status": {"conditions": [*status["conditions"], {
            "type": "Evicted", "status": "True", "reason": "Preempted",
            "message": "Preempted to accommodate another one",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        self.quota(a="0", b="0")  # so that it waits afterwards

    def test_kueue_died_between_an_eviction_and_its_stop(self):
        self.goes_at_once(self.is_evicted)

    def test_kueue_died_between_a_stop_and_what_gives_the_template_back(self):
        def act(path):
            self.is_evicted(path)
            self.api.merge(JOBS + "/j", {"spec": {"suspend": True}})
        self.goes_at_once(act)

    def test_what_ran_unasked_and_was_stopped_can_be_started_by_kueue(self):
        self.quota(a="0", b="0")
        self.make(suspend=False)
        self.runs()
        self.controller.start()
        eventually(lambda: self.api.items(WORKLOADS), "it has a workload")
        self.is_stopped()
        self.assertEqual(self.controller.stop(), 0)
        self.neighbour.process.start()
        self.quota(a="1", b="0")
        eventually(lambda: not self.job()["spec"]["suspend"],
                   lambda: f"Kueue lets it go: {self.job()}", 60)


def main():
    if not may_run():
        build.skip(NEEDS)
    build.run_tests(There, "kueue")


if __name__ == "__main__":
    main()

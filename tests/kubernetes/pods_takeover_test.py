#!/usr/bin/env python3
"""Pods without a job on a real control plane, taken over from Kueue's released manager and given
back: nothing that runs is disturbed."""
import unittest

import build
from asked import QUEUES
from client import await_account, eventually
from control_plane import ControlPlane
from controller import Controller
from kubelet import NODE, Kubelet, now
from neighbour import NEEDS, Neighbour, may_run
from objects import Kueue, install
from pods import DOMAIN, GATE, MINE, PODS, POOL, Case

SETS = "/apis/apps/v1/namespaces/default/statefulsets"


def template(annotations, **labels):
    """Of a pod that waits."""
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": {"labels": labels, "annotations": {
        DOMAIN + key: value for key, value in annotations.items()}},
            "spec": {"schedulingGates": [{"name": GATE}], "terminationGracePeriodSeconds": 1,
                     "containers": [container]}}


class TakenOver(unittest.TestCase):
    """Pods that Kueue's released manager held and let go; without its webhooks, so they are made as
    these would have left them. Until 0.18 it named groups by labels, since then by annotations."""

    def setUp(self):
        kueue = build.find(Case.programs, "kueue")
        if not kueue or not may_run():
            self.skipTest(NEEDS if kueue else "kueue is not built; ./dev test kubernetes does that")
        self.cluster = ControlPlane(build.find(Case.programs, "control-plane"))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.api = self.cluster.api
        install(self.cluster, build.find(Case.programs, "crds"))
        self.api.post("/api/v1/namespaces", {"metadata": {"name": "sluice-system"}})
        await_account(self.api, "default")
        self.enterContext(Kubelet(self.api))
        self.api.merge("/api/v1/nodes/" + NODE, {"metadata": {"labels": POOL}})
        self.neighbour = Neighbour(self.cluster, kueue, ("batch/job", "pod", "statefulset"))
        self.controller = Controller(Case.sluice, self.cluster, "admin", "--plugins", "pod-groups")
        self.addCleanup(self.controller.stop)

    def queue(self, cpu):
        kueue = Kueue(self.api)
        kueue.make("ResourceFlavor", "resourceflavors", "spot", {"nodeLabels": POOL})
        kueue.cluster_queue("q", {"spot": str(cpu)})
        kueue.local_queue("q", "q")

    def pod(self, name, annotations=(), labels=()):
        pod = template({"role-hash": "0f0f0f0f"} | dict(annotations))
        pod["metadata"] |= {"name": name, "finalizers": [DOMAIN + "managed"], "labels": {
            DOMAIN + key: value for key, value in
            ({"managed": "true", "queue-name": "q"} | dict(labels)).items()}}
        pod["spec"]["restartPolicy"] = "Never"
        self.api.post(PODS, pod)

    def named_by_label(self, group, *names):
        for name in names:
            self.pod(name, {"pod-group-total-count": str(len(names))}, {"pod-group-name": group})

    def pods(self):
        return {each["metadata"]["name"]: each for each in self.api.items(PODS)}

    def running(self):
        return {name for name, each in self.pods().items()
                if each["status"].get("phase") == "Running"}

    def end(self, name):
        status = self.pods()[name]["status"]["containerStatuses"][0]
        done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now()}}
        self.api.merge(f"{PODS}/{name}/status", {"status": {
            "phase": "Succeeded", "containerStatuses": [status | {"state": done, "ready": False}]}})

    def goes_on(self):
        """The controller has come and wrote what it had to."""
        self.controller.start()
        eventually(lambda: self.controller.metric("sluice_cluster_edits_waiting") == 0,
                   "it has written what it had to")

    def test_pods_go_on(self):
        self.queue(3)
        with self.neighbour:
            self.named_by_label("g", "g-0", "g-1")
            self.pod("alone")
            eventually(lambda: self.running() == {"g-0", "g-1", "alone"}, "Kueue lets them go")
            self.pod("waits")
            self.named_by_label("h", "h-0", "h-1")
            eventually(lambda: len(self.api.items(MINE)) == 4, "Kueue made their workloads")
        before = self.pods()
        workloads = {each["metadata"]["name"]: each["spec"] for each in self.api.items(MINE)}
        self.goes_on()
        self.assertEqual({name: (each["metadata"]["uid"], each["spec"], each["status"])
                          for name, each in before.items()},
                         {name: (each["metadata"]["uid"], each["spec"], each["status"])
                          for name, each in self.pods().items()})
        self.assertEqual(workloads, {each["metadata"]["name"]: each["spec"]
                                     for each in self.api.items(MINE)})
        self.end("alone")
        eventually(lambda: "waits" in self.running(), "the one that waited is next")
        for name in ("g-0", "g-1"):
            self.end(name)
        eventually(lambda: {"h-0", "h-1"} <= self.running(), "and then the group")
        eventually(lambda: not [name for name in ("alone", "g-0", "g-1")
                                if self.pods()[name]["metadata"].get("finalizers")],
                   "nothing holds those that ended")
        self.give_back()

    def give_back(self):
        self.assertEqual(self.controller.stop(), 0)
        before = {name: self.pods()[name]["metadata"]["uid"] for name in self.running()}
        with self.neighbour:
            eventually(self.neighbour.is_healthy, "Kueue is there")
            self.pod("late")
            self.end("waits")
            eventually(lambda: "late" in self.running(), "Kueue lets the next one go")
            after = {name: self.pods()[name]["metadata"]["uid"] for name in before}
            self.assertEqual(after, before)
            self.assertEqual(self.running(), {"h-0", "h-1", "late"})

    def lasting(self):
        return {name: each["metadata"]["uid"] for name, each in self.pods().items()
                if name in self.running() and "deletionTimestamp" not in each["metadata"]}

    def workloads(self):
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in self.api.items(MINE)}

    def test_what_annotations_name_goes_on(self):
        """A group that an annotation names, and the pods of a StatefulSet."""
        self.queue(4)
        with self.neighbour:
            for name in ("g-0", "g-1"):
                self.pod(name, {"pod-group-name": "g", "pod-group-total-count": "2"})
            self.api.post(SETS, {
                "metadata": {"name": "web", "labels": {DOMAIN + "queue-name": "q"}},
                "spec": {"replicas": 2, "serviceName": "web",
                         "selector": {"matchLabels": {"app": "web"}},
                         "template": template({"pod-suspending-parent": "statefulset"},
                                              app="web")}})
            eventually(lambda: sorted(self.lasting()) == ["g-0", "g-1", "web-0", "web-1"],
                       "all run with Kueue", 120)
        pods, workloads = self.lasting(), self.workloads()
        self.goes_on()
        eventually(lambda: self.api.get(QUEUES + "/q")["status"].get("reservingWorkloads") == 2,
                   "both count")
        self.assertEqual((self.lasting(), self.workloads()), (pods, workloads))
        # What a StatefulSet made before is let go as well, and gives back what it had.
        self.api.merge(SETS + "/web/scale", {"spec": {"replicas": 0}})
        eventually(lambda: len(self.workloads()) == 1, "the StatefulSet has none any more")
        self.assertEqual(sorted(self.lasting()), ["g-0", "g-1"])


if __name__ == "__main__":
    build.run_tests(Case)

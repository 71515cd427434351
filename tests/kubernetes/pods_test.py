#!/usr/bin/env python3
"""Pods without a job on a real control plane, held and let go by `sluice controller`: alone and in
groups, while others have the quota, when they are evicted, when the controller dies, and when
nobody answers API servers."""
import os
import random
import subprocess
import unittest

import build
from asked import QUEUES, Case as Asked
from client import eventually
from control_plane import ControlPlane
from controller import WORKLOADS, Controller, holds, is_true
from faults import FaultyServer
from history import History
from kubelet import NODE, PODS as ALL_PODS, Kubelet, now
from neighbour import NEEDS, Neighbour, may_run
from objects import GROUP, Kueue, install

PODS = "/api/v1/namespaces/default/pods"
MINE = GROUP + "v1beta2/namespaces/default/workloads"
DOMAIN = "kueue.x-k8s.io/"
GATE = DOMAIN + "admission"
POOL = {"pool": "spot"}


def is_gated(pod):
    return any(each["name"] == GATE for each in pod["spec"].get("schedulingGates") or [])


class Case(Asked):
    plugins = ("--plugins", "flavor-fungibility,pod-groups")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api.merge("/api/v1/nodes/" + NODE, {"metadata": {"labels": POOL}})

    def setUp(self):
        self.running = self.controller()
        self.api.send("POST", GROUP + "v1beta2/resourceflavors", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
            "metadata": {"name": "spot"}, "spec": {"nodeLabels": POOL}})

    def queue(self, name, cpu, **more):
        self.kueue.cluster_queue(name, {"spot": str(cpu)}, **more)
        self.kueue.local_queue(name, name)

    def make_pod(self, name, queue, cpu="1", group=None, total=None, ns="default", labels=None,
                 owners=(), ends_in=None, **annotations):
        """Code and answer. Annotations without their domain, with _ for -; ends_in: as in
        kubelet.py."""
        metadata = {"name": name, "labels": dict(labels or {}), "annotations": {
            DOMAIN + key.replace("_", "-"): value for key, value in annotations.items()}}
        if queue:
            metadata["labels"][DOMAIN + "queue-name"] = queue
        if group:
            metadata["labels"][DOMAIN + "pod-group-name"] = group
            metadata["annotations"][DOMAIN + "pod-group-total-count"] = str(total)
        if ends_in:
            metadata["annotations"]["test/ends-in"] = ends_in
        if owners:
            metadata["ownerReferences"] = owners
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
        return self.api.send("POST", f"/api/v1/namespaces/{ns}/pods", {
            "metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}})

    def pod(self, name, *arguments, **more):
        """As it is stored; it runs until the test ends."""
        code, made = self.make_pod(name, *arguments, **more)
        self.assertEqual(code, 201, made)
        return made

    def stored(self, name):
        """None: it is not there."""
        code, answer = self.api.send("GET", f"{PODS}/{name}")
        return answer if code == 200 else None

    def runs(self, *names):
        for name in names:
            eventually(lambda pod=name: (self.stored(pod) or {}).get("status", {}).get("phase")
                       == "Running", f"{name} runs")

    def workload_of(self, pod):
        """The workload of a pod that is in no group."""
        uid = pod["metadata"]["uid"]
        return next((each for each in self.api.items(MINE) if uid in
                     [owner["uid"] for owner in each["metadata"].get("ownerReferences") or []]),
                    None)

    def workload(self, name):
        code, answer = self.api.send("GET", f"{MINE}/{name}")
        return answer if code == 200 else {}

    def ends(self, *names, phase="Succeeded"):
        """Their containers have ended."""
        for name in names:
            status = self.stored(name)["status"]["containerStatuses"][0]
            done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now()}}
            self.api.merge(f"{PODS}/{name}/status", {"status": {
                "phase": phase, "containerStatuses": [status | {"state": done, "ready": False}]}})

    def delete(self, *names):
        for name in names:
            self.api.send("DELETE", f"{PODS}/{name}")
        eventually(lambda: not [name for name in names if self.stored(name)],
                   f"{names} are gone")


class Pods(Case):
    def test_1_a_pod_waits_for_quota_and_starts(self):
        self.queue("alone", 1)
        first = self.pod("first", "alone")
        self.assertTrue(is_gated(first))
        metadata = first["metadata"]
        self.assertEqual(metadata["labels"][DOMAIN + "managed"], "true")
        self.assertEqual(metadata["annotations"]["sluice.dev/created-by"], "admin")
        self.runs("first")
        there = self.stored("first")
        self.assertEqual(there["spec"]["nodeSelector"], POOL)
        self.assertEqual(there["metadata"]["finalizers"], [DOMAIN + "managed"])
        self.pod("second", "alone")
        waits = eventually(lambda: self.workload_of(self.stored("second")), "it has a workload")
        eventually(lambda: "insufficient unused quota" in str(
            self.workload(waits["metadata"]["name"]).get("status")), "it was told why it waits")
        self.assertTrue(is_gated(self.stored("second")))
        self.nobody_else_lifts("second")
        self.observed()
        self.ends("first")
        self.runs("second")
        eventually(lambda: not self.stored("first")["metadata"].get("finalizers"),
                   "nothing holds the first one")
        ended = self.workload_of(self.stored("first"))
        self.assertTrue(is_true(ended, "Finished"))
        self.delete("first", "second")
        eventually(lambda: not self.api.items(MINE), "their workloads went with them")

    def observed(self):
        """Who only looks on finds nothing that he would decide otherwise."""
        done = subprocess.run([self.sluice, "observe", "--compare", "--kubeconfig",
                               self.cluster.kubeconfig("admin"), *self.plugins],
                              capture_output=True, text=True, timeout=180, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 workload waits", done.stdout)

    def nobody_else_lifts(self, name):
        """Nor does anybody say that a pod is ours."""
        for change, told in (({"spec": {"schedulingGates": None}}, "is lifted by the system"),
                             ({"metadata": {"labels": {DOMAIN + "pod-group-name": "g"}}},
                              "should be set")):
            code, answer = self.api.send("PATCH", f"{PODS}/{name}", change,
                                         "application/merge-patch+json")
            self.assertEqual(code, 422, answer)
            self.assertIn(told, answer["message"])
        free = self.pod("free", None, labels={DOMAIN + "managed": "true"})
        self.assertFalse(is_gated(free))
        self.assertNotIn(DOMAIN + "managed", free["metadata"].get("labels") or {})
        kept = self.api.merge(f"{PODS}/{name}", {"metadata": {"labels": {
            DOMAIN + "managed": None}}})
        self.assertEqual(kept["metadata"]["labels"][DOMAIN + "managed"], "true")
        self.delete("free")

    def test_2_what_is_wrong_with_a_group_is_refused(self):
        code, answer = self.make_pod("lost", "alone", group="g", total="many")
        self.assertEqual(code, 422, answer)
        self.assertIn("should be an integer greater than 0", answer["message"])

    def test_3_a_group_starts_when_all_of_it_is_there(self):
        self.queue("groups", 3)
        history = PodHistory(self.api, 3)
        for name in ("g-0", "g-1"):
            self.pod(name, "groups", group="g", total=3)
        eventually(lambda: self.stored("g-1")["metadata"].get("finalizers"), "they were seen")
        self.assertEqual(self.workload("g"), {})
        self.pod("g-2", "groups", group="g", total=3)
        self.runs("g-0", "g-1", "g-2")
        self.pod("next", "groups", cpu="3")
        self.ends("g-0", "g-1", "g-2")
        eventually(lambda: is_true(self.workload("g"), "Finished"), "it is finished")
        said = [each["message"] for each in self.workload("g")["status"]["conditions"]
                if each["type"] == "Finished"]
        self.assertEqual(said, ["Pods succeeded: 3/3."])
        self.runs("next")
        eventually(lambda: not [name for name in ("g-0", "g-1", "g-2")
                                if self.stored(name)["metadata"].get("finalizers")],
                   "nothing holds its pods")
        self.assertEqual(history.judge(), [])
        self.delete("g-0", "g-1", "g-2", "next")

    def test_4_pods_that_lose_their_quota_are_deleted(self):
        self.kueue.make_class("high", 100)
        self.queue("prey", 2, preemption={"withinClusterQueue": "LowerPriority"})
        history = PodHistory(self.api, 2)
        for name in ("low-0", "low-1"):
            self.pod(name, "prey", group="low", total=2)
        self.runs("low-0", "low-1")
        self.pod("urgent", "prey", cpu="2", labels={DOMAIN + "priority-class": "high"})
        self.runs("urgent")
        self.assertEqual(history.judge(), [])
        self.assertEqual(history.told_to_end, {"low-0", "low-1"})
        # They come back; the group waits for its turn.
        eventually(lambda: not self.stored("low-0") or "deletionTimestamp" in
                   self.stored("low-0")["metadata"], "they are let go")
        for name in ("again-0", "again-1"):
            self.pod(name, "prey", group="low", total=2)
        self.delete("urgent")
        self.runs("again-0", "again-1")
        self.api.merge(f"{QUEUES}/prey", {"spec": {"stopPolicy": "HoldAndDrain"}})
        eventually(lambda: not holds(self.workload("low")), "its quota is gone")
        self.api.send("DELETE", f"{MINE}/low")
        eventually(lambda: not [name for name in ("low-0", "again-0", "again-1")
                                if self.stored(name)], "its pods are gone")

    def test_5_a_controller_that_dies_at_any_step(self):
        self.queue("killed", 2)
        history = PodHistory(self.api, 2)
        names = []
        for number in range(int(os.environ.get("SLUICE_POD_KILLS", "3"))):
            group = f"k{number}"
            mine = [f"{group}-{i}" for i in range(2)]
            names += mine
            for name in mine:
                self.pod(name, "killed", group=group, total=2)
            if number > 0:
                self.ends(*(f"k{number - 1}-{i}" for i in range(2)))
            history.some_came(random.randrange(1, 16),
                              lambda of=mine: all((self.stored(name) or {}).get("status", {})
                                                  .get("phase") == "Running" for name in of))
            self.running.kill()
            self.running = self.controller()
            self.runs(*mine)
        self.ends(*names[-2:])
        eventually(lambda: all(is_true(self.workload(f"k{i}"), "Finished")
                               for i in range(len(names) // 2)), "all groups are finished")
        self.assertEqual(history.judge(), [])
        self.delete(*names)

    def test_6_when_nobody_answers(self):
        """Pods that name no queue start, those of the system and of namespaces that are left out
        whatever they say; only what would have to wait is not stored."""
        self.queue("away", 1)
        self.api.send("POST", "/api/v1/namespaces", {"metadata": {"name": "kueue-system"}})
        eventually(lambda: self.api.send(
            "GET", "/api/v1/namespaces/kueue-system/serviceaccounts/default")[0] == 200,
            "its account is there")
        self.running.kill()
        for ns in ("kube-system", "kueue-system", "sluice-system"):
            code, made = self.make_pod("system", "away", ns=ns)
            self.assertEqual(code, 201, made)
            self.assertFalse(is_gated(made))
        self.pod("plain", None)
        code, answer = self.make_pod("waits", "away")
        self.assertEqual(code, 500, answer)
        self.assertIn("failed calling webhook \"pod-groups.plugins.sluice.dev\"",
                      answer["message"])
        self.running = self.controller()
        self.assertTrue(is_gated(self.pod("waits", "away")))
        self.runs("waits", "plain")
        self.delete("waits", "plain")

    def test_7_a_default_queue_takes_what_names_none(self):
        self.api.post("/api/v1/namespaces", {"metadata": {"name": "team"}})
        self.kueue.cluster_queue("team", {"spot": "1"})
        self.kueue.local_queue("default", "team", ns="team")
        pods = "/api/v1/namespaces/team/pods"
        eventually(lambda: self.api.send("GET", "/api/v1/namespaces/team/serviceaccounts/default")
                   [0] == 200, "its account is there")

        def taken():
            code, made = self.api.send("POST", pods + "?dryRun=All", {
                "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
            return code == 201 and made["metadata"].get("labels", {}).get(DOMAIN + "queue-name")
        self.assertEqual(eventually(taken, "the controller knows of the queue"), "default")
        self.runs_job_of_default_queue(pods)

    def runs_job_of_default_queue(self, pods):
        """The pods of a job that is queued itself are none of those that name no queue."""
        self.api.post("/apis/batch/v1/namespaces/team/jobs", {
            "metadata": {"name": "train", "labels": {DOMAIN + "queue-name": "default"}},
            "spec": {"suspend": False, "parallelism": 1, "completions": 1, "template": {
                "metadata": {"annotations": {"test/runs-for": "1"}},
                "spec": {"restartPolicy": "Never", "containers": [{
                    "name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}}})
        eventually(lambda: is_true(self.api.get("/apis/batch/v1/namespaces/team/jobs/train"),
                                   "Complete"), "the job of the default queue runs and ends")
        mine = self.api.items(pods + "?labelSelector=job-name=train")
        self.assertEqual([each["metadata"]["labels"].get(DOMAIN + "podset") for each in mine],
                         ["main"])
        workloads = self.api.items(GROUP + "v1beta2/namespaces/team/workloads")
        self.assertEqual([each["metadata"]["ownerReferences"][0]["kind"] for each in workloads],
                         ["Job"])

    def test_8_an_api_server_has_a_bad_day(self):
        """It refuses, fails and breaks off now and then; writes are repeated, and none twice."""
        self.queue("bad", 2)
        self.assertEqual(self.running.stop(), 0)
        with FaultyServer(self.cluster, random.Random(7), one_in=8) as faulty:
            self.running = Controller(
                self.sluice, self.cluster, "one", *self.plugins, "--webhook-address",
                f"127.0.0.1:{self.port}",
                kubeconfig=self.cluster.kubeconfig("one", server=faulty.address))
            self.addCleanup(self.running.stop)
            self.running.start()
            eventually(self.believed, "API servers believe the webhook")
            history, names = PodHistory(self.api, 2), []
            for number in range(6):
                mine = [f"b{number}-{i}" for i in range(2)]
                names += mine
                for name in mine:
                    self.pod(name, "bad", group=f"b{number}", total=2)
                self.runs(*mine)
                self.ends(*mine)
            eventually(lambda: all(is_true(self.workload(f"b{i}"), "Finished")
                                   for i in range(6)), "all groups are finished")
            self.assertEqual(history.judge(), [])
            self.delete(*names)

    def test_9_quota_is_free_when_what_held_it_has_ended(self):
        """And not when it was told to end, whoever dies in between."""
        self.kueue.make_class("pressing", 100)
        self.queue("slow", 2, preemption={"withinClusterQueue": "LowerPriority"})
        history = PodHistory(self.api, 2, besides=["free"])
        self.pod("quick-0", "slow", group="slow", total=2)
        self.pod("slow-0", "slow", group="slow", total=2, ends_in="never")
        self.runs("quick-0", "slow-0")
        self.pod("urgent", "slow", cpu="2", labels={DOMAIN + "priority-class": "pressing"})
        eventually(lambda: self.stored("quick-0")["metadata"].get("deletionGracePeriodSeconds")
                   == 0, "the first has ended, and is kept to be counted")
        evicted = self.workload("slow")
        self.assertTrue(is_true(evicted, "Evicted") and holds(evicted), evicted["status"])
        urgent = self.workload_of(self.stored("urgent"))["metadata"]["name"]
        eventually(lambda: "Pending the preemption of 1 workload(s)" in str(
            self.workload(urgent).get("status")), "the preemptor was told what it waits for")
        self.running.kill()
        self.running = self.controller()
        self.queue("beside", 1)
        self.pod("free", "beside")  # so that it has decided since
        self.runs("free")
        self.assertTrue(is_gated(self.stored("urgent")))
        self.assertTrue(holds(self.workload("slow")))
        self.api.send("DELETE", f"{PODS}/slow-0", {"gracePeriodSeconds": 0})
        self.runs("urgent")
        self.assertFalse(holds(self.workload("slow")))
        self.assertEqual([each["count"] for each in self.workload("slow")["status"]
                          ["schedulingStats"]["evictions"]], [1])
        # Alone; it has a second to end.
        self.delete("urgent", "free")
        self.pod("alone", "slow", cpu="2", ends_in="1")
        self.runs("alone")
        self.pod("urgent", "slow", cpu="2", labels={DOMAIN + "priority-class": "pressing"})
        self.runs("urgent")
        self.assertEqual(history.judge() + history.judge_ends(), [])
        self.assertEqual(history.told_to_end, {"quick-0", "slow-0", "alone"})
        self.delete("urgent")


class Makers(Case):
    """Pods of whoever makes them, who says in which queue they are; beside a plugin that looks at
    pods of jobs."""
    plugins = ("--plugins", "flavor-fungibility,elastic-jobs,pod-groups")
    apps = "/apis/apps/v1/namespaces/default/"

    def make(self, plural, kind, name, queue, replicas):
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}}
        if kind == "StatefulSet":
            spec["serviceName"] = name
        return self.api.post(self.apps + plural, {
            "apiVersion": "apps/v1", "kind": kind, "spec": spec,
            "metadata": {"name": name, "labels": {DOMAIN + "queue-name": queue}}})

    def pods_of(self, name):
        """Its pods that are not being deleted."""
        return [each for each in self.api.items(f"{PODS}?labelSelector=app%3D{name}")
                if "deletionTimestamp" not in each["metadata"]]

    def running_of(self, name):
        return len([each for each in self.pods_of(name)
                    if each["status"].get("phase") == "Running"])

    def gated_of(self, name):
        return len([each for each in self.pods_of(name) if is_gated(each)])

    def end(self, plural, name):
        self.api.delete(f"{self.apps}{plural}/{name}", propagationPolicy="Background")
        eventually(lambda: not self.api.items(f"{PODS}?labelSelector=app%3D{name}"),
                   "its pods are gone")

    def scale(self, name, replicas):
        return self.api.send("PATCH", f"{self.apps}statefulsets/{name}",
                             {"spec": {"replicas": replicas}}, "application/merge-patch+json")

    def test_1_each_pod_of_a_deployment_waits_by_itself(self):
        self.queue("deployed", 2)
        self.make("deployments", "Deployment", "web", "deployed", 3)
        eventually(lambda: self.running_of("web") == 2 and self.gated_of("web") == 1,
                   "two run, one waits")
        goes = next(each for each in self.pods_of("web") if not is_gated(each))
        self.api.delete(f"{PODS}/{goes['metadata']['name']}")
        eventually(lambda: self.running_of("web") == 2 and self.gated_of("web") == 1,
                   "the one that waited is next, and another one waits")
        self.api.merge(f"{self.apps}deployments/web", {"spec": {"replicas": 2}})
        eventually(lambda: self.running_of("web") == 2 and self.gated_of("web") == 0,
                   "nobody waits")
        self.end("deployments", "web")
        eventually(lambda: not self.api.items(MINE), "their workloads went with them")

    def test_2_the_pods_of_a_stateful_set_wait_together(self):
        self.queue("sets", 3)
        self.make("statefulsets", "StatefulSet", "first", "sets", 3)
        eventually(lambda: self.running_of("first") == 3, "all three run")
        group = self.pods_of("first")[0]["metadata"]["annotations"][DOMAIN + "pod-group-name"]
        self.assertRegex(group, "^statefulset-first-[0-9a-f]{5}$")
        workload, = self.api.items(MINE)
        self.assertEqual(workload["metadata"]["name"], group)
        self.assertEqual([each["kind"] for each in workload["metadata"]["ownerReferences"]],
                         ["StatefulSet", "Pod", "Pod", "Pod"])
        self.make("statefulsets", "StatefulSet", "second", "sets", 2)
        eventually(lambda: self.gated_of("second") == 1, "the first pod of the other one waits")
        code, answer = self.scale("first", 2)
        self.assertEqual(code, 422, answer)
        self.assertIn("scale it to 0 first", answer["message"])
        self.assertEqual(self.scale("first", 0)[0], 200)
        eventually(lambda: self.running_of("second") == 2, "the other one has its place")
        eventually(lambda: self.scale("first", 1)[0] == 200, "it may come back smaller")
        eventually(lambda: self.running_of("first") == 1, "and has its place as well")
        counts = {each["metadata"]["name"]: each["spec"]["podSets"][0]["count"]
                  for each in self.api.items(MINE)}
        self.assertEqual(counts[group], 1)
        # Evicted: the pods of the same names come again, and wait.
        before = {each["metadata"]["uid"] for each in self.pods_of("second")}
        held = {each["metadata"]["uid"] for each in self.api.items(MINE)}
        self.api.merge(f"{QUEUES}/sets", {"spec": {"stopPolicy": "HoldAndDrain"}})
        eventually(lambda: self.gated_of("second") == 1 and self.running_of("second") == 0,
                   "the first pod waits again")
        self.api.merge(f"{QUEUES}/sets", {"spec": {"stopPolicy": "None"}})
        eventually(lambda: self.running_of("second") == 2, "both run again")
        self.assertFalse(before & {each["metadata"]["uid"] for each in self.pods_of("second")})
        self.assertEqual({each["metadata"]["uid"] for each in self.api.items(MINE)}, held,
                         "the workloads outlive the pods")
        for name in ("first", "second"):
            self.end("statefulsets", name)
        eventually(lambda: not self.api.items(MINE), "their workloads went with them")


    def test_3_who_scales_writes_a_subresource(self):
        """kubectl scale and a HorizontalPodAutoscaler; nobody asks about the set itself then."""
        self.queue("scaled", 3)
        self.make("statefulsets", "StatefulSet", "sized", "scaled", 2)
        eventually(lambda: self.running_of("sized") == 2, "both run")

        def kubectl(replicas):
            return subprocess.run(
                ["kubectl", "--kubeconfig", self.cluster.kubeconfig("admin"), "scale",
                 "statefulset/sized", f"--replicas={replicas}"],
                capture_output=True, text=True, check=False)
        for replicas in (1, 3):
            done = kubectl(replicas)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("scale it to 0 first", done.stderr)
        self.assertEqual(kubectl(2).returncode, 0)
        self.assertEqual(kubectl(0).returncode, 0)
        eventually(lambda: not self.api.items(MINE), "its quota is free")
        self.assertEqual(kubectl(2).returncode, 0)
        eventually(lambda: self.running_of("sized") == 2, "both run again")
        self.end("statefulsets", "sized")
        # One that waits in no queue is left alone.
        self.api.post(self.apps + "deployments", {
            "metadata": {"name": "free"}, "spec": {
                "replicas": 0, "selector": {"matchLabels": {"app": "free"}}, "template": {
                    "metadata": {"labels": {"app": "free"}},
                    "spec": {"containers": [{"name": "c", "image": "none"}]}}}})
        self.api.merge(self.apps + "deployments/free/scale", {"spec": {"replicas": 2}})
        eventually(lambda: self.running_of("free") == 2, "it is scaled")
        self.end("deployments", "free")

    def test_3b_what_a_scale_makes_of_nothing_is_a_group_as_well(self):
        self.queue("nothing", 3)
        self.make("statefulsets", "StatefulSet", "zero", "nothing", 0)
        for replicas in (2, 3):
            self.api.merge(self.apps + "statefulsets/zero/scale", {"spec": {"replicas": replicas}})
            eventually(lambda: self.running_of("zero") == replicas, "all of them run")
            self.assertEqual([each["spec"]["podSets"][0]["count"] for each in self.api.items(MINE)],
                             [replicas])
            self.assertEqual(self.scale("zero", 0)[0], 200)
            eventually(lambda: not self.pods_of("zero") and not self.api.items(MINE),
                       "nothing holds quota")
        self.end("statefulsets", "zero")

    def test_3c_another_queue_is_heard_by_the_pods_that_wait(self):
        self.queue("right", 2)
        self.make("statefulsets", "StatefulSet", "typo", "wrogn", 2)
        eventually(lambda: self.gated_of("typo") == 1, "the first pod waits")
        path = self.apps + "statefulsets/typo"
        template = self.api.get(path)["spec"]["template"]
        self.api.merge(path, {"metadata": {"labels": {DOMAIN + "queue-name": "right"}}})
        eventually(lambda: self.running_of("typo") == 2, "both run")
        self.assertEqual(self.api.get(path)["spec"]["template"], template)
        self.end("statefulsets", "typo")

    def test_4_a_default_queue_takes_whole_sets(self):
        self.api.post("/api/v1/namespaces", {"metadata": {"name": "by-default"}})
        self.kueue.cluster_queue("by-default", {"spot": "2"})
        self.kueue.local_queue("default", "by-default", ns="by-default")
        path = "/apis/apps/v1/namespaces/by-default/statefulsets"
        spec = {"replicas": 2, "serviceName": "s", "selector": {"matchLabels": {"app": "s"}},
                "template": {"metadata": {"labels": {"app": "s"}},
                             "spec": {"containers": [{"name": "c", "image": "x"}]}}}

        def taken():
            made = self.api.post(path + "?dryRun=All", {"metadata": {"name": "s"}, "spec": spec})
            return made["metadata"].get("labels") and made
        made = eventually(taken, "the controller knows of the queue")
        self.assertEqual(made["metadata"]["labels"], {DOMAIN + "queue-name": "default"})
        pods = made["spec"]["template"]["metadata"]
        self.assertEqual(pods["annotations"], {DOMAIN + "pod-suspending-parent": "statefulset"})

    def test_5_steps_of_others_wait_each_by_itself(self):
        """As an engine of workflows makes them: pods of one owner, of a kind that is not known,
        whose labels come from the owner."""
        self.queue("steps", 1)
        owner = self.api.post("/api/v1/namespaces/default/configmaps", {
            "metadata": {"name": "workflow"}})["metadata"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "workflow",
                     "uid": owner["uid"], "controller": True, "blockOwnerDeletion": True}
        for name in ("step-a", "step-b"):
            self.assertTrue(is_gated(self.pod(name, "steps", owners=[reference])))
        eventually(lambda: self.run_of("step-a", "step-b"), "one of them runs")
        first = self.run_of("step-a", "step-b")
        self.assertEqual(len(first), 1)
        self.ends(*first)
        second = {"step-a", "step-b"} - first
        self.runs(*second)
        self.ends(*second)
        eventually(lambda: all(is_true(each, "Finished") for each in self.api.items(MINE)),
                   "both are finished")
        self.api.delete("/api/v1/namespaces/default/configmaps/workflow")
        eventually(lambda: not self.api.items(MINE), "all of it goes with its owner")

    def run_of(self, *names):
        return {name for name in names if self.stored(name)["status"].get("phase") == "Running"}


class TakenOver(unittest.TestCase):
    """Pods that Kueue's released manager held and let go; without its webhooks, so they are made as
    these would have left them."""

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
        made = Kueue(self.api)
        made.make("ResourceFlavor", "resourceflavors", "spot", {"nodeLabels": POOL})
        made.cluster_queue("q", {"spot": "3"})
        made.local_queue("q", "q")
        self.enterContext(Kubelet(self.api))
        self.api.merge("/api/v1/nodes/" + NODE, {"metadata": {"labels": POOL}})
        self.neighbour = Neighbour(self.cluster, kueue, ("batch/job", "pod"))
        self.controller = Controller(Case.sluice, self.cluster, "admin", "--plugins", "pod-groups")
        self.addCleanup(self.controller.stop)

    def pod(self, name, group=None, total=1):
        metadata = {"name": name, "finalizers": [DOMAIN + "managed"], "annotations": {
            DOMAIN + "role-hash": "0f0f0f0f"}, "labels": {
                DOMAIN + "managed": "true", DOMAIN + "queue-name": "q"}}
        if group:
            metadata["labels"][DOMAIN + "pod-group-name"] = group
            metadata["annotations"][DOMAIN + "pod-group-total-count"] = str(total)
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
        self.api.post(PODS, {"metadata": metadata, "spec": {
            "restartPolicy": "Never", "schedulingGates": [{"name": GATE}],
            "containers": [container]}})

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

    def test_pods_go_on(self):
        with self.neighbour:
            for name in ("g-0", "g-1"):
                self.pod(name, "g", 2)
            self.pod("alone")
            eventually(lambda: self.running() == {"g-0", "g-1", "alone"}, "Kueue lets them go")
            self.pod("waits")
            for name in ("h-0", "h-1"):
                self.pod(name, "h", 2)
            eventually(lambda: len(self.api.items(MINE)) == 4, "Kueue made their workloads")
        before = self.pods()
        workloads = {each["metadata"]["name"]: each["spec"] for each in self.api.items(MINE)}
        self.controller.start()
        eventually(lambda: self.controller.metric("sluice_cluster_edits_waiting") == 0,
                   "it has written what it had to")
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


class PodHistory:
    """Each version of the pods and workloads of a cluster from now on, in the order of the store,
    while pods ask for whole cpus of one queue."""

    def __init__(self, api, quota, besides=()):
        """`besides`: pods of another queue."""
        self.quota, self.besides = quota, besides
        eventually(lambda: api.send("GET", WORKLOADS)[0] == 200, "workloads are served")
        self.history = History(api, WORKLOADS, ALL_PODS)
        self.told_to_end = set()

    def some_came(self, number, is_over):
        wanted = len(self.history.seen) + number
        eventually(lambda: len(self.history.seen) >= wanted or is_over(), f"{number} more versions")

    def of_the_queue(self):
        for version, thing, gone in self.history.until_now():
            metadata = thing["metadata"]
            owners = [each["name"] for each in metadata.get("ownerReferences") or []]
            if not set([metadata["name"], *owners]) & set(self.besides):
                yield version, thing, gone

    def judge(self):
        """What was wrong at which version: a pod let go whose workload was not admitted; more
        granted than there is, with what runs on and was not even deleted."""
        workloads, running, gated, wrong = {}, {}, set(), []
        for version, thing, gone in self.of_the_queue():
            name, uid = thing["metadata"]["name"], thing["metadata"]["uid"]
            if "podSets" in thing["spec"]:
                workloads.pop(uid, None)
                if not gone:
                    workloads[uid] = thing
            else:
                self.see_pod(thing, gone, gated, running, workloads, wrong, version)
            held = {each["metadata"]["uid"]: each for each in workloads.values() if holds(each)}
            used = sum(granted(each) for each in held.values())
            used += sum(cpu for pod, (of, cpu) in running.items() if of not in held)
            if used > self.quota:
                wrong.append(f"at {version} ({name}) {used} cpu are used of {self.quota}")
        return wrong

    def judge_ends(self):
        """The same, with what runs until it has ended: a pod that is deleted, too, uses its cpus
        until its containers have ended, or nobody keeps it any more."""
        workloads, running, wrong = {}, {}, []
        for version, thing, gone in self.of_the_queue():
            metadata = thing["metadata"]
            uid = metadata["uid"]
            if "podSets" in thing["spec"]:
                workloads.pop(uid, None)
                if holds(thing) and not gone:
                    workloads[uid] = granted(thing)
            else:
                running.pop(uid, None)
                over = gone or thing["status"].get("phase") in ("Succeeded", "Failed") or \
                    metadata.get("deletionGracePeriodSeconds") == 0
                if thing["spec"].get("nodeName") and not over:
                    request = thing["spec"]["containers"][0]["resources"]["requests"]["cpu"]
                    running[uid] = ({owner["uid"] for owner in metadata.get(
                        "ownerReferences") or []}, int(request), metadata["name"])
            used = sum(cpu for _, cpu, _ in running.values())
            if used > self.quota:
                wrong.append(f"at {version} {[name for _, _, name in running.values()]} run on "
                             f"{used} cpu of {self.quota}")
            if sum(workloads.values()) > self.quota:
                wrong.append(f"at {version} {sum(workloads.values())} cpu of {self.quota} are held")
        return wrong

    def see_pod(self, pod, gone, gated, running, workloads, wrong, version):
        metadata, uid = pod["metadata"], pod["metadata"]["uid"]
        if any(each["type"] == "TerminationTarget" for each in pod["status"].get("conditions", [])):
            self.told_to_end.add(metadata["name"])
        if is_gated(pod):
            gated.add(uid)
            return
        over = gone or "deletionTimestamp" in metadata or \
            pod["status"].get("phase") in ("Succeeded", "Failed")
        if uid in gated and not over:
            mine = [each for each in workloads.values() if uid in
                    [owner["uid"] for owner in each["metadata"].get("ownerReferences") or []]]
            if not any(is_true(each, "Admitted") for each in mine):
                wrong.append(f"at {version} {metadata['name']} was let go without an admission")
            cpu = int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            running[uid] = (mine[0]["metadata"]["uid"] if mine else None, cpu)
        gated.discard(uid)
        if over:
            running.pop(uid, None)


def granted(workload):
    return sum(int(each["resourceUsage"].get("cpu", "0"))
               for each in workload["status"]["admission"]["podSetAssignments"])


if __name__ == "__main__":
    build.run_tests(Case)

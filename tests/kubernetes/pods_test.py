#!/usr/bin/env python3
"""Pods without a job on a real control plane, held and let go by `sluice controller`: alone and in
groups, while others have the quota, when they are evicted, when the controller dies, and when
nobody answers API servers."""
import os
import random
import subprocess

import build
from asked import QUEUES
from client import await_account, eventually
from controller import Controller, holds, is_true
from faults import FaultyServer
from objects import GROUP
from pods import DOMAIN, MINE, PODS, POOL, Case, PodHistory, is_gated


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
        await_account(self.api, "kueue-system")
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
        await_account(self.api, "team")

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


if __name__ == "__main__":
    build.run_tests(Case)

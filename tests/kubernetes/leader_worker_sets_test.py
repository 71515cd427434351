#!/usr/bin/env python3
"""LeaderWorkerSets that name a queue, with their real controller as neighbour: each replica, a
leader with its workers, waits and is let go as one."""
import build
from asked import QUEUES
from client import eventually
from controller import holds
from lws import SETS, LeaderWorkerSets
from pods import DOMAIN, MINE, PODS, Case, is_gated

NAME = "leaderworkerset.sigs.k8s.io%2Fname%3D"


def container(amount):
    """Its cpus as people write them; an API server makes them otherwise in pods."""
    return {"containers": [{"name": "c", "image": "none", "resources": {"limits": {
        "cpu": amount}}}]}


class Replicas(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        programs = cls.programs
        cls.enterClassContext(LeaderWorkerSets(
            cls.cluster, build.find(programs, "lws"), build.find(programs, "lwscrds")))

    def make(self, name, replicas, size, leader=None, worker="1", **more):
        template = {"size": size, "workerTemplate": {"spec": container(worker)}}
        if leader:
            template["leaderTemplate"] = {"spec": container(leader)}
        return self.api.send("POST", SETS, {
            "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
            "metadata": {"name": name, "labels": {DOMAIN + "queue-name": name}},
            "spec": {"replicas": replicas, "leaderWorkerTemplate": template} | more})

    def pods(self, name):
        return {each["metadata"]["name"]: each for each in
                self.api.items(f"{PODS}?labelSelector={NAME}{name}")
                if "deletionTimestamp" not in each["metadata"]}

    def runs_of(self, name):
        return {pod for pod, each in self.pods(name).items()
                if each["status"].get("phase") == "Running"}

    def waiting(self, name):
        return {pod for pod, each in self.pods(name).items() if is_gated(each)}

    def pod_sets(self):
        """By workload, which of them hold quota."""
        return {each["metadata"]["name"].rsplit("-", 1)[0]:
                ({pods["name"]: pods["count"] for pods in each["spec"]["podSets"]}, holds(each))
                for each in self.api.items(MINE)}

    def change(self, name, change, of=""):
        return self.api.send("PATCH", f"{SETS}/{name}{of}", change, "application/merge-patch+json")

    def end(self, name):
        self.api.delete(f"{SETS}/{name}", propagationPolicy="Background")
        eventually(lambda: not self.api.items(f"{PODS}?labelSelector={NAME}{name}"),
                   "its pods are gone")
        eventually(lambda: not self.api.items(MINE), "their workloads went with them")

    def test_1_each_replica_waits_and_starts_as_a_whole(self):
        self.queue("serve", 6)
        self.assertEqual(self.make("serve", 2, 3, leader="2000m")[0], 201)
        first = {"serve-0", "serve-0-1", "serve-0-2"}
        second = {"serve-1", "serve-1-1", "serve-1-2"}
        eventually(lambda: self.runs_of("serve") in (first, second) and
                   len(self.waiting("serve")) == 3, "one runs, all of the other one waits")
        sets = {"leader": 1, "worker": 2}
        runs = self.runs_of("serve") == first
        self.assertEqual(self.pod_sets(), {"leaderworkerset-serve-0": (sets, runs),
                                           "leaderworkerset-serve-1": (sets, not runs)})
        for change in ({"size": 4}, {"workerTemplate": {"spec": container("3")}}):
            code, answer = self.change("serve", {"spec": {"leaderWorkerTemplate": change}})
            self.assertEqual(code, 422, answer)
            self.assertIn("keep what they ask for", answer["message"])
        # Replicas come and go as they like: kubectl scale, and whoever else scales.
        self.assertEqual(self.change("serve", {"spec": {"replicas": 1}}, "/scale")[0], 200)
        eventually(lambda: self.runs_of("serve") == first and not self.waiting("serve"),
                   "the first one is left, and runs")
        eventually(lambda: self.pod_sets() == {"leaderworkerset-serve-0": (sets, True)},
                   "the workload of the other one is gone")
        self.assertEqual(self.change("serve", {"spec": {"replicas": 2}}, "/scale")[0], 200)
        eventually(lambda: self.waiting("serve") == second, "it waits again")
        self.api.merge(f"{QUEUES}/serve", {"spec": {"resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [{"name": "spot", "resources": [
                {"name": "cpu", "nominalQuota": "8"}]}]}]}})
        eventually(lambda: self.runs_of("serve") == first | second, "both run")
        self.end("serve")

    def test_2_an_evicted_replica_comes_back(self):
        self.queue("moved", 2)
        self.assertEqual(self.make("moved", 1, 2, worker=1)[0], 201)
        both = {"moved-0", "moved-0-1"}
        eventually(lambda: self.runs_of("moved") == both, "both run")
        self.assertEqual(self.pod_sets(), {"leaderworkerset-moved-0": ({"main": 2}, True)})
        before = {each["metadata"]["uid"] for each in self.pods("moved").values()}
        self.api.merge(f"{QUEUES}/moved", {"spec": {"stopPolicy": "HoldAndDrain"}})
        eventually(lambda: self.waiting("moved") == both, "both wait again")
        self.api.merge(f"{QUEUES}/moved", {"spec": {"stopPolicy": "None"}})
        eventually(lambda: self.runs_of("moved") == both, "both run again")
        self.assertFalse(before & {each["metadata"]["uid"]
                                   for each in self.pods("moved").values()})
        self.end("moved")

    def test_3_workers_that_come_when_the_leader_is_ready_have_their_quota(self):
        self.queue("late", 3)
        self.assertEqual(self.make("late", 1, 3, leader="500m", worker="1500m",
                                   startupPolicy="LeaderReady")[0], 201)
        eventually(lambda: self.waiting("late") == {"late-0"} and self.pod_sets() == {
            "leaderworkerset-late-0": ({"leader": 1, "worker": 2}, False)},
            "the leader waits for all of them")
        self.api.merge(f"{QUEUES}/late", {"spec": {"resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [{"name": "spot", "resources": [
                {"name": "cpu", "nominalQuota": "3500m"}]}]}]}})
        eventually(lambda: self.runs_of("late") == {"late-0", "late-0-1", "late-0-2"},
                   "all of them run")
        self.end("late")

    def test_4_replicas_that_come_by_a_scale_from_0_are_groups_of_the_size_that_was_said_last(self):
        self.queue("none", 6)
        self.assertEqual(self.make("none", 0, 2)[0], 201)
        self.assertEqual(self.change("none", {"spec": {"leaderWorkerTemplate": {"size": 3}}})[0],
                         200)
        self.assertEqual(self.pod_sets(), {})
        self.assertEqual(self.change("none", {"spec": {"replicas": 1}}, "/scale")[0], 200)
        first = {"none-0", "none-0-1", "none-0-2"}
        eventually(lambda: self.runs_of("none") == first, "all of the first one run")
        self.assertEqual(self.pod_sets(), {"leaderworkerset-none-0": ({"main": 3}, True)})
        self.assertEqual(self.change("none", {"spec": {"replicas": 0}}, "/scale")[0], 200)
        eventually(lambda: self.pod_sets() == {}, "nothing holds quota")
        self.assertEqual(self.change("none", {"spec": {"replicas": 2}}, "/scale")[0], 200)
        eventually(lambda: len(self.runs_of("none")) == 6, "all of two run")
        self.end("none")


    def test_5_a_replica_that_is_made_anew_keeps_its_quota(self):
        """Its pods are deleted when one of them failed; somebody waits for what they had."""
        self.queue("again", 2)
        self.assertEqual(self.make("again", 1, 2)[0], 201)
        both = {"again-0", "again-0-1"}
        eventually(lambda: self.runs_of("again") == both, "both run")
        workload = self.api.items(MINE)[0]["metadata"]["uid"]
        self.make_pod("other", "again")
        eventually(lambda: len(self.api.items(MINE)) == 2, "another pod waits")
        old = {each["metadata"]["uid"] for each in self.pods("again").values()}
        self.api.delete(f"{PODS}/again-0")
        eventually(lambda: self.runs_of("again") == both and not old & {
            each["metadata"]["uid"] for each in self.pods("again").values()}, "new ones run")
        self.assertIn(workload, {each["metadata"]["uid"] for each in self.api.items(MINE)})
        self.assertTrue(is_gated(self.api.get(f"{PODS}/other")))
        self.api.delete(f"{PODS}/other")
        self.end("again")


del Case  # it has no tests of its own

if __name__ == "__main__":
    build.run_tests(Replicas, "lws")

#!/usr/bin/env python3
"""Pods of Deployments, StatefulSets and others that make pods of a template, on a real control
plane: held and let go by `sluice controller`."""
import subprocess

import build
from asked import QUEUES
from client import eventually
from controller import is_true
from pods import DOMAIN, MINE, PODS, Case, is_gated


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
        # What its pods ask for may be another while there are none.
        self.assertEqual(kubectl(0).returncode, 0)
        eventually(lambda: not self.pods_of("sized") and not self.api.items(MINE),
                   "its quota is free")
        self.api.merge(f"{self.apps}statefulsets/sized", {"spec": {"template": {"spec": {
            "containers": [{"name": "c", "image": "none",
                            "resources": {"requests": {"cpu": "1500m"}}}]}}}})
        self.assertEqual(kubectl(2).returncode, 0)
        eventually(lambda: self.running_of("sized") == 2, "both run with more")
        self.assertEqual([each["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]
                          for each in self.api.items(MINE)], [{"cpu": "3"}])
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


if __name__ == "__main__":
    build.run_tests(Case)

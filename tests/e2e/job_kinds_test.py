#!/usr/bin/env python3
"""Kinds of jobs that pages declare, on a running host: they come, change and go without a restart.

    job_kinds_test.py --sluice build/dev/bin/sluice --pages packaging/job-kinds [TestClass.test …]
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

from host import Host, eventually, skip

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: all}
"""
PLACE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: big}
spec: {nodeLabels: {pool: big}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: place}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors: [{name: big, resources: [{name: cpu, nominalQuota: 4},
                                      {name: memory, nominalQuota: 8Gi}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: place, namespace: default}
spec: {clusterQueue: place}
"""
PAGE = """
apiVersion: sluice.dev/v1alpha1
kind: JobKind
metadata: {name: trainings.example.com}
spec:
  group: example.com
  kind: Training
  versions: [v1]
  podSets: [{name: worker, template: .spec.template, count: ".spec.replicas ?? 1"}]
  succeeded: [{condition: Complete}]
  failed: [{condition: Failed}]
"""


def training(name, command, replicas=1):
    return json.dumps({
        "apiVersion": "example.com/v1", "kind": "Training",
        "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "main"}},
        "spec": {"free": {"form": [1, "two"]}, "replicas": replicas, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{
                "name": "c", "image": "i", "command": ["bash", "-c", command],
                "resources": {"requests": {"cpu": "1"}}}]}}}})


class JobKinds(unittest.TestCase):
    sluice = pages = ""

    def setUp(self):
        self.host = Host(self.sluice)
        self.addCleanup(self.host.__exit__)
        self.host.start()
        self.apply(QUEUES)

    def kubectl(self, *words, **more):
        return self.host.kubectl(*words, **more)

    def apply(self, text):
        return self.kubectl("apply", "-f", "-", stdin=text)

    def declare(self):
        self.apply(PAGE)
        self.kubectl("wait", "--for=condition=Served", "--timeout=180s",
                     "jobkind/trainings.example.com")

    def test_a_kind_comes_runs_and_goes(self):
        self.declare()
        self.apply(training("good", "echo index $JOB_COMPLETION_INDEX", replicas=2))
        self.apply(training("bad", "exit 3"))
        self.kubectl("wait", "--for=condition=Complete", "--timeout=180s", "training/good")
        self.kubectl("wait", "--for=condition=Failed", "--timeout=180s", "training/bad")
        self.kubectl("wait", "--for=jsonpath={.status.podSets[0].succeeded}=2", "--timeout=180s",
                     "training/good")
        good = json.loads(self.kubectl("get", "training", "good", "-o", "json"))
        self.assertEqual(good["spec"]["free"], {"form": [1, "two"]})
        pods = json.loads(self.kubectl("get", "pods", "-o", "json"))["items"]
        said = {self.kubectl("logs", pod["metadata"]["name"]).strip() for pod in pods
                if pod["metadata"]["name"].startswith("good-")}
        self.assertEqual(said, {"index 0", "index 1"})
        self.assertIn("ended with 3", self.kubectl(
            "get", "training", "bad", "-o", "jsonpath={.status.conditions[0].message}"))
        eventually(lambda: "CreatedWorkload" in self.kubectl("describe", "training", "good"),
                   "an event tells of its workload")
        self.assertIn("trainings", self.kubectl("api-resources", "--api-group=example.com"))
        self.kubectl("delete", "jobkind", "trainings.example.com", "--wait=false")
        self.kubectl("delete", "trainings", "--all")
        eventually(lambda: not self.kubectl("get", "jobkinds", "-o", "name"), "the page goes")
        eventually(lambda: "trainings" not in self.kubectl(
            "api-resources", "--api-group=example.com"), "the kind goes")

    def test_what_runs_runs_on_over_changes_and_a_kill(self):
        self.declare()
        self.apply(training("long", "sleep 600"))
        self.kubectl("wait", "--for=jsonpath={.status.podSets[0].ready}=1", "--timeout=180s",
                     "training/long")
        before = self.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}")
        self.apply(PAGE.replace("kind: Training", "kind: Training\n  shortNames: [tr]"))
        eventually(lambda: "tr " in self.kubectl("api-resources", "--api-group=example.com"),
                   "the page's change")
        self.host.stop(signal.SIGKILL)
        store = os.path.join(self.host.folder, "data")
        ask = [self.sluice, "store"]
        exported = subprocess.run([*ask, "export", store], capture_output=True, text=True,
                                  check=True).stdout
        self.assertTrue("- apiVersion: example.com/v1\n  kind: Training\n" in exported, "no job")
        checked = subprocess.run([*ask, "check", store], capture_output=True, text=True, check=True)
        self.assertNotIn("not judged", checked.stdout)
        self.host.start()
        self.assertEqual(self.kubectl("get", "tr", "-o", "name").strip(),
                         "training.example.com/long")
        self.assertEqual(
            self.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"), before)

    def test_a_page_is_an_operators(self):
        self.kubectl("create", "rolebinding", "ann", "--clusterrole=admin", "--user=ann")
        for verb in ("create", "patch", "update", "delete"):
            self.assertEqual(self.may("ann", verb, "jobkinds.sluice.dev"), "no")
        self.declare()
        self.assertEqual(self.may("ann", "create", "trainings.example.com"), "no")
        self.assertEqual(self.may("ann", "create", "jobs.batch"), "yes")

    def may(self, user, verb, resource):
        return self.host.run("auth", "can-i", verb, resource, "--as", user).stdout.strip()

    def test_a_question_about_a_job_of_the_kind_is_answered(self):
        self.declare()
        path = os.path.join(self.host.folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(training("big", "true", replicas=9))
        told = subprocess.run(
            [self.sluice, "what-if", "--kubeconfig", self.host.kubeconfig, "-f", path],
            capture_output=True, text=True, check=True).stdout
        self.assertIn("Training default/big: would wait", told)
        self.assertEqual(self.kubectl("get", "trainings", "-o", "name"), "")

    def shipped(self, name, *objects):
        """Declares a kind by its page that ships, and makes objects of it."""
        self.kubectl("apply", "-f", os.path.join(self.pages, name))
        self.kubectl("wait", "--for=condition=Served", "--timeout=180s", "jobkinds", "--all")
        for each in objects:
            each["metadata"] = {"name": each["metadata"], "labels": {
                "kueue.x-k8s.io/queue-name": "place"}}
            self.apply(json.dumps(each))

    def spec_of(self, resource, name):
        return json.loads(self.kubectl("get", resource, name, "-o", "json"))["spec"]

    def starts_and_stops(self, resource, name, place):
        """`place(spec)` is where its start is to stand; how its spec is then, and stopped again."""
        def reached(suspended):
            eventually(lambda: self.spec_of(resource, name)["suspend"] == suspended,
                       f"{name} has suspend {suspended}")
            return self.spec_of(resource, name)
        started = reached(False)
        self.assertEqual(place(started)["nodeSelector"], {"pool": "big"})
        workload = self.kubectl("get", "workloads", "-o", "name").split()[-1]
        self.kubectl("patch", workload, "--type=merge", "-p", '{"spec": {"active": false}}')
        stopped = reached(True)
        self.kubectl("delete", resource, name)
        eventually(lambda: not self.kubectl("get", "workloads", "-o", "name"), "it is gone")
        return started, stopped

    def test_a_start_goes_where_the_kind_wants_it(self):
        self.apply(PLACE)
        pod = {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "i", "command": ["true"],
             "resources": {"requests": {"cpu": "1"}}}]}}
        parts = [{"podSets": [{"replicas": 2, "path": "template.spec.template"}],
                  "template": {"apiVersion": "example.com/v1", "kind": "Thing",
                               "spec": {"template": pod}}},
                 {"template": {"apiVersion": "v1", "kind": "Pod", **pod}}]
        self.shipped("appwrapper.yaml", {
            "apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper",
            "metadata": "wrapped", "spec": {"components": parts}})
        started, stopped = self.starts_and_stops(
            "appwrappers", "wrapped", lambda spec: spec["components"][0]["podSetInfos"][0])
        self.assertEqual(started["components"][1]["podSetInfos"][0]["nodeSelector"],
                         {"pool": "big"})
        self.assertEqual([each["template"] for each in started["components"]],
                         [each["template"] for each in parts])  # its operator allows no change
        self.assertEqual(stopped["components"], parts)

        spark = {"driver": {"cores": 1, "memory": "512m"},
                 "executor": {"instances": 2, "coreRequest": "500m", "memory": "512m"}}
        self.shipped("sparkapplication.yaml", {
            "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
            "metadata": "pi", "spec": spark})
        _, stopped = self.starts_and_stops("sparkapplications", "pi",
                                           lambda spec: spec["executor"])
        self.assertEqual(stopped, {**spark, "suspend": True})

        train = {"runtimeRef": {"name": "torch"}, "trainer": {
            "numNodes": 2, "resourcesPerNode": {"requests": {"cpu": "1"}}}}
        self.shipped("trainjob.yaml", {"apiVersion": "trainer.kubeflow.org/v1alpha1",
                                       "kind": "TrainJob", "metadata": "fit", "spec": train})
        _, stopped = self.starts_and_stops(
            "trainjobs", "fit", lambda spec: spec["runtimePatches"][0]["trainingRuntimeSpec"][
                "template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"])
        self.assertEqual(stopped, {**train, "suspend": True})

    def test_an_app_wrapper_runs(self):
        pod = json.loads(training("x", "echo done"))["spec"]["template"]
        self.shipped("appwrapper.yaml")
        self.apply(json.dumps({
            "apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper",
            "metadata": {"name": "two", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
            "spec": {"components": [{"template": {
                "apiVersion": "batch/v1", "kind": "Job",
                "spec": {"parallelism": 2, "template": pod}}}]}}))
        self.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=180s",
                     "appwrapper/two")
        self.apply(json.dumps({
            "apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper",
            "metadata": {"name": "ray", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
            "spec": {"components": [{"template": {
                "apiVersion": "ray.io/v1", "kind": "RayJob", "spec": {
                    "entrypoint": "python train.py", "shutdownAfterJobFinishes": True,
                    "rayClusterSpec": {
                        "headGroupSpec": {"rayStartParams": {}, "template": pod}}}}}]}}))
        eventually(lambda: "on a host submit the RayJob itself" in self.kubectl(
            "describe", "appwrapper", "ray"), "an event says why")

    def test_all_completions_of_a_job_set_run(self):
        pod = json.loads(training("x", "echo index $JOB_COMPLETION_INDEX"))["spec"]["template"]
        self.shipped("jobset.yaml")
        self.apply(json.dumps({
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": "four", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
            "spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {
                "parallelism": 2, "completions": 4, "template": pod}}}]}}))
        self.kubectl("wait", "--for=condition=Completed", "--timeout=180s", "jobset/four")
        pods = json.loads(self.kubectl("get", "pods", "-o", "json"))["items"]
        said = sorted(self.kubectl("logs", pod["metadata"]["name"]).strip() for pod in pods)
        self.assertEqual(said, ["index 0", "index 1", "index 2", "index 3"])
        workload = json.loads(self.kubectl("get", "workloads", "-o", "json"))["items"][0]
        self.assertEqual(workload["spec"]["podSets"][0]["count"], 2)
        self.assertIn("Completed", self.kubectl("get", "jobset", "four", "--no-headers"))

    def test_a_ray_job_whose_entrypoint_nobody_runs_is_held_back(self):
        pod = json.loads(training("x", "true"))["spec"]["template"]
        self.shipped("rayjob.yaml")
        job = {"apiVersion": "ray.io/v1", "kind": "RayJob",
               "metadata": {"name": "ray", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
               "spec": {"entrypoint": "python train.py", "shutdownAfterJobFinishes": True,
                        "rayClusterSpec": {
                   "headGroupSpec": {"rayStartParams": {}, "template": pod}}}}
        self.apply(json.dumps(job))
        eventually(lambda: "give spec.submitterPodTemplate" in self.kubectl(
            "describe", "rayjob", "ray"), "an event says why")
        self.assertEqual(self.kubectl("get", "workloads,pods", "-o", "name"), "")
        for words in (["rayjob/ray"], ["-n", "default", "rayjobs/ray"],
                      ["default/rayjobs.ray.io/ray"]):  # as kubectl takes a kind
            told = subprocess.run([self.sluice, "explain", "--kubeconfig", self.host.kubeconfig,
                                   *words], capture_output=True, text=True, check=False)
            self.assertIn("default/ray has no workload: spec.entrypoint would run", told.stderr)
        job["spec"]["submitterPodTemplate"] = pod
        self.apply(json.dumps(job))
        self.kubectl("wait", "--for=jsonpath={.status.jobStatus}=SUCCEEDED", "--timeout=180s",
                     "rayjob/ray")
        self.assertIn("Complete", self.kubectl("get", "rayjob", "ray", "--no-headers"))
        name = self.kubectl("get", "workloads", "-o", "jsonpath={.items[0].metadata.name}")
        for word in (name, f"workload/{name}", f"default/workloads/{name}"):
            told = subprocess.run([self.sluice, "explain", "--kubeconfig", self.host.kubeconfig,
                                   word], capture_output=True, text=True, check=True)
            self.assertIn(f"default/{name}: Finished", told.stdout)

    def test_what_a_page_cannot_tell_is_held_back(self):
        self.apply(PLACE)
        self.shipped("sparkapplication.yaml", {
            "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
            "metadata": "grows", "spec": {"driver": {"memory": "512m"}, "executor": {},
                                          "dynamicAllocation": {"enabled": True}}})
        eventually(lambda: "nobody knows how many executors" in self.kubectl(
            "describe", "sparkapplication", "grows"), "an event says why")
        self.assertEqual(self.kubectl("get", "workloads", "-o", "name"), "")

    def test_all_pages_that_ship_are_served(self):
        self.kubectl("apply", "-f", self.pages)
        self.kubectl("wait", "--for=condition=Served", "--timeout=180s", "jobkinds", "--all")
        self.assertEqual(len(self.kubectl("get", "jobkinds", "-o", "name").split()),
                         len(os.listdir(self.pages)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--pages", required=True)
    args, rest = parser.parse_known_args()
    if not shutil.which("kubectl"):
        skip("there is no kubectl on this machine")
    JobKinds.sluice, JobKinds.pages = os.path.abspath(args.sluice), os.path.abspath(args.pages)
    unittest.main(argv=[sys.argv[0], *rest])

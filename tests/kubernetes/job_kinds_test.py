#!/usr/bin/env python3
"""Kinds of jobs that a page declares, on a cluster: JobSet with its own definition, and one that
somebody made up. The test plays the controllers that run them."""
import os

import yaml

import build
from asked import Case
from client import eventually
from controller import WORKLOADS, is_true, owner_of
from objects import DEFINITIONS, GROUP

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir,
                     "packaging", "job-kinds")
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
TRAININGS = "/apis/example.com/v1/namespaces/default/trainings"
JOB_KINDS = "/apis/sluice.dev/v1alpha1/jobkinds"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TRAINING = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "trainings.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced",
             "names": {"plural": "trainings", "singular": "training", "kind": "Training",
                       "listKind": "TrainingList"},
             "versions": [{"name": "v1", "served": True, "storage": True,
                           "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                               "spec": OPEN, "status": OPEN}}}}]}}
PAGE = {"apiVersion": "sluice.dev/v1alpha1", "kind": "JobKind",
        "metadata": {"name": "trainings.example.com"},
        "spec": {"group": "example.com", "kind": "Training", "versions": ["v1"],
                 "podSets": [{"name": "coordinator", "template": ".spec.coordinator"},
                             {"name": "worker", "template": ".spec.workers.template",
                              "count": ".spec.workers.replicas ?? 1"}],
                 "suspend": ".spec.hold", "ready": [{"condition": "Running"}],
                 "active": [{"holds": ".status.pods > 0"}],
                 "succeeded": [{"condition": "Complete"}],
                 "failed": [{"condition": "Failed"}]}}


def template(cpu):
    return {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}]}}


def condition(kind):
    return {"status": {"pods": 0, "conditions": [
        {"type": kind, "status": "True", "reason": "Test", "message": "by the test",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}


class JobKinds(Case):
    @classmethod
    def manifests(cls):
        """With the pages, for what the controller may do and what API servers ask about."""
        cls.pages = os.path.join(cls.cluster.folder, "pages")
        os.mkdir(cls.pages)
        with open(os.path.join(PAGES, "jobset.yaml"), encoding="utf-8") as text:
            cls.jobset = list(yaml.safe_load_all(text))
        with open(os.path.join(cls.pages, "all.yaml"), "w", encoding="utf-8") as out:
            yaml.safe_dump_all([*cls.jobset, PAGE], out)
        cls.more = ("--job-kinds", cls.pages)
        with open(build.find(cls.programs, "jobset"), encoding="utf-8") as text:
            cls.api.post(DEFINITIONS, yaml.safe_load(text))  # too long for kubectl apply
        return super().manifests() + [TRAINING]

    def test_all_that_is_promised(self):
        """One cluster for all of it: a control plane takes longer to start than this."""
        running = self.controller()
        self.kueue.make("ResourceFlavor", "resourceflavors", "spot",
                        {"nodeLabels": {"pool": "spot"}})
        self.kueue.cluster_queue("q", {"spot": "4"})
        self.kueue.local_queue("q", "q")
        self.give([*self.jobset, PAGE])
        for name in ("jobsets.jobset.x-k8s.io", "trainings.example.com"):
            eventually(lambda at=name: self.served(at), f"{name} is served")
        eventually(self.believed, "API servers believe the webhook")
        self.runs_a_job_set()
        self.runs_what_somebody_made_up()
        self.assertIsNone(running.process.poll())  # it took the pages up by itself
        self.holds_up_nothing_without_rights()
        self.assertIsNone(running.process.poll())

    def served(self, page):
        return is_true(self.api.get(f"{JOB_KINDS}/{page}"), "Served")

    def made(self, path, kind, name, spec):
        """An object of the queue, which is held back from the start."""
        return self.api.post(path, {
            "apiVersion": path.split("/namespaces")[0].removeprefix("/apis/"), "kind": kind,
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"}},
            "spec": spec})

    def workload_of(self, thing):
        return next((each for each in self.api.items(WORKLOADS)
                     if owner_of(each) == thing["metadata"]["uid"]), None)

    def activate(self, thing, active):
        name = self.workload_of(thing)["metadata"]["name"]
        self.api.merge(f"{GROUP}v1beta2/namespaces/default/workloads/{name}",
                       {"spec": {"active": active}})

    def runs_a_job_set(self):
        made = self.made(JOBSETS, "JobSet", "set", {"replicatedJobs": [
            {"name": "workers", "replicas": 2,
             "template": {"spec": {"parallelism": 1, "completions": 1,
                                   "template": template("1")}}}]})
        self.assertTrue(made["spec"]["suspend"])
        path = f"{JOBSETS}/set"
        eventually(lambda: not self.api.get(path)["spec"]["suspend"], "it is let go")
        pods = self.api.get(path)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
        self.assertEqual(pods["spec"]["nodeSelector"], {"pool": "spot"})
        # What its own controller counts: all are ready, and run on after the stop.
        counts = {"name": "workers", "ready": 2, "active": 2, "succeeded": 0, "failed": 0,
                  "suspended": 0}
        self.api.merge(path + "/status", {"status": {"replicatedJobsStatus": [counts]}})
        eventually(lambda: is_true(self.workload_of(made), "PodsReady"), "its pods are ready")
        # One of its jobs is over: what that had is free while the other runs.
        self.api.merge(path + "/status", {"status": {"replicatedJobsStatus": [
            counts | {"ready": 1, "active": 1, "succeeded": 1}]}})
        eventually(lambda: self.workload_of(made)["status"].get("reclaimablePods") ==
                   [{"name": "workers", "count": 1}], "a pod is given back")
        self.activate(made, False)
        eventually(lambda: self.api.get(path)["spec"]["suspend"], "it is stopped")
        self.assertTrue(is_true(self.workload_of(made), "QuotaReserved"), "its pods run on")
        self.api.merge(path + "/status", {"status": {"replicatedJobsStatus": [
            counts | {"ready": 0, "active": 0}]}})
        eventually(lambda: not is_true(self.workload_of(made), "QuotaReserved"), "and end")
        eventually(lambda: self.api.get(path)["spec"]["suspend"], "it is stopped")
        eventually(lambda: "nodeSelector" not in self.api.get(path)["spec"]["replicatedJobs"][0][
            "template"]["spec"]["template"]["spec"], "its templates are its own")
        self.activate(made, True)
        eventually(lambda: not self.api.get(path)["spec"]["suspend"], "it is let go again")
        self.api.merge(path + "/status", condition("Completed"))
        eventually(lambda: is_true(self.workload_of(made), "Finished"), "it has finished")

    def runs_what_somebody_made_up(self):
        """Three of four cpus each: the second one waits for the end of the first."""
        spec = {"coordinator": template("1"), "workers": {"replicas": 2,
                                                          "template": template("1")}}
        first = self.made(TRAININGS, "Training", "first", spec)
        self.assertTrue(first["spec"]["hold"])
        eventually(lambda: not self.api.get(f"{TRAININGS}/first")["spec"]["hold"], "let go")
        second = self.made(TRAININGS, "Training", "second", spec)
        eventually(lambda: self.workload_of(second), "the second one waits")
        self.assertTrue(self.api.get(f"{TRAININGS}/second")["spec"]["hold"])
        worker = self.api.get(f"{TRAININGS}/first")["spec"]["workers"]["template"]
        self.assertEqual(worker["spec"]["nodeSelector"], {"pool": "spot"})
        self.api.merge(f"{TRAININGS}/first/status", condition("Complete"))
        eventually(lambda: not self.api.get(f"{TRAININGS}/second")["spec"]["hold"],
                   "the second one has the quota of the first")
        self.assertTrue(is_true(self.workload_of(first), "Finished"))

    def holds_up_nothing_without_rights(self):
        """A page that was not in the manifests: the role has nothing of its kind."""
        page = {**PAGE, "metadata": {"name": "rehearsals.example.org"},
                "spec": {**PAGE["spec"], "group": "example.org", "kind": "Rehearsal"}}
        self.give([page])
        path = f"{JOB_KINDS}/rehearsals.example.org"

        def told():
            return next((each["message"] for each in self.api.get(path).get("status", {}).get(
                "conditions", []) if each["type"] == "Served" and each["status"] == "False"), "")

        eventually(lambda: told().startswith(
            "the controller has not the right to list, watch, patch rehearsals.example.org"),
            "it says what is missing")
        self.api.merge(f"{TRAININGS}/second/status", condition("Complete"))
        third = self.made(TRAININGS, "Training", "third", {
            "coordinator": template("1"), "workers": {"replicas": 1, "template": template("1")}})
        eventually(lambda: not self.api.get(f"{TRAININGS}/third")["spec"]["hold"],
                   "others are decided on")
        self.assertTrue(is_true(self.workload_of(third), "Admitted"))
        # With the rights it is taken up, whether the cluster has the kind or not.
        rbac = "/apis/rbac.authorization.k8s.io/v1/"
        self.api.post(rbac + "clusterroles", {
            "metadata": {"name": "rehearsals"},
            "rules": [{"apiGroups": ["example.org"], "resources": ["*"], "verbs": ["*"]}]})
        self.api.post(rbac + "clusterrolebindings", {
            "metadata": {"name": "rehearsals"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "rehearsals"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                          "name": "controllers"}]})
        eventually(lambda: self.served("rehearsals.example.org"), "it is served")
        self.api.send("DELETE", path)
        eventually(lambda: self.api.send("GET", path)[0] == 404, "the page goes")


if __name__ == "__main__":
    build.run_tests(Case)

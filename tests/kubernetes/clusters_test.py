#!/usr/bin/env python3
"""A Sluice host as the manager in front of a Kubernetes cluster: jobs of its queue run there,
whoever decides there, Kueue's released manager or `sluice controller`."""
import base64
import os
import sys
import unittest

import yaml

import build
from asked import Case
from client import eventually
from control_plane import ControlPlane
from controller import Controller, is_true
from kubelet import Kubelet
from neighbour import NEEDS, Neighbour, may_run
from objects import Kueue, install

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, os.pardir, "plugins", "multi-cluster", "tests"))

# pylint: disable=wrong-import-position
from places import GROUP, JOBS, WORKLOADS, Place, Places, is_true as is_shown  # noqa: E402

PODS = "/api/v1/namespaces/team/pods"
QUOTA = 2
# What docs/multi-cluster.md asks for, and nothing else.
RIGHTS = [{"apiGroups": [group], "resources": [kind],
           "verbs": ["get", "list", "watch", "create", "patch", "delete"]}
          for group, kind in (("kueue.x-k8s.io", "workloads"), ("batch", "jobs"))]


def connect(cluster, manager):
    """The manager is told of the cluster, as a user that has the rights of the page."""
    roles = "/apis/rbac.authorization.k8s.io/v1/"
    cluster.api.post(roles + "clusterroles", {"metadata": {"name": "manager"}, "rules": RIGHTS})
    cluster.api.post(roles + "clusterrolebindings", {
        "metadata": {"name": "manager"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": "manager"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                      "name": "nobody"}]})
    with open(cluster.kubeconfig("nobody"), encoding="utf-8") as text:
        config = yaml.safe_load(text)
    there = config["clusters"][0]["cluster"]
    with open(cluster.path(there.pop("certificate-authority")), "rb") as authority:
        there["certificate-authority-data"] = base64.b64encode(authority.read()).decode()
    manager.name_clusters({"there": yaml.safe_dump(config)})
    manager.wait_active()


class Cluster:
    """A manager and its cluster; who decides there is said by those that have it."""
    sluice = programs = ""
    plugins = "{ load: [ { name: multi-cluster } ] }"

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane(build.find(cls.programs, "control-plane"))
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.api = cls.cluster.api
        install(cls.cluster, build.find(cls.programs, "crds"))
        for name in ("team", "sluice-system"):
            cls.api.post("/api/v1/namespaces", {"metadata": {"name": name}})
        kueue = Kueue(cls.api)
        kueue.flavor("f")
        kueue.cluster_queue("q", {"f": str(QUOTA)})
        kueue.local_queue("q", "q", ns="team")
        cls.enterClassContext(Kubelet(cls.api, cpu="64"))
        cls.decide()
        cls.manager = Place(cls.sluice, 100, cls.plugins, ["clusters"],
                            extra="executor: { type: none }\n")
        cls.addClassCleanup(cls.manager.host.__exit__)
        connect(cls.cluster, cls.manager)

    def submit(self, name, runs=None):
        self.manager.create(JOBS, {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"}},
            "spec": {"suspend": True, "backoffLimit": 0, "template": {
                "metadata": {"annotations": {"test/runs-for": runs} if runs else {}},
                "spec": {"restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "none",
                     "resources": {"requests": {"cpu": "1"}}}]}}}})

    def here(self, name):
        """The manager's job."""
        return self.manager.jobs()[name]

    def workload(self, name):
        """Of the job, at the manager."""
        return next((each for each in self.manager.workloads().values()
                     if each["metadata"].get("ownerReferences", [{}])[0].get("name") == name), {})

    def there(self, name):
        """The cluster's job; None without one."""
        code, job = self.api.send("GET", f"{JOBS}/{name}")
        return job if code == 200 else None

    def copy_of(self, name):
        """The cluster's workload of the job; None without one."""
        code, found = self.api.send(
            "GET", f"{WORKLOADS}/{self.workload(name).get('metadata', {}).get('name', 'none')}")
        return found if code == 200 else None

    def runs(self, name):
        """Both show that its pod runs, and the manager's job is started."""
        job = self.there(name)
        shown = self.here(name)
        return (job and job.get("status", {}).get("ready") == 1 and not shown["spec"]["suspend"]
                and shown.get("status", {}).get("ready") == 1)

    def quiet(self):
        eventually(lambda: not self.api.items(JOBS) and not self.api.items(WORKLOADS)
                   and not self.api.items(PODS), "nothing is left in the cluster")

    def end(self, *names):
        for name in names:
            self.manager.rest.send("DELETE", f"{JOBS}/{name}")
        self.quiet()


class Dispatched(Cluster):
    """The tests of all who may decide."""

    def test_a_job_runs_there_and_its_end_comes_back(self):
        self.submit("one", runs="1")
        eventually(lambda: is_shown(self.here("one"), "Complete"), "it is complete")
        self.assertEqual(self.here("one")["status"]["succeeded"], 1)
        eventually(lambda: is_shown(self.workload("one"), "Finished"), "its workload is finished")
        self.assertEqual(self.workload("one")["status"]["clusterName"], "there")
        self.quiet()

    def test_who_has_no_room_there_waits_for_who_ends(self):
        for name in ("first", "second"):
            self.submit(name)
            eventually(lambda of=name: self.runs(of), f"{name} runs")
        self.submit("third")
        eventually(lambda: self.copy_of("third"), "it has a copy there")
        self.assertIn("waits for quota at there",
                      self.workload("third")["status"]["admissionChecks"][0]["message"])
        self.assertFalse(is_true(self.copy_of("third"), "QuotaReserved"))
        self.assertIsNone(self.there("third"))
        self.manager.rest.send("DELETE", f"{JOBS}/first")
        eventually(lambda: self.runs("third"), "the third runs")
        self.end("second", "third")

    def test_an_eviction_there_sends_it_off_anew(self):
        self.submit("again")
        eventually(lambda: self.runs("again"), "it runs")
        before = self.there("again")["metadata"]["uid"]
        self.api.merge(f"{WORKLOADS}/{self.workload('again')['metadata']['name']}",
                       {"spec": {"active": False}})

        def anew():
            job = self.there("again")
            return job and job["metadata"]["uid"] != before and self.runs("again")
        eventually(anew, "it runs anew")
        self.end("again")

    def test_an_eviction_here_withdraws_it(self):
        self.submit("held")
        eventually(lambda: self.runs("held"), "it runs")
        self.manager.patch(f"{WORKLOADS}/{self.workload('held')['metadata']['name']}",
                           {"spec": {"active": False}})
        self.quiet()
        eventually(lambda: self.here("held")["spec"]["suspend"], "it is suspended here")
        self.end("held")


class KueueDecides(Dispatched, unittest.TestCase):
    @classmethod
    def decide(cls):
        if not may_run():
            raise unittest.SkipTest(NEEDS)
        cls.enterClassContext(Neighbour(cls.cluster, build.find(cls.programs, "kueue")))


class Sizes:
    """Jobs of the manager that may change their size."""

    def submit(self, name, size):
        self.manager.create(JOBS, {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"},
                         "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
            "spec": {"parallelism": size, "template": {"spec": {
                "restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "none",
                     "resources": {"requests": {"cpu": "1"}}}]}}}})

    def resize(self, name, size):
        self.manager.patch(f"{JOBS}/{name}", {"spec": {"parallelism": size}})


class KueueRefusesSizes(Sizes, Cluster, unittest.TestCase):
    """Elastic jobs where Kueue decides, with its gate for them on: they run in their size, and who
    wants another is told; what Kueue ended once for its size is not ended again and again."""
    plugins = "{ load: [ { name: elastic-jobs }, { name: multi-cluster } ] }"

    @classmethod
    def decide(cls):
        if not may_run():
            raise unittest.SkipTest(NEEDS)
        cls.enterClassContext(Neighbour(cls.cluster, build.find(cls.programs, "kueue"),
                                        gates=("ElasticJobsViaWorkloadSlices",)))

    def checks(self):
        """Of the workloads here that have not ended, by size: state and message of the check."""
        return {each["spec"]["podSets"][0]["count"]:
                (each["status"]["admissionChecks"][0]["state"],
                 each["status"]["admissionChecks"][0].get("message", ""))
                for each in self.manager.workloads().values()
                if not is_shown(each, "Finished") and "admissionChecks" in each.get("status", {})}

    def settled(self, size):
        job = self.there("sized")
        return (job and job["spec"]["parallelism"] == size
                and job.get("status", {}).get("ready") == size
                and self.here("sized").get("status", {}).get("ready") == size)

    def test_a_job_runs_in_its_size_and_growth_is_refused_with_a_sentence(self):
        self.submit("sized", 1)
        eventually(lambda: self.settled(1), "it runs")
        self.resize("sized", 2)
        eventually(lambda: self.checks().get(2, ("",))[0] == "Rejected", "growth is refused")
        self.assertIn('Cluster "there" ends jobs that change their size while they run',
                      self.checks()[2][1])
        eventually(lambda: self.settled(1), "it runs in its size")
        runs = self.there("sized")["metadata"]["uid"]
        self.resize("sized", 3)
        eventually(lambda: self.checks().get(3, ("",))[0] == "Rejected",
                   "so is the next one, before anything is ended for it")
        self.assertEqual(self.there("sized")["metadata"]["uid"], runs, "it runs on")
        self.end("sized")


class SluiceDecides(Dispatched, unittest.TestCase):
    @classmethod
    def decide(cls):
        running = Controller(cls.sluice, cls.cluster, "admin", "--plugins", "none")
        cls.addClassCleanup(running.stop)
        running.start()


class There:
    """The cluster, as a Place of which the slices of a job are read."""

    def __init__(self, api):
        self.api = api

    def workloads(self):
        return {each["metadata"]["name"]: each for each in self.api.items(WORKLOADS)}


class ElasticJobs(Sizes, Case):
    """Jobs of the manager change their size where they run; Sluice decides there."""
    plugins = ("--plugins", "elastic-jobs")

    @classmethod
    def setUpClass(cls):
        cls.sluice, cls.programs = Cluster.sluice, Cluster.programs
        super().setUpClass()
        running = Controller(cls.sluice, cls.cluster, "one", *cls.plugins, "--webhook-address",
                             f"127.0.0.1:{cls.port}")
        cls.addClassCleanup(running.stop)
        running.start()
        eventually(lambda: cls.believed(cls), "API servers believe the webhook")
        cls.api.post("/api/v1/namespaces", {"metadata": {"name": "team"}})
        cls.kueue.flavor("f")
        cls.kueue.cluster_queue("q", {"f": "4"})
        cls.kueue.local_queue("q", "q", ns="team")
        cls.manager = Place(
            cls.sluice, 100, "{ load: [ { name: elastic-jobs }, { name: multi-cluster } ] }",
            ["clusters"], extra="executor: { type: none }\n")
        cls.addClassCleanup(cls.manager.host.__exit__)
        connect(cls.cluster, cls.manager)

    def pods(self):
        """UIDs of those that run."""
        return {pod["metadata"]["uid"] for pod in self.api.items(PODS)
                if pod["status"].get("phase") == "Running"
                and "deletionTimestamp" not in pod["metadata"]}

    def ready(self, name):
        """Pods that the manager's job shows as ready."""
        return self.manager.jobs()[name].get("status", {}).get("ready", 0)

    def wait(self, name, slices, running):
        """Both have these slices, and so many pods run there, as the manager shows."""
        def told():
            return (Places.slices(self.manager, name), Places.slices(There(self.api), name),
                    len(self.pods()), self.ready(name))
        wanted = (slices, slices, running, running)
        try:
            eventually(lambda: told() == wanted, f"{name} is {wanted}")
        except AssertionError as error:
            raise AssertionError(f"{error}, there is {told()}") from None

    def quota(self, cpus):
        self.api.merge(f"{GROUP}/clusterqueues/q", {"spec": {"resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [
                {"name": "f", "resources": [{"name": "cpu", "nominalQuota": str(cpus)}]}]}]}})

    def finish(self):
        """All pods that run come to a good end."""
        eventually(lambda: len(self.api.items(PODS)) == len(self.pods()), "the others are gone")
        for pod in self.api.items(PODS):
            self.api.merge(f"{PODS}/{pod['metadata']['name']}/status",
                           {"status": {"phase": "Succeeded"}})

    def quiet(self):
        eventually(lambda: not self.api.items(JOBS) and not self.api.items(WORKLOADS)
                   and not self.api.items(PODS), "nothing is left in the cluster")

    def test_growth_is_admitted_there_and_the_end_is_one(self):
        self.submit("grows", 2)
        self.wait("grows", [("Admitted", 2)], 2)
        first = self.pods()
        self.resize("grows", 4)
        self.wait("grows", [("WorkloadSliceReplaced", 2), ("Admitted", 4)], 4)
        self.assertTrue(first <= self.pods(), "the first two run on")
        self.resize("grows", 3)  # in place
        self.wait("grows", [("WorkloadSliceReplaced", 2), ("Admitted", 3)], 3)
        self.resize("grows", 6)  # the cluster has 4
        self.wait("grows", [("WorkloadSliceReplaced", 2), ("Admitted", 3), ("waits", 6)], 3)
        self.quota(6)
        self.wait("grows", [("WorkloadSliceReplaced", 2), ("WorkloadSliceReplaced", 3),
                            ("Admitted", 6)], 6)
        self.assertEqual(self.manager.used(), 6)
        self.resize("grows", 2)
        self.wait("grows", [("Admitted", 2), ("WorkloadSliceReplaced", 2),
                            ("WorkloadSliceReplaced", 3)], 2)
        self.finish()
        eventually(lambda: is_shown(self.manager.jobs()["grows"], "Complete"), "it is complete")
        self.quiet()
        eventually(lambda: Places.slices(self.manager, "grows") == [
            ("Succeeded", 2), ("WorkloadSliceReplaced", 2), ("WorkloadSliceReplaced", 3)],
            "its slices have ended")
        self.quota(4)

    def test_an_eviction_there_takes_the_whole(self):
        self.submit("moves", 1)
        self.wait("moves", [("Admitted", 1)], 1)
        self.resize("moves", 3)
        self.wait("moves", [("WorkloadSliceReplaced", 1), ("Admitted", 3)], 3)
        before = self.api.get(f"{JOBS}/moves")["metadata"]["uid"]
        name = next(name for name, each in There(self.api).workloads().items()
                    if is_true(each, "Admitted") and not is_true(each, "Finished"))
        self.api.merge(f"{WORKLOADS}/{name}", {"spec": {"active": False}})

        def anew():
            code, job = self.api.send("GET", f"{JOBS}/moves")
            return code == 200 and job["metadata"]["uid"] != before and len(self.pods()) == 3
        eventually(anew, "it runs anew, in its size")
        eventually(lambda: self.ready("moves") == 3, "the manager shows it")
        self.manager.rest.send("DELETE", f"{JOBS}/moves")
        self.quiet()


if __name__ == "__main__":
    build.run_tests(Cluster, "kueue")

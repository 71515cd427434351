#!/usr/bin/env python3
"""A Sluice host as the manager in front of a Kubernetes cluster: jobs of its queue run there,
whoever decides there, Kueue's released manager or `sluice controller`."""
import base64
import os
import sys
import unittest

import yaml

import build
from client import eventually
from control_plane import ControlPlane
from controller import Controller, is_true
from kubelet import Kubelet
from neighbour import NEEDS, Neighbour, may_run
from objects import Kueue, install

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, os.pardir, "plugins", "multi-cluster", "tests"))

# pylint: disable=wrong-import-position
from places import JOBS, WORKLOADS, Place, is_true as is_shown  # noqa: E402

PODS = "/api/v1/namespaces/team/pods"
QUOTA = 2
# What docs/multi-cluster.md asks for, and nothing else.
RIGHTS = [{"apiGroups": [group], "resources": [kind],
           "verbs": ["get", "list", "watch", "create", "patch", "delete"]}
          for group, kind in (("kueue.x-k8s.io", "workloads"), ("batch", "jobs"))]


class Clusters:
    """The tests; who decides in the cluster is said by those that have them."""
    sluice = programs = ""

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
        cls.manager = Place(
            cls.sluice, 100, "{ load: [ { name: multi-cluster } ] }", ["clusters"],
            extra="executor: { type: none }\n")
        cls.addClassCleanup(cls.manager.host.__exit__)
        cls.connect()

    @classmethod
    def connect(cls):
        """The manager is told of the cluster, as a user that has the rights of the page."""
        roles = "/apis/rbac.authorization.k8s.io/v1/"
        cls.api.post(roles + "clusterroles", {"metadata": {"name": "manager"}, "rules": RIGHTS})
        cls.api.post(roles + "clusterrolebindings", {
            "metadata": {"name": "manager"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "manager"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                          "name": "nobody"}]})
        with open(cls.cluster.kubeconfig("nobody"), encoding="utf-8") as text:
            config = yaml.safe_load(text)
        cluster = config["clusters"][0]["cluster"]
        with open(cls.cluster.path(cluster.pop("certificate-authority")), "rb") as authority:
            cluster["certificate-authority-data"] = base64.b64encode(authority.read()).decode()
        cls.manager.name_clusters({"there": yaml.safe_dump(config)})
        cls.manager.wait_active()

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


class KueueDecides(Clusters, unittest.TestCase):
    @classmethod
    def decide(cls):
        if not may_run():
            raise unittest.SkipTest(NEEDS)
        cls.enterClassContext(Neighbour(cls.cluster, build.find(cls.programs, "kueue")))


class SluiceDecides(Clusters, unittest.TestCase):
    @classmethod
    def decide(cls):
        running = Controller(cls.sluice, cls.cluster, "admin", "--plugins", "none")
        cls.addClassCleanup(running.stop)
        running.start()


if __name__ == "__main__":
    build.run_tests(Clusters, "kueue")

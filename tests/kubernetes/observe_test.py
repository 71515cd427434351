#!/usr/bin/env python3
"""`sluice observe` on a real API server with Kueue's definitions, and nobody who decides."""
import os
import subprocess
import tempfile
import unittest

import build
from client import eventually
from control_plane import ControlPlane
from objects import DEFINITIONS, Kueue, install
from observer import Observer, compare, observe
from proxy import Proxy


class Case(unittest.TestCase):
    sluice = programs = ""
    version = "v1beta2"

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane(build.find(cls.programs, "control-plane"), controllers=False)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        install(cls.cluster, build.find(cls.programs, "crds"), cls.version, cls.change)
        cls.cluster.let_observe()
        cls.kubeconfig = cls.cluster.kubeconfig("observer")
        cls.kueue = Kueue(cls.cluster.api, cls.version)
        cls.kueue.flavor("default")

    @staticmethod
    def change(definition):
        """Of Kueue's definitions, for tests that want other ones."""

    def queue(self, name, cpu, **more):
        """A ClusterQueue of the test's own, with a LocalQueue of the same name."""
        self.kueue.cluster_queue(name, {"default": cpu}, **more)
        self.kueue.local_queue(name, name)

    def verdict(self, workload):
        document, _ = compare(self.sluice, self.kubeconfig)
        return document["workloads"]["default/" + workload]["sluice"]


class Comparing(Case):
    def test_what_is_admitted_counts_as_it_is_stored(self):
        self.queue("stored", "3")
        self.kueue.workload("stored-runs", "stored", "2")
        self.kueue.admit("stored-runs", "stored", "default", "2")
        self.kueue.workload("stored-fits", "stored", "1")
        self.kueue.workload("stored-waits", "stored", "2")
        document, code = compare(self.sluice, self.kubeconfig)
        self.assertEqual(code, 3)
        fits = document["workloads"]["default/stored-fits"]
        self.assertEqual(fits["sluice"]["action"], "Admit")
        self.assertEqual(fits["sluice"]["admission"], [
            {"name": "main", "count": 1, "flavors": {"cpu": "default"}, "usage": {"cpu": "1"}}])
        self.assertEqual(fits["cluster"]["state"], "Pending")
        self.assertFalse(fits["agrees"])
        waits = document["workloads"]["default/stored-waits"]
        self.assertEqual(waits["sluice"]["action"], "Wait")
        self.assertIn("insufficient unused quota for cpu in flavor default",
                      waits["sluice"]["message"])
        self.assertTrue(waits["agrees"])
        self.assertNotIn("default/stored-runs", document["workloads"])

    def test_whom_it_would_preempt(self):
        self.queue("preempting", "2", preemption={"withinClusterQueue": "LowerPriority"})
        self.kueue.workload("low", "preempting", "2")
        self.kueue.admit("low", "preempting", "default", "2")
        self.kueue.workload("high", "preempting", "2", priority=10)
        sluice = self.verdict("high")
        self.assertEqual((sluice["action"], sluice["preempts"]), ("Admit", ["default/low"]))
        text = observe(self.sluice, self.kubeconfig, "--compare").stdout
        self.assertIn("! default/high, queue preempting of ClusterQueue preempting\n"
                      "    Sluice   would admit it, preempting default/low: pod set main: 1 pod, "
                      "2 cpu of flavor default\n", text)

    def test_rights_that_are_missing_are_named(self):
        why = 'error: cannot list workloads.kueue.x-k8s.io: workloads.kueue.x-k8s.io is ' \
            'forbidden: User "nobody" cannot list resource "workloads"'

        def told():  # in two seconds a busy server may have said nothing yet
            done = observe(self.sluice, self.cluster.kubeconfig("nobody"), "--compare",
                           "--wait", "2s")
            self.assertEqual(done.returncode, 1)
            return why in done.stderr
        eventually(told, why)

    def test_a_dump_is_input_for_a_simulation(self):
        self.queue("dumped", "1")
        self.kueue.workload("dumped-fits", "dumped", "1")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "now.yaml")
            done = observe(self.sluice, self.kubeconfig, "--dump", path)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            told = subprocess.run([self.sluice, "simulate", path], capture_output=True, text=True,
                                  timeout=180, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"(?m)default/dumped-fits.*admitted")


class Following(Case):
    def observer(self, kubeconfig=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        running = Observer(self.sluice, kubeconfig or self.kubeconfig, folder.name)
        return self.enterContext(running)

    def test_answers_for_the_cluster_and_changes_nothing(self):
        self.queue("asked", "1")
        self.kueue.workload("asked-waits", "asked", "2")
        observer = self.observer()
        self.assertIn("asked-waits", observer.names("workloads"))
        explained = subprocess.run(
            [self.sluice, "explain", "--kubeconfig", observer.kubeconfig, "default/asked-waits"],
            capture_output=True, text=True, timeout=180, check=True).stdout
        self.assertIn("In the cluster  Pending: nothing is said of it yet", explained)
        self.assertIn("more than it can ever have", explained)
        pods = observer.kubectl("get", "pods", "-A")
        self.assertIn("this does not follow pods; ask the cluster itself", pods.stderr)
        gone = observer.kubectl("delete", "workload", "asked-waits")
        self.assertNotEqual(gone.returncode, 0)
        self.assertIn("asked-waits", {each["metadata"]["name"] for each in self.cluster.api.items(
            "/apis/kueue.x-k8s.io/v1beta2/workloads")})
        self.kueue.workload("asked-later", "asked", "1")
        eventually(lambda: "asked-later" in observer.names("workloads"), "a new workload is seen")
        self.kueue.delete("workloads", "asked-later", "default")
        eventually(lambda: "asked-later" not in observer.names("workloads"), "it goes")

    def test_a_job_is_explained_by_its_workload(self):
        self.queue("jobs", "1")
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "2"}}}
        job = self.cluster.api.post("/apis/batch/v1/namespaces/default/jobs", {
            "metadata": {"name": "big", "labels": {"kueue.x-k8s.io/queue-name": "jobs"}},
            "spec": {"suspend": True, "template": {"spec": {
                "restartPolicy": "Never", "containers": [container]}}}})
        self.kueue.workload("job-big-1a2b3", "jobs", "2", owner=job)
        observer = self.observer()
        # An API server that has much to do answers a first list with what it had shortly before.
        eventually(lambda: "big" in observer.names("jobs") and
                   "job-big-1a2b3" in observer.names("workloads"), "both are seen")
        explained = self.explain(observer, "default/job/big")
        self.assertIn("job-big-1a2b3", explained.stdout, explained.stderr)
        self.assertIn("In the cluster  Pending: nothing is said of it yet", explained.stdout)
        self.assertIn("more than it can ever have", explained.stdout)
        # One that nobody has made a workload of, and one that there is not.
        self.cluster.api.post("/apis/batch/v1/namespaces/default/jobs", {
            "metadata": {"name": "plain"},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}})
        eventually(lambda: "plain" in observer.names("jobs"), "a new job is seen")
        for name in ("plain", "gone"):
            refused = self.explain(observer, "default/job/" + name)
            self.assertNotEqual(refused.returncode, 0, refused.stdout)
            self.assertIn(name, refused.stderr)

    def explain(self, observer, what):
        """The finished process."""
        return subprocess.run([self.sluice, "explain", "--kubeconfig", observer.kubeconfig, what],
                              capture_output=True, text=True, timeout=180, check=False)

    def test_an_account_whose_token_rotates_is_followed(self):
        """As a pod has it: the token is in a file, and the one of before is refused."""
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        tokens = tempfile.TemporaryDirectory()
        self.addCleanup(tokens.cleanup)
        path = os.path.join(tokens.name, "token")

        def new_account():
            self.cluster.api.post(accounts, {"metadata": {"name": "rotating"}})
            return self.cluster.api.post(accounts + "/rotating/token", {
                "spec": {"expirationSeconds": 3600}})["status"]["token"]

        def write(token):
            with open(path, "w", encoding="utf-8") as out:
                out.write(token)

        self.cluster.api.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": "rotating"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "observer"},
            "subjects": [{"kind": "ServiceAccount", "name": "rotating", "namespace": "default"}]})
        write(new_account())
        self.queue("rotated", "1")
        observer = self.observer(self.cluster.kubeconfig("rotating", tokenFile=path))
        observer.names("workloads")
        # An account of the same name is another one: what the first was given counts no more.
        self.cluster.api.delete(accounts + "/rotating")
        token = new_account()
        self.cluster.restart_api_server()  # which remembers whom it has let in
        eventually(lambda: "Unauthorized" in observer.log(), "the old token is refused")
        write(token)
        self.kueue.workload("rotated-later", "rotated", "1")
        eventually(lambda: "rotated-later" in observer.names("workloads"), "the new one counts")

    def test_goes_on_after_the_api_server_was_away(self):
        self.queue("away", "1")
        observer = self.observer()
        self.kueue.workload("away-before", "away", "1")
        self.cluster.restart_api_server()
        self.kueue.workload("away-after", "away", "1")
        self.kueue.delete("workloads", "away-before", "default")
        eventually(lambda: {"away-before", "away-after"} & observer.names("workloads")
                   == {"away-after"}, "the observer is up to date")

    def test_lists_anew_what_was_forgotten_while_its_line_was_cut(self):
        self.queue("cut", "1")
        self.kueue.workload("cut-goes", "cut", "1")
        self.kueue.workload("cut-stays", "cut", "1")
        proxy = Proxy(self.cluster.ports["api"])
        self.addCleanup(proxy.stop)
        line = f"https://127.0.0.1:{proxy.port}"
        observer = self.observer(self.cluster.kubeconfig("observer", server=line))
        lists = self.lists()
        proxy.cut()
        eventually(lambda: "cannot follow workloads" in observer.log(), "the cut is noticed")
        self.kueue.delete("workloads", "cut-goes", "default")
        self.kueue.workload("cut-comes", "cut", "1")
        # The history that leads there is gone: in etcd, and with its process in the API server.
        self.cluster.compact()
        self.cluster.restart_api_server()
        proxy.mend()
        eventually(lambda: {"cut-goes", "cut-stays", "cut-comes"} & observer.names("workloads")
                   == {"cut-stays", "cut-comes"}, "the observer is up to date")
        # A watch cannot have told of it. A server answers before it logs what it was asked.
        eventually(lambda: self.lists() > lists, "workloads were listed anew")
        eventually(lambda: "following workloads.kueue.x-k8s.io again" in observer.log(), "it says")

    def lists(self):
        """How often workloads were listed."""
        return self.cluster.requests_of("observer").count(("list", "workloads", 200))

    def test_nothing_but_reading_was_ever_asked_for(self):
        self.observer().names("workloads")
        def verbs():
            return {verb for verb, _, _ in self.cluster.requests_of("observer")}
        eventually(lambda: "watch" in verbs(), "it follows")
        self.assertLessEqual(verbs(), {"get", "list", "watch"})


class OldVersion(Case):
    """A cluster that serves v1beta1 alone."""
    version = "v1beta1"

    def test_is_followed_in_the_version_that_it_has(self):
        self.queue("old", "1", cohort="all")
        self.kueue.workload("old-fits", "old", "1", priority=1)
        self.kueue.workload("old-waits", "old", "1")
        self.assertEqual(self.verdict("old-fits")["action"], "Admit")
        self.assertEqual(self.verdict("old-waits")["action"], "Wait")


class NewerDefinitions(Case):
    """Definitions with a field that Sluice has never heard of, and one kind less."""

    @staticmethod
    def change(definition):
        if definition["spec"]["names"]["kind"] != "ClusterQueue":
            return
        for version in definition["spec"]["versions"]:
            spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
            spec["properties"]["ofTheFuture"] = {"type": "string"}

    def test_do_not_stop_it(self):
        self.cluster.api.delete(DEFINITIONS + "/cohorts.kueue.x-k8s.io")
        eventually(lambda: self.cluster.api.send(
            "GET", "/apis/kueue.x-k8s.io/v1beta2/cohorts")[0] == 404, "the kind is gone")
        self.queue("future", "1", ofTheFuture="x")
        self.kueue.workload("future-fits", "future", "1")
        done = observe(self.sluice, self.kubeconfig, "--compare", "--log-level", "info")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("! default/future-fits", done.stdout)
        self.assertIn('ClusterQueue: unknown field "spec.ofTheFuture"', done.stderr)
        self.assertIn("the cluster has no cohorts.kueue.x-k8s.io", done.stderr)


if __name__ == "__main__":
    build.run_tests(Case)

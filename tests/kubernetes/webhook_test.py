#!/usr/bin/env python3
"""The webhooks of `sluice controller` on a real control plane: what is stored of what users create,
what is refused and in which words, versions, and what happens while nobody answers."""
import random
import socket
import subprocess
import unittest

import yaml

import build
from client import eventually
from control_plane import ControlPlane
from controller import Controller
from host import Host
from kubelet import Kubelet
from objects import DEFINITIONS, GROUP, Kueue, established

JOBS = "/apis/batch/v1/namespaces/default/jobs"
QUEUES = GROUP + "v1beta2/clusterqueues"
HOOKS = "/apis/admissionregistration.k8s.io/v1/"
SECRET = "/api/v1/namespaces/sluice-system/secrets/sluice-webhook"
WRONG = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
         "metadata": {"name": "bad"},
         "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
             {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}]}]}}


def quiet_port():
    """A free port of those that nobody is given for a connection that he makes: the webhook has to
    be where API servers were told."""
    while True:
        port = random.randrange(20000, 30000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            continue


class Case(unittest.TestCase):
    sluice = programs = ""
    plugins = ("--plugins", "none")

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane(build.find(cls.programs, "control-plane"))
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.api = cls.cluster.api
        cls.port = quiet_port()
        cls.url = f"https://127.0.0.1:{cls.port}"
        cls.give(cls.manifests())
        eventually(lambda: all(established(each) for each in cls.api.items(DEFINITIONS)),
                   "the definitions are established")
        eventually(lambda: cls.api.send("GET", QUEUES)[0] == 200, "queues are served")
        cls.kueue = Kueue(cls.api)
        cls.enterClassContext(Kubelet(cls.api, cpu="64"))

    @classmethod
    def manifests(cls):
        """What a cluster is given, but for the pods: the controllers are processes here."""
        text = subprocess.run(
            [cls.sluice, "manifests", *cls.plugins, "--webhook-url", cls.url],
            capture_output=True, text=True, check=True).stdout
        kept = []
        for each in yaml.safe_load_all(text):
            if each["kind"] in ("Deployment", "Service"):
                continue
            if each["kind"].endswith("Binding"):
                each["subjects"] = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                                     "name": "controllers"}]
            kept.append(each)
        return kept

    @classmethod
    def give(cls, objects):
        done = subprocess.run(
            ["kubectl", "--kubeconfig", cls.cluster.kubeconfig("admin"), "apply", "-f", "-"],
            input=yaml.safe_dump_all(objects), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def controller(self, user="one", decides=True):
        running = Controller(self.sluice, self.cluster, user, *self.plugins, "--webhook-address",
                             f"127.0.0.1:{self.port}")
        self.addCleanup(running.stop)
        running.start(decides)
        try:
            eventually(self.believed, "API servers believe the webhook", 30)
        except AssertionError as error:
            raise AssertionError(f"{error}; log:\n{running.log()[-3000:]}") from None
        return running

    def believed(self):
        """The authority of the Secret is wherever API servers look for it."""
        code, secret = self.api.send("GET", SECRET)
        if code != 200:
            return False
        trust = {secret["data"]["ca.crt"]}
        told = [each["clientConfig"].get("caBundle")
                for kind in ("mutating", "validating")
                for each in self.api.get(HOOKS + f"{kind}webhookconfigurations/sluice-controller")
                ["webhooks"]]
        for each in self.api.items(DEFINITIONS):
            if each["spec"]["conversion"]["strategy"] == "Webhook":
                told.append(each["spec"]["conversion"]["webhook"]["clientConfig"].get("caBundle"))
        return len(told) > 4 and set(told) == trust and \
            self.api.send("POST", QUEUES + "?dryRun=All", WRONG)[0] == 422

    def job(self, name, queue=None, cpu="1", **spec):
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
        labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
        return self.api.send("POST", JOBS, {
            "metadata": {"name": name, "labels": labels},
            "spec": {"template": {
                "metadata": {"annotations": {"test/runs-for": "1"}},
                "spec": {"restartPolicy": "Never", "containers": [container]}}} | spec})

    def doctor(self):
        """Exit status, and what it says."""
        done = subprocess.run([self.sluice, "doctor", "--kubeconfig",
                               self.cluster.kubeconfig("admin"), *self.plugins],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def stored(self, name):
        return self.api.get(f"{JOBS}/{name}")


class Webhooks(Case):
    def test_all_that_is_promised(self):
        """One cluster for all of it: a control plane takes longer to start than this."""
        controller = self.controller()
        self.kueue.flavor("default")
        self.kueue.cluster_queue("q", {"default": "2"})
        self.kueue.local_queue("q", "q")
        self.held_and_admitted()
        self.refused_in_the_words_of_a_host()
        self.read_in_both_versions()
        self.guarded()
        self.give(self.manifests())  # again: whom API servers trust stays
        self.assertTrue(self.believed())
        status, told = self.doctor()
        self.assertEqual(status, 0, told)
        self.assertIn("API servers are answered", told)
        self.away(controller)

    def held_and_admitted(self):
        code, made = self.job("train", "q")
        self.assertEqual((code, made["spec"]["suspend"]), (201, True), made)
        self.assertEqual(made["metadata"]["annotations"]["sluice.dev/created-by"], "admin")
        eventually(lambda: self.stored("train").get("status", {}).get("succeeded") == 1,
                   "it was admitted, and ran", 60)
        code, made = self.job("large", "q", cpu="9")
        self.assertEqual((code, made["spec"]["suspend"]), (201, True))
        code, free = self.job("free")
        self.assertEqual((code, free["spec"]["suspend"]), (201, False))
        self.assertNotIn("sluice.dev/created-by", free["metadata"].get("annotations") or {})

    def refused_in_the_words_of_a_host(self):
        code, answer = self.api.send("POST", QUEUES, WRONG)
        with Host(self.sluice, memory=True, extra="executor: { type: none }\n",
                  plugins="{ load: [] }") as host:
            told = host.run("create", "-f", "-", stdin=yaml.safe_dump(WRONG)).stderr
        self.assertEqual(code, 422, answer)
        said = answer["message"].split("denied the request: ", 1)[1].split("is invalid: ", 1)[1]
        self.assertIn("must be greater than or equal to 0", said)
        self.assertIn(said, told)
        code, answer = self.job("soon", "q", backoffLimit=-1)
        self.assertEqual(code, 422, answer)

    def read_in_both_versions(self):
        old = Kueue(self.api, "v1beta1")
        made = old.cluster_queue("older", {"default": "3"}, cohort="c")
        self.assertEqual((made["apiVersion"], made["spec"]["cohort"]),
                         ("kueue.x-k8s.io/v1beta1", "c"))
        path = GROUP + "{}/clusterqueues/older"
        self.assertEqual(self.api.get(path.format("v1beta2"))["spec"]["cohortName"], "c")
        self.assertEqual(self.api.get(path.format("v1beta1"))["spec"]["cohort"], "c")
        names = [each["metadata"]["name"] for each in
                 self.api.items(GROUP + "v1beta1/clusterqueues")]
        self.assertEqual(names, ["older", "q"])
        changed = self.api.merge(path.format("v1beta1"), {"spec": {"cohort": "d"}})
        self.assertEqual(changed["spec"]["cohort"], "d")
        self.assertEqual(self.api.get(path.format("v1beta2"))["spec"]["cohortName"], "d")
        # Judged in the stored version, told in the words for it.
        code, answer = self.api.send(
            "PATCH", path.format("v1beta1"),
            {"spec": {"resourceGroups": WRONG["spec"]["resourceGroups"]}},
            "application/merge-patch+json")
        self.assertEqual(code, 422, answer)

    def guarded(self):
        """What the controller notes in a job is not for others to write."""
        note = {"metadata": {"annotations": {"sluice.dev/started-with": "{}"}}}
        self.assertNotIn("sluice.dev/started-with",
                         self.api.merge(f"{JOBS}/large", note)["metadata"]["annotations"])

    def away(self, controller):
        """Nobody answers: nothing begins that should wait. And another replica goes on."""
        controller.kill()
        code, answer = self.job("meanwhile", "q")
        self.assertEqual(code, 500, answer)
        self.assertIn("failed calling webhook \"jobs.sluice.dev\"", answer["message"])
        status, told = self.doctor()
        self.assertEqual(status, 3, told)
        self.assertIn("→ no controller is ready: kubectl -n sluice-system get pods", told)
        before = self.api.get(SECRET)["data"]
        self.controller("other")
        self.assertEqual(self.api.get(SECRET)["data"], before)
        code, made = self.job("meanwhile", "q")
        self.assertEqual((code, made["spec"]["suspend"]), (201, True), made)
        eventually(lambda: self.stored("meanwhile").get("status", {}).get("succeeded") == 1,
                   "it was admitted, and ran", 60)


class WithPlugins(Case):
    """Pods that have no quota yet: made by Kubernetes' own controllers, held by a plugin's gate."""
    plugins = ("--plugins", "elastic-jobs")
    pods_path = "/api/v1/namespaces/default/pods"

    def gated(self):
        return [each["metadata"]["name"] for each in self.api.items(self.pods_path)
                if each["spec"].get("schedulingGates")]

    def running(self):
        return [each for each in self.api.items(self.pods_path)
                if each["status"].get("phase") == "Running"]

    def test_pods_wait_for_quota_behind_a_gate(self):
        self.controller()
        self.kueue.flavor("default")
        self.kueue.cluster_queue("q", {"default": "4"})
        self.kueue.local_queue("q", "q")
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
        self.api.post(JOBS, {
            "metadata": {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": "q"},
                         "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
            "spec": {"parallelism": 2, "completions": 100, "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}}}})
        eventually(lambda: len(self.running()) == 2, "two pods run", 30)
        self.assertEqual(self.gated(), [])
        self.api.merge(f"{JOBS}/train", {"spec": {"parallelism": 6}})
        eventually(lambda: len(self.gated()) == 4, "four more wait", 30)
        code, answer = self.api.send("PATCH", f"{self.pods_path}/{self.gated()[0]}",
                                     {"spec": {"schedulingGates": None}},
                                     "application/merge-patch+json")
        self.assertEqual(code, 422, answer)
        self.assertIn("is lifted by the system", answer["message"])
        self.api.merge(f"{JOBS}/train", {"spec": {"parallelism": 4}})
        eventually(lambda: len(self.running()) == 4, "four run", 30)
        self.api.merge(f"{JOBS}/train", {"spec": {"parallelism": 6}})
        eventually(lambda: len(self.gated()) == 2, "two more wait", 30)
        groups = [{"coveredResources": ["cpu"], "flavors": [
            {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "6"}]}]}]
        self.api.merge(f"{QUEUES}/q", {"spec": {"resourceGroups": groups}})
        eventually(lambda: len(self.running()) == 6, "all six run", 30)
        self.assertEqual(self.gated(), [])


if __name__ == "__main__":
    build.run_tests(Case)

"""A cluster that was given what `sluice manifests` prints, and controllers that its API servers
ask."""
import subprocess
import unittest

import yaml

import build
from client import eventually
from control_plane import ControlPlane
from controller import Controller
from kubelet import Kubelet
from objects import DEFINITIONS, GROUP, Kueue, established
from ports import own_port

JOBS = "/apis/batch/v1/namespaces/default/jobs"
QUEUES = GROUP + "v1beta2/clusterqueues"
WRITES = ("create", "update", "patch", "delete")
HOOKS = "/apis/admissionregistration.k8s.io/v1/"
SECRET = "/api/v1/namespaces/sluice-system/secrets/sluice-webhook"
WRONG = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
         "metadata": {"name": "bad"},
         "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
             {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}]}]}}


class Case(unittest.TestCase):
    sluice = programs = ""
    plugins = ("--plugins", "none")
    more = ()  # arguments of sluice manifests

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane(build.find(cls.programs, "control-plane"))
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.api = cls.cluster.api
        cls.port = own_port()
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
            [cls.sluice, "manifests", *cls.plugins, *cls.more, "--webhook-url", cls.url],
            capture_output=True, text=True, check=True).stdout
        kept = []
        for each in cls.parsed(text):
            if each["kind"] in ("Deployment", "Service"):
                continue
            if each["kind"].endswith("Binding"):
                each["subjects"].append({"apiGroup": "rbac.authorization.k8s.io",
                                         "kind": "Group", "name": "controllers"})
            kept.append(each)
        return kept

    @staticmethod
    def parsed(text):
        return list(yaml.safe_load_all(text))

    @classmethod
    def give(cls, objects):
        done = subprocess.run(
            ["kubectl", "--kubeconfig", cls.cluster.kubeconfig("admin"), "apply", "-f", "-"],
            input=yaml.safe_dump_all(objects), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def controller(self, user="one", decides=True, *arguments):
        running = Controller(self.sluice, self.cluster, user, *self.plugins, *(
            arguments or ("--webhook-address", f"127.0.0.1:{self.port}")))
        self.addCleanup(running.stop)
        running.start(decides)
        try:
            eventually(self.believed, "API servers believe the webhook")
        except AssertionError as error:
            raise AssertionError(f"{error}; log:\n{running.log()[-3000:]}") from None
        return running

    def tearDown(self):
        """What `sluice manifests` allows is all that the controllers write."""
        for user in ("one", "other"):
            refused = [each for each in self.cluster.requests_of(user)
                       if each[0] in WRITES and each[2] == 403]
            self.assertEqual(refused, [], user)

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
                              capture_output=True, text=True, timeout=180, check=False)
        return done.returncode, done.stdout + done.stderr

    def stored(self, name):
        return self.api.get(f"{JOBS}/{name}")

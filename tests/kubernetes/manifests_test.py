#!/usr/bin/env python3
"""`sluice manifests` on a real API server without Kueue's definitions: what it prints is taken, and
what it says of objects is what Sluice's own API says of them."""
import base64
import glob
import json
import os
import subprocess
import tempfile
import unittest
import urllib.request

import yaml

import build
import samples
from client import Api, eventually
from control_plane import ControlPlane
from definition_fields import TEMPLATE, difference, versions
from host import Host
from objects import DEFINITIONS, Kueue, established, install
from observer import Observer, compare

CONVERTED = ("ClusterQueue", "Cohort", "LocalQueue", "Workload", "MultiKueueCluster")
PLUGINS = ("admission-fair-sharing", "concurrent-admission", "elastic-jobs",
           "flavor-fungibility", "multi-cluster", "pod-groups", "provisioning-check")
GROUP = "/apis/kueue.x-k8s.io/"


def manifests(sluice, *arguments):
    """What is printed, as a text."""
    return subprocess.run([sluice, "manifests", *arguments], capture_output=True, text=True,
                          timeout=180, check=True).stdout


def documents(text, kind="CustomResourceDefinition"):
    return [each for each in yaml.safe_load_all(text) if each and each["kind"] == kind]


def kubectl(kubeconfig, *arguments, text=None):
    """The finished process."""
    return subprocess.run(["kubectl", "--kubeconfig", kubeconfig, *arguments], input=text,
                          capture_output=True, text=True, timeout=300, check=False)


class Case(unittest.TestCase):
    sluice = programs = ""

    @classmethod
    def start_cluster(cls):
        cls.cluster = ControlPlane(build.find(cls.programs, "control-plane"), controllers=False)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.kubeconfig = cls.cluster.kubeconfig("admin")

    @classmethod
    def apply(cls, text):
        """As the page says: kubectl apply -f -, twice: nothing changes when nothing is new."""
        first = kubectl(cls.kubeconfig, "apply", "-f", "-", text=text)
        if first.returncode != 0 or first.stderr:
            raise AssertionError(first.stdout + first.stderr)
        return kubectl(cls.kubeconfig, "apply", "-f", "-", text=text)

    @classmethod
    def define(cls):
        cls.text = manifests(cls.sluice, "--definitions-only")
        cls.again = cls.apply(cls.text)
        eventually(lambda: all(established(each) for each in cls.cluster.api.items(DEFINITIONS)),
                   "the definitions are established")
        eventually(lambda: cls.cluster.api.send("GET", GROUP + "v1beta2/workloads")[0] == 200,
                   "workloads are served")


class Definitions(Case):
    @classmethod
    def setUpClass(cls):
        cls.start_cluster()
        cls.define()
        plugins = os.path.join(os.path.dirname(cls.sluice), os.pardir, "lib/sluice/plugins")
        names = ", ".join(f"{{ name: {each} }}" for each in PLUGINS)
        cls.host = Host(cls.sluice, memory=True, extra="executor: { type: none }\n",
                        plugins=f"{{ directory: {os.path.abspath(plugins)}, load: [{names}] }}")
        cls.enterClassContext(cls.host)
        with open(cls.host.kubeconfig, encoding="utf-8") as text:
            config = yaml.safe_load(text)
        server = config["clusters"][0]["cluster"]
        authority = os.path.join(cls.host.folder, "ca.crt")
        with open(authority, "wb") as out:
            out.write(base64.b64decode(server["certificate-authority-data"]))
        cls.own = Api(server["server"], authority, config["users"][0]["user"]["token"])
        cls.plurals = {each["spec"]["names"]["kind"]: each["spec"]
                       for each in documents(cls.text)}

    def test_are_established_and_nothing_is_said_against_them(self):
        found = {each["metadata"]["name"]: each["status"]["conditions"]
                 for each in self.cluster.api.items(DEFINITIONS)}
        self.assertEqual(set(found), {each["metadata"]["name"] for each in documents(self.text)})
        self.assertEqual(len(found), 11)
        for name, conditions in found.items():
            self.assertEqual({each["type"]: each["status"] for each in conditions},
                             {"NamesAccepted": "True", "Established": "True"}, name)

    def test_of_other_groups_are_taken(self):
        """Those that have owners of their own in most clusters; an API server refuses what is not
        structural, and what it does not know."""
        text = manifests(self.sluice, "--definitions-only", "--groups",
                         "ray.io,autoscaling.x-k8s.io")
        self.assertEqual({each["spec"]["names"]["kind"] for each in documents(text)},
                         {"RayCluster", "ProvisioningRequest"})
        for each in documents(text):
            self.cluster.api.post(DEFINITIONS + "?dryRun=All&fieldValidation=Strict", each)

    def test_are_the_same_when_they_are_printed_and_applied_again(self):
        self.assertEqual(self.text, manifests(self.sluice, "--definitions-only"))
        lines = self.again.stdout.splitlines()
        self.assertEqual((self.again.returncode, self.again.stderr), (0, ""))
        self.assertEqual([each for each in lines if not each.endswith(" unchanged")], [])

    def test_without_its_plugin_a_field_is_not_there(self):
        without = manifests(self.sluice, "--definitions-only", "--plugins", "none")
        for word in ("flavorFungibility", "concurrentAdmission", "admissionConstraints",
                     "ProvisioningRequestConfig"):
            self.assertIn(word, self.text)
            self.assertNotIn(word, without)

    def ask(self, api, thing):
        """What the server says to the object, created for the look of it."""
        spec = self.plurals[thing["kind"]]
        where = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
        thing = json.loads(json.dumps(thing))
        if where:
            thing["metadata"].pop("namespace", None)
        path = f"/apis/{thing['apiVersion']}{where}/{spec['names']['plural']}"
        code, answer = api.send("POST", path + "?dryRun=All&fieldValidation=Strict", thing)
        said = answer.get("message", "") if isinstance(answer, dict) else answer
        return code < 300, f"{code} {said}"

    def both(self, objects):
        """(label, Sluice's answer, the cluster's) of each."""
        return [(label, self.ask(self.own, each), self.ask(self.cluster.api, each))
                for label, each in objects]

    def test_take_the_samples_that_sluice_takes(self):
        objects = [(label, each) for label, each in samples.stored()
                   if each["apiVersion"].endswith("v1beta2")]
        self.assertGreater(len(objects), 50)
        for label, own, cluster in self.both(objects):
            self.assertTrue(own[0], f"{label}: {own[1]}")
            self.assertTrue(cluster[0], f"{label}: {cluster[1]}")

    def test_refuse_what_sluice_refuses(self):
        answers = self.both(samples.changed(samples.CHANGES))
        for label, own, cluster in answers:
            self.assertEqual(own[0], cluster[0], f"{label}:\n  {own[1]}\n  {cluster[1]}")
        refused = sum(1 for _, own, _ in answers if not own[0])
        self.assertGreater(refused, 80)
        self.assertGreater(len(answers) - refused, 20)

    def test_take_what_only_a_program_can_judge(self):
        for label, own, cluster in self.both(samples.changed(samples.ONLY_SLUICE)):
            self.assertFalse(own[0], f"{label}: Sluice takes it")
            self.assertTrue(cluster[0], f"{label}: it can be said after all: {cluster[1]}")

    def test_refuse_what_only_an_api_server_refuses(self):
        for label, own, cluster in self.both(samples.changed(samples.ONLY_CLUSTER)):
            self.assertTrue(own[0], f"{label}: {own[1]}")
            self.assertFalse(cluster[0], f"{label}: the cluster takes it")

    def test_keep_what_may_not_change(self):
        """The same updates are refused on both sides."""
        changes = [("LocalQueue", {"spec": {"clusterQueue": "b"}}, False),
                   ("LocalQueue", {"spec": {"clusterQueue": None}}, True),
                   ("LocalQueue", {"spec": {"stopPolicy": "Hold"}}, True),
                   ("AdmissionCheck", {"spec": {"controllerName": "b"}}, False),
                   ("ResourceFlavor", {"spec": {"topologyName": "t"}}, True),
                   ("ResourceFlavor", {"spec": {"topologyName": "u"}}, False),
                   ("ResourceFlavor", {"spec": {"topologyName": None}}, False)]
        for api in (self.own, self.cluster.api):
            for kind in ("LocalQueue", "AdmissionCheck", "ResourceFlavor"):
                api.post(self.path(kind), samples.sample(kind, {"metadata": {"name": "kept"}}))
            for kind, change, good in changes:
                code, answer = api.send("PATCH", self.path(kind) + "/kept", change,
                                        "application/merge-patch+json")
                self.assertEqual(code, 200 if good else 422, f"{kind} {change}: {answer}")

    def test_keep_what_may_not_change_with_quota(self):
        """A workload that Sluice has admitted, and one that says so in the cluster."""
        for api in (self.own, self.cluster.api):
            for name in ("first", "second"):
                api.post(GROUP + "v1beta2/workloadpriorityclasses", samples.sample(
                    "WorkloadPriorityClass", {"metadata": {"name": name}}))
            kueue = Kueue(api)
            kueue.flavor("quota")
            kueue.cluster_queue("quota", {"quota": "1"})
            kueue.local_queue("quota", "quota")
            kueue.workload("quota", "quota", "1", priority=1, priorityClassRef={
                "group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "first"})
        Kueue(self.cluster.api).admit("quota", "quota", "quota", "1")
        path = self.path("Workload") + "/quota"
        eventually(lambda: "admission" in self.own.get(path).get("status", {}), "it is admitted")
        changes = [({"queueName": "other"}, False), ({"queueName": None}, False),
                   ({"priorityClassRef": None}, False),
                   ({"priorityClassRef": {"group": "scheduling.k8s.io",
                                          "kind": "PriorityClass"}}, False),
                   ({"priorityClassRef": {"name": "second"}}, True),
                   ({"maximumExecutionTimeSeconds": 5}, False), ({"active": False}, True)]
        for change, good in changes:
            for api in (self.own, self.cluster.api):
                code, answer = api.send("PATCH", path + "?dryRun=All", {"spec": change},
                                        "application/merge-patch+json")
                self.assertEqual(code, 200 if good else 422, f"{change}: {answer}")

    def test_keep_the_name_of_a_cluster(self):
        path = self.path("Workload") + "/placed"
        for api in (self.own, self.cluster.api):
            Kueue(api).workload("placed", "nowhere", "1")
            for name, good in (("one", True), ("one", True), ("two", False), (None, True)):
                code, answer = api.send("PATCH", path + "/status", {
                    "status": {"clusterName": name}}, "application/merge-patch+json")
                self.assertEqual(code, 200 if good else 422, f"{name}: {answer}")

    def path(self, kind):
        spec = self.plurals[kind]
        where = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
        return f"{GROUP}v1beta2{where}/{spec['names']['plural']}"

    def test_versions_that_are_served_say_the_same(self):
        self.cluster.api.post(GROUP + "v1beta1/resourceflavors", {
            "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor",
            "metadata": {"name": "old"}, "spec": {"nodeLabels": {"a": "b"}, "tolerations": [
                {"key": "k", "operator": "Exists"}]}})
        old, new = (self.cluster.api.get(f"{GROUP}{version}/resourceflavors/old")
                    for version in ("v1beta1", "v1beta2"))
        self.assertEqual(old["spec"], new["spec"])
        self.assertEqual(self.cluster.api.send("GET", GROUP + "v1beta1/clusterqueues")[0], 404)

    def test_are_explained(self):
        told = kubectl(self.kubeconfig, "explain", "clusterqueue.spec.preemption").stdout
        self.assertIn("Which workloads may be evicted for one of this queue.", told)
        self.assertIn("reclaimWithinCohort", told)
        told = kubectl(self.kubeconfig, "explain", "workload.spec.podSets.template.spec").stdout
        self.assertIn("containers", told)

    def test_show_the_columns_of_sluice(self):
        """But for what Sluice computes."""
        for api in (self.own, self.cluster.api):
            for kind in ("Cohort", "WorkloadPriorityClass"):
                api.post(self.path(kind), samples.sample(kind, {"metadata": {"name": "shown"}}))
        kueue = Kueue(self.cluster.api)
        kueue.workload("shown", "a", "1", priority=3)
        computed = {"Reason", "Message", "Node Labels", "Options"}
        for kind in ("Cohort", "WorkloadPriorityClass", "Workload", "ClusterQueue", "LocalQueue",
                     "AdmissionCheck", "ResourceFlavor"):
            own, cluster = (self.columns(api, kind) for api in (self.own, self.cluster.api))
            self.assertEqual([each for each in own if each[0] not in computed], cluster, kind)
        told = kubectl(self.kubeconfig, "get", "workload", "shown").stdout.splitlines()
        self.assertRegex(told[0], r"^NAME +QUEUE +RESERVED IN +ADMITTED +FINISHED +AGE$")
        self.assertRegex(told[1], r"^shown +a +\d+s$")

    def columns(self, api, kind):
        table = json.loads(self.table(api, kind))
        return [(each["name"], each["priority"]) for each in table["columnDefinitions"]]

    def table(self, api, kind):
        request = urllib.request.Request(api.server + self.path(kind))
        request.add_header("Authorization", "Bearer " + api.token)
        request.add_header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
        with urllib.request.urlopen(request, context=api.tls, timeout=180) as answer:
            return answer.read().decode()

    def test_roles_let_their_users_do_what_they_say(self):
        batch = self.cluster.api
        batch.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": "queue-editors"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "kueue-clusterqueue-editor-role"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                          "name": "nobody"}]})
        nobody = self.cluster.kubeconfig("nobody")
        eventually(lambda: kubectl(nobody, "auth", "can-i", "create",
                                   "clusterqueues").stdout == "yes\n", "the role counts")
        self.assertEqual(kubectl(nobody, "auth", "can-i", "create", "cohorts").stdout, "no\n")


class Observing(Case):
    """The observer with the rights that are printed for it, as its ServiceAccount."""

    @classmethod
    def setUpClass(cls):
        cls.start_cluster()
        cls.define()
        again = cls.apply(manifests(cls.sluice, "--observe"))
        assert again.returncode == 0, again.stderr

    def account(self):
        """A kubeconfig of the ServiceAccount."""
        token = self.cluster.api.post(
            "/api/v1/namespaces/sluice-system/serviceaccounts/sluice-observer/token",
            {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        return self.cluster.kubeconfig("sluice-observer", token=token)

    def test_follows_a_cluster_with_these_definitions(self):
        kueue = Kueue(self.cluster.api)
        kueue.flavor("default")
        kueue.cluster_queue("team", {"default": "1"})
        kueue.local_queue("team", "team")
        kueue.workload("fits", "team", "1", priority=1)
        kueue.workload("waits", "team", "1")
        kubeconfig = self.account()
        found, _ = compare(self.sluice, kubeconfig)
        self.assertEqual({name: each["sluice"]["action"]
                          for name, each in found["workloads"].items()},
                         {"default/fits": "Admit", "default/waits": "Wait"})
        self.assertEqual((found.get("unread"), found.get("unknownFields")), (None, None))
        with tempfile.TemporaryDirectory() as folder, \
                Observer(self.sluice, kubeconfig, folder) as observer:
            self.assertLessEqual({"fits", "waits"}, observer.names("workloads"))
            kueue.workload("later", "team", "1")
            eventually(lambda: "later" in observer.names("workloads"), "a new workload is seen")
        user = "system:serviceaccount:sluice-system:sluice-observer"
        asked = self.cluster.requests_of(user)
        self.assertEqual({verb for verb, resource, _ in asked if resource}, {"list", "watch"})
        self.assertNotIn(403, {code for _, _, code in asked}, "a right is missing")

    def test_the_objects_are_there(self):
        at = "/namespaces/sluice-system/"
        pods = self.cluster.api.get("/apis/apps/v1" + at + "deployments/sluice-observer")
        self.assertEqual(pods["spec"]["replicas"], 1)
        self.assertEqual(self.cluster.api.get("/api/v1" + at + "services/sluice-observer")[
            "spec"]["ports"][0]["port"], 6480)
        # Where nothing may run that asks for more than it needs, the pod may.
        self.cluster.api.merge("/api/v1/namespaces/sluice-system", {"metadata": {"labels": {
            "pod-security.kubernetes.io/enforce": "restricted"}}})
        pod = pods["spec"]["template"] | {"apiVersion": "v1", "kind": "Pod"}
        pod["metadata"]["name"] = "observer"
        self.cluster.api.post("/api/v1" + at + "pods?dryRun=All", pod)


class BesideKueue(Case):
    """Where Kueue's own definitions are, those that convert by its webhook are not taken over."""

    @classmethod
    def setUpClass(cls):
        cls.start_cluster()

        def convert(definition):
            if definition["spec"]["names"]["kind"] not in CONVERTED:
                return
            definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://127.0.0.1:1/convert"}}}

        install(cls.cluster, build.find(cls.programs, "crds"), "both", convert)

    def converted(self):
        return {each["spec"]["names"]["kind"]: each["spec"]
                for each in self.cluster.api.items(DEFINITIONS)
                if each["spec"]["names"]["kind"] in CONVERTED}

    def test_they_stay_as_they_are(self):
        before = self.converted()
        done = kubectl(self.kubeconfig, "apply", "-f", "-",
                       text=manifests(self.sluice, "--definitions-only", "--only",
                                      "CustomResourceDefinition"))
        self.assertNotEqual(done.returncode, 0)
        refused = done.stderr.count("spec.conversion.webhookClientConfig: Forbidden")
        self.assertEqual(refused, len(CONVERTED))
        self.assertEqual(before, self.converted())


class Fields(unittest.TestCase):
    """What Kueue's definitions say of each field, and what Sluice's say: docs/kubernetes.md has
    the table. No cluster is asked."""

    ADDED = {
        "AdmissionCheck": ["spec.preemptionPolicy"],
        "ClusterQueue": ["spec.concurrentAdmission",
                         "spec.concurrentAdmissionPolicy.explicitVariants"],
        "Workload": ["spec.admissionConstraints", "status.admissionChecks[].reason",
                     "status.options"],
    }
    OPERATORS = (None, ["DoesNotExist", "Exists", "In", "NotIn"])
    CHANGED = {
        "ClusterQueue": {
            "spec.concurrentAdmissionPolicy.migration.mode": {"maxLength": (253, None)},
            "spec.namespaceSelector.matchExpressions[].operator": {"enum": OPERATORS}},
        "MultiKueueConfig": {"spec.clusters": {"x-kubernetes-list-type": ("atomic", "set")}},
        "ProvisioningRequestConfig": {
            "spec.retryStrategy." + name: {"minimum": (None, 0)}
            for name in ("backoffBaseSeconds", "backoffLimitCount", "backoffMaxSeconds")},
        "Workload": {
            "spec.podSets[].topologyRequest.podSetSliceSize": {"minimum": (None, 1)},
            "spec.podSets[].topologyRequest.subGroupCount": {"minimum": (None, 0)}},
    }

    @classmethod
    def setUpClass(cls):
        cls.theirs = {}
        for path in glob.glob(os.path.join(build.find(Case.programs, "crds"), "*.yaml")):
            with open(path, encoding="utf-8") as text:
                definition = yaml.safe_load(text)
            cls.theirs[definition["spec"]["names"]["kind"]] = definition
        cls.ours = {each["spec"]["names"]["kind"]: each
                    for each in documents(manifests(Case.sluice, "--definitions-only",
                                                    "--groups", "kueue.x-k8s.io"))}

    def test_the_kinds(self):
        self.assertEqual(set(self.theirs) - set(self.ours),
                         {"Topology"})
        self.assertEqual(set(self.ours) - set(self.theirs), set())
        for kind, ours in self.ours.items():
            theirs = self.theirs[kind]
            self.assertEqual(ours["spec"]["scope"], theirs["spec"]["scope"])
            for name in ("plural", "singular", "listKind"):
                self.assertEqual(ours["spec"]["names"][name], theirs["spec"]["names"][name])
            self.assertLessEqual(set(theirs["spec"]["names"].get("shortNames", [])),
                                 set(ours["spec"]["names"].get("shortNames", [])), kind)

    def differences(self, kind, version):
        return difference(versions(self.theirs[kind])[version], versions(self.ours[kind])[version])

    def test_no_field_of_either_version_is_missing(self):
        for kind in self.ours:
            for version in ("v1beta2", "v1beta1"):
                self.assertEqual(self.differences(kind, version)[0], [], f"{kind} {version}")

    def test_what_is_said_differs_only_as_the_page_says(self):
        for kind in self.ours:
            _, added, changed = self.differences(kind, "v1beta2")
            self.assertEqual([each for each in added if TEMPLATE not in each],
                             self.ADDED.get(kind, []), kind)
            self.assertEqual({place: what for place, what in changed.items()
                              if TEMPLATE not in place}, self.CHANGED.get(kind, {}), kind)

    def test_of_pod_templates_less_is_demanded(self):
        _, _, changed = self.differences("Workload", "v1beta2")
        more = {}
        for place, what in changed.items():
            if "required" in what and TEMPLATE in place:
                theirs, ours = what["required"]
                more[place] = set(ours or []) - set(theirs or [])
        self.assertGreater(len(more), 100)
        self.assertEqual({place for place, demanded in more.items() if demanded}, set())


if __name__ == "__main__":
    build.run_tests(Case)

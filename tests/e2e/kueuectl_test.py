#!/usr/bin/env python3
"""What Kueue's command-line plugin (kueuectl) sends, request by request, and the plugin itself
where it is on the PATH as kubectl-kueue.

    kueuectl_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]

Releases up to 0.14 speak v1beta1, later ones v1beta2; both are tried. Its client is written in Go:
fields without a value are there all the same, as null or {}.
"""
import argparse
import os
import shutil
import subprocess
import sys
import unittest

from host import Host, eventually
from rest import Rest

VERSIONS = ("v1beta1", "v1beta2")
JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"


def new(version, kind, name, namespace=None, **more):
    """An object as a Go client sends it."""
    metadata = {"name": name, "creationTimestamp": None}
    if namespace:
        metadata["namespace"] = namespace
    return {"kind": kind, "apiVersion": f"kueue.x-k8s.io/{version}", "metadata": metadata} | more


def queue(version, name, cohort, cpu):
    quota = {"name": "cpu", "nominalQuota": str(cpu)}
    field = "cohort" if version == "v1beta1" else "cohortName"
    spec = {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
        {"name": "alpha", "resources": [quota]}]}],
        "queueingStrategy": "BestEffortFIFO", "namespaceSelector": {},
        "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}
    if cohort:
        spec[field] = cohort
    return new(version, "ClusterQueue", name, spec=spec,
               status={"flavorsReservation": None, "flavorsUsage": None})


def job(name, cpu=1, queue_name="lq"):
    return {"metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": queue_name}},
            "spec": {"template": {"spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [
                    {"name": "c", "image": "registry.k8s.io/pause",
                     "resources": {"requests": {"cpu": str(cpu)}}}]}}}}


class Live(unittest.TestCase):
    sluice = ""

    @classmethod
    def setUpClass(cls):
        cls.host = Host(cls.sluice, memory=True, extra="executor: { nodes: "
                        "[{ name: one, capacity: { cpu: 64, memory: 64Gi } }] }\n").start()
        cls.rest = Rest(cls.host.kubeconfig)
        for version, flavor, name in (("v1beta1", "alpha", "cq"), ("v1beta2", "beta", "other")):
            cls.post(f"/apis/kueue.x-k8s.io/{version}/resourceflavors",
                     new(version, "ResourceFlavor", flavor, spec={"nodeLabels": {"a": flavor}}
                         if flavor == "beta" else {}))
            cls.post(f"/apis/kueue.x-k8s.io/{version}/clusterqueues",
                     queue(version, name, "", 9))
        cls.post(cls.local("v1beta1"), new("v1beta1", "LocalQueue", "lq", "default",
                                           spec={"clusterQueue": "cq"},
                                           status={"flavorsReservation": None}))

    @classmethod
    def tearDownClass(cls):
        cls.host.__exit__()

    @staticmethod
    def local(version):
        return f"/apis/kueue.x-k8s.io/{version}/namespaces/default/localqueues"

    @staticmethod
    def workloads(version):
        return f"/apis/kueue.x-k8s.io/{version}/namespaces/default/workloads"

    @classmethod
    def post(cls, path, body):
        code, answer = cls.rest.send("POST", path, body)
        if code != 201:
            raise AssertionError(f"POST {path}: {code} {answer}")
        return answer

    def patch(self, path, spec, **parameters):
        query = "?" + "&".join(f"{k}={v}" for k, v in parameters.items()) if parameters else ""
        code, answer = self.rest.send("PATCH", path + query, {"spec": spec},
                                      content="application/merge-patch+json")
        self.assertEqual(code, 200, answer)
        return answer

    def workload(self, name, version="v1beta1"):
        uid = self.rest.get(f"{JOBS}/{name}")["metadata"]["uid"]
        path = f"{self.workloads(version)}?labelSelector=kueue.x-k8s.io%2Fjob-uid%3D{uid}&limit=500"
        return eventually(lambda: self.rest.get(path)["items"], f"{name} has a workload")[0]

    def suspended(self, name):
        return self.rest.get(f"{JOBS}/{name}")["spec"]["suspend"]

    def submit(self, name, cpu=1):
        self.post(JOBS, job(name, cpu))
        self.addCleanup(self.gone, name)

    def running(self, name, cpu=1):
        self.submit(name, cpu)
        eventually(lambda: not self.suspended(name), f"{name} starts")

    def gone(self, name):
        self.rest.send("DELETE", f"{JOBS}/{name}")
        eventually(lambda: self.rest.get(f"{PODS}?labelSelector=job-name%3D{name}")["items"] == [],
                   "its pods are gone")


class Requests(Live):
    def test_create(self):
        for version in VERSIONS:
            path = f"/apis/kueue.x-k8s.io/{version}/clusterqueues"
            body = queue(version, f"made-{version}", "cohort", 4)
            code, _ = self.rest.send("POST", path + "?dryRun=All", body)
            self.assertEqual(code, 201)
            self.assertEqual(self.rest.send("GET", f"{path}/made-{version}")[0], 404)
            made = self.post(path, body)
            self.assertEqual((made["kind"], made["apiVersion"]),
                             ("ClusterQueue", f"kueue.x-k8s.io/{version}"))
            body = new(version, "LocalQueue", f"made-{version}", "default",
                       spec={"clusterQueue": f"made-{version}"},
                       status={"flavorsReservation": None})
            self.post(self.local(version), body)
            code, answer = self.rest.send("POST", self.local(version), body)
            self.assertEqual((code, answer["reason"]), (409, "AlreadyExists"))
            code, answer = self.rest.send("GET", path + "/none")
            self.assertEqual((code, answer["reason"]), (404, "NotFound"))

    def test_lists(self):
        for version in VERSIONS:
            base = f"/apis/kueue.x-k8s.io/{version}"
            for path, kind in ((f"{base}/clusterqueues", "ClusterQueueList"),
                               (f"{base}/resourceflavors", "ResourceFlavorList"),
                               (f"{base}/localqueues", "LocalQueueList"),
                               (self.local(version), "LocalQueueList"),
                               (self.workloads(version), "WorkloadList")):
                self.assertEqual(self.rest.get(path + "?limit=500")["kind"], kind)
            # Shown in its columns.
            status = eventually(lambda of=base: self.active_status(of, "cq"), "cq is active")
            self.assertIsInstance(status["pendingWorkloads"], int)
            self.assertIsInstance(status["admittedWorkloads"], int)

    def active_status(self, base, name):
        """The status of a ClusterQueue in the list, once it is active."""
        for queue in self.rest.get(f"{base}/clusterqueues")["items"]:
            status = queue.get("status", {})
            if queue["metadata"]["name"] == name and any(
                    c["type"] == "Active" and c["status"] == "True"
                    for c in status.get("conditions", [])):
                return status
        return None

    def test_list_of_workloads(self):
        self.running("first", 9)
        self.submit("second", 9)
        for version in VERSIONS:
            eventually(lambda: self.workload("second", version).get("status"), "it is judged")
            waiting = self.workload("second", version)
            self.assertEqual(self.rest.get(f"{self.local(version)}/{waiting['spec']['queueName']}")
                             ["spec"]["clusterQueue"], "cq")
            pending = self.rest.get(f"/apis/visibility.kueue.x-k8s.io/{version}/clusterqueues/cq"
                                    "/pendingworkloads")
            self.assertEqual([(p["metadata"]["name"], p["positionInLocalQueue"])
                              for p in pending["items"]], [(waiting["metadata"]["name"], 0)])
            owner, = waiting["metadata"]["ownerReferences"]
            kinds = {r["kind"] for r in self.rest.get("/apis/" + owner["apiVersion"])["resources"]}
            self.assertIn(owner["kind"], kinds)
        found = self.rest.get(f"{JOBS}?fieldSelector=metadata.name%3Dfirst")["items"]
        self.assertEqual([j["metadata"]["name"] for j in found], ["first"])
        table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
        path = PODS + "?labelSelector=batch.kubernetes.io%2Fjob-name%3Dfirst&limit=500"
        eventually(lambda: len(self.rest.send("GET", path, Accept=table)[1]["rows"]) == 1,
                   "it has a pod")
        self.assertEqual(self.rest.send("GET", path, Accept=table)[1]["kind"], "Table")

    def test_stop_and_resume(self):
        self.running("stopped")
        for version in VERSIONS:
            one = f"{self.workloads(version)}/{self.workload('stopped')['metadata']['name']}"
            tried = self.patch(one, {"active": False}, dryRun="All")
            self.assertFalse(tried["spec"]["active"])
            self.assertTrue(self.rest.get(one)["spec"]["active"])
            for path, stop, resume in (
                    (one, {"active": False}, {"active": True}),
                    (f"/apis/kueue.x-k8s.io/{version}/clusterqueues/cq",
                     {"stopPolicy": "HoldAndDrain"}, {"stopPolicy": "None"}),
                    (f"{self.local(version)}/lq",
                     {"stopPolicy": "HoldAndDrain"}, {"stopPolicy": "None"})):
                self.patch(path, stop)
                eventually(lambda: self.suspended("stopped"), f"{path} stops it")
                self.patch(path, resume)
                eventually(lambda: not self.suspended("stopped"), f"{path} resumes it")
            self.patch(f"{self.local(version)}/lq", {"stopPolicy": "Hold"})
            self.assertFalse(self.suspended("stopped"))
            self.patch(f"{self.local(version)}/lq", {"stopPolicy": "None"})

    def test_delete_of_a_workload(self):
        for number, api in enumerate(("v1", "batch/v1", "meta.k8s.io/v1")):
            name = f"deleted-{number}"
            self.running(name)
            one = f"{self.workloads('v1beta2')}/{self.workload(name)['metadata']['name']}"
            owner, = self.rest.get(one)["metadata"]["ownerReferences"]
            options = {"kind": "DeleteOptions", "apiVersion": api,
                       "preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}
            code, answer = self.rest.send("DELETE", f"{JOBS}/{name}", options)
            self.assertEqual((code, answer["reason"]), (409, "Conflict"))
            options["preconditions"]["uid"] = owner["uid"]
            options["dryRun"] = ["All"]
            self.assertEqual(self.rest.send("DELETE", f"{JOBS}/{name}", options)[0], 200)
            self.assertEqual(self.rest.get(f"{JOBS}/{name}")["metadata"]["uid"], owner["uid"])
            del options["dryRun"]
            self.assertEqual(self.rest.send("DELETE", f"{JOBS}/{name}", options)[0], 200)
            eventually(lambda: self.rest.send("GET", one)[0] == 404, "the workload goes too")

    def test_version(self):
        code, answer = self.rest.send(
            "GET", "/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager")
        self.assertEqual((code, answer["kind"], answer["reason"]), (404, "Status", "NotFound"))


@unittest.skipIf(shutil.which("kubectl-kueue") is None, "there is no kubectl-kueue here")
class Plugin(Live):
    def kueue(self, *args):
        done = subprocess.run(["kubectl-kueue", *args], env=self.host.environment(), check=False,
                              capture_output=True, text=True, timeout=180)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_commands(self):
        self.running("by-plugin")
        name = self.workload("by-plugin")["metadata"]["name"]
        self.kueue("version")
        self.kueue("create", "cq", "plugin", "--nominal-quota=alpha:cpu=1", "--cohort=c")
        self.kueue("create", "lq", "plugin", "-c", "plugin")
        for kind in ("clusterqueue", "localqueue", "resourceflavor", "workload"):
            self.kueue("list", kind)
        self.assertIn(name, self.kueue("list", "workload", "--for", "job/by-plugin"))
        self.assertIn("by-plugin", self.kueue("list", "pods", "--for", "job/by-plugin"))
        for kind, target in (("workload", name), ("clusterqueue", "cq"), ("localqueue", "lq")):
            self.kueue("stop", kind, target)
            eventually(lambda: self.suspended("by-plugin"), f"{kind} stops it")
            self.kueue("resume", kind, target)
            eventually(lambda: not self.suspended("by-plugin"), f"{kind} resumes it")
        self.kueue("delete", "workload", name, "--yes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Live.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The seven stories of the proposal on a live host, with jobs that run and delays of seconds; kill
-9 around migrations; what kubectl and `sluice explain` show; the plugin turned off and on again.

    live_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests/e2e"))
import wire  # noqa: E402
from host import Host, eventually  # noqa: E402
from rest import Rest  # noqa: E402
from wire import Wire  # noqa: E402

SLUICE = ""
GROUP = "/apis/kueue.x-k8s.io/v1beta2"
API = "kueue.x-k8s.io/v1beta2"


def states_of(parent):
    """`a=Admitted b=Pending`, as the parent tells it."""
    begin = len(parent["metadata"]["name"]) + len("-option-")
    return " ".join(f"{each['name'][begin:]}={each['state']}"
                    for each in parent.get("status", {}).get("options", []))


class PluginHost(Host):
    load = "[{ name: concurrent-admission }]"

    def write_config(self, store, extra):
        super().write_config(store, extra)
        with open(self.config, encoding="utf-8") as text:
            config = text.read()
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(config.replace("plugins: { load: [] }", f"plugins: {{ load: {self.load} }}"))


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host = PluginHost(SLUICE)
        cls.host.start()
        cls.rest = Rest(cls.host.kubeconfig)
        cls.create("/api/v1/namespaces", {"metadata": {"name": "team"}})

    @classmethod
    def tearDownClass(cls):
        cls.host.__exit__()

    @classmethod
    def create(cls, path, body):
        code, answer = cls.rest.send("POST", path, body)
        assert code == 201, f"{path}: {code} {answer}"
        return answer

    def patch(self, path, body, expect=200):
        code, answer = self.rest.send("PATCH", path, body, "application/merge-patch+json")
        self.assertEqual(code, expect, answer)
        return answer

    @staticmethod
    def groups(quotas):
        return [{"coveredResources": ["cpu"], "flavors": [
            {"name": f, "resources": [{"name": "cpu", "nominalQuota": n}]}
            for f, n in quotas.items()]}]

    def queue(self, name, quotas, policy, **spec):
        """quotas: {flavor: CPUs}, best first; flavors are made where they are new."""
        for flavor in quotas:
            self.rest.send("POST", f"{GROUP}/resourceflavors", {"metadata": {"name": flavor}})
        spec.setdefault("resourceGroups", self.groups(quotas))
        self.create(f"{GROUP}/clusterqueues", {"metadata": {"name": name}, "spec": {
            "namespaceSelector": {}, "concurrentAdmission": policy, **spec}})
        self.create(f"{GROUP}/namespaces/team/localqueues",
                    {"metadata": {"name": name}, "spec": {"clusterQueue": name}})

    def quota(self, name, quotas):
        self.patch(f"{GROUP}/clusterqueues/{name}",
                   {"spec": {"resourceGroups": self.groups(quotas)}})

    def job(self, name, command="sleep 300", cpu="1", grace=1, labels=None):
        """A job of the queue of its name, or of that in `labels`; the name of its workload."""
        self.create("/apis/batch/v1/namespaces/team/jobs", {
            "metadata": {"name": name,
                         "labels": {"kueue.x-k8s.io/queue-name": name, **(labels or {})}},
            "spec": {"template": {"spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": grace,
                "containers": [{"name": "c", "image": "x", "command": ["sh", "-c", command],
                                "resources": {"requests": {"cpu": cpu}}}]}}}})
        self.addCleanup(self.finish, name)
        return self.workload_of(name)

    def workload_of(self, job):
        def owned():
            for each in self.rest.get(f"{GROUP}/namespaces/team/workloads")["items"]:
                for owner in each["metadata"].get("ownerReferences", []):
                    if owner["name"] == job and owner["kind"] == "Job":
                        return each["metadata"]["name"]
            return None
        return eventually(owned, f"the workload of job {job}")

    def get(self, name):
        return self.rest.get(f"{GROUP}/namespaces/team/workloads/{name}")

    def states(self, parent):
        return states_of(self.get(parent))

    def become(self, parent, states):
        eventually(lambda: self.states(parent) == states,
                   f"{states}, not {self.states(parent)}: {json.dumps(self.get(parent))[:3000]}")

    def flavor_of(self, parent, resource="cpu"):
        admission = self.get(parent).get("status", {}).get("admission", {})
        for pods in admission.get("podSetAssignments", []):
            if resource in pods.get("flavors", {}):
                return pods["flavors"][resource]
        return None

    def runs(self, job):
        def pods():
            status = self.rest.get(f"/apis/batch/v1/namespaces/team/jobs/{job}").get("status", {})
            return status.get("active", 0) == 1 and status.get("ready", 0) == 1
        eventually(pods, f"a pod of {job} runs")

    def events(self, name):
        listed = self.rest.get("/api/v1/namespaces/team/events")["items"]
        return {e["reason"]: e.get("count", 1) for e in listed
                if e["involvedObject"]["name"] == name}

    def finish(self, job):
        self.rest.send("DELETE", f"/apis/batch/v1/namespaces/team/jobs/{job}",
                       {"propagationPolicy": "Background"})


class Watch:
    """Every state that parents went through from now on, also one that lasted a moment."""

    def __init__(self, test):
        self.test, self.versions = test, {}  # of workloads by name
        start = test.rest.get(f"{GROUP}/namespaces/team/workloads")["metadata"]["resourceVersion"]
        self.wire = Wire(test.host)
        self.events = wire.Watch(
            self.wire, f"{GROUP}/namespaces/team/workloads?resourceVersion={start}")
        threading.Thread(target=self.follow, daemon=True).start()  # which ends with the process

    def follow(self):
        while event := self.events.next():
            thing = event["object"]
            self.versions.setdefault(thing["metadata"]["name"], []).append(thing)

    def states(self, parent):
        """Each once, up to now."""
        now = self.test.get(parent)["metadata"]["resourceVersion"]
        eventually(lambda: now in [each["metadata"]["resourceVersion"]
                                   for each in self.versions.get(parent, [])], "all was seen")
        told = [states_of(each) for each in list(self.versions[parent])]
        return [each for each, _ in itertools.groupby(filter(None, told))]


class Stories(Live):
    def test_1_upgrade(self):
        q = "upgrade"
        self.queue(q, {"res": 0, "od": 0, "spot": 1}, {"onSuccess": "RemoveLower"})
        watch = Watch(self)
        parent = self.job(q)
        self.become(parent, "res=Pending od=Pending spot=Admitted")
        self.runs(q)
        self.quota(q, {"res": 0, "od": 1, "spot": 1})
        self.become(parent, "res=Pending od=Admitted spot=Deactivated")
        self.assertEqual(self.flavor_of(parent), "od")
        self.runs(q)
        self.quota(q, {"res": 1, "od": 1, "spot": 1})
        self.become(parent, "res=Admitted od=Deactivated spot=Deactivated")
        self.runs(q)
        seen = watch.states(parent)
        wanted = ["res=Pending od=Pending spot=Admitted",
                  "res=Pending od=Admitted spot=Deactivated",
                  "res=Admitted od=Deactivated spot=Deactivated"]
        self.assertEqual([s for s in seen if "Admitted" in s], wanted)
        # Each move stopped the job, and started it when its processes had ended.
        eventually(lambda: (self.events(q).get("Started"), self.events(q).get("Stopped")) == (3, 2),
                   "the job started three times")
        self.finish(q)
        eventually(lambda: not [w for w in self.rest.get(
            f"{GROUP}/namespaces/team/workloads")["items"]
            if w["metadata"]["name"].startswith(parent)], "the options are gone")

    def test_history_counts_a_job_once(self):
        """The parent holds what its option holds for it: one job is one run, its creator's."""
        q = "counted"
        self.queue(q, {"first": 1, "second": 1}, {"onSuccess": "RemoveLower"})
        parent = self.job(q, "true")
        eventually(lambda: any(
            each["type"] == "Finished"
            for each in self.get(parent).get("status", {}).get("conditions", [])), "it ends")
        runs = "/apis/sluice.dev/v1alpha1/namespaces/team/runs?clusterQueue=" + q
        total = self.rest.get(runs + "&groupBy=user")["total"]
        self.assertEqual([total[key] for key in ("started", "finished", "superseded", "evicted",
                                                 "deleted", "running")], [1, 1, 0, 0, 0, 0])
        self.assertEqual([(run["workload"], run["job"], run["user"], run["used"]["pods"])
                          for run in self.rest.get(runs)["items"]],
                         [(parent, q, "sluice-admin", 1)])
        self.finish(q)

    def test_2_only_to_reservation(self):
        q = "target"
        self.queue(q, {"res": 0, "od": 0, "spot": 1}, {
            "onSuccess": "RemoveBelowTarget",
            "removeBelowTargetConfig": {"targetResourceFlavor": "res"}})
        parent = self.job(q)
        self.become(parent, "res=Pending od=Deactivated spot=Admitted")
        self.quota(q, {"res": 0, "od": 1, "spot": 1})
        self.runs(q)
        self.assertEqual(self.states(parent), "res=Pending od=Deactivated spot=Admitted")
        self.quota(q, {"res": 1, "od": 1, "spot": 1})
        self.become(parent, "res=Admitted od=Deactivated spot=Deactivated")

    def check(self, name):
        self.create(f"{GROUP}/admissionchecks", {
            "metadata": {"name": name}, "spec": {"controllerName": "example.com/python"}})

    def answer(self, workload, check, state):
        eventually(lambda: self.get(workload).get("status", {}).get("admissionChecks"),
                   f"{workload} has checks")
        self.patch(f"{GROUP}/namespaces/team/workloads/{workload}/status", {"status": {
            "admissionChecks": [{"name": check, "state": state, "message": "",
                                 "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

    def reserved(self, workload):
        def holds():
            _, now = self.rest.send("GET", f"{GROUP}/namespaces/team/workloads/{workload}")
            for each in now.get("status", {}).get("conditions", []):
                if each["type"] == "QuotaReserved":
                    return each["status"] == "True"
            return False
        eventually(holds, f"{workload} has its quota")

    def test_3_reservation_and_equals(self):
        q = "equals"
        self.check("cap3")
        self.queue(q, {"res": 0, "za": 1, "zb": 1, "zc": 1}, {
            "onSuccess": "RemoveBelowTarget",
            "removeBelowTargetConfig": {"targetResourceFlavor": "res"}},
            admissionChecksStrategy={"admissionChecks": [
                {"name": "cap3", "onFlavors": ["za", "zb", "zc"]}]})
        parent = self.job(q)
        for zone in "za", "zb", "zc":
            self.reserved(f"{parent}-option-{zone}")
        self.answer(f"{parent}-option-zb", "cap3", "Ready")
        self.become(parent, "res=Pending za=Deactivated zb=Admitted zc=Deactivated")
        self.runs(q)
        self.quota(q, {"res": 1, "za": 1, "zb": 1, "zc": 1})
        self.become(parent, "res=Admitted za=Deactivated zb=Deactivated zc=Deactivated")
        self.runs(q)

    def test_4_equals_only(self):
        q = "first"
        self.check("cap4")
        self.queue(q, {"za": 1, "zb": 1, "zc": 1}, {"onSuccess": "RemoveOther"},
                   admissionChecksStrategy={"admissionChecks": [{"name": "cap4"}]})
        parent = self.job(q)
        for zone in "za", "zb", "zc":
            self.reserved(f"{parent}-option-{zone}")
        self.answer(f"{parent}-option-zc", "cap4", "Ready")
        self.become(parent, "za=Deactivated zb=Deactivated zc=Admitted")
        self.runs(q)

    def test_5_late_fallback(self):
        q = "late"
        self.queue(q, {"res": 0, "od": 1}, {"onSuccess": "RemoveLower", "explicitOptions": [
            {"name": "reserved", "allowedResourceFlavors": ["res"]},
            {"name": "fallback", "allowedResourceFlavors": ["od"], "createDelaySeconds": 3}]})
        watch = Watch(self)
        parent = self.job(q)
        self.become(parent, "reserved=Pending fallback=Admitted")  # after its delay
        self.runs(q)
        self.quota(q, {"res": 1, "od": 1})
        self.become(parent, "reserved=Admitted fallback=Deactivated")
        seen = watch.states(parent)
        self.assertIn("reserved=Pending fallback=Deactivated", seen[:1])
        self.assertEqual([s for s in seen if "Admitted" in s],
                         ["reserved=Pending fallback=Admitted",
                          "reserved=Admitted fallback=Deactivated"])

    def test_6_no_late_move(self):
        q = "nomove"
        self.queue(q, {"res": 0, "od": 1}, {"onSuccess": "RemoveLower", "explicitOptions": [
            {"name": "reserved", "allowedResourceFlavors": ["res"], "deleteDelaySeconds": 2},
            {"name": "fallback", "allowedResourceFlavors": ["od"]}]})
        watch = Watch(self)
        parent = self.job(q)
        self.become(parent, "reserved=Deactivated fallback=Admitted")  # after its delay
        self.assertIn("reserved=Pending fallback=Admitted", watch.states(parent))
        self.quota(q, {"res": 1, "od": 1})
        self.runs(q)
        self.assertEqual(self.states(parent), "reserved=Deactivated fallback=Admitted")

    def test_7_pod_sets(self):
        q = "two"
        for flavor in "g-res", "g-od", "cpus":
            self.create(f"{GROUP}/resourceflavors", {"metadata": {"name": flavor}})

        def groups(best):
            return [
                {"coveredResources": ["example.com/gpu"], "flavors": [
                    {"name": f, "resources": [{"name": "example.com/gpu", "nominalQuota": n}]}
                    for f, n in (("g-res", best), ("g-od", 1))]},
                {"coveredResources": ["cpu"], "flavors": [
                    {"name": "cpus", "resources": [{"name": "cpu", "nominalQuota": 10}]}]}]
        self.queue(q, {}, {"onSuccess": "RemoveLower", "explicitOptions": [
            {"name": "reserved", "allowedResourceFlavors": ["g-res", "cpus"]},
            {"name": "on-demand", "allowedResourceFlavors": ["g-od", "cpus"]}]},
            resourceGroups=groups(0))

        def pods(name, requests):
            return {"name": name, "count": 1, "template": {"spec": {
                "restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "x", "resources": {"requests": requests}}]}}}
        self.create(f"{GROUP}/namespaces/team/workloads", {
            "metadata": {"name": "training"}, "spec": {"queueName": q, "podSets": [
                pods("driver", {"cpu": "8"}), pods("workers", {"example.com/gpu": "1"})]}})
        self.become("training", "reserved=Pending on-demand=Admitted")
        # 8 of 10 CPUs are its own: they count once.
        self.patch(f"{GROUP}/clusterqueues/{q}", {"spec": {"resourceGroups": groups(1)}})
        self.become("training", "reserved=Admitted on-demand=Deactivated")
        self.assertEqual(self.flavor_of("training", "example.com/gpu"), "g-res")
        self.assertEqual(self.flavor_of("training", "cpu"), "cpus")


class Ends(Live):
    def running_pods(self, job):
        return [p["metadata"]["name"] for p in self.rest.get(
            f"/api/v1/namespaces/team/pods?labelSelector=job-name={job}")["items"]
            if p.get("status", {}).get("phase") == "Running"]

    def is_admitted(self, workload):
        return any(c["type"] == "Admitted" and c["status"] == "True"
                   for c in self.get(workload).get("status", {}).get("conditions", []))

    def test_who_is_evicted_keeps_its_quota_until_its_pods_have_ended(self):
        q = "ends"
        self.queue(q, {"only": 1}, {"onSuccess": "RemoveLower"},
                   preemption={"withinClusterQueue": "LowerPriority"})
        self.create(f"{GROUP}/workloadpriorityclasses",
                    {"metadata": {"name": "high"}, "value": 9})
        low = self.job(q, "trap '' TERM; sleep 300", grace=3)
        self.become(low, "only=Admitted")
        self.runs(q)
        high = self.job("high", labels={"kueue.x-k8s.io/queue-name": q,
                                        "kueue.x-k8s.io/priority-class": "high"})
        eventually(lambda: self.is_admitted(high), "the place is free")
        self.assertEqual(self.running_pods(q), [])
        self.become(low, "only=Pending")


class Crashes(Live):
    def test_kill_around_migrations(self):
        q = "crash"
        quotas = {"res": 0, "od": 0, "spot": 1}
        self.queue(q, quotas, {"onSuccess": "RemoveLower"})
        parent = self.job(q)
        self.become(parent, "res=Pending od=Pending spot=Admitted")
        for flavor, after in (("od", "res=Pending od=Admitted spot=Deactivated"),
                              ("res", "res=Admitted od=Deactivated spot=Deactivated")):
            quotas[flavor] = 1
            self.quota(q, quotas)
            self.host.stop(signal.SIGKILL)
            self.host.start()
            self.become(parent, after)
            self.assertEqual(self.flavor_of(parent), flavor)
            self.runs(q)
            # What is on disk never has the parent on another option than the one that is admitted.
            admitted = [w["metadata"]["name"] for w in self.rest.get(
                f"{GROUP}/namespaces/team/workloads")["items"]
                if w["metadata"]["name"].startswith(parent + "-option-")
                and any(c["type"] == "Admitted" and c["status"] == "True"
                        for c in w.get("status", {}).get("conditions", []))]
            self.assertEqual(admitted, [f"{parent}-option-{flavor}"])


class Seen(Live):
    def test_columns_explain_and_refusals(self):
        q = "seen"
        self.queue(q, {"res": 0, "od": 1}, {"onSuccess": "RemoveLower"})
        parent = self.job(q)
        self.become(parent, "res=Pending od=Admitted")
        wide = self.host.kubectl("get", "workloads", "-n", "team", "-o", "wide")
        self.assertIn("OPTIONS", wide.splitlines()[0])
        done = subprocess.run([SLUICE, "explain", f"team/{parent}", "--kubeconfig",
                               self.host.kubeconfig], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("IN ITS PLACE", done.stdout)
        self.assertIn(f"{parent}-option-res", done.stdout)
        refused = self.host.run("patch", "clusterqueue", q, "--type=merge", "-p", json.dumps(
            {"spec": {"concurrentAdmission": {"onSuccess": "RemoveBelowTarget"}}}))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("spec.concurrentAdmission.removeBelowTargetConfig: Required value",
                      refused.stderr)
        other = {"migration": {"mode": "TryPreferredFlavors"}}
        both = self.host.run("patch", "clusterqueue", q, "--type=merge", "-p", json.dumps(
            {"spec": {"concurrentAdmissionPolicy": other}}))
        self.assertIn("two spellings of one policy", both.stderr)
        eventually(lambda: "CreatedOption" in self.events(parent), "an event tells of an option")
        eventually(lambda: self.counts(q) == (0, 1), "the queue counts the parent alone")

    def counts(self, q):
        """Who waits and who runs, as the status of the queue counts."""
        queue = self.rest.get(f"{GROUP}/clusterqueues/{q}").get("status", {})
        return queue.get("pendingWorkloads"), queue.get("admittedWorkloads")


class TurnedOff(Live):
    def test_reload_without_the_plugin_and_with_it_again(self):
        q = "off"
        self.queue(q, {"res": 0, "od": 1}, {"onSuccess": "RemoveLower"})
        runs = self.job(q)
        self.become(runs, "res=Pending od=Admitted")
        self.runs(q)
        self.create(f"{GROUP}/namespaces/team/workloads", {
            "metadata": {"name": "waits"}, "spec": {"queueName": q, "podSets": [{
                "name": "main", "count": 1, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [
                        {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}}]}})
        self.become("waits", "res=Pending od=Pending")
        self.reload("[]")
        names = [w["metadata"]["name"] for w in
                 self.rest.get(f"{GROUP}/namespaces/team/workloads")["items"]]
        self.assertEqual(sorted(names), sorted([runs, "waits"]))
        self.assertEqual(self.flavor_of(runs), "od")  # it goes on
        self.runs(q)
        self.assertEqual((self.events(q)["Started"], self.events(q).get("Stopped")), (1, None))
        self.quota(q, {"res": 1, "od": 1})
        eventually(lambda: self.flavor_of("waits") == "res", "the plain workload is admitted")
        refused = self.rest.send("PATCH", f"{GROUP}/clusterqueues/{q}?fieldValidation=Strict", {
            "spec": {"concurrentAdmission": {"onSuccess": "RemoveOther"}}},
            "application/merge-patch+json")
        self.assertEqual(refused[0], 400, refused)
        self.reload("[{ name: concurrent-admission }]")
        # Those that run stay as they are; the policy holds for what comes.
        self.assertEqual(self.states(runs), "")
        later = self.job_in(q, "later")
        self.become(later, "res=Pending od=Pending")

    def job_in(self, queue, name):
        self.create("/apis/batch/v1/namespaces/team/jobs", {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": queue}},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "x", "command": ["sleep", "300"],
                 "resources": {"requests": {"cpu": "1"}}}]}}}})
        self.addCleanup(self.finish, name)
        return self.workload_of(name)

    def reload(self, load):
        said = self.host.log().count("the new configuration is in force")
        self.host.load, self.host.port = load, 0  # as it was started: an address cannot change
        self.host.write_config(self.host.store, self.host.extra)
        self.host.process.send_signal(signal.SIGHUP)
        eventually(lambda: self.host.log().count("the new configuration is in force") > said,
                   "the configuration is reloaded")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    known, rest = parser.parse_known_args()
    SLUICE = os.path.abspath(known.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

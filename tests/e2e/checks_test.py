#!/usr/bin/env python3
"""Two-stage admission on a live host (KEP-993): an admission check controller in Python that
speaks to the API alone, through every transition of the proposal's test plan, restarts included.

    checks_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import unittest

from host import eventually
from two_stages import GROUP, World

SLUICE = ""


class ChecksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World(SLUICE)
        cls.world.flavor("f")
        cls.world.flavor("g")

    @classmethod
    def tearDownClass(cls):
        cls.world.end()

    def names(self, count):
        """A queue name and check names of this test's own."""
        own = self.id().rsplit("_", 1)[-1].lower()
        return own, [f"{own}-{i}" for i in range(count)]


class Transitions(ChecksTest):
    def both(self, run):
        for count in (1, 2):
            with self.subTest(checks=count):
                own, checks = self.names(count)
                queue = f"{own}{count}"
                checks = [f"{each}-{count}" for each in checks]
                for check in checks:
                    self.world.check(check)
                self.world.queue(queue, checks, {"f": 4})
                self.world.workload(queue, queue, cpu=3)
                self.world.becomes(queue, "reserved")
                self.assertEqual(self.world.checks(queue), {c: "Pending" for c in checks})
                run(queue, checks)

    def test_admitted(self):
        def run(name, checks):
            for check in checks:
                self.assertEqual(self.world.state(name), "reserved")
                self.world.answer(name, check, "Ready", message="fine")
            self.world.becomes(name, "admitted")
        self.both(run)

    def test_retry(self):
        def run(name, checks):
            for check in checks[1:]:
                self.world.answer(name, check, "Ready")
            self.world.answer(name, checks[0], "Retry", requeueAfterSeconds=1, message="later")
            eventually(lambda: self.world.get(name)["status"]["admissionChecks"][0]
                       .get("retryCount") == 1, f"{name} is evicted")
            self.world.becomes(name, "reserved")  # after its delay
            evicted = self.world.condition(name, "Evicted")
            self.assertIn(f'"{checks[0]}" (later)', evicted["message"])
            self.assertEqual(self.world.checks(name), {c: "Pending" for c in checks})
            listed = self.world.get(name)["status"]["admissionChecks"]
            self.assertEqual(listed[0].get("retryCount"), 1)
        self.both(run)

    def test_usualdelay(self):
        """v1beta1's retryDelayMinutes is the delay of a Retry that names none."""
        self.world.create("/apis/kueue.x-k8s.io/v1beta1/admissionchecks", {
            "metadata": {"name": "slow"},
            "spec": {"controllerName": "example.com/python", "retryDelayMinutes": 2}})
        self.world.queue("usualdelay", ["slow"], {"f": 4})
        self.world.workload("usualdelay", "usualdelay")
        self.world.becomes("usualdelay", "reserved")
        self.world.answer("usualdelay", "slow", "Retry")
        self.world.becomes("usualdelay", "pending")
        state = self.world.get("usualdelay")["status"]
        read = lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        wait = read(state["requeueState"]["requeueAt"]) - read(
            self.world.condition("usualdelay", "Evicted")["lastTransitionTime"])
        self.assertAlmostEqual(wait.total_seconds(), 120, delta=2)

    def test_rejected(self):
        def run(name, checks):
            for check in checks[1:]:
                self.world.answer(name, check, "Ready")
            self.world.answer(name, checks[0], "Rejected", message="never")
            self.world.becomes(name, "inactive")
            self.assertEqual(self.world.condition(name, "Evicted")["reason"],
                             "DeactivatedDueToAdmissionCheck")
            of_it = ("events", "-n", "team", "--field-selector", f"involvedObject.name={name}")
            eventually(lambda: "AdmissionCheckRejected" in self.world.host.kubectl("get", *of_it),
                       "an event tells of it")
        self.both(run)

    def test_quotacut(self):
        def run(name, checks):
            self.world.quota(name, {"f": 2})
            self.assertEqual(self.world.state(name), "reserved")  # a cut alone evicts nobody
            for check in checks:
                self.world.answer(name, check, "Ready")
            self.world.becomes(name, "pending")
            self.assertEqual(self.world.checks(name), {c: "Pending" for c in checks})
        self.both(run)

    def test_without(self):
        self.world.queue("plain", [], {"f": 4})
        self.world.workload("plain", "plain")
        self.world.becomes("plain", "admitted")

    def test_otherflavor(self):
        self.world.check("flavored")
        self.world.queue("flavored", ["flavored"], {"f": 2, "g": 2})
        self.world.workload("first", "flavored", cpu=2)
        self.world.workload("second", "flavored", cpu=2)
        self.world.becomes("second", "reserved")
        self.world.rest.send("DELETE", f"{GROUP}/namespaces/team/workloads/first")
        self.world.answer("second", "flavored", "Ready")
        # It loses g, and reserves f, for which its check begins anew.
        def flavors():
            admission = self.world.get("second")["status"].get("admission", {})
            return [each["flavors"] for each in admission.get("podSetAssignments", [])]
        eventually(lambda: flavors() == [{"cpu": "f"}], "it has f")
        self.assertEqual(self.world.state("second"), "reserved")
        self.assertEqual(self.world.checks("second"), {"flavored": "Pending"})

    def test_boundtoflavors(self):
        self.world.check("onlyg")
        self.world.queue("bound", [("onlyg", ["g"])], {"f": 1, "g": 1})
        self.world.workload("onf", "bound")
        self.world.workload("ong", "bound")
        self.world.becomes("onf", "admitted")
        self.world.becomes("ong", "reserved")
        self.assertEqual(self.world.checks("ong"), {"onlyg": "Pending"})


class Refused(ChecksTest):
    def test_answers(self):
        self.world.check("mine")
        self.world.check("other")
        self.world.queue("strict", ["mine"], {"f": 2})
        self.world.workload("runs", "strict", cpu=2)
        self.world.workload("waits", "strict", cpu=2)
        self.world.becomes("runs", "reserved")

        early = self.world.answer("waits", "mine", "Ready", expect=422)
        self.assertIn("holds no quota", early["message"])
        stranger = self.world.answer("runs", "other", "Ready", expect=422)
        self.assertIn("is not among the admission checks", stranger["message"])
        misplaced = self.world.answer("runs", "mine", "Ready", expect=422,
                                      reason="PreemptionRequired")
        self.assertIn("only while the state is Pending", misplaced["message"])
        self.world.answer("runs", "mine", "Perhaps", expect=422)
        self.assertEqual(self.world.checks("runs"), {"mine": "Pending"})

        # A second writer that read before the first one wrote.
        read = self.world.get("runs")["metadata"]["resourceVersion"]
        self.world.answer("runs", "mine", "Pending", message="looking")
        self.world.answer("runs", "mine", "Ready", expect=409, version=read)
        self.assertEqual(self.world.state("runs"), "reserved")
        self.world.patch(f"{GROUP}/namespaces/team/workloads/nobody/status", {}, 404)


class AfterAdmission(ChecksTest):
    def test_flip(self):
        self.world.check("flips")
        self.world.queue("flips", ["flips"], {"f": 2})
        name = self.world.job("flips", "flips")
        self.world.becomes(name, "reserved")
        self.world.answer(name, "flips", "Ready",
                          podSetUpdates=[{"name": "main", "labels": {"paid": "yes"},
                                          "annotations": {"by": "python"}}])
        self.world.becomes(name, "admitted")
        pods = lambda: self.world.rest.get("/api/v1/namespaces/team/pods?labelSelector=paid%3Dyes")
        eventually(lambda: [p for p in pods()["items"] if p["status"]["phase"] == "Running"],
                   "the pod runs with its label")
        self.world.answer(name, "flips", "Retry", requeueAfterSeconds=3600, message="spent")
        self.world.becomes(name, "pending")
        job = lambda: self.world.rest.get("/apis/batch/v1/namespaces/team/jobs/flips")
        eventually(lambda: job()["spec"]["suspend"], "the job is suspended")
        eventually(lambda: not pods()["items"], "its pods are gone")
        eventually(lambda: "paid" not in job()["spec"]["template"].get("metadata", {})
                   .get("labels", {}), "its template is its own again")

    def test_conflict(self):
        self.world.check("left")
        self.world.check("right")
        self.world.queue("conflict", ["left", "right"], {"f": 2})
        name = self.world.job("conflict", "conflict")
        self.world.becomes(name, "reserved")
        for check in ("left", "right"):
            self.world.answer(name, check, "Ready",
                              podSetUpdates=[{"name": "main", "nodeSelector": {"zone": check}}])
        self.world.becomes(name, "finished")
        finished = self.world.condition(name, "Finished")
        self.assertIn("nodeSelector zone", finished["message"])


class Held(ChecksTest):
    def test_crashes(self):
        """kill -9 at each step; held preemptions and answers outlive it."""
        self.world.check("late", "AfterCheckPassedOrOnDemand")
        self.world.check("other")
        self.world.queue("held", ["late", "other"], {"f": 4},
                         preemption={"withinClusterQueue": "LowerPriority"})
        self.world.workload("low", "held", cpu=4)
        self.world.becomes("low", "reserved")
        self.world.crash()
        self.assertEqual(self.world.checks("low"), {"late": "Pending", "other": "Pending"})
        self.world.answer("low", "late", "Ready")
        self.world.crash()
        self.assertEqual(self.world.checks("low"), {"late": "Ready", "other": "Pending"})
        self.world.answer("low", "other", "Ready")
        self.world.becomes("low", "admitted")
        self.world.crash()
        self.assertEqual(self.world.state("low"), "admitted")

        self.world.workload("high", "held", cpu=3, priority=5)
        self.world.becomes("high", "reserved")
        self.assertEqual(self.world.state("low"), "admitted")  # it runs on
        self.world.crash()
        self.assertEqual(self.world.state("high"), "reserved")
        self.assertEqual(self.world.state("low"), "admitted")
        # 4 are promised: 3 to high, 1 is left; nobody else may run on what low still uses.
        self.world.answer("high", "other", "Pending", reason="PreemptionRequired")
        self.world.becomes("low", "pending")
        self.assertEqual(self.world.state("high"), "reserved")
        self.world.crash()
        self.world.answer("high", "other", "Ready")
        self.world.answer("high", "late", "Retry", requeueAfterSeconds=3600)
        self.world.becomes("high", "pending")
        self.world.crash()
        self.assertIn("requeueAt", json.dumps(self.world.get("high")["status"]))
        self.world.becomes("low", "reserved")


class Example(ChecksTest):
    def test_controller(self):
        """examples/checks: the manifests, the controller, a job that runs because it said Ready."""
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "checks")
        host = self.world.host
        host.kubectl("apply", "-f", os.path.join(folder, "queue.yaml"),
                     "-f", os.path.join(folder, "role.yaml"))
        job = host.kubectl("create", "-o", "name", "-f", os.path.join(folder, "job.yaml")).strip()
        controller = subprocess.Popen(
            [sys.executable, os.path.join(folder, "controller.py"), "--kubeconfig",
             host.kubeconfig, "--hours", "0", "24"], stdout=subprocess.PIPE, text=True)
        try:
            self.assertIn("Ready, it is", controller.stdout.readline())
            host.kubectl("wait", job, "--for=condition=complete", "--timeout=180s")
            self.assertIn("started at", host.kubectl("logs", job))
        finally:
            controller.kill()
            controller.wait()
            controller.stdout.close()


def main():
    global SLUICE
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    SLUICE = options.sluice
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

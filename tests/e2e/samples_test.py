#!/usr/bin/env python3
"""Manifests like Kueue's samples, in both versions of its API, do what Kueue's documentation says.

    samples_test.py --sluice build/dev/bin/sluice [V1beta1.test_name …]

The manifests are in kueue_samples/; jobs/ holds those that are the same for both versions.
"""
import argparse
import json
import os
import re
import shutil
import sys
import unittest

from host import Host, eventually, skip
from rest import Rest

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kueue_samples")

JOBS = "/apis/batch/v1/namespaces/default/jobs"

NODES = """
executor:
  nodes:
  - { name: node-x86, labels: { cpu-arch: x86 }, capacity: { cpu: 32, memory: 128Gi } }
  - { name: node-arm, labels: { cpu-arch: arm }, capacity: { cpu: 32, memory: 128Gi } }
"""


class Samples:
    """The tests of one version; each has a host of its own."""
    version = ""
    sluice = ""

    def setUp(self):
        self.host = Host(self.sluice, memory=True, extra=NODES)
        self.host.start()
        self.rest = Rest(self.host.kubeconfig)

    def tearDown(self):
        self.host.__exit__()

    def queues(self, name):
        self.host.kubectl("apply", "-f", os.path.join(SAMPLES, self.version, name + ".yaml"))

    def job(self, name, verb="create"):
        """Name of the job."""
        path = os.path.join(SAMPLES, "jobs", name + ".yaml")
        return self.host.kubectl(verb, "-f", path, "-o", "name").strip().split("/")[-1]

    def workload(self, job):
        """Its workload, as the version under test shows it."""
        uid = self.rest.get(f"{JOBS}/{job}")["metadata"]["uid"]
        of_job = (f"/apis/kueue.x-k8s.io/{self.version}/namespaces/default/workloads"
                  f"?labelSelector=kueue.x-k8s.io/job-uid%3D{uid}")
        return eventually(lambda: self.rest.get(of_job)["items"], f"{job} has a workload")[0]

    def condition(self, job, kind):
        found = [c for c in self.workload(job).get("status", {}).get("conditions", [])
                 if c["type"] == kind]
        return found[0] if found else {"status": "Unknown", "reason": "", "message": ""}

    def admitted(self, job):
        eventually(lambda: self.condition(job, "Admitted")["status"] == "True",
                   f"{job} is admitted")
        return self.workload(job)["status"]["admission"]

    def waits(self, job):
        """Why."""
        return eventually(
            lambda: self.condition(job, "QuotaReserved")["status"] == "False"
            and self.condition(job, "QuotaReserved"), f"{job} waits")["message"]

    def starts(self, job):
        eventually(lambda: not self.spec(job)["suspend"], f"{job} starts")

    def spec(self, job):
        return self.rest.get(f"{JOBS}/{job}")["spec"]

    def pods(self, job):
        return self.rest.get("/api/v1/namespaces/default/pods?labelSelector="
                             f"batch.kubernetes.io/job-name%3D{job}")["items"]

    def complete(self, job):
        self.host.kubectl("wait", "--for=condition=complete", f"job/{job}", "--timeout=180s")

    def delete(self, job):
        self.host.kubectl("delete", "job", job)

    def usage(self, queue):
        """cpu that is used, and how much of it is borrowed."""
        status = self.rest.get(
            f"/apis/kueue.x-k8s.io/{self.version}/clusterqueues/{queue}").get("status", {})
        cpu = [r for f in status.get("flavorsUsage", []) for r in f["resources"]
               if r["name"] == "cpu"]
        return [(r["total"], r.get("borrowed", "0")) for r in cpu]

    def test_a_sample_job_runs(self):
        self.queues("single-queue")
        job = self.job("sample-job")
        self.complete(job)
        self.assertEqual(self.host.json("get", "job", job)["status"]["succeeded"], 3)
        self.assertEqual(self.host.kubectl("logs", "-l", f"job-name={job}"), "hello world\n" * 3)
        finished = eventually(lambda: self.condition(job, "Finished")["status"] == "True"
                              and self.condition(job, "Finished"), "its workload is finished")
        self.assertEqual(finished["reason"], "Succeeded")
        eventually(lambda: self.usage("cluster-queue") == [("0", "0")], "its quota is free again")
        # Nothing changes when the queues are applied again.
        path = os.path.join(SAMPLES, self.version, "single-queue.yaml")
        lines = self.host.kubectl("apply", "-f", path).splitlines()
        self.assertEqual([line.split()[-1] for line in lines], ["unchanged"] * 3)

    def test_the_fourth_waits_for_one_of_three(self):
        self.queues("single-queue")
        running = [self.job("sleeping-job") for _ in range(3)]
        for job in running:
            self.admitted(job)
        last = self.job("sleeping-job")
        self.assertIn("insufficient unused quota for cpu in flavor default-flavor",
                      self.waits(last))
        self.assertTrue(self.spec(last)["suspend"])
        self.starts(running[0])
        eventually(lambda: self.usage("cluster-queue") == [("9", "0")], "three are counted")
        eventually(lambda: re.search(r"user-queue +cluster-queue +1 +3",
                                     self.host.kubectl("get", "queues")), "the queue shows them")
        self.delete(running[0])
        self.admitted(last)
        self.starts(last)

    def test_who_waits_is_shown_on_demand(self):
        self.queues("single-queue")
        jobs = [self.job("sleeping-job") for _ in range(5)]
        for job in jobs[3:]:
            self.waits(job)
        for place in ("clusterqueues/cluster-queue", "namespaces/default/localqueues/user-queue"):
            pending = json.loads(self.host.kubectl(
                "get", "--raw", f"/apis/visibility.kueue.x-k8s.io/{self.version}/{place}"
                "/pendingworkloads"))["items"]
            self.assertEqual([(p["metadata"]["ownerReferences"][0]["name"],
                               p["positionInClusterQueue"], p["localQueueName"])
                              for p in pending],
                             [(jobs[3], 0, "user-queue"), (jobs[4], 1, "user-queue")])

    def test_partial_admission(self):
        self.queues("single-queue")
        job = self.job("partial-job")
        assignment, = self.admitted(job)["podSetAssignments"]
        self.assertEqual((assignment["count"], assignment["resourceUsage"]["cpu"]), (9, "9"))
        self.complete(job)
        self.assertEqual(self.spec(job)["completions"], 20)
        self.assertEqual(self.spec(job)["parallelism"], 9)

    def test_flavors_are_tried_in_order(self):
        self.queues("flavors")
        for flavor in ("x86", "x86", "x86", "arm"):
            job = self.job("sleeping-job")
            assignment, = self.admitted(job)["podSetAssignments"]
            self.assertEqual(assignment["flavors"], {"cpu": flavor, "memory": "default-flavor"})
            self.starts(job)
            self.assertEqual(self.spec(job)["template"]["spec"]["nodeSelector"],
                             {"cpu-arch": flavor})
        nodes = eventually(lambda: self.placed(job), "its pods run")
        self.assertEqual(nodes, {"node-arm"})

    def placed(self, job):
        pods = self.pods(job)
        running = [p["spec"]["nodeName"] for p in pods if p["status"]["phase"] == "Running"]
        return set(running) if len(running) == 3 else None

    def test_a_class_of_workloads_preempts(self):
        self.queues("preemption")
        low, high = self.job("sample-priority-job"), None
        self.admitted(low)
        high = self.job("urgent-priority-job")
        self.assertEqual(self.workload(high)["spec"]["priority"], 20000)
        self.preempts(low, high)
        self.delete(high)
        self.admitted(low)
        self.starts(low)

    def test_a_priority_of_pods_preempts(self):
        self.queues("preemption")
        self.job("pod-priorities", "apply")
        low = self.job("sample-priority-job")
        self.admitted(low)
        high = self.job("pod-priority-job")
        spec = self.workload(high)["spec"]
        self.assertEqual(spec["priority"], 1000000)
        if self.version == "v1beta1":
            self.assertEqual(spec["priorityClassName"], "high-prio")
        else:
            self.assertEqual(spec["priorityClassRef"]["name"], "high-prio")
        self.preempts(low, high)

    def preempts(self, low, high):
        self.admitted(high)
        evicted = self.condition(low, "Evicted")
        self.assertEqual((evicted["status"], evicted["reason"]), ("True", "Preempted"))
        self.assertEqual(self.condition(low, "Preempted")["reason"], "InClusterQueue")
        eventually(lambda: self.spec(low)["suspend"], "it is suspended")
        of_low = ("events", "--for", "workload/" + self.workload(low)["metadata"]["name"])
        eventually(lambda: "Preempted" in self.host.kubectl(*of_low), "an event tells of it")
        eventually(lambda: self.pods(low) == [], "its pods are gone")

    def test_a_cohort_lends_and_takes_back(self):
        self.queues("cohort")
        borrower = self.job("team-a-job")
        self.admitted(borrower)
        eventually(lambda: self.usage("team-a-cq") == [("15", "6")], "6 are borrowed")
        owner = self.job("team-b-job")
        self.admitted(owner)
        self.assertEqual(self.condition(borrower, "Preempted")["reason"], "InCohortReclamation")
        self.waits(borrower)
        self.delete(owner)
        self.admitted(borrower)

    def test_a_limit_of_borrowing_holds(self):
        self.queues("cohort")
        self.host.kubectl("patch", "clusterqueue", "team-a-cq", "--type=json", "-p", json.dumps([
            {"op": "replace", "value": "5", "path":
             "/spec/resourceGroups/0/flavors/0/resources/0/borrowingLimit"}]))
        self.assertIn("insufficient quota for cpu", self.waits(self.job("team-a-job")))

    def test_a_cohort_has_a_pool(self):
        self.queues("shared-pool")
        job = self.host.kubectl(
            "create", "-f", "-", "-o", "name", stdin=self.without_memory("sleeping-job"))
        self.admitted(job.strip().split("/")[-1])
        eventually(lambda: self.usage("cluster-queue") == [("3", "3")], "all of it is borrowed")

    def without_memory(self, name):
        """The queue of this sample has no memory."""
        with open(os.path.join(SAMPLES, "jobs", name + ".yaml"), encoding="utf-8") as text:
            return "".join(line for line in text if "memory:" not in line)

    def test_a_stopped_queue_drains(self):
        self.queues("single-queue")
        job = self.job("sleeping-job")
        self.admitted(job)
        self.stop("HoldAndDrain")
        eventually(lambda: self.spec(job)["suspend"], "it is suspended")
        self.assertEqual(self.condition(job, "Evicted")["reason"], "ClusterQueueStopped")
        # F1: the status of a queue is written ten times a second at most: kubectl watches for it.
        self.host.kubectl("wait", "clusterqueue/cluster-queue", "--for=condition=Active=False",
                          "--timeout=180s")
        active, = [c for c in self.host.json("get", "cq", "cluster-queue")["status"]["conditions"]
                   if c["type"] == "Active"]
        self.assertEqual(active["reason"], "Stopped")
        self.stop("None")
        self.admitted(job)

    def stop(self, policy):
        self.host.kubectl("patch", "clusterqueue", "cluster-queue", "--type=merge", "-p",
                          json.dumps({"spec": {"stopPolicy": policy}}))

    def test_other_kinds_are_refused_by_name(self):
        for version, kind in (("apps/v1", "Deployment"), ("batch/v1", "CronJob"),
                              ("kueue.x-k8s.io/v1alpha1", "Cohort")):
            done = self.host.run("apply", "-f", "-", stdin=json.dumps(
                {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f'no matches for kind "{kind}" in version "{version}"', done.stderr)


class V1beta1(Samples, unittest.TestCase):
    version = "v1beta1"


class V1beta2(Samples, unittest.TestCase):
    version = "v1beta2"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    if shutil.which("kubectl") is None:
        skip("there is no kubectl here (Debian: kubernetes-client)")
    Samples.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

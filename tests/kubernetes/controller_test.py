#!/usr/bin/env python3
"""`sluice controller` decides for a real control plane: what it writes, in which order, and what
remains of it when it dies, is stopped, or somebody else writes."""
import collections
import signal
import subprocess
import unittest

import yaml

import build
from client import eventually
from control_plane import ControlPlane
from controller import JOBS, WORKLOADS, Controller, Witness, holds, is_true, owner_of
from kubelet import Kubelet
from objects import Kueue, install

NAMESPACED = "/apis/batch/v1/namespaces/default/jobs"


class Case(unittest.TestCase):
    sluice = programs = ""
    plugins = ("--plugins", "none")

    def setUp(self):
        self.cluster = ControlPlane(build.find(self.programs, "control-plane"))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.api = self.cluster.api
        install(self.cluster, build.find(self.programs, "crds"))
        self.let_control()
        self.kueue = Kueue(self.api)
        self.kueue.flavor("default")
        self.enterContext(Kubelet(self.api, cpu="64"))

    def let_control(self):
        """What `sluice manifests` says that it needs, for the users of the tests."""
        text = subprocess.run([self.sluice, "manifests", *self.plugins], capture_output=True,
                              text=True, check=True).stdout
        roles = "/apis/rbac.authorization.k8s.io/v1"
        paths = {"Namespace": "/api/v1/namespaces", "ClusterRole": roles + "/clusterroles",
                 "Role": roles + "/namespaces/{}/roles",
                 "ClusterRoleBinding": roles + "/clusterrolebindings",
                 "RoleBinding": roles + "/namespaces/{}/rolebindings"}
        for each in yaml.safe_load_all(text):
            if each["kind"] not in paths or not each["metadata"]["name"].startswith("sluice-"):
                continue
            if each["kind"].endswith("Binding"):
                each["subjects"] = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                                     "name": "controllers"}]
            self.api.post(paths[each["kind"]].format(each["metadata"].get("namespace")), each)

    def queue(self, name, cpu, **more):
        self.kueue.cluster_queue(name, {"default": str(cpu)}, **more)
        self.kueue.local_queue(name, name)

    def controller(self, user="one", *arguments, decides=True, **more):
        running = Controller(self.sluice, self.cluster, user, *self.plugins, *arguments, **more)
        self.addCleanup(running.stop)
        return running.start(decides)

    def job(self, name, queue, cpu="1", pods=1, runs_for="1", suspend=True, **labels):
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
        return self.api.post(NAMESPACED, {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": queue} | labels},
            "spec": {"suspend": suspend, "parallelism": pods, "completions": pods, "template": {
                "metadata": {"annotations": {"test/runs-for": runs_for}},
                "spec": {"restartPolicy": "Never", "containers": [container]}}}})

    def writes(self, user):
        """(verb, resource, code) of those of the user, refused ones, too."""
        return [each for each in self.cluster.requests_of(user)
                if each[0] in ("create", "update", "patch", "delete")]

    def jobs(self):
        return {each["metadata"]["name"]: each for each in self.api.items(JOBS)}

    def workload_of(self, job):
        uid = self.jobs()[job]["metadata"]["uid"]
        return next((each for each in self.api.items(WORKLOADS) if owner_of(each) == uid), None)

    def finished(self, *names):
        jobs = self.jobs()
        return all(any(c["type"] == "Complete" and c["status"] == "True"
                       for c in jobs[name]["status"].get("conditions") or []) for name in names)

    def all_settled(self, number):
        """Every workload is finished, and there is one for each job."""
        workloads = self.api.items(WORKLOADS)
        return len(workloads) == number and all(is_true(each, "Finished") for each in workloads)


class Deciding(Case):
    def test_jobs_start_when_they_are_admitted_and_end(self):
        self.queue("q", 2)
        names = [f"job-{i}" for i in range(5)]
        witness = Witness(self.api, quota=2)
        self.controller()
        for name in names:
            self.job(name, "q")
        eventually(lambda: self.finished(*names), "all jobs are done")
        eventually(lambda: self.all_settled(5), "all workloads are finished")
        self.assertEqual(witness.judge(), [])
        writes = [each for each in self.writes("one") if each[1] == "workloads"]
        # Made, admitted, finished; and one that waited was told why at most once a second.
        self.assertLessEqual(len(writes), 5 * 3 + 4 * 6)
        self.assertTrue(all(code < 300 for _, _, code in writes), writes)

    def test_metrics_say_who_decides_and_what_was_written(self):
        self.queue("q", 2)
        first = self.controller()
        second = self.controller("other", decides=False)
        self.job("a", "q")
        eventually(lambda: self.finished("a"), "the job is done")
        eventually(lambda: first.metric('sluice_cluster_edits_waiting') == 0, "all is written")
        self.assertEqual((first.metric("sluice_leader"), second.metric("sluice_leader")), (1, 0))
        led = '{replica_role="leader",'
        self.assertEqual(first.metric(f'kueue_admitted_workloads_total{led}cluster_queue="q"'), 1)
        sent = f'sluice_cluster_requests_total{led}result='
        self.assertGreaterEqual(first.metric(sent + '"stored"'), 3)
        self.assertEqual(first.metric(sent + '"refused"'), 0)
        self.assertEqual(second.metric('sluice_leader{replica_role="follower"}'), 0)
        self.assertIsNone(second.metric("sluice_cluster_edits_waiting"))

    def test_who_is_preempted_is_stopped_with_its_own_templates(self):
        self.queue("q", 2, preemption={"withinClusterQueue": "LowerPriority"})
        self.api.post("/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses",
                      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
                       "metadata": {"name": "high"}, "value": 100})
        self.controller()
        self.job("low", "q", cpu="2", runs_for="600")
        eventually(lambda: not self.jobs()["low"]["spec"]["suspend"], "low runs")
        # Its eviction is stored right before its stop: a job that has just begun may show it.
        witness = Witness(self.api, quota=2, late_stops=True)
        self.job("high", "q", cpu="2", runs_for="600",
                 **{"kueue.x-k8s.io/priority-class": "high"})
        eventually(lambda: not self.jobs()["high"]["spec"]["suspend"], "high runs")
        self.assertTrue(self.jobs()["low"]["spec"]["suspend"])
        self.assertEqual(witness.judge(), [])
        evicted = self.workload_of("low")
        self.assertTrue(is_true(evicted, "Evicted"))
        self.assertFalse(holds(evicted))
        template = self.jobs()["low"]["spec"]["template"]
        eventually(lambda: "kueue.x-k8s.io/workload" not in self.jobs()["low"]["spec"]["template"]
                   ["metadata"].get("annotations", {}), f"its template is its own: {template}")
        self.api.delete(NAMESPACED + "/high", propagationPolicy="Background")
        eventually(lambda: not self.jobs()["low"]["spec"]["suspend"], "low runs again")

    def test_quota_is_free_when_the_pods_of_the_job_are_stopped(self):
        """And not when the job was told to: who ends its pods is away for a while."""
        self.queue("q", 2, preemption={"withinClusterQueue": "LowerPriority"})
        self.kueue.make_class("high", 100)
        running = self.controller()
        self.job("low", "q", cpu="2", runs_for="600")
        eventually(lambda: self.jobs()["low"]["status"].get("active") == 1, "low runs")
        self.cluster.others[0].stop()  # kube-controller-manager
        self.job("high", "q", cpu="2", runs_for="600",
                 **{"kueue.x-k8s.io/priority-class": "high"})
        eventually(lambda: self.jobs()["low"]["spec"]["suspend"], "low is told to stop")
        running.kill()
        self.controller("other")
        self.queue("beside", 1)
        self.job("free", "beside")  # so that it has decided since
        eventually(lambda: not self.jobs()["free"]["spec"]["suspend"], "another job starts")
        evicted = self.workload_of("low")
        self.assertTrue(is_true(evicted, "Evicted"))
        self.assertTrue(holds(evicted))
        self.assertTrue(self.jobs()["high"]["spec"]["suspend"])
        self.cluster.others[0].start()
        eventually(lambda: not self.jobs()["high"]["spec"]["suspend"], "high runs")
        self.assertFalse(holds(self.workload_of("low")))

    def test_what_somebody_else_wrote_stays(self):
        self.queue("q", 1)
        self.controller()
        self.job("a", "q", runs_for="600")
        eventually(lambda: self.workload_of("a") and holds(self.workload_of("a")),
                   "a is admitted")
        name = self.workload_of("a")["metadata"]["name"]
        path = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/{name}"
        self.api.merge(path, {"spec": {"active": False}})
        eventually(lambda: self.jobs()["a"]["spec"]["suspend"], "a is stopped")
        self.api.merge(path, {"metadata": {"labels": {"mine": "yes"}}, "spec": {"active": True}})
        eventually(lambda: not self.jobs()["a"]["spec"]["suspend"], "a runs again")
        self.assertEqual(self.api.get(path)["metadata"]["labels"]["mine"], "yes")

    def test_one_that_runs_without_being_asked_is_stopped(self):
        self.queue("q", 1)
        self.controller()
        self.job("a", "q", cpu="2", runs_for="600", suspend=False)
        eventually(lambda: self.jobs()["a"]["spec"]["suspend"], "a is stopped")


class Away(Case):
    def test_the_api_server_goes_and_comes_back(self):
        self.queue("q", 2)
        self.controller()
        names = [f"job-{i}" for i in range(6)]
        for name in names:
            self.job(name, "q")
        self.cluster.restart_api_server()
        eventually(lambda: self.finished(*names), "all jobs are done")
        eventually(lambda: self.all_settled(6), "all workloads are finished")


class Replicas(Case):
    def test_one_decides_and_another_takes_over(self):
        self.queue("q", 8)
        first = self.controller("one", lease="10s")
        second = self.controller("other", decides=False)
        eventually(lambda: "standing by" in second.log(), "the other one stands by")
        self.job("a", "q")
        eventually(lambda: self.finished("a") and self.all_settled(1), "a is done")
        # Now it has nothing to write but its lease, and nothing of it is on the way.
        eventually(lambda: first.metric("sluice_cluster_edits_waiting") == 0, "all is written")
        first.process.send_signal(signal.SIGSTOP)
        # How long that takes is a matter of tests/host/decide/lease_test.cpp.
        eventually(second.decides, "the other one decides")
        self.job("b", "q")
        eventually(lambda: self.finished("b") and self.all_settled(2), "b is done")
        before = self.stored("one")
        first.process.send_signal(signal.SIGCONT)
        self.assertNotEqual(first.process.wait(timeout=180), 0)
        self.assertIn("another replica may decide", first.log())
        # Of what it saw of b it wants to write a lot. If it was stopped in the midst of a renewal
        # it goes on with that, and is refused: it is made against the lease as it was.
        self.assertEqual(self.stored("one"), before, self.writes("one"))

    def test_who_ends_in_order_keeps_nobody_waiting(self):
        """For the end of a lease that lasts longer than this test may."""
        first = self.controller("one")
        second = self.controller("other", decides=False)
        eventually(lambda: "standing by" in second.log(), "the other one stands by")
        self.assertEqual(first.stop(), 0)
        eventually(second.decides, "the other one decides")

    def stored(self, user):
        """What the user's writes have changed, by their kinds. An Event tells, and may come late:
        it waits for a request that can be spared."""
        return collections.Counter(
            (verb, resource) for verb, resource, code in self.writes(user)
            if code < 300 and resource != "events")


if __name__ == "__main__":
    build.run_tests(Case)

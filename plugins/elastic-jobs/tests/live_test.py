#!/usr/bin/env python3
"""Elastic jobs on a live host with kubectl and real processes: the proposal's stories, kills and
reloads in between.

    live_test.py --sluice build/dev/bin/sluice --e2e tests/e2e [TestClass.test_name …]
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS, REST = OPTIONS.parse_known_args()
SLUICE = os.path.abspath(OPTIONS.sluice)
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import Host, eventually, skip

ON = "{ load: [ { name: elastic-jobs } ] }"
OFF = "{ load: [] }"
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: {flavor}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: larger-flavor}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: cq}}
spec:
  namespaceSelector: {{}}
  preemption: {{withinClusterQueue: LowerPriority}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: {flavor}
      resources: [{{name: cpu, nominalQuota: {small}}}]
    - name: larger-flavor
      resources: [{{name: cpu, nominalQuota: {large}}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: lq}}
spec: {{clusterQueue: cq}}
"""

JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  labels: {{kueue.x-k8s.io/queue-name: lq}}
  annotations: {{{annotations}}}
spec:
  parallelism: {parallelism}
  completions: {completions}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - name: c
        image: local
        command: [sh, -c, 'echo $$$$; {command}']
        resources: {{requests: {{cpu: 10m}}}}
"""
ELASTIC = 'kueue.x-k8s.io/elastic-job: "true"'

RAY = """
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: ray
  labels: {kueue.x-k8s.io/queue-name: lq}
  annotations: {kueue.x-k8s.io/elastic-job: "true"}
spec:
  enableInTreeAutoscaling: true
  autoscalerOptions: {resources: {}}
  headGroupSpec: {rayStartParams: {}, template: POD}
  workerGroupSpecs:
""" + "".join(
    f"  - {{groupName: {name}, replicas: {size}, minReplicas: 0, maxReplicas: 9, "
    "rayStartParams: {}, template: POD}\n" for name, size in (("a", 1), ("b", 1), ("c", 2)))
RAY = RAY.replace("POD", "{spec: {terminationGracePeriodSeconds: 1, containers: [{name: ray, "
                  "image: local, command: [sh, -c, 'echo $$$$; exec sleep 600'], "
                  "resources: {requests: {cpu: 10m}}}]}}")


class Live(unittest.TestCase):
    flavors = {"flavor": "smaller-flavor", "small": "100m", "large": "0"}

    def setUp(self):
        self.host = Host(SLUICE, plugins=ON)
        self.host.start()
        self.addCleanup(self.host.__exit__)
        self.apply(QUEUES.format(**self.flavors))

    def crash(self):
        self.host.stop(signal.SIGKILL)
        self.host.start()

    def start_with(self, plugins):
        self.host.plugins = plugins
        self.host.write_config(self.host.store, self.host.extra)
        self.host.start()

    def apply(self, text):
        self.host.kubectl("apply", "-f", "-", stdin=text)

    def job(self, name="train", parallelism=2, annotations=ELASTIC, completions=1000,
            command="exec sleep 600"):
        self.apply(JOB.format(name=name, parallelism=parallelism, annotations=annotations,
                              completions=completions, command=command))

    def scale(self, size, name="train"):
        self.host.kubectl("scale", f"job/{name}", f"--replicas={size}")

    def quota(self, small, large="0"):
        groups = [{"coveredResources": ["cpu"], "flavors": [
            {"name": name, "resources": [{"name": "cpu", "nominalQuota": quota}]}
            for name, quota in (("smaller-flavor", small), ("larger-flavor", large))]}]
        self.host.kubectl("patch", "clusterqueue", "cq", "--type=merge", "-p",
                          json.dumps({"spec": {"resourceGroups": groups}}))

    def pids(self, name="train", more=""):
        """Process ids by pod, of the pods that run."""
        out = {}
        for pod in self.host.json("get", "pods", "-l", f"job-name={name}{more}")["items"]:
            if pod["metadata"].get("deletionTimestamp"):
                continue
            if pod["status"].get("phase") != "Running":
                continue
            said = self.host.run("logs", pod["metadata"]["name"]).stdout.split()
            if said:
                out[pod["metadata"]["name"]] = int(said[0])
        return out

    def runs(self, count, name="train"):
        """Waits until so many run, and no more; their process ids."""
        return eventually(lambda: self.exactly(count, name), f"{count} pods of {name} run; "
                          f"{self.host.run('get', 'pods,workloads').stdout}")

    def exactly(self, count, name):
        found = self.pids(name)
        return found if len(found) == count else None

    def slices(self, name="train"):
        """`{(state, count)}` of the job's workloads."""
        out = set()
        for each in self.host.json("get", "workloads")["items"]:
            if each["metadata"]["ownerReferences"][0]["name"] != name:
                continue
            out.add((self.state(each), each["spec"]["podSets"][0]["count"]))
        return out

    def slice(self, state, count):
        for each in self.host.json("get", "workloads")["items"]:
            if (self.state(each), each["spec"]["podSets"][0]["count"]) == (state, count):
                return each
        raise AssertionError(f"no slice {state} {count}: {self.slices()}")

    @staticmethod
    def condition(obj, kind):
        for each in obj.get("status", {}).get("conditions", []):
            if each["type"] == kind:
                return each
        return {"status": "", "reason": "", "message": ""}

    def state(self, workload):
        if self.condition(workload, "Finished")["status"] == "True":
            return self.condition(workload, "Finished")["reason"]
        if self.condition(workload, "Admitted")["status"] == "True":
            return "admitted"
        return "reserved" if self.condition(workload, "QuotaReserved")["status"] == "True" \
            else "pending"

    def becomes(self, *expected, name="train"):
        eventually(lambda: self.slices(name) == set(expected),
                   f"{expected}, not {self.slices(name)}")

    def used(self):
        status = self.host.json("get", "clusterqueue", "cq").get("status", {})
        usage = status.get("flavorsReservation", [])
        total = sum(int(r.get("total", "0").rstrip("m") or 0) for f in usage
                    for r in f["resources"] if r["name"] == "cpu")
        return total // 10

    def survive(self, before, now):
        for pod, pid in before.items():
            if pod in now:
                self.assertEqual(now[pod], pid)
                os.kill(pid, 0)


class Stories(Live):
    def test_ten_resizes_leave_processes_alone(self):
        self.job()
        before = self.runs(2)
        oldest = dict(before)
        for size in (5, 3, 8, 2, 10, 4, 6, 2, 9, 3):
            self.scale(size)
            now = self.runs(size)
            self.assertEqual(len(set(before) & set(now)), min(len(before), size), "some were new")
            self.survive(before, now)
            self.assertLessEqual(set(oldest), set(now), "the first two run all the time")
            eventually(lambda want=size: self.used() == want, f"{size} are used")
            before = now
        eventually(lambda: self.host.json("get", "job", "train")["status"].get("active") == 3,
                   "the job counts three pods")
        eventually(lambda: len(self.host.json("get", "workloads")["items"]) == 6,
                   "five of the past are left")
        self.host.kubectl("delete", "job", "train")
        eventually(lambda: not self.host.json("get", "workloads,pods")["items"], "all is gone")
        eventually(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in before.values()),
                   "no process is left")

    def test_history_counts_no_slice_as_failed(self):
        """Two that a larger one took over from, one that was withdrawn, one that succeeded."""
        go = os.path.join(self.host.folder, "go")
        self.job(parallelism=1, completions=12, command=f"until test -e {go}; do sleep 0.1; done")
        for size in (2, 3):
            self.runs(size - 1)
            self.scale(size)
        self.runs(3)
        self.scale(50)  # beyond the quota
        eventually(lambda: ("pending", 12) in self.slices(), "a growth waits")
        self.scale(3)
        eventually(lambda: ("pending", 12) not in self.slices(), "it is withdrawn")
        with open(go, "w", encoding="utf-8"):
            pass
        self.host.kubectl("wait", "--for=condition=Complete", "--timeout=60s", "job/train")
        eventually(lambda: any(state == "Succeeded" for state, _ in self.slices()), "it ends")
        told = subprocess.run([SLUICE, "history", "-o", "json", "--kubeconfig",
                               self.host.kubeconfig], capture_output=True, text=True, check=True)
        total = json.loads(told.stdout)["total"]
        self.assertEqual([total[key] for key in ("started", "finished", "failed", "superseded")],
                         [3, 1, 0, 3])

    def test_a_growth_waits_behind_gates(self):
        self.quota("30m")
        self.job(parallelism=3)
        before = self.runs(3)
        self.scale(5)
        self.becomes(("admitted", 3), ("pending", 5))
        eventually(lambda: [pod["spec"]["schedulingGates"]
                            for pod in self.host.json("get", "pods")["items"]
                            if pod["spec"].get("schedulingGates")]
                   == 2 * [[{"name": "kueue.x-k8s.io/elastic-job"}]], "two pods wait")
        self.assertIn("SchedulingGated", self.host.kubectl("get", "pods"))
        self.assertEqual(self.pids(), before)
        waiting = self.slice("pending", 5)["metadata"]["name"]
        for target in (waiting, "job/train"):
            eventually(lambda at=target: re.search(
                r"cpu +50m +smaller-flavor +30m +30m +20m", self.explain(at)), "it is judged")
            told = self.explain(target)
            self.assertIn(f"default/{waiting}: Pending", told)
            self.assertIn("Will replace", told)
        self.quota("50m")
        now = self.runs(5)
        self.survive(before, now)
        self.assertLessEqual(set(before), set(now))
        self.becomes(("WorkloadSliceReplaced", 3), ("admitted", 5))
        old, new = self.slice("WorkloadSliceReplaced", 3), self.slice("admitted", 5)
        self.assertEqual(new["metadata"]["annotations"][REPLACES],
                         "default/" + old["metadata"]["name"])
        self.assertEqual(
            self.condition(old, "Finished")["message"],
            f"Removed to accommodate a workload (UID: {new['metadata']['uid']}, JobUID: "
            f"{new['metadata']['labels']['kueue.x-k8s.io/job-uid']}) due to workload slice "
            "aggregation")
        for reason in ("WorkloadSliceCreated", "WorkloadSliceAdmitted"):
            eventually(lambda of=reason: of in self.host.kubectl("describe", "job", "train"),
                       f"an event {reason}")
        self.assertIn("default/" + old["metadata"]["name"],
                      self.host.kubectl("get", "workloads", "-o", "wide"))

    def explain(self, target):
        return subprocess.run([SLUICE, "explain", target, "-n", "default"],
                              capture_output=True, text=True, check=False,
                              env=self.host.environment()).stdout

    def test_scale_down_lets_others_in_at_once(self):
        self.quota("40m")
        self.job(parallelism=4)
        before = self.runs(4)
        self.job(name="next", parallelism=2)
        self.becomes(("pending", 2), name="next")
        self.scale(2)
        self.survive(before, self.runs(2))
        self.runs(2, "next")
        self.becomes(("admitted", 2))

    def test_completions_and_exit_codes(self):
        flag = os.path.join(self.host.folder, "go")
        self.job(parallelism=2, completions=6,
                 command=f"while ! test -e {flag}; do sleep 0.1; done; exit 0")
        self.runs(2)
        self.scale(4)
        self.runs(4)
        with open(flag, "w", encoding="utf-8"):
            pass
        eventually(lambda: self.condition(self.host.json("get", "job", "train"),
                                          "Complete")["status"] == "True", "the job ends")
        self.assertEqual(self.host.json("get", "job", "train")["status"]["succeeded"], 6)
        eventually(lambda: self.used() == 0, "nothing is held")
        self.becomes(("WorkloadSliceReplaced", 2), ("Succeeded", 4))

    def test_groups_of_a_ray_cluster_scale_each_alone(self):
        self.apply(RAY)
        workers = lambda: eventually(self.ray_pids, "pods of ray")  # noqa: E731
        eventually(lambda: len(workers()) == 5, "head and four workers run")
        before = workers()
        self.groups(a=3, b=1, c=1)  # one up, one down
        eventually(lambda: len(workers()) == 6, "three of a, one of b, one of c")
        now = workers()
        self.survive(before, now)
        self.assertEqual(len(set(before) - set(now)), 1)
        eventually(lambda: self.used() == 6, "six are used")
        self.groups(a=3, b=4, c=1)
        eventually(lambda: len(workers()) == 9, "b grew")
        self.survive(now, workers())
        self.assertLessEqual(set(now), set(workers()))

    def groups(self, **sizes):
        patch = [{"op": "replace", "path": f"/spec/workerGroupSpecs/{'abc'.index(group)}/replicas",
                  "value": size} for group, size in sizes.items()]
        self.host.kubectl("patch", "raycluster", "ray", "--type=json", "-p", json.dumps(patch))

    def ray_pids(self):
        out = {}
        for pod in self.host.json("get", "pods", "-l", "ray.io/cluster=ray")["items"]:
            if pod["status"].get("phase") == "Running" \
                    and not pod["metadata"].get("deletionTimestamp"):
                said = self.host.run("logs", pod["metadata"]["name"]).stdout.split()
                if said:
                    out[pod["metadata"]["name"]] = int(said[0])
        return out


class Sticky(Live):
    flavors = {"flavor": "smaller-flavor", "small": "30m", "large": "100m"}

    def test_a_growth_stays_on_its_flavor(self):
        self.job(parallelism=2)
        before = self.runs(2)
        self.scale(5)
        self.becomes(("admitted", 2), ("pending", 5))
        message = eventually(
            lambda: self.condition(self.slice("pending", 5), "QuotaReserved").get("message"),
            "it says why it waits")
        self.assertTrue(message.startswith(
            "couldn't assign flavors to pod set main: couldn't change flavor from: smaller-flavor "
            "to: larger-flavor, insufficient quota for cpu in flavor smaller-flavor"), message)
        self.assertEqual(self.pids(), before)
        self.quota("50m", "100m")
        self.assertLessEqual(set(before), set(self.runs(5)))


class Trouble(Live):
    def test_kills_between_all_steps(self):
        self.quota("30m")
        self.job(parallelism=2)
        first = self.runs(2)
        self.crash()
        self.assertEqual(self.runs(2), first)
        self.scale(5)
        self.crash()
        self.becomes(("admitted", 2), ("pending", 5))
        self.crash()
        self.assertEqual(self.runs(2), first)
        self.quota("60m")
        self.crash()
        grown = self.runs(5)
        self.assertLessEqual(first.items(), grown.items())
        self.becomes(("WorkloadSliceReplaced", 2), ("admitted", 5))
        self.scale(3)
        self.crash()
        shrunk = self.runs(3)
        self.assertLessEqual(shrunk.items(), grown.items())
        self.becomes(("WorkloadSliceReplaced", 2), ("admitted", 3))
        eventually(lambda: self.used() == 3, "three are used")
        self.host.kubectl("delete", "job", "train")
        self.crash()
        eventually(lambda: not self.host.json("get", "workloads,pods")["items"], "all is gone")

    def test_turned_off_and_on_with_a_growth_in_flight(self):
        self.quota("30m")
        self.job(parallelism=2)
        self.runs(2)
        self.scale(5)
        self.becomes(("admitted", 2), ("pending", 5))
        self.assertTrue(self.host.reload(OFF))
        # The annotation means nothing: the job of five is one that waits.
        eventually(lambda: self.slices() == {("pending", 5)}, "it waits as a whole")
        eventually(lambda: not self.host.json("get", "pods")["items"], "no pod is left")
        eventually(lambda: not any(
            "sluice.dev/claimed-by" in each["metadata"].get("annotations", {})
            for each in self.host.json("get", "workloads")["items"]), "nobody claims it")
        self.quota("60m")
        self.runs(5)
        self.scale(3)  # the classic way: stopped, and started again
        self.runs(3)
        self.assertTrue(self.host.reload(ON))
        before = self.runs(3)
        self.scale(5)
        now = self.runs(5)
        self.assertLessEqual(before.items(), now.items())
        self.host.kubectl("delete", "job", "train")
        eventually(lambda: not self.host.json("get", "workloads,pods")["items"], "all is gone")
        self.assertEqual(eventually(lambda: self.used() == 0, "nothing is held"), True)

    def test_away_after_a_restart_it_says_who_is_missing(self):
        self.job(parallelism=2)
        before = self.runs(2)
        self.host.stop(signal.SIGKILL)
        self.start_with(OFF)
        self.assertEqual(self.runs(2), before, "what was admitted runs on")
        self.host.stop(signal.SIGKILL)
        self.start_with(ON)
        self.scale(4)
        self.assertLessEqual(before.items(), self.runs(4).items())

    def test_what_may_not_be_written(self):
        both = f"{ELASTIC}, kueue.x-k8s.io/job-min-parallelism: '1'"
        for annotations, text in (
                (both, "partial admission and elastic job cannot be used together"),
                (both.replace("elastic-job", "dynamically-sized-job"),
                 "partial admission and elastic job cannot be used together"),
                ('kueue.x-k8s.io/elastic-job: "maybe"', "should be true or false")):
            done = self.host.run("apply", "-f", "-", stdin=JOB.format(
                name="wrong", parallelism=2, annotations=annotations, completions=2,
                command="true"))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)
        self.job()
        self.runs(2)
        done = self.host.run("annotate", "job", "train", "kueue.x-k8s.io/elastic-job-")
        self.assertIn("field is immutable while the job has workloads", done.stderr)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    if shutil.which("kubectl") is None:
        skip("there is no kubectl here")
    unittest.main(argv=[sys.argv[0], *REST])

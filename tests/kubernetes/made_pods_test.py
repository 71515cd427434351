#!/usr/bin/env python3
"""Quota is counted for the pods that an API server makes: with LimitRanges of a namespace, and with
RuntimeClasses that take something beside the containers."""
import build
from asked import JOBS, Case
from client import eventually
from objects import GROUP

LIMITS = "/api/v1/namespaces/default/limitranges"
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
PODS = "/api/v1/namespaces/default/pods"
WORKLOADS = GROUP + "v1beta2/namespaces/default/workloads"


class MadePods(Case):
    def limit(self, name, **limits):
        self.api.post(LIMITS, {"metadata": {"name": name}, "spec": {
            "limits": [{"type": "Container"} | limits]}})

    def submit(self, name, requests, **spec):
        container = {"name": "c", "image": "none", "resources": {"requests": requests}}
        self.api.post(JOBS, {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"}},
            "spec": {"template": {"spec": spec | {"restartPolicy": "Never",
                                                  "containers": [container]}}}})

    def workload(self, job):
        for each in self.api.items(WORKLOADS):
            if each["metadata"]["ownerReferences"][0]["name"] == job:
                return each
        return {"status": {}}

    def counted(self, job):
        """The cpu that its workload holds."""
        held = self.workload(job).get("status", {}).get("admission")
        return held and held["podSetAssignments"][0]["resourceUsage"]["cpu"]

    def pod(self, job):
        """The one pod of the job, once it is there."""
        path = f"{PODS}?labelSelector=job-name%3D{job}"
        eventually(lambda: self.api.items(path), f"{job} has a pod")
        return self.api.items(path)[0]["spec"]

    def why(self, job):
        for each in self.workload(job).get("status", {}).get("conditions") or []:
            if each["type"] == "QuotaReserved":
                return each["message"]
        return ""

    def test_what_is_counted_is_what_runs(self):
        self.controller()
        self.kueue.flavor("default")
        self.kueue.cluster_queue("q", {"default": "9"})
        self.kueue.local_queue("q", "q")
        self.api.post(CLASSES, {"metadata": {"name": "kata"}, "handler": "kata",
                                "overhead": {"podFixed": {"cpu": "500m"}}})
        self.limit("defaults", defaultRequest={"cpu": "3"})
        self.submit("silent", {})
        eventually(lambda: self.counted("silent") == "3", "the default is counted")
        self.assertEqual(self.pod("silent")["containers"][0]["resources"]["requests"]["cpu"], "3")
        self.submit("kata", {"cpu": "1"}, runtimeClassName="kata")
        eventually(lambda: self.counted("kata") == "1500m", "the overhead is counted")
        self.assertEqual(self.pod("kata")["overhead"], {"cpu": "500m"})
        self.limit("narrow", max={"cpu": "2"})
        self.submit("large", {"cpu": "4"})
        # The largest that a container may have is what it is limited to when it says nothing.
        eventually(lambda: "cpu limit of 2" in self.why("large"), "no pod of it would be made")
        self.assertIsNone(self.counted("large"))
        self.api.delete(f"{LIMITS}/narrow")
        eventually(lambda: self.counted("large") == "4", "without that limit it is admitted")
        self.assertEqual(self.counted("silent"), "3", "who runs keeps what he has")


if __name__ == "__main__":
    build.run_tests(MadePods)

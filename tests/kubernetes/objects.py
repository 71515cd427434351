"""The cluster of the tests: Kueue's definitions, and objects of its API."""
import glob
import os

import yaml

from client import eventually

GROUP = "/apis/kueue.x-k8s.io/"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def install(cluster, folder, version="v1beta2", change=None):
    """Kueue's definitions. `version`: the only one that is served, or `both`, stored as v1beta2.
    `change`: called with each before it is created."""
    for path in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        with open(path, encoding="utf-8") as text:
            definition = yaml.safe_load(text)
        if version != "both":
            for each in definition["spec"]["versions"]:
                each["served"] = each["storage"] = each["name"] == version
        if change:
            change(definition)
        cluster.api.post(DEFINITIONS, definition)
    served = "v1beta2" if version == "both" else version
    eventually(lambda: all(established(each) for each in cluster.api.items(DEFINITIONS)),
               "the definitions are established")
    eventually(lambda: cluster.api.send("GET", GROUP + served + "/workloads")[0] == 200,
               "workloads are served")


def established(definition):
    return any(each["type"] == "Established" and each["status"] == "True"
               for each in definition.get("status", {}).get("conditions") or [])


class Kueue:
    """Creates objects of Kueue's API in one of its versions."""

    def __init__(self, api, version="v1beta2"):
        self.api, self.version = api, version
        self.path = GROUP + version

    def make(self, kind, plural, name, spec, ns=None, owner=None):
        where = f"/namespaces/{ns}" if ns else ""
        metadata = {"name": name}
        if owner:
            metadata["labels"] = {"kueue.x-k8s.io/job-uid": owner["metadata"]["uid"]}
            metadata["ownerReferences"] = [{
                "apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True,
                "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]
        body = {"apiVersion": "kueue.x-k8s.io/" + self.version, "kind": kind,
                "metadata": metadata, "spec": spec}
        return self.api.post(f"{self.path}{where}/{plural}", body)

    def flavor(self, name):
        return self.make("ResourceFlavor", "resourceflavors", name, {})

    def cluster_queue(self, name, cpu, **more):
        flavors = [{"name": flavor, "resources": [{"name": "cpu", "nominalQuota": quota}]}
                   for flavor, quota in cpu.items()]
        return self.make("ClusterQueue", "clusterqueues", name, {
            "namespaceSelector": {}, "queueingStrategy": "BestEffortFIFO",
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]} | more)

    def local_queue(self, name, cluster_queue, ns="default"):
        return self.make("LocalQueue", "localqueues", name, {"clusterQueue": cluster_queue}, ns)

    def make_class(self, name, value):
        """A WorkloadPriorityClass."""
        return self.api.post(self.path + "/workloadpriorityclasses", {
            "apiVersion": "kueue.x-k8s.io/" + self.version, "kind": "WorkloadPriorityClass",
            "metadata": {"name": name}, "value": value})

    def workload(self, name, queue, cpu, priority=0, ns="default", owner=None, **more):
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
        return self.make("Workload", "workloads", name, {
            "active": True, "queueName": queue, "priority": priority,
            "podSets": [{"name": "main", "count": 1, "template": {"spec": {
                "restartPolicy": "Never", "containers": [container]}}}]} | more, ns, owner)

    def admit(self, name, cluster_queue, flavor, cpu, ns="default"):
        """As a controller would: the status says that it is admitted."""
        at = "2026-01-01T00:00:00Z"
        conditions = [{"type": each, "status": "True", "reason": "Test", "message": "by the test",
                       "lastTransitionTime": at} for each in ("QuotaReserved", "Admitted")]
        self.api.merge(f"{self.path}/namespaces/{ns}/workloads/{name}/status", {"status": {
            "conditions": conditions,
            "admission": {"clusterQueue": cluster_queue, "podSetAssignments": [{
                "name": "main", "count": 1, "flavors": {"cpu": flavor},
                "resourceUsage": {"cpu": cpu}}]}}})

    def delete(self, plural, name, ns=None):
        where = f"/namespaces/{ns}" if ns else ""
        return self.api.delete(f"{self.path}{where}/{plural}/{name}")

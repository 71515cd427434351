"""A live host with queues, checks and workloads, for tests of two-stage admission (KEP-993)."""
import signal

from host import Host, eventually
from rest import Rest

GROUP = "/apis/kueue.x-k8s.io/v1beta2"


class World:
    """One host, and what the tests do with it."""

    def __init__(self, sluice, plugins=None, **more):
        """plugins: what `plugins:` of the configuration is."""
        self.host = Host(sluice, plugins=plugins, **more)
        self.host.start()
        self.rest = Rest(self.host.kubeconfig)
        self.create("/api/v1/namespaces", {"metadata": {"name": "team"}})

    def end(self):
        self.host.__exit__()

    def crash(self):
        self.host.stop(signal.SIGKILL)
        self.host.start()

    def create(self, path, body):
        code, answer = self.rest.send("POST", path, body)
        assert code == 201, f"{path}: {code} {answer}"
        return answer

    def flavor(self, name):
        self.create(f"{GROUP}/resourceflavors", {"metadata": {"name": name}})

    def check(self, name, policy="Anytime"):
        self.create(f"{GROUP}/admissionchecks", {
            "metadata": {"name": name},
            "spec": {"controllerName": "example.com/python", "preemptionPolicy": policy}})

    def queue(self, name, checks, flavors, **spec):
        """flavors: {name: CPUs}; checks: names, or (name, flavors)."""
        if checks:
            spec["admissionChecksStrategy"] = {"admissionChecks": [
                {"name": c} if isinstance(c, str) else {"name": c[0], "onFlavors": c[1]}
                for c in checks]}
        self.create(f"{GROUP}/clusterqueues", {"metadata": {"name": name}, "spec": {
            "namespaceSelector": {}, "resourceGroups": [self.group(flavors)], **spec}})
        self.create(f"{GROUP}/namespaces/team/localqueues",
                    {"metadata": {"name": name}, "spec": {"clusterQueue": name}})

    @staticmethod
    def group(flavors):
        return {"coveredResources": ["cpu"], "flavors": [
            {"name": f, "resources": [{"name": "cpu", "nominalQuota": n}]}
            for f, n in flavors.items()]}

    def quota(self, queue, flavors):
        self.patch(f"{GROUP}/clusterqueues/{queue}",
                   {"spec": {"resourceGroups": [self.group(flavors)]}})

    def patch(self, path, body, expect=200):
        code, answer = self.rest.send("PATCH", path, body, "application/merge-patch+json")
        assert code == expect, f"{path}: {code} {answer}"
        return answer

    def workload(self, name, queue, cpu=1, priority=0):
        self.create(f"{GROUP}/namespaces/team/workloads", {
            "metadata": {"name": name},
            "spec": {"queueName": queue, "priority": priority, "podSets": [{
                "name": "main", "count": 1, "template": {"spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}}]}})

    def job(self, name, queue, command="sleep 60"):
        self.create("/apis/batch/v1/namespaces/team/jobs", {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": queue}},
            "spec": {"template": {"spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "c", "image": "x", "command": ["sh", "-c", command],
                                "resources": {"requests": {"cpu": "10m"}}}]}}}})

        def owned():
            for each in self.rest.get(f"{GROUP}/namespaces/team/workloads")["items"]:
                for owner in each["metadata"].get("ownerReferences", []):
                    if owner["name"] == name:
                        return each["metadata"]["name"]
            return None
        return eventually(owned, f"the workload of job {name}")

    def get(self, name):
        return self.rest.get(f"{GROUP}/namespaces/team/workloads/{name}")

    def condition(self, name, kind):
        for each in self.get(name).get("status", {}).get("conditions", []):
            if each["type"] == kind:
                return each
        return {"status": "", "reason": "", "message": ""}

    def state(self, name):
        if self.condition(name, "Finished")["status"] == "True":
            return "finished"
        if not self.get(name)["spec"].get("active", True):
            return "inactive"
        if self.condition(name, "Admitted")["status"] == "True":
            return "admitted"
        reserved = self.condition(name, "QuotaReserved")["status"] == "True"
        return "reserved" if reserved else "pending"

    def checks(self, name):
        listed = self.get(name).get("status", {}).get("admissionChecks", [])
        return {each["name"]: each["state"] for each in listed}

    def becomes(self, name, state):
        eventually(lambda: self.state(name) == state, f"{name} is {state}, not "
                   f"{self.state(name)}: {self.get(name).get('status')}")

    def answer(self, name, check, state, expect=200, version=None, **more):
        """One check's state, the others as they are: what a controller writes."""
        now = self.get(name).get("status", {}).get("admissionChecks", [])
        listed = [each for each in now if each["name"] != check]
        listed.append({"name": check, "state": state, "message": more.pop("message", ""),
                       "lastTransitionTime": "2026-01-01T00:00:00Z", **more})
        body = {"status": {"admissionChecks": listed}}
        if version:
            body["metadata"] = {"resourceVersion": version}
        return self.patch(f"{GROUP}/namespaces/team/workloads/{name}/status", body, expect)

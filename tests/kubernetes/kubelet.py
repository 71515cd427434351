"""A node without a machine, and who says that its pods run: as long as the annotation
`test/runs-for` (seconds) says, else for ever.

    with Kubelet(cluster.api, cpu="8"):
        …

Pods that the scheduler has bound get the status that a kubelet would write. Those that are to be
deleted go at once, or after as many seconds as the annotation `test/ends-in` says, at most those of
their grace period; with `test/ends-in: never` when somebody else says that they have ended.
"""
import datetime
import threading
import time

NODE = "test-node"
PODS = "/api/v1/pods"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Kubelet:
    nodes = {NODE: {}}  # their labels

    def __init__(self, api, cpu="8", pods=1000):
        self.api, self.cpu, self.pods = api, cpu, str(pods)
        self.stopping = threading.Event()
        self.started = {}  # path of a pod → when it ends
        self.ending = {}  # the same of one that is being deleted
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        capacity = {"cpu": self.cpu, "memory": "64Gi", "pods": self.pods}
        for name, labels in self.nodes.items():
            self.api.post("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
            self.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
                "capacity": capacity, "allocatable": capacity, "conditions": [
                    {"type": "Ready", "status": "True", "reason": "Test", "message": "it is",
                     "lastHeartbeatTime": now(), "lastTransitionTime": now()}]}})
            self.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def run(self):
        while not self.stopping.wait(0.1):
            try:
                for pod in self.api.items(f"{PODS}?fieldSelector=spec.nodeName!%3D"):
                    self.keep(pod)
            except (OSError, AssertionError):
                continue  # the server is away, or the pod went meanwhile

    def keep(self, pod):
        metadata, phase = pod["metadata"], pod["status"].get("phase")
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        if "deletionTimestamp" in metadata:
            self.let_go(path, metadata)
        elif phase == "Pending":
            runs = metadata.get("annotations", {}).get("test/runs-for")
            self.started[path] = time.monotonic() + float(runs) if runs else float("inf")
            self.tell(path, pod, "Running")
        elif phase == "Running" and time.monotonic() >= self.started.get(path, float("inf")):
            self.tell(path, pod, "Succeeded")

    def let_go(self, path, metadata):
        takes = metadata.get("annotations", {}).get("test/ends-in", "0")
        takes = float("inf") if takes == "never" else \
            min(float(takes), metadata["deletionGracePeriodSeconds"])
        if time.monotonic() >= self.ending.setdefault(metadata["uid"], time.monotonic() + takes):
            self.api.send("DELETE", path, {"gracePeriodSeconds": 0})

    def tell(self, path, pod, phase, code=0, **more):
        """code: that its containers end with; more: of its status."""
        ready = "True" if phase == "Running" else "False"
        state = {"running": {"startedAt": now()}}
        if phase != "Running":
            state = {"terminated": {"exitCode": code, "finishedAt": now(),
                                    "reason": "Error" if code else "Completed"}}
        self.api.must("PATCH", path + "/status", {"status": more | {
            "phase": phase, "startTime": pod["status"].get("startTime", now()),
            "conditions": [{"type": each, "status": ready, "lastTransitionTime": now()}
                           for each in ("Ready", "ContainersReady")],
            "containerStatuses": [
                {"name": each["name"], "image": each["image"], "imageID": "none",
                 "ready": phase == "Running", "restartCount": 0, "state": state}
                for each in pod["spec"]["containers"]]}},
            "application/strategic-merge-patch+json")

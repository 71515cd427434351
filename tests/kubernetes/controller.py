"""`sluice controller` as a process, and who watches over what it does."""
import os
import signal
import subprocess
import threading

from client import eventually
from objects import GROUP

JOBS = "/apis/batch/v1/jobs"
WORKLOADS = GROUP + "v1beta2/workloads"


class Controller:
    """A running controller; it decides when it has the lease."""

    def __init__(self, sluice, cluster, user="one", *arguments, kubeconfig=None):
        self.command = [sluice, "controller", "--kubeconfig",
                        kubeconfig or cluster.kubeconfig(user), "--address", "127.0.0.1:0",
                        "--write-kubeconfig", cluster.path(f"controller-{user}.kubeconfig"),
                        "--lease-duration", "6s", *arguments]
        self.kubeconfig = cluster.path(f"controller-{user}.kubeconfig")
        self.log_path = cluster.path(f"controller-{user}.log")
        self.process = None

    def start(self, decides=True):
        with open(self.log_path, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        if decides:
            eventually(self.decides, "the controller decides", 60)
        return self

    def decides(self):
        if self.process.poll() is not None:
            raise AssertionError("the controller ended:\n" + self.log()[-3000:])
        return "\nready: deciding for" in self.log()

    def log(self):
        with open(self.log_path, encoding="utf-8") as text:
            return text.read()

    def metric(self, begin):
        """The value of the first sample that begins so; None where there is none."""
        text = subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, "get", "--raw",
                               "/metrics"], capture_output=True, text=True, check=True).stdout
        found = [line for line in text.splitlines() if line.startswith(begin)]
        return float(found[0].rsplit(" ", 1)[1]) if found else None

    def kill(self):
        self.process.kill()
        self.process.wait()
        os.truncate(self.log_path, 0)

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return None
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


def is_true(workload, condition):
    return any(each["type"] == condition and each["status"] == "True"
               for each in workload.get("status", {}).get("conditions") or [])


def holds(workload):
    return is_true(workload, "QuotaReserved") and not is_true(workload, "Finished")


def cpus(workload):
    """What the workload's admission grants, in cpu."""
    return sum(int(each["resourceUsage"].get("cpu", "0"))
               for each in workload["status"]["admission"]["podSetAssignments"])


class Witness:
    """Sees each version of each workload and job of a cluster, in the order of the store, and
    notes whatever may never be: more quota held than there is, a job that runs while none of its
    workloads is admitted, one that was made twice."""

    def __init__(self, api, quota):
        self.api, self.quota = api, quota
        self.versions = {}   # resource version → (kind, object or None)
        self.wrong = []
        self.threads = [threading.Thread(target=self.follow, args=each, daemon=True)
                        for each in (("jobs", JOBS), ("workloads", WORKLOADS))]
        self.seen = {"jobs": 0, "workloads": 0}
        self.lock = threading.Lock()

    def __enter__(self):
        self.start = self.api.get(WORKLOADS)["metadata"]["resourceVersion"]
        for each in self.threads:
            each.start()
        return self

    def __exit__(self, *_):
        """The threads end with the process."""

    def follow(self, kind, path):
        version = self.start
        while True:
            try:
                for event in self.api.watch(path + "?allowWatchBookmarks=true", version):
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] == "BOOKMARK":
                        continue
                    gone = event["type"] == "DELETED"
                    with self.lock:
                        self.versions[int(version)] = (kind, event["object"], gone)
            except (OSError, KeyError, ValueError):
                continue  # the server is away

    def judge(self):
        """Goes through the history; what was wrong in it."""
        with self.lock:
            history = sorted(self.versions.items())
        workloads, jobs, wrong = {}, {}, []
        for version, (kind, thing, gone) in history:
            key = thing["metadata"]["name"]
            table = workloads if kind == "workloads" else jobs
            if gone:
                table.pop(key, None)
            else:
                table[key] = thing
            used = sum(cpus(each) for each in workloads.values() if holds(each))
            if used > self.quota:
                wrong.append(f"at {version} {used} cpu are held of {self.quota}")
            if kind == "jobs" and not gone and not thing["spec"].get("suspend"):
                owned = [each for each in workloads.values()
                         if owner_of(each) == thing["metadata"]["uid"]]
                if not any(is_true(each, "Admitted") for each in owned):
                    wrong.append(f"at {version} job {key} runs without an admission")
        return wrong


def owner_of(workload):
    for each in workload["metadata"].get("ownerReferences") or []:
        if each.get("controller"):
            return each["uid"]
    return None

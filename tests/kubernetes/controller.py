"""`sluice controller` as a process, and who watches over what it does."""
import os
import signal
import subprocess
import threading

from client import eventually
from objects import GROUP

JOBS = "/apis/batch/v1/jobs"
WORKLOADS = GROUP + "v1beta2/workloads"


def samples_of(text, begin):
    """Of a page of metrics: the values of the samples that begin so, by their labels."""
    found = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith(begin)]
    return {name: float(value) for name, value in found}


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

    def metrics(self, begin):
        """The values of the samples that begin so, by their labels."""
        text = subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, "get", "--raw",
                               "/metrics"], capture_output=True, text=True, check=True).stdout
        return samples_of(text, begin)

    def metric(self, begin):
        """The value of the first sample that begins so; None where there is none."""
        return next(iter(self.metrics(begin).values()), None)

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

    def __init__(self, api, quota, late_stops=False):
        """late_stops: a job may run on after its workload was evicted, until it is stopped."""
        self.api, self.quota, self.late_stops = api, quota, late_stops
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
        workloads, jobs, held, wrong, about = {}, {}, {}, [], set()
        late = set()  # jobs that run on after an eviction
        for version, (kind, thing, gone) in history:
            key = thing["metadata"]["name"]
            table = workloads if kind == "workloads" else jobs
            if gone:
                table.pop(key, None)
            else:
                table[key] = thing
            if kind == "workloads":
                held.pop(key, None)
                if not gone and holds(thing):
                    held[key] = cpus(thing)
                if sum(held.values()) > self.quota:
                    wrong.append(f"at {version} {held} cpu are held of {self.quota}")
            over = gone or thing["spec"].get("suspend") or \
                (self.late_stops and is_true(thing, "Complete"))
            if kind == "jobs" and over:
                late.discard(key)
            elif kind == "jobs":
                owned = [each for each in workloads.values()
                         if owner_of(each) == thing["metadata"]["uid"]]
                evicted = any(is_true(each, "Evicted") for each in owned)
                if any(is_true(each, "Admitted") for each in owned):
                    late.discard(key)
                elif self.late_stops and evicted:
                    late.add(key)
                else:
                    wrong.append(f"at {version} job {key} runs without an admission")
                    about.add(thing["metadata"]["uid"])
        wrong += [f"job {key} was never stopped" for key in late]
        return wrong + [self.told(*each) for each in history
                        if (owner_of(each[1][1]) or each[1][1]["metadata"]["uid"]) in about]

    @staticmethod
    def told(version, what):
        """A version of a job or of its workload, in a line."""
        kind, thing, gone = what
        said = [each["type"] for each in thing.get("status", {}).get("conditions") or []
                if each["status"] == "True"]
        return f"{version} {kind} {thing['metadata']['name']} {'gone ' if gone else ''}" \
            f"suspend {thing['spec'].get('suspend')} active " \
            f"{thing.get('status', {}).get('active')} {said}"


def owner_of(workload):
    for each in workload["metadata"].get("ownerReferences") or []:
        if each.get("controller"):
            return each["uid"]
    return None

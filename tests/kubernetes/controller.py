"""`sluice controller` as a process, and who watches over what it does."""
import signal
import subprocess

from client import eventually
from history import History
from objects import GROUP

JOBS = "/apis/batch/v1/jobs"
WORKLOADS = GROUP + "v1beta2/workloads"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/sluice-system/leases/sluice-controller"


def samples_of(text, begin):
    """Of a page of metrics: the values of the samples that begin so, by their labels."""
    found = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith(begin)]
    return {name: float(value) for name, value in found}


class Controller:
    """A running controller; it decides when it has the lease. `lease`: how long that lasts. Who
    cannot renew it ends, so it is longer than any server is away, or answers nobody because its
    machine is busy; and short enough for renewals to keep their connection."""

    def __init__(self, sluice, cluster, user="one", *arguments, kubeconfig=None, lease="5m"):
        self.command = [sluice, "controller", "--kubeconfig",
                        kubeconfig or cluster.kubeconfig(user), "--address", "127.0.0.1:0",
                        "--write-kubeconfig", cluster.path(f"controller-{user}.kubeconfig"),
                        "--lease-duration", lease, *arguments]
        self.cluster = cluster
        self.kubeconfig = cluster.path(f"controller-{user}.kubeconfig")
        self.log_path = cluster.path(f"controller-{user}.log")
        self.process = None

    def start(self, decides=True):
        with open(self.log_path, "w", encoding="utf-8") as log:  # what an earlier one said is over
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        if decides:
            eventually(self.decides, "the controller decides")
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
        """And its lease is over: tests/host/decide/lease_test.cpp has what one waits for it."""
        self.process.kill()
        self.process.wait()
        self.cluster.api.send("DELETE", LEASE)

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return None
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=180)


def condition(thing, name):
    """Empty where it has none of that name."""
    return next((each for each in thing.get("status", {}).get("conditions") or []
                 if each["type"] == name), {})


def is_true(thing, name):
    return condition(thing, name).get("status") == "True"


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
        self.quota, self.late_stops = quota, late_stops
        self.history = History(api, WORKLOADS, JOBS)
        self.before = {each["metadata"]["name"]: each for each in self.history.begun
                       if each["kind"] == "Workload"}

    def judge(self):
        """Goes through the history, up to now; what was wrong in it."""
        history = self.history.until_now()
        workloads, wrong, about = dict(self.before), [], set()
        held = {name: cpus(each) for name, each in workloads.items() if holds(each)}
        late = set()  # jobs that run on after an eviction
        for version, thing, gone in history:
            kind, key = thing["kind"], thing["metadata"]["name"]
            if kind == "Workload":
                workloads.pop(key, None)
                held.pop(key, None)
                if not gone:
                    workloads[key] = thing
                if not gone and holds(thing):
                    held[key] = cpus(thing)
                if sum(held.values()) > self.quota:
                    wrong.append(f"at {version} {held} cpu are held of {self.quota}")
            over = gone or thing["spec"].get("suspend") or \
                (self.late_stops and is_true(thing, "Complete"))
            if kind == "Job" and over:
                late.discard(key)
            elif kind == "Job":
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
                        if (owner_of(each[1]) or each[1]["metadata"]["uid"]) in about]

    @staticmethod
    def told(version, thing, gone):
        """A version of a job or of its workload, in a line."""
        said = [each["type"] for each in thing.get("status", {}).get("conditions") or []
                if each["status"] == "True"]
        return f"{version} {thing['kind']} {thing['metadata']['name']} {'gone ' if gone else ''}" \
            f"suspend {thing['spec'].get('suspend')} active " \
            f"{thing.get('status', {}).get('active')} {said}"


def owner_of(workload):
    for each in workload["metadata"].get("ownerReferences") or []:
        if each.get("controller"):
            return each["uid"]
    return None

"""What may never be, at no version of the store, whoever decides: a judge of the history of a story
of handovers.py."""
import collections
import time

from asked import QUEUES
from controller import JOBS, WORKLOADS, condition, holds, is_true, owner_of
from handover_order import Order
from handover_quota import Quotas
from handover_world import LABELS, LOCAL, PROBE
from history import History
from kubelet import PODS
from pods import DOMAIN, is_gated

GRACE = 10  # seconds: what was so until then may be the cause of what is written
SOON = 20  # seconds within which who decides stops what is evicted


class Timed(History):
    """With the time at which each version was seen."""

    def __init__(self, api):
        self.at = {}
        super().__init__(api, WORKLOADS, JOBS, PODS, QUEUES, LOCAL)

    def see(self, path, thing, gone):
        self.at[int(thing["metadata"]["resourceVersion"])] = time.monotonic()
        super().see(path, thing, gone)


def difference(one, other, path=""):
    """The places below which two objects differ, with what the other one has."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return [] if one == other else [f"{path}: {other}"]
    return [each for key in sorted({*one, *other})
            for each in difference(one.get(key), other.get(key), f"{path}.{key}")]


def may_run(workload):
    return is_true(workload, "Admitted") and not is_true(workload, "Evicted")


def is_over(job):
    return any(is_true(job, each) for each in ("Complete", "Failed"))


class Judge:
    def __init__(self, history, turns, disturbed):
        """turns: (version, who decides from then on); disturbed: uids and names of what users did
        something to that may stop it."""
        self.at, self.turns, self.disturbed = history.at, turns, disturbed
        self.things = collections.defaultdict(dict)  # kind → uid → object
        self.owned = collections.defaultdict(set)  # uid of a job → uids of its workloads
        self.of_pod = {}  # uid of a pod → uid of its workload
        self.late = {}  # uid of a job that runs on without an admission → since when
        self.own = {}  # uid of a job → its template as it was made
        self.wild = set()  # uids of jobs that were made to run without being asked
        self.stops = collections.defaultdict(list)  # kind/name → (when, policy)
        self.wrong, self.counts = [], collections.Counter()
        self.quotas, self.order = Quotas(self), Order(self)
        self.version = 0
        self.quotas.first = {each["metadata"]["name"]: each["spec"] for each in history.begun
                             if each["kind"] == "ClusterQueue"}
        for thing in history.begun:
            self.things[thing["kind"]][thing["metadata"]["uid"]] = thing
            self.see_policy(thing)

    def who(self, version=None):
        version = version or self.version
        return next((who for at, who in reversed(self.turns) if at <= version), "nobody")

    def now(self):
        return self.at.get(self.version, 0)

    def line(self, what, thing):
        name = thing["metadata"]["name"]
        return f"{self.who()}: at {self.version} {thing['kind']} {name}: {what}"

    def say(self, what, thing):
        self.wrong.append(self.line(what, thing))

    def judge(self, versions):
        for self.version, thing, gone in versions:
            uid, kind = thing["metadata"]["uid"], thing["kind"]
            before = self.things[kind].get(uid)
            if gone:
                self.things[kind].pop(uid, None)
            else:
                self.things[kind][uid] = thing
            {"Workload": self.workload, "Job": self.job, "Pod": self.pod}.get(
                kind, self.queue)(thing, before, gone)
        for uid, since in self.late.items():
            self.say(f"runs without an admission since {since[0]}, to the end",
                     self.things["Job"][uid])
        self.order.end()
        self.quotas.end()
        return self.wrong

    # ---- queues

    def queue(self, thing, _before, _gone):
        self.see_policy(thing)
        self.quotas.changed(thing)

    def see_policy(self, thing):
        if thing["kind"] in ("ClusterQueue", "LocalQueue"):
            self.stops[f"{thing['kind']}/{thing['metadata']['name']}"].append(
                (self.now(), thing["spec"].get("stopPolicy", "None")))

    def policies(self, kind, name):
        """Those that the queue had in the last seconds."""
        had, end = [], float("inf")
        for when, policy in reversed(self.stops[f"{kind}/{name}"]):
            if end >= self.now() - GRACE:
                had.append(policy)
            end = when
        return had

    # ---- workloads

    def workload(self, new, old, gone):
        owner, uid = owner_of(new), new["metadata"]["uid"]
        if owner:
            (self.owned[owner].discard if gone else self.owned[owner].add)(uid)
        for each in new["metadata"].get("ownerReferences") or []:
            if each["kind"] == "Pod":
                self.of_pod[each["uid"]] = uid
        self.quotas.workload(new, gone)
        self.order.workload(new, old, gone)
        if gone:
            self.lost(owner)
            return
        old = old or {}
        if is_true(new, "Admitted") and not is_true(new, "Finished") and (
                not is_true(new, "QuotaReserved") or "admission" not in new["status"]):
            self.say("is admitted without quota", new)
        if may_run(new):
            self.late.pop(owner, None)
        elif may_run(old):
            self.lost(owner)
            if not is_true(new, "Evicted") and not is_true(new, "Finished"):
                self.say("is not admitted any more, and was not evicted", new)
        if holds(new) and not (old and holds(old)):
            self.counts["reservations"] += 1
            others = [each for each in self.owned.get(owner, ()) if each != uid and
                      holds(self.things["Workload"][each])]
            if others:
                self.say("holds quota, as another one of the same job does", new)
        if is_true(new, "Admitted") and not is_true(old, "Admitted"):
            self.counts["admissions by " + self.who()] += 1
        if is_true(new, "Finished") and not is_true(old, "Finished"):
            self.finished(new, owner)
        if is_true(new, "Evicted") and not is_true(old, "Evicted"):
            self.evicted(new)

    def lost(self, owner):
        """A job has no admission any more; if it runs, that is to end soon."""
        job = self.things["Job"].get(owner)
        if job and not job["spec"].get("suspend") and not is_over(job):
            self.late.setdefault(owner, (self.version, self.now()))

    def finished(self, workload, owner):
        job = self.things["Job"].get(owner)
        if job and not is_over(job) and "deletionTimestamp" not in job["metadata"]:
            self.say(f"is finished, and its job is not: {condition(workload, 'Finished')}",
                     workload)

    def evicted(self, workload):
        told = condition(workload, "Evicted")
        reason, queue = told["reason"], workload["spec"]["queueName"]
        self.counts[f"evictions by {self.who()}: {reason}"] += 1
        of = self.of(workload)
        may = {"ClusterQueueStopped": "HoldAndDrain" in self.policies("ClusterQueue", of),
               "LocalQueueStopped": "HoldAndDrain" in self.policies("LocalQueue", queue),
               "Preempted": self.may_preempt(workload),
               "MaximumExecutionTimeExceeded": "maximumExecutionTimeSeconds" in workload["spec"],
               "AdmissionCheck": bool(workload["status"].get("admissionChecks"))}
        causes = [cause for cause in may if reason.endswith(cause)]
        fine = may[causes[0]] if causes else \
            reason.startswith("Deactivated") and not workload["spec"].get("active", True)
        if not fine:
            self.say(f"is evicted without a cause: {told}", workload)

    def of(self, workload):
        """Its ClusterQueue."""
        admission = workload.get("status", {}).get("admission") or {}
        return admission.get("clusterQueue") or self.cluster_queue(workload["spec"]["queueName"])

    def cluster_queue(self, local):
        return next((each["spec"]["clusterQueue"] for each in self.things["LocalQueue"].values()
                     if each["metadata"]["name"] == local), None)

    def may_preempt(self, victim):
        """Whether who it was evicted for may do that, by the condition's message."""
        message = condition(victim, "Evicted")["message"]
        winner = next((each for uid, each in self.things["Workload"].items()
                       if f"(UID: {uid}" in message), None)
        if winner is None:
            return True  # it is gone already
        theirs, mine = ((each["spec"].get("priority", 0), each["metadata"]["creationTimestamp"])
                        for each in (winner, victim))
        of = self.cluster_queue(winner["spec"]["queueName"])
        spec = next(each["spec"] for each in self.things["ClusterQueue"].values()
                    if each["metadata"]["name"] == of)["preemption"]
        higher = theirs[0] > mine[0]
        if self.of(victim) == of:
            newer = theirs[0] == mine[0] and theirs[1] <= mine[1]
            return {"Never": False, "LowerPriority": higher,
                    "LowerOrNewerEqualPriority": higher or newer}[spec["withinClusterQueue"]]
        return spec["reclaimWithinCohort"] == "Any" or \
            (spec["reclaimWithinCohort"] == "LowerPriority" and higher)

    # ---- jobs

    def mine(self, uid):
        return [self.things["Workload"][each] for each in self.owned.get(uid, ())]

    def job(self, new, old, gone):
        uid = new["metadata"]["uid"]
        runs = not new["spec"].get("suspend")
        if old is None:
            self.own[uid] = new["spec"]["template"]
            if runs:
                self.wild.add(uid)
        if gone or is_over(new) or not runs:
            if uid in self.late and not gone and not is_over(new):
                self.stopped_late(new, self.late[uid])
            self.late.pop(uid, None)
        if gone or "deletionTimestamp" in new["metadata"]:
            return
        did_run = old is not None and not old["spec"].get("suspend")
        if runs and old is not None and not did_run:
            self.started(new)
            if old["spec"]["template"] != self.own[uid]:
                self.say(f"is started from a template that is not its own: "
                         f"{difference(self.own[uid], old['spec']['template'])}", new)
        if did_run and not runs:
            self.stopped(new, uid)
            self.wild.discard(uid)

    def stopped_late(self, job, since):
        took = self.now() - since[1]
        self.counts["longest late stop, s"] = max(self.counts["longest late stop, s"], round(took))
        if took > SOON and self.who() == self.who(since[0]):
            self.say(f"was stopped {took:.0f} s after it lost its admission at {since[0]}", job)

    def started(self, job):
        self.counts["starts by " + self.who()] += 1
        admitted = [each for each in self.mine(job["metadata"]["uid"]) if may_run(each)]
        if not admitted:
            self.say("is started without an admission", job)
            return
        given = admitted[0]["status"]["admission"]["podSetAssignments"][0]
        self.has_place(job, job["spec"]["template"]["spec"], given)
        back = sum(each["count"] for each in admitted[0]["status"].get("reclaimablePods") or [])
        if job["spec"]["parallelism"] not in (given["count"], given["count"] + back):
            self.say(f"is started with {job['spec']['parallelism']} pods, and {given['count']} "
                     "were admitted", job)

    def has_place(self, thing, spec, given):
        selector = {} if given["flavors"]["cpu"] == PROBE else LABELS[given["flavors"]["cpu"]]
        if (spec.get("nodeSelector") or {}) != selector:
            self.say(f"its pods go to {spec.get('nodeSelector')}, and are admitted to {selector}",
                     thing)

    def stopped(self, job, uid):
        mine = self.mine(uid)
        told = any(is_true(each, "Evicted") or not each["spec"].get("active", True)
                   for each in mine)
        if not told and uid not in self.wild and uid not in self.disturbed:
            self.say("is stopped, and no eviction tells why", job)
        self.counts["stops by " + self.who()] += 1

    # ---- pods

    def pod(self, new, old, gone):
        metadata = new["metadata"]
        if DOMAIN + "managed" not in metadata.get("labels", {}) or gone or old is None:
            return
        workload = self.workload_of(metadata)
        if is_gated(old) and not is_gated(new):
            self.counts["pods let go by " + self.who()] += 1
            if workload is None or not is_true(workload, "Admitted"):
                self.say("is let go without an admission", new)
            else:
                sets = workload["status"]["admission"]["podSetAssignments"]
                self.has_place(new, new["spec"], sets[0])
        if "deletionTimestamp" in metadata and "deletionTimestamp" not in old["metadata"] and \
                new["status"].get("phase") == "Running" and not self.is_disturbed(metadata):
            self.counts["pods stopped by " + self.who()] += 1
            if workload is not None and not is_true(workload, "Evicted") and \
                    workload["spec"].get("active", True):
                self.say("is deleted, and no eviction tells why", new)

    def workload_of(self, pod):
        """By its owners, or as the pod names it."""
        names = {pod.get("annotations", {}).get(DOMAIN + each)
                 for each in ("workload", "pod-group-name")}
        return self.things["Workload"].get(self.of_pod.get(pod["uid"])) or \
            next((each for each in self.things["Workload"].values()
                  if each["metadata"]["name"] in names), None)

    def is_disturbed(self, metadata):
        names = {metadata["name"], metadata["uid"], metadata.get("labels", {}).get("app"),
                 metadata.get("annotations", {}).get(DOMAIN + "pod-group-name")}
        return bool(names & self.disturbed)

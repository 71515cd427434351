"""Whether those who wait keep their place, in the history of a story of handovers.py: nobody is let
in before another one of his queue who has the higher priority, or the same and came earlier, asks
for no more, and could have been let in all the time.

A second tells who came earlier no better than the store does; and decisions of one moment are
stored in any order. So who was passed by has to have waited some seconds before, and after.
"""
import collections

from controller import condition, holds, is_true
from handover_quota import used

MARGIN = 4  # seconds


def asks(workload):
    """The cpus of its only pod set; None where it has more."""
    if len(workload["spec"]["podSets"]) != 1:
        return None
    each = workload["spec"]["podSets"][0]
    cpu = each["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return int(cpu) * each.get("count", 1)


class Order:
    def __init__(self, judge):
        self.judge = judge
        self.since = {}  # uid of who waits and could be let in → since when
        self.passed = []  # (who was let in, who was passed by, version, when, who decides)
        self.come = collections.defaultdict(list)  # uid → when its place changed, or it had none

    @staticmethod
    def state(workload):
        """What decides about its place; None where it has none."""
        if not workload or holds(workload) or is_true(workload, "Finished") or \
                not workload["spec"].get("active", True) or \
                is_true(workload, "WaitingForReplacementPods") or \
                "deletionTimestamp" in workload["metadata"]:
            return None
        evicted = condition(workload, "Evicted")
        return (workload["spec"].get("priority", 0), workload["spec"]["queueName"],
                asks(workload), evicted.get("reason"), evicted.get("lastTransitionTime"),
                workload.get("status", {}).get("requeueState"))

    def workload(self, new, old, gone):
        uid, state = new["metadata"]["uid"], None if gone else self.state(new)
        if state is None or state != self.state(old):
            self.since.pop(uid, None)
            self.come[uid].append(self.judge.now())
        if state is not None and uid not in self.since:
            self.since[uid] = self.judge.now()
        if not gone and holds(new) and old and not holds(old):
            self.let_in(new, old)

    def let_in(self, new, old):
        judge, of = self.judge, new["status"]["admission"]["clusterQueue"]
        got, mine = sum(used(new).values()), self.place(old)
        if asks(new) is None or self.stopped(of, "ClusterQueue"):
            return
        for uid, since in self.since.items():
            other = judge.things["Workload"][uid]
            queue, size = other["spec"]["queueName"], asks(other)
            if judge.now() - since > MARGIN and judge.cluster_queue(queue) == of and \
                    size is not None and size <= got and \
                    not self.evicted_by_check(other, old) and \
                    not self.stopped(queue, "LocalQueue") and \
                    not (other.get("status", {}).get("requeueState") or {}).get("requeueAt"):
                judge.counts["places compared"] += 1
                if self.place(other) < mine:
                    self.passed.append((new, other, judge.version, judge.now(), judge.who()))

    @staticmethod
    def place(workload):
        return -workload["spec"].get("priority", 0), workload["metadata"]["creationTimestamp"]

    @staticmethod
    def evicted_by_check(*workloads):
        return any(condition(each, "Evicted").get("reason") == "AdmissionCheck"
                   for each in workloads)

    def stopped(self, name, kind):
        return set(self.judge.policies(kind, name)) != {"None"}

    def end(self):
        for new, other, version, when, who in self.passed:
            if not any(when <= at <= when + MARGIN for at in self.come[other["metadata"]["uid"]]):
                name, passed = new["metadata"]["name"], other["metadata"]["name"]
                self.judge.wrong.append(
                    f"{who}: at {version} {name} {self.place(new)} is let in before {passed} "
                    f"{self.place(other)}, which asks for no more")


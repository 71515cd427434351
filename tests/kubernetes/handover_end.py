"""The end of a story of handovers.py: everything is let go, all of it has to end, and what is
deleted has to leave nothing behind. What Kueue does not bring to its end Sluice has to."""
import time

from asked import JOBS as MY_JOBS
from asked import QUEUES
from client import eventually
from controller import JOBS, WORKLOADS, is_true, owner_of
from handover_judge import is_over
from kubelet import PODS
from pods import DOMAIN, MINE, is_gated
from pods import PODS as MY_PODS

KUEUE, SLUICE = "Kueue", "Sluice"
STANDS_STILL = 45  # seconds without any change
AT_MOST = 400
KUEUE_HAS = 60


class End:
    def __init__(self, story):
        self.api, self.work, self.world = story.api, story.work, story.world
        self.story, self.stood_still = story, False

    def all_ends(self):
        self.story.note("the end begins")
        self.world.resume(self.api)
        self.world.restore(self.api)
        while self.work.sets:
            self.work.delete_set()
        for each in self.api.items(JOBS):  # those end by being turned off
            if DOMAIN + "max-exec-time-seconds" in each["metadata"]["labels"]:
                self.api.send("DELETE", self.path(each), {"propagationPolicy": "Background"})
        if self.story.decider == KUEUE:
            self.kueue_ends()
        self.wait_for_all()
        self.story.note("all has ended")
        eventually(lambda: not self.unsettled(), lambda: f"all is told: {self.unsettled()}", 60)
        for each in self.api.items(JOBS):
            self.api.send("DELETE", self.path(each), {"propagationPolicy": "Background"})
        for each in self.api.items(MY_PODS):
            self.api.send("DELETE", f"{MY_PODS}/{each['metadata']['name']}")
        self.story.note("all is deleted")
        eventually(lambda: not self.left(), lambda: f"nothing is left: {self.left()}", 60)

    @staticmethod
    def path(job):
        return f"{MY_JOBS}/{job['metadata']['name']}"

    def kueue_ends(self):
        """For a while; what has not ended by then is for Sluice."""
        try:
            self.wait_for_all(KUEUE_HAS)
        except AssertionError as error:
            if self.stood_still:
                self.story.wrong.append(f"{KUEUE}: {error}")
            self.story.stop(kill=False)
            self.story.start(SLUICE)

    def wait_for_all(self, at_most=AT_MOST):
        began = changed = time.monotonic()
        before, turn = None, 0
        while open_ones := self.open_ones():
            self.story.lives()
            self.work.answer_checks()
            self.work.activate_all()
            if turn % 10 == 0:
                self.work.replace()
            turn += 1
            now = time.monotonic()
            if open_ones != before:
                before, changed = open_ones, now
            self.stood_still = now - changed > STANDS_STILL
            if self.stood_still or now - began > at_most:
                raise AssertionError(f"after {now - began:.0f} s {len(open_ones)} have not ended, "
                                     f"{now - changed:.0f} s without a change:\n  "
                                     + "\n  ".join(open_ones))
            time.sleep(0.5)

    def open_ones(self):
        """What has not ended, in words."""
        told = []
        for each in self.api.items(JOBS):
            if not is_over(each):
                told.append(f"job {each['metadata']['name']} {each['metadata']['uid']} suspend "
                            f"{each['spec'].get('suspend')} {each.get('status')}")
        for each in self.api.items(PODS):
            if DOMAIN + "managed" in each["metadata"].get("labels", {}) and \
                    each["status"].get("phase") not in ("Succeeded", "Failed"):
                told.append(f"pod {each['metadata']['name']} {each['status'].get('phase')} gated "
                            f"{is_gated(each)} {each['metadata'].get('deletionTimestamp', '')}")
        for each in self.api.items(WORKLOADS):
            if not is_true(each, "Finished"):
                status = each.get("status", {})
                told.append(f"workload {each['metadata']['name']} of {owner_of(each)} "
                            f"{each['metadata'].get('deletionTimestamp', '')} "
                            f"{status.get('admissionChecks', '')} {status.get('requeueState', '')}"
                            + str([(c["type"], c["status"], c["reason"], c["message"])
                                   for c in status.get("conditions") or []]))
        return told

    def unsettled(self):
        """What is not told as it is, now that all has ended."""
        told, mine = [], {}
        for each in self.api.items(WORKLOADS):
            mine.setdefault(owner_of(each), []).append(each["metadata"]["name"])
        for each in self.api.items(JOBS):
            names = mine.get(each["metadata"]["uid"], [])
            may_have_none = self.work.disturbed | self.work.unasked
            if len(names) != 1 and (names or each["metadata"]["uid"] not in may_have_none):
                told.append(f"job {each['metadata']['name']} has the workloads {names}")
        for each in self.api.items(QUEUES):
            status = each.get("status", {})
            numbers = {key: status.get(key, 0) for key in (
                "pendingWorkloads", "reservingWorkloads", "admittedWorkloads")}
            usage = [flavor["name"] for flavor in status.get("flavorsUsage") or []
                     for resource in flavor["resources"] if resource["total"] not in ("0", 0)]
            if any(numbers.values()) or usage:
                told.append(f"queue {each['metadata']['name']} {numbers} {usage}")
        return told

    def left(self):
        return [f"{each['metadata']['name']} {each['metadata'].get('finalizers')} "
                f"{each['metadata'].get('deletionTimestamp')}"
                for path in (MINE, MY_PODS, JOBS) for each in self.api.items(path)]

"""What is held of the quotas at each version of a story of handovers.py, and what may be."""
import collections

from controller import holds

GRACE = 5  # seconds: what the quota was until then may have been given
LATE = 2  # seconds within which pods that have ended may be told of, after what they had was given


def amount(text):
    text = str(text)
    factor = {"m": 0.001, "k": 1000}.get(text[-1])
    return int(text[:-1]) * factor if factor else int(text)


def used(workload):
    """By flavor, without what it has given back."""
    back = {each["name"]: each["count"]
            for each in workload["status"].get("reclaimablePods") or []}
    sums = collections.Counter()
    for each in workload["status"]["admission"]["podSetAssignments"]:
        count = max(each.get("count", 1), 1)
        share = max(count - back.get(each["name"], 0), 0) / count
        for resource, flavor in each["flavors"].items():
            sums[flavor] += amount(each["resourceUsage"][resource]) * share
    return sums


def holds_quota(workload):
    """holds() of controller.py, of what is not being deleted and has an admission."""
    if "deletionTimestamp" in workload["metadata"]:
        return False
    return holds(workload) and "admission" in workload["status"]


class Quotas:
    def __init__(self, judge):
        self.judge = judge
        self.first = {}  # queue → its spec in the beginning
        self.held = {}  # uid of a workload → (queue, Counter)
        self.limits = collections.defaultdict(list)  # queue → (when, its spec)
        self.over = []  # what is too much: (when, queue, flavor, what to say of it)

    def changed(self, queue):
        if queue["kind"] == "ClusterQueue":
            self.limits[queue["metadata"]["name"]].append((self.judge.now(), queue["spec"]))

    def workload(self, workload, gone):
        self.end(self.judge.now() - LATE)
        uid = workload["metadata"]["uid"]
        had_queue, had = self.held.pop(uid, (None, collections.Counter()))
        if not gone and holds_quota(workload):
            queue, has = workload["status"]["admission"]["clusterQueue"], used(workload)
            self.held[uid] = (queue, has)
            for flavor, number in has.items():
                if number > (had[flavor] if had_queue == queue else 0):
                    self.check(workload, queue, flavor)
        has = self.held.get(uid, (None, collections.Counter()))[1]
        if sum(has.values()) < sum(had.values()):
            self.less(bool(has))

    def less(self, runs):
        """A holder has less; `runs`: it has ended in part."""
        for each in list(self.over):
            if not self.excess(each[1], each[2]):
                self.over.remove(each)
                if runs:
                    self.judge.counts["given before it was told to be given back"] += 1
                else:
                    self.judge.wrong.append(each[3])

    def check(self, workload, queue, flavor):
        if told := self.excess(queue, flavor):
            self.over.append((self.judge.now(), queue, flavor,
                              self.judge.line(told, workload)))

    def end(self, until=float("inf")):
        """What was too much until then, and remained so."""
        self.judge.wrong += [each[3] for each in self.over if each[0] < until]
        self.over = [each for each in self.over if each[0] >= until]

    def excess(self, queue, flavor):
        """What is too much, in words."""
        usage = self.usage(flavor)
        cohorts = {each["metadata"]["name"]: each["spec"].get("cohortName")
                   for each in self.judge.things["ClusterQueue"].values()}
        nominal, top, _ = self.of(queue, flavor)
        top = top if cohorts.get(queue) else nominal
        if usage[queue] > top:
            return f"{usage[queue]:g} of flavor {flavor} are held in {queue}, of {top:g}: " \
                f"{self.holders(flavor, queue)}"
        total = lent = 0
        for name, cohort in cohorts.items():
            if cohort and cohort == cohorts.get(queue):
                nominal, _, kept = self.of(name, flavor)
                total += nominal - kept
                lent += max(usage[name] - kept, 0)
        if lent > total:
            return f"{lent:g} of flavor {flavor} are held in the cohort, of {total:g}: " \
                f"{self.holders(flavor)}"
        return None

    def usage(self, flavor):
        sums = collections.Counter()
        for queue, has in self.held.values():
            sums[queue] += has[flavor]
        return sums

    def holders(self, flavor, queue=None):
        """Who holds how much of it."""
        return {self.judge.things["Workload"][uid]["metadata"]["name"]: (of, f"{has[flavor]:g}")
                for uid, (of, has) in self.held.items() if has[flavor] and queue in (None, of)}

    def of(self, queue, flavor):
        """(nominal, with what is borrowed, never lent): the most of the last seconds."""
        found = []
        for spec in self.recent(queue):
            for each in spec["resourceGroups"][0]["flavors"]:
                if each["name"] == flavor:
                    quota = each["resources"][0]
                    nominal = amount(quota["nominalQuota"])
                    borrows, lends = quota.get("borrowingLimit"), quota.get("lendingLimit")
                    top = float("inf") if borrows is None else nominal + amount(borrows)
                    kept = 0 if lends is None else max(nominal - amount(lends), 0)
                    found.append((nominal, top, kept))
        if not found:
            return 0, 0, 0
        return tuple(choose(each) for choose, each in zip((max, max, min), zip(*found)))

    def recent(self, queue):
        """Its specs of the last seconds, and the present one."""
        specs, end = [], float("inf")
        for when, spec in reversed(self.limits[queue]):
            if end >= self.judge.now() - GRACE:
                specs.append(spec)
            end = when
        if end >= self.judge.now() - GRACE:
            specs.append(self.first[queue])
        return specs

"""The world of a story of handovers.py: queues, flavors and classes that are drawn, and what
becomes of them meanwhile."""
from asked import QUEUES
from objects import GROUP, Kueue

LOCAL = GROUP + "v1beta2/namespaces/default/localqueues"
CHECK = "test-check"
CLASSES = {"low": -10, "high": 100}
LABELS = {"a": {"pool-a": "yes"}, "b": {"pool-b": "yes"}}  # of the flavors; the node has all
PROBE = "probe"


class World:
    def __init__(self, drawn):
        self.drawn = drawn
        self.flavors = ["a", "b"][:drawn.randint(1, 2)]
        number = drawn.randint(1, 3)
        self.cohort = "all" if number > 1 and drawn.random() < 0.75 else None
        self.most_quota = drawn.choice([3, 6])  # little of it: more of it is fought for
        self.has_check = drawn.random() < 0.25
        self.queues = {f"q{i}": self.draw_queue() for i in range(number)}
        self.local = {}  # LocalQueue → ClusterQueue
        for name in self.queues:
            for i in range(drawn.randint(1, 2)):
                self.local[f"{name}-{i}"] = name

    def draw_queue(self):
        drawn, quotas = self.drawn, []
        for flavor in self.flavors:
            quota = {"name": "cpu", "nominalQuota": str(drawn.randint(2, self.most_quota))}
            if self.cohort and drawn.random() < 0.3:
                quota["borrowingLimit"] = str(drawn.randint(0, 3))
            if self.cohort and drawn.random() < 0.2:
                quota["lendingLimit"] = str(drawn.randint(0, int(quota["nominalQuota"])))
            quotas.append({"name": flavor, "resources": [quota]})
        spec = {"namespaceSelector": {},
                "queueingStrategy": "StrictFIFO" if drawn.random() < 0.2 else "BestEffortFIFO",
                "preemption": self.draw_preemption(),
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": quotas}]}
        if self.cohort:
            spec["cohortName"] = self.cohort
        if self.has_check and drawn.random() < 0.7:
            spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": CHECK}]}
        return spec

    def draw_preemption(self):
        drawn = self.drawn
        preemption = {"withinClusterQueue": drawn.choice(
            ["Never", "LowerPriority", "LowerOrNewerEqualPriority"])}
        if self.cohort:
            preemption["reclaimWithinCohort"] = drawn.choice(["Never", "Any", "LowerPriority"])
            if preemption["reclaimWithinCohort"] != "Never" and drawn.random() < 0.3:
                preemption["borrowWithinCohort"] = {"policy": "LowerPriority"}
        return preemption

    def told(self):
        """In a line."""
        def quotas(spec):
            return " ".join(flavor["name"] + ":" + "/".join(
                str(flavor["resources"][0].get(key, "-"))
                for key in ("nominalQuota", "borrowingLimit", "lendingLimit"))
                for flavor in spec["resourceGroups"][0]["flavors"])
        return f"cohort {self.cohort}; " + "; ".join(
            f"{name} {spec['queueingStrategy']} {quotas(spec)} {spec['preemption']}"
            + (" check" if "admissionChecksStrategy" in spec else "")
            for name, spec in self.queues.items())

    def make(self, api):
        kueue = Kueue(api)
        for name in self.flavors:
            kueue.make("ResourceFlavor", "resourceflavors", name, {"nodeLabels": LABELS[name]})
        kueue.flavor(PROBE)
        for name, value in CLASSES.items():
            kueue.make_class(name, value)
        if self.has_check:
            kueue.make("AdmissionCheck", "admissionchecks", CHECK,
                       {"controllerName": "example.com/test"})
            api.merge(f"{GROUP}v1beta2/admissionchecks/{CHECK}/status", {"status": {"conditions": [
                {"type": "Active", "status": "True", "reason": "Test", "message": "it is",
                 "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        for name, spec in self.queues.items():
            kueue.make("ClusterQueue", "clusterqueues", name, spec)
        for name, of in self.local.items():
            kueue.local_queue(name, of)
        kueue.cluster_queue(PROBE, {PROBE: "1000"})
        kueue.local_queue(PROBE, PROBE)

    # ---- what one may ask for

    def most(self, local):
        """The most that one pod set of the queue may ever have by itself."""
        spec = self.queues[self.local[local]]
        return max(int(flavor["resources"][0]["nominalQuota"])
                   for flavor in spec["resourceGroups"][0]["flavors"])

    def cpus(self):
        """All that there is."""
        return sum(int(flavor["resources"][0]["nominalQuota"]) for spec in self.queues.values()
                   for flavor in spec["resourceGroups"][0]["flavors"])

    # ---- what happens to the queues

    def stop(self, api):
        policy = self.drawn.choice(["Hold", "HoldAndDrain"])
        if self.drawn.random() < 0.5:
            name = self.drawn.choice(list(self.queues))
            api.merge(f"{QUEUES}/{name}", {"spec": {"stopPolicy": policy}})
        else:
            name = self.drawn.choice(list(self.local))
            api.merge(f"{LOCAL}/{name}", {"spec": {"stopPolicy": policy}})
        return f"{name} is stopped with {policy}"

    def resume(self, api):
        for name in self.queues:
            api.merge(f"{QUEUES}/{name}", {"spec": {"stopPolicy": "None"}})
        for name in self.local:
            api.merge(f"{LOCAL}/{name}", {"spec": {"stopPolicy": "None"}})
        return "all queues go on"

    def lower(self, api):
        """The quota of a queue for a while."""
        name = self.drawn.choice(list(self.queues))
        spec = self.queues[name]
        groups = [{"coveredResources": ["cpu"], "flavors": [
            {"name": flavor["name"], "resources": [
                {**flavor["resources"][0], **self.lowered(flavor["resources"][0])}]}
            for flavor in spec["resourceGroups"][0]["flavors"]]}]
        api.merge(f"{QUEUES}/{name}", {"spec": {"resourceGroups": groups}})
        return f"the quota of {name} is lowered"

    def lowered(self, quota):
        nominal = self.drawn.randint(0, int(quota["nominalQuota"]))
        lends = {"lendingLimit": str(min(nominal, int(quota["lendingLimit"])))} \
            if "lendingLimit" in quota else {}
        return {"nominalQuota": str(nominal), **lends}

    def restore(self, api):
        for name, spec in self.queues.items():
            api.merge(f"{QUEUES}/{name}", {"spec": {"resourceGroups": spec["resourceGroups"]}})
        return "all quotas are as they were"

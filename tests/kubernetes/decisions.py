#!/usr/bin/env python3
"""Plays measured decisions (tests/decisions) on a control plane, many at a time, and compares.

    decisions.py --sluice BIN --programs build/kubernetes [--plugins NAMES] CASE…

Each case has a namespace, queues, cohorts and flavors of its own. All objects of an instant are put
into the cluster while nobody decides; then a controller starts, decides, and is stopped when it has
written everything. An API server gives times of creation itself, by the second and as they come:
so a case takes part only when `sluice simulate` decides it as it was measured with such times,
with identities in any order, and when at each instant everybody who waits is looked at anew, as by
a controller that just started. What differs is printed; exit status 1 when anything does.
"""
import argparse
import collections
import concurrent.futures
import copy
import json
import os
import re
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "decisions"))

import build  # noqa: E402
import compare  # noqa: E402
from client import eventually  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from controller import WORKLOADS, Controller, holds, is_true  # noqa: E402
from objects import GROUP, install  # noqa: E402

PLURALS = {"ClusterQueue": "clusterqueues", "Cohort": "cohorts", "ResourceFlavor":
           "resourceflavors", "Workload": "workloads", "LocalQueue": "localqueues"}
# Of identities, which decide where two were admitted in the same second: by number of the event.
ORDERS = (lambda i: i, lambda i: 1000 - i, lambda i: i * 7919 % 10007, lambda i: i * 3571 % 1009)
NAMED = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}
EVICTION = re.compile(r"accommodate a workload \(UID: ([^,]+),")


def seconds_of(at):
    return float(at.removesuffix("s"))


class DecisionCase:
    """A measured case, its names made its own."""

    def __init__(self, path):
        self.name = "c" + os.path.basename(path).removesuffix(".json")
        with open(path, encoding="utf-8") as text:
            self.list = json.load(text)
        with open(path.removesuffix(".json") + ".expect.json", encoding="utf-8") as text:
            self.expected = json.load(text)
        items = self.list["items"]
        self.objects = [self.own(each) for each in items if each["kind"] != "Timeline"]
        by_time = collections.defaultdict(list)
        for event in next(each for each in items if each["kind"] == "Timeline")["events"]:
            by_time[seconds_of(event["at"])].append(event)
        self.instants = sorted(by_time.items())
        self.found = []

    def own(self, manifest):
        """The object as it is put into the cluster."""
        out = copy.deepcopy(manifest)
        metadata, spec = out["metadata"], out.get("spec", {})
        for field in ("uid", "creationTimestamp"):
            metadata.pop(field, None)
        if out["kind"] == "Namespace":
            metadata["name"] = self.name
        elif "namespace" in metadata:
            metadata["namespace"] = self.name
        else:
            metadata["name"] = self.global_name(metadata["name"])
        for field in ("clusterQueue", "cohortName", "parentName"):
            if field in spec:
                spec[field] = self.global_name(spec[field])
        for group in spec.get("resourceGroups", []):
            for flavor in group["flavors"]:
                flavor["name"] = self.global_name(flavor["name"])
        return out

    def global_name(self, name):
        return f"{self.name}-{name}"

    def as_on_a_cluster(self, order):
        """The same with such times of creation as a cluster gives: in their order, right before
        their instant; and identities in this order."""
        out = copy.deepcopy(self.list)
        for item in out["items"]:
            for number, event in enumerate(item.get("events", [])):
                metadata = event.get("apply", {}).get("metadata", {})
                if "creationTimestamp" in metadata:
                    at = seconds_of(event["at"]) - 100 + number
                    metadata["creationTimestamp"] = time.strftime(
                        "%Y-%m-%dT%H:%M:%SZ", time.gmtime(1767225600 + at))
                    metadata["uid"] = f"{order(number):09}"
        for item in out["items"]:
            if "events" in item:
                item["events"] = [*self.starts(), *item["events"]]
                item["events"].sort(key=lambda event: seconds_of(event["at"]))
        return out

    def starts(self):
        """At each instant after the first: events that have everybody looked at anew, and change
        nothing else: every namespace has a name."""
        queues = [item for item in self.list["items"] if item["kind"] == "ClusterQueue"]
        for number, (t, _) in enumerate(self.instants[1:]):
            for queue in queues:
                again = copy.deepcopy(queue)
                if number % 2 == 0:
                    again["spec"]["namespaceSelector"] = NAMED
                yield {"at": f"{t:g}s", "apply": again}

    def can_be_expressed(self, sluice, plugins):
        """Whether it hangs on nothing that an API server decides itself."""
        if [instant["t"] for instant in self.expected["instants"]] != \
                [t for t, _ in self.instants] or "unsettledFrom" in self.expected:
            return False
        return all(self.is_decided_so(sluice, plugins, order) for order in ORDERS)

    def is_decided_so(self, sluice, plugins, order):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.json")
            with open(path, "w", encoding="utf-8") as out:
                json.dump(self.as_on_a_cluster(order), out)
            status, _, lines = compare.simulate(sluice, plugins, 1, path, self.expected["config"])
        return status == 0 and not compare.differences(self.expected, compare.Log(lines))


class Versions:
    """Every version of every workload, in the order of the store."""

    def __init__(self, api):
        self.api = api
        self.last = {}       # key → its last version
        self.evictions = []  # (namespace, name, reason, uid of whom it made room for)
        self.version = api.get(WORKLOADS + "?limit=1")["metadata"]["resourceVersion"]
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        while True:
            try:
                for event in self.api.watch(WORKLOADS, self.version):
                    self.take(event["object"], event["type"] == "DELETED")
            except (OSError, KeyError, ValueError):
                time.sleep(0.1)  # the watch ended

    def take(self, workload, gone):
        metadata = workload["metadata"]
        key = metadata["namespace"], metadata["name"]
        before = self.last.get(key)
        if gone:
            self.last.pop(key, None)
        else:
            self.last[key] = workload
        self.version = metadata["resourceVersion"]
        if gone or not before or not holds(before) or holds(workload) or \
                is_true(workload, "Finished"):
            return
        why = {each["type"]: each for each in workload["status"]["conditions"]
               if each["status"] == "True"}
        told = why.get("Preempted") or why.get("Evicted") or {"reason": "", "message": ""}
        by = EVICTION.search(told["message"])
        self.evictions.append((*key, told["reason"], by.group(1) if by else ""))

    def caught_up(self):
        """Whether all of the cluster's workloads were seen as they are."""
        there = {(each["metadata"]["namespace"], each["metadata"]["name"]):
                 each["metadata"]["resourceVersion"] for each in self.api.items(WORKLOADS)}
        seen = {key: each["metadata"]["resourceVersion"] for key, each in list(self.last.items())}
        return there == seen


class Player:
    """Plays cases of one configuration on a control plane of their own."""

    def __init__(self, cluster, options, cases):
        self.cluster, self.api, self.cases = cluster, cluster.api, cases
        config = cluster.path("sluice.yaml")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
                       "scheduling": cases[0].expected["config"]}, out)
        self.controller = Controller(options.sluice, cluster, "admin", "--plugins",
                                     options.plugins, "--config", config)
        self.pool = concurrent.futures.ThreadPoolExecutor(8)
        self.versions = Versions(self.api)
        self.uids = {}  # of workloads → name

    def each(self, function, things):
        list(self.pool.map(function, things))

    def path(self, kind, name="", ns=None):
        if kind == "Namespace":
            return "/api/v1/namespaces"
        where = f"/namespaces/{ns}" if ns else ""
        return f"{GROUP}v1beta2{where}/{PLURALS[kind]}" + (f"/{name}" if name else "")

    def apply(self, manifest):
        kind, metadata = manifest["kind"], manifest["metadata"]
        ns = metadata.get("namespace")
        code, made = self.api.send("POST", self.path(kind, ns=ns), manifest)
        if code == 409:
            path = self.path(kind, metadata["name"], ns)
            metadata["resourceVersion"] = self.api.get(path)["metadata"]["resourceVersion"]
            made = self.api.must("PUT", path, manifest)
        elif code >= 300:
            raise AssertionError(f"{kind} {metadata['name']}: {code} {made}")
        if kind == "Workload":
            self.uids[made["metadata"]["uid"]] = metadata["name"]

    def play_event(self, case, event):
        if "apply" in event:
            return self.apply(case.own(event["apply"]))
        about = event.get("patch") or event.get("finish") or event["delete"]
        path = self.path("Workload", about["name"], case.name)
        if "patch" in event:
            part = "/status" if about.get("subresource") == "status" else ""
            return self.api.merge(path + part, about["merge"])
        if "delete" in event:
            return self.api.delete(path)
        return self.finish(path)

    def finish(self, path):
        conditions = self.api.get(path).get("status", {}).get("conditions") or []
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        conditions.append({"type": "Finished", "status": "True", "reason": "JobFinished",
                           "message": "it has ended", "lastTransitionTime": now})
        return self.api.merge(path + "/status", {"status": {"conditions": conditions}})

    def play_instant(self, number):
        """The events of this instant of every case, in their order: the first ones of all cases,
        a second later the second ones, …"""
        events = [(case, case.instants[number][1]) for case in self.cases
                  if number < len(case.instants)]
        for i in range(max(len(each) for _, each in events)):
            second = int(time.time())
            while int(time.time()) == second:
                time.sleep(0.02)
            self.each(lambda each, i=i: self.play_event(each[0], each[1][i]),
                      [each for each in events if i < len(each[1])])

    def decide(self):
        """A controller decides until there is nothing more to write but texts."""
        self.controller.start()
        quiet = []

        def settled():
            number = self.controller.metric("sluice_cluster_decisions_waiting")
            quiet.append(number == 0)
            return quiet[-3:] == [True] * 3
        eventually(settled, "everything is decided and written", 300)
        self.controller.stop()
        eventually(self.versions.caught_up, "all was seen")

    def compare(self, number, evicted):
        for case in self.cases:
            if number >= len(case.instants):
                continue
            expected = case.expected["instants"][number]
            found = list(compare.state_differences(expected, self.states(case)))
            wanted = collections.Counter(tuple(each) for each in expected.get("evicted", []))
            have = collections.Counter(evicted[case.name])
            found += ["no eviction of %s (%s) for %s" % each for each in (wanted - have).elements()]
            found += ["unmeasured eviction of %s (%s) for %s" % each
                      for each in (have - wanted).elements()]
            case.found += [f"t={expected['t']:g}: {each}" for each in found]

    def states(self, case):
        """As a State record of `sluice simulate` says it."""
        out = {}
        for (ns, name), workload in self.versions.last.items():
            if ns != case.name:
                continue
            state = "Pending"
            if is_true(workload, "Finished"):
                state = "Finished"
            elif holds(workload):
                state = "Admitted" if is_true(workload, "Admitted") else "QuotaReserved"
            prefix = case.global_name("")
            admission = workload.get("status", {}).get("admission", {})
            out["ns/" + name] = {"state": state, "podSets": [
                {"name": each["name"], "count": each["count"],
                 "flavors": {resource: flavor.removeprefix(prefix)
                             for resource, flavor in each.get("flavors", {}).items()}}
                for each in admission.get("podSetAssignments", [])]}
        return out

    def play(self):
        began = time.monotonic()
        for kinds in (("Namespace", "ResourceFlavor", "Cohort"), ("ClusterQueue",),
                      ("LocalQueue",)):
            self.each(self.apply, [each for case in self.cases for each in case.objects
                                   if each["kind"] in kinds])
        for number in range(max(len(case.instants) for case in self.cases)):
            # Whoever reads at least as of a second later comes after what was decided before.
            self.play_instant(number)
            eventually(self.versions.caught_up, "all was seen")
            self.versions.evictions.clear()
            self.decide()
            evicted = collections.defaultdict(list)
            for ns, name, reason, by in self.versions.evictions:
                evicted[ns].append(("ns/" + name, reason,
                                    by and "ns/" + self.uids.get(by, by)))
            self.compare(number, evicted)
            print(f"  instant {number + 1}: {time.monotonic() - began:.0f} s, "
                  f"{sum(bool(case.found) for case in self.cases)} cases differ", flush=True)


def play_all(options, cases):
    """The cases that took part; what was found is in them."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        able = pool.map(lambda case: case.can_be_expressed(options.sluice, options.plugins), cases)
        usable = [case for case, is_able in zip(cases, able) if is_able]
    print(f"{len(usable)} of {len(cases)} cases can be expressed on a cluster", flush=True)
    groups = collections.defaultdict(list)
    for case in usable:
        groups[json.dumps(case.expected["config"], sort_keys=True)].append(case)
    for config, group in sorted(groups.items()):
        print(f"{len(group)} cases with {config}", flush=True)
        with ControlPlane(build.find(options.programs, "control-plane"), controllers=False,
                          api_arguments=["--audit-log-mode=batch"]) as cluster:
            cluster.api.post("/api/v1/namespaces", {"metadata": {"name": "sluice-system"}})
            install(cluster, build.find(options.programs, "crds"))
            player = Player(cluster, options, group)
            try:
                player.play()
            finally:
                player.controller.stop()
    return usable


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--plugins", default="none")
    parser.add_argument("cases", nargs="+", metavar="CASE")
    options = parser.parse_args()
    options.sluice = os.path.abspath(options.sluice)
    played = play_all(options, [DecisionCase(path) for path in options.cases])
    for case in played:
        if case.found:
            print(f"{case.name}: {len(case.found)} difference(s)")
            print(*("    " + line for line in case.found[:20]), sep="\n")
    differ = sum(bool(case.found) for case in played)
    print(f"{len(played) - differ} agree, {differ} differ, "
          f"{len(options.cases) - len(played)} cannot be expressed")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

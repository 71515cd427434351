#!/usr/bin/env python3
"""The plugins on a cluster, unchanged, all of them loaded: what each is for, with jobs of a real
control plane. The test plays the cluster autoscaler."""
import datetime
import os
import random
import re

import yaml

import build
from asked import JOBS, QUEUES, Case
from client import eventually
from controller import JOBS as ALL_JOBS, WORKLOADS, is_true, owner_of
from history import History
from objects import GROUP

NAMESPACED = GROUP + "v1beta2/namespaces/default/workloads"
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"
TEMPLATES = "/api/v1/namespaces/default/podtemplates"
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
KILLS = int(os.environ.get("SLUICE_MOVE_KILLS", "2"))


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def groups(quotas):
    return [{"coveredResources": ["cpu"], "flavors": [
        {"name": name, "resources": [{"name": "cpu", "nominalQuota": str(cpu)}]}
        for name, cpu in quotas.items()]}]


class Plugins(Case):
    plugins = ("--plugins", "flavor-fungibility,provisioning-check,concurrent-admission,"
               "elastic-jobs")
    @classmethod
    def manifests(cls):
        with open(build.find(cls.programs, "requests"), encoding="utf-8") as text:
            return super().manifests() + [yaml.safe_load(text)]

    def setUp(self):
        self.running = self.controller()
        for name in ("best", "second", "last"):
            self.api.send("POST", GROUP + "v1beta2/resourceflavors", {
                "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
                "metadata": {"name": name}, "spec": {}})

    def queue(self, name, quotas, **more):
        self.kueue.cluster_queue(name, {}, resourceGroups=groups(quotas), **more)
        self.kueue.local_queue(name, name)

    def start(self, name, cpu="1", queue=None, priority=None, **spec):
        """A job of the queue of its name that runs until it is deleted; its uid."""
        labels = {"kueue.x-k8s.io/queue-name": queue or name}
        if priority:
            labels["kueue.x-k8s.io/priority-class"] = priority
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
        made = self.api.post(JOBS, {
            "metadata": {"name": name, "labels": labels,
                         "annotations": spec.pop("annotations", {})},
            "spec": {"template": {"spec": {"restartPolicy": "Never",
                                           "containers": [container]}}} | spec})
        self.addCleanup(self.api.send, "DELETE", f"{JOBS}/{name}",
                        {"propagationPolicy": "Background"})
        return made["metadata"]["uid"]

    def workload_of(self, job):
        """The workload whose owner is the job of this uid; None: there is none yet."""
        return next((each for each in self.api.items(WORKLOADS) if owner_of(each) == job), None)

    def admitted(self, job):
        """The flavor that the job's workload has once it is admitted."""
        found = self.workload_of(job)
        if not found or not is_true(found, "Admitted"):
            return None
        return found["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"]

    def runs(self, name, pods=1):
        eventually(lambda: self.stored(name).get("status", {}).get("ready") == pods,
                   f"{pods} pods of {name} run")

    def test_1_the_next_flavor_instead_of_borrowing(self):
        for name, policy in (("goes-on", "TryNextFlavor"), ("borrows", "MayStopSearch")):
            self.kueue.cluster_queue(f"lender-{name}", {}, cohortName=name,
                                     resourceGroups=groups({"best": 1, "second": 1}))
            self.queue(name, {"best": 1, "second": 1}, cohortName=name,
                       flavorFungibility={"whenCanBorrow": policy})
            first = self.start(f"{name}-1", queue=name)
            eventually(lambda job=first: self.admitted(job) == "best", "the first flavor")
            second = self.start(f"{name}-2", queue=name)
            eventually(lambda job=second: self.admitted(job), "it is admitted")
            self.assertEqual(self.admitted(second),
                             "second" if policy == "TryNextFlavor" else "best")

    def capacity(self, name):
        """A queue of 2 CPUs whose check asks an autoscaler."""
        kueue = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
        self.api.post(GROUP + "v1beta2/provisioningrequestconfigs", kueue | {
            "kind": "ProvisioningRequestConfig", "metadata": {"name": name}, "spec": {
                "provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
                "retryStrategy": {"backoffBaseSeconds": 1, "backoffLimitCount": 2}}})
        self.api.post(GROUP + "v1beta2/admissionchecks", kueue | {
            "kind": "AdmissionCheck", "metadata": {"name": name}, "spec": {
                "controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": {
                    "apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig",
                    "name": name}}})
        self.queue(name, {"best": 2}, admissionChecksStrategy={"admissionChecks": [
            {"name": name}]})

    def request(self, attempt):
        """The request of this attempt, once it is there."""
        return eventually(lambda: next((each for each in self.api.items(REQUESTS)
                                        if each["metadata"]["name"].endswith(f"-{attempt}")),
                                       None), f"a request, number {attempt}")

    def told(self, request, kind):
        """What the autoscaler says of it."""
        self.api.merge(f"{REQUESTS}/{request['metadata']['name']}/status", {"status": {
            "conditions": [{"type": kind, "status": "True", "reason": "Test",
                            "message": "by the test", "lastTransitionTime": now()}]}})

    def test_2_capacity_before_admission(self):
        self.capacity("capacity")
        job = self.start("capacity")
        first = self.request(1)
        self.assertEqual(first["spec"]["provisioningClassName"],
                         "check-capacity.autoscaling.x-k8s.io")
        asked = first["spec"]["podSets"][0]
        path = f"{TEMPLATES}/{asked['podTemplateRef']['name']}"
        eventually(lambda: self.api.send("GET", path)[0] == 200, "its template is there, too")
        template = self.api.get(path)
        # Owned by another UID it would be collected as garbage, sooner or later.
        self.assertEqual(template["metadata"]["ownerReferences"][0]["uid"],
                         first["metadata"]["uid"])
        requests = template["template"]["spec"]["containers"][0]["resources"]["requests"]
        self.assertEqual((asked["count"], requests), (1, {"cpu": "1"}))
        self.assertTrue(self.stored("capacity")["spec"]["suspend"])
        self.told(first, "Failed")
        second = self.request(2)
        self.assertIsNone(self.admitted(job))
        self.told(second, "Provisioned")
        self.runs("capacity")
        eventually(lambda: self.admitted(job) == "best", "it is on its flavor")
        notes = self.api.items(PODS + "?labelSelector=job-name%3Dcapacity")[0]["metadata"]
        self.assertEqual(notes["annotations"]["autoscaling.x-k8s.io/consume-provisioning-request"],
                         second["metadata"]["name"])
        self.api.delete(f"{JOBS}/capacity", propagationPolicy="Background")
        eventually(lambda: not self.api.items(REQUESTS) and not self.api.items(TEMPLATES),
                   "requests and templates are gone")

    def move_to(self, queue, job, quotas, flavor):
        """Another quota, and the job of this uid runs on that flavor then."""
        self.api.merge(f"{QUEUES}/{queue}", {"spec": {"resourceGroups": groups(quotas)}})
        eventually(lambda: self.admitted(job) == flavor, f"it is on {flavor}")
        self.runs(queue)

    def heir(self, flavor):
        """A job that waits for what others of the cohort leave of a flavor; its uid."""
        name = f"heir-{flavor}"
        self.queue(name, {flavor: 0}, cohortName="moves")
        heir = self.start(name)
        eventually(lambda: self.workload_of(heir), "the heir waits")
        return name

    def test_3_several_flavors_at_once(self):
        self.queue("race", {"best": 0, "second": 0, "last": 1}, cohortName="moves",
                   concurrentAdmission={"onSuccess": "RemoveLower"})
        job = self.start("race")
        self.runs("race")
        eventually(lambda: self.admitted(job) == "last", "it is on the last flavor")
        moves = Moves(self.api, {"best": 1, "second": 1, "last": 1}, "race", "heir-last",
                      "heir-second")
        heirs = [self.heir("last")]
        self.move_to("race", job, {"best": 0, "second": 1, "last": 1}, "second")
        heirs.append(self.heir("second"))
        self.move_to("race", job, {"best": 1, "second": 1, "last": 1}, "best")
        for heir in heirs:
            self.runs(heir)
        self.assertEqual(moves.judge(), [])
        self.end("race")

    def end(self, name):
        self.api.delete(f"{JOBS}/{name}", propagationPolicy="Background")
        eventually(lambda: name not in [family_of(each | {"kind": "Workload"})
                                        for each in self.api.items(WORKLOADS)],
                   f"all of {name} is gone")

    def test_5_a_controller_that_dies_while_a_job_moves(self):
        self.queue("moved", {"best": 0, "last": 1}, concurrentAdmission={
            "onSuccess": "RemoveLower"})
        for _ in range(KILLS):
            self.api.merge(f"{QUEUES}/moved", {"spec": {
                "resourceGroups": groups({"best": 0, "last": 1})}})
            job = self.start("moved")
            self.runs("moved")
            eventually(lambda of=job: self.admitted(of) == "last", "it is on the last flavor")
            moves = Moves(self.api, {"best": 1, "last": 1}, "moved")
            self.api.merge(f"{QUEUES}/moved", {"spec": {
                "resourceGroups": groups({"best": 1, "last": 1})}})
            moves.some_came(random.randrange(1, 12), lambda of=job: self.admitted(of) == "best")
            self.running.kill()
            self.running = self.controller()
            eventually(lambda of=job: self.admitted(of) == "best", "it has moved")
            self.runs("moved")
            self.assertEqual(moves.judge(), [])
            self.end("moved")

    def test_7_a_job_moves_to_the_place_that_another_one_leaves(self):
        self.queue("chain", {"best": 0, "second": 1, "last": 1}, concurrentAdmission={
            "onSuccess": "RemoveLower"})
        jobs = {}
        for name, flavor in (("head", "second"), ("tail", "last")):
            job = jobs[name] = self.start(name, queue="chain")
            self.runs(name)
            eventually(lambda of=job, on=flavor: self.admitted(of) == on, f"it is on {flavor}")
        moves = Moves(self.api, {"best": 1, "second": 1, "last": 1}, *jobs)
        self.api.merge(f"{QUEUES}/chain", {"spec": {
            "resourceGroups": groups({"best": 1, "second": 1, "last": 1})}})
        for name, flavor in (("head", "best"), ("tail", "second")):
            eventually(lambda of=jobs[name], on=flavor: self.admitted(of) == on,
                       f"it is on {flavor}")
            self.runs(name)
        self.assertEqual(moves.judge(), [])
        told = [each["message"] for each in self.api.items(EVENTS)
                if each["reason"] == "EvictedOption"]
        self.assertEqual(told, [])
        for name in jobs:
            self.end(name)

    def test_4_a_job_grows_and_shrinks(self):
        self.queue("elastic", {"best": 4})
        job = self.start("elastic", parallelism=2, completions=100,
                         annotations={"kueue.x-k8s.io/elastic-job": "true"})
        self.runs("elastic", 2)
        started = self.stored("elastic")["status"]["startTime"]
        for pods in (4, 1, 3):
            self.api.merge(f"{JOBS}/elastic", {"spec": {"parallelism": pods}})
            self.runs("elastic", pods)
            eventually(lambda count=pods: self.counted(job) == count,
                       f"quota of {pods} pods is held")
        self.assertEqual(self.stored("elastic")["status"]["startTime"], started)

    def test_6_a_controller_that_dies_while_a_job_grows(self):
        self.queue("grown", {"best": 1 + KILLS})
        job = self.start("grown", parallelism=1, completions=100,
                         annotations={"kueue.x-k8s.io/elastic-job": "true"})
        self.runs("grown", 1)
        started = self.stored("grown")["status"]["startTime"]
        for pods in range(2, 2 + KILLS):
            moves = Moves(self.api, {}, "grown")
            self.api.merge(f"{JOBS}/grown", {"spec": {"parallelism": pods}})
            moves.some_came(random.randrange(1, 6), lambda count=pods: self.counted(job) == count)
            self.running.kill()
            self.running = self.controller()
            self.runs("grown", pods)
            eventually(lambda count=pods: self.counted(job) == count,
                       f"quota of {pods} pods is held")
            self.assertEqual(moves.judge(), [])
        self.assertEqual(self.stored("grown")["status"]["startTime"], started)

    def counted(self, job):
        """Pods for which the job's workloads hold quota."""
        return sum(each["status"]["admission"]["podSetAssignments"][0]["count"]
                   for each in self.api.items(WORKLOADS)
                   if owner_of(each) == job and is_true(each, "QuotaReserved")
                   and not is_true(each, "Finished"))


class Moves:
    """Each version of the workloads and jobs of a cluster from now on, in the order of the store,
    while jobs of one cpu are moved from one flavor to another. `quotas`: how many cpus there are
    for the jobs of these names."""

    def __init__(self, api, quotas, *jobs):
        self.quotas, self.jobs = quotas, jobs
        self.history = History(api, WORKLOADS, ALL_JOBS)

    def some_came(self, number, is_over):
        """So many more versions were seen, or there is nothing more to come."""
        wanted = len(self.history.seen) + number
        eventually(lambda: len(self.history.seen) >= wanted or is_over(), f"{number} more versions")

    def judge(self):
        """What was wrong at which version: more of a flavor held than there is, with what a job
        runs on until it is stopped; a job that runs on what its workload does not say, or of which
        nothing is admitted any more, so that who reads then would begin anew."""
        begun = [(0, each, False) for each in self.history.begun]
        holds, admitted, on, lives, wrong = {}, {}, {}, {}, []
        for version, thing, gone in begun + self.history.until_now():
            name, family = thing["metadata"]["name"], family_of(thing)
            if family not in self.jobs:
                continue
            if thing["kind"] == "Workload":
                flavor = None if gone or not is_true(thing, "QuotaReserved") else flavor_of(thing)
                options = thing.get("status", {}).get("options")
                # Who has options says what one of them has, and holds nothing itself.
                holds[name] = (family, None if options else flavor)
                lived = bool(lives.setdefault(family, set()))
                if not options and not gone and is_true(thing, "Admitted") and \
                        not is_true(thing, "Finished"):
                    lives[family].add(name)
                else:
                    lives[family].discard(name)
                if lived and not lives[family]:
                    wrong.append(f"at {version} ({name}) nothing of {family} is admitted")
                if owned_by_job(thing):
                    admitted[family] = flavor if is_true(thing, "Admitted") else None
            elif gone or thing["spec"].get("suspend"):
                on.pop(family, None)
            elif family not in on:
                on[family] = admitted.get(family)
                if not on[family]:
                    wrong.append(f"at {version} {name} runs without an admission")
            for flavor, quota in self.quotas.items():
                users = {who for who, what in holds.values() if what == flavor} | \
                    {who for who, what in on.items() if what == flavor}
                if len(users) > quota:
                    wrong.append(f"at {version} ({name}) {flavor} is used by {sorted(users)}")
        return wrong


def owned_by_job(workload):
    return any(each["kind"] == "Job" for each in workload["metadata"].get("ownerReferences", []))


def family_of(thing):
    """The name of the job that it is, or that it was made for."""
    name = thing["metadata"]["name"]
    if thing["kind"] == "Job":
        return name
    return re.fullmatch(r"job-(.+?)-[0-9a-f]{5}(-option-.*)?", name).group(1)


def flavor_of(workload):
    admission = workload.get("status", {}).get("admission")
    return admission["podSetAssignments"][0]["flavors"]["cpu"] if admission else None


if __name__ == "__main__":
    build.run_tests(Case)

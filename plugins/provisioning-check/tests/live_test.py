#!/usr/bin/env python3
"""The plugin in a live host: capacity given by hand and by a program, the plugin turned off and on
again, the host killed at each step, answers that race. What must never happen: that something is
begun twice for one attempt, or that a workload starts without an answer.

    live_test.py --sluice build/dev/bin/sluice --e2e tests/e2e [--isolated] [TestClass.test_name …]

--isolated: the plugin in a process of its own; all is the same.
"""
import argparse
import json
import os
import signal
import stat
import sys
import threading
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS.add_argument("--isolated", action="store_true")
OPTIONS, REST = OPTIONS.parse_known_args()
OPTIONS.sluice = os.path.abspath(OPTIONS.sluice)
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import eventually
from two_stages import GROUP, World

ISOLATION = ", isolation: process" if OPTIONS.isolated else ""
ON = f"{{ load: [ {{ name: provisioning-check{ISOLATION} }} ] }}"
OFF = "{ load: [] }"
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/team/provisioningrequests"
JOBS = "/apis/batch/v1/namespaces/team/jobs"
CONTROLLER = "kueue.x-k8s.io/provisioning-request"


def condition(kind, message=""):
    return {"type": kind, "status": "True", "reason": "Told", "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z"}


class Provisioning(World):
    def __init__(self, plugins=ON, **more):
        super().__init__(OPTIONS.sluice, plugins, **more)
        self.flavor("f")

    def capacity(self, name, **retry):
        """A queue of 4 CPUs whose check asks for capacity, all with this name."""
        self.create(f"{GROUP}/provisioningrequestconfigs", {
            "metadata": {"name": name},
            "spec": {"provisioningClassName": "by-hand", "retryStrategy": {
                "backoffBaseSeconds": 1, "backoffLimitCount": 5, **retry}}})
        self.create(f"{GROUP}/admissionchecks", {"metadata": {"name": name}, "spec": {
            "controllerName": CONTROLLER,
            "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig",
                           "name": name}}})

    def requests(self, workload):
        """{name: UID} of the requests of a workload."""
        return {each["metadata"]["name"]: each["metadata"]["uid"]
                for each in self.rest.get(REQUESTS)["items"]
                if each["metadata"]["ownerReferences"][0]["name"] == workload}

    def request(self, workload, attempt=1):
        """The UID of its only request, which is of this attempt."""
        name = f"{workload}-{workload}-{attempt}"
        found = eventually(lambda: self.requests(workload), f"a request of {workload}")
        assert list(found) == [name], f"{name} is wanted, there is {found}"
        return found[name]

    def tell(self, workload, *kinds, attempt=1, expect=(200,), message="", uid=None):
        body = {"status": {"conditions": [condition(kind, message) for kind in kinds]}}
        if uid:
            body["metadata"] = {"uid": uid}
        code, answer = self.rest.send(
            "PATCH", f"{REQUESTS}/{workload}-{workload}-{attempt}/status", body,
            "application/merge-patch+json")
        assert code in expect, f"{code} {answer}"

    def retries(self, workload, check):
        return {each["name"]: each.get("retryCount", 0)
                for each in self.get(workload)["status"]["admissionChecks"]}[check]

    def message(self, workload):
        return self.get(workload)["status"]["admissionChecks"][0].get("message", "")

    def created(self, workload):
        """How many requests were ever made for a workload."""
        return self.events(workload, "ProvisioningRequestCreated")

    def told_of(self, workload, requests=1):
        """Waits for the events of so many requests, which a crash right behind one may lose."""
        eventually(lambda: self.created(workload) >= requests, f"events of {workload}")

    def events(self, workload, reason):
        return sum(each.get("count", 1)
                   for each in self.rest.get("/api/v1/namespaces/team/events")["items"]
                   if each["reason"] == reason and each["involvedObject"]["name"] == workload)

    def active(self, kind, name):
        for each in self.rest.get(f"{GROUP}/{kind}/{name}").get("status", {}).get(
                "conditions", []):
            if each["type"] == "Active":
                return each
        return {"status": "", "reason": "", "message": ""}

    def switch(self, how, plugins):
        """Other plugins, by a reload or by a restart."""
        if how == "reload":
            assert self.host.reload(plugins), self.host.log()
            return
        self.host.stop(signal.SIGKILL if how == "kill" else signal.SIGTERM)
        self.host.plugins = plugins
        self.host.write_config(self.host.store, self.host.extra)
        self.host.start()


class LiveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = Provisioning()

    @classmethod
    def tearDownClass(cls):
        cls.world.end()

    def waiting(self, name, **retry):
        """A workload that waits for its capacity; everything about it has this name."""
        self.world.capacity(name, **retry)
        self.world.queue(name, [name], {"f": 4})
        self.world.workload(name, name)
        self.world.becomes(name, "reserved")
        return self.world.request(name)


class OffAndOn(LiveTest):
    def setUp(self):
        self.addCleanup(lambda: self.world.host.plugins == ON or self.world.switch("restart", ON))

    def goes_and_comes(self, how):
        world, name = self.world, f"off-{how}"
        uid = self.waiting(name)
        world.capacity(f"{name}-empty")
        world.workload(f"{name}-later", name, cpu=4)  # has no room yet
        world.switch(how, OFF)
        # The check, the queue and the workload say why.
        why = f"Plugin provisioning-check, which answers for controller {CONTROLLER}, is not loaded"
        check = eventually(lambda: world.active("admissionchecks", name)["status"] == "False" and
                           world.active("admissionchecks", name), "the check is not active")
        self.assertEqual((check["reason"], check["message"]), ("PluginNotLoaded", why))
        queue = eventually(lambda: world.active("clusterqueues", name)["status"] == "False" and
                           world.active("clusterqueues", name), "the queue admits nobody")
        self.assertEqual(queue["reason"], "AdmissionCheckInactive")
        self.assertIn(why, queue["message"])
        later = eventually(
            lambda: "inactive" in world.condition(f"{name}-later", "QuotaReserved")["message"] and
            world.condition(f"{name}-later", "QuotaReserved"), "the workload says why")
        self.assertIn(name, later["message"])
        self.assertEqual(world.state(name), "reserved")  # it waits, and keeps its quota
        code, _ = world.rest.send("GET", REQUESTS)
        self.assertEqual(code, 404)  # its kinds are hidden
        # On again: it goes on from where it was.
        world.switch(how, ON)
        eventually(lambda: world.active("clusterqueues", name)["status"] == "True", "active")
        self.assertEqual(world.request(name), uid)
        world.told_of(name)
        self.assertEqual(world.created(name), 1)
        world.tell(name, "Accepted", "Provisioned")
        world.becomes(name, "admitted")

    def test_reload(self):
        self.goes_and_comes("reload")

    def test_restart(self):
        self.goes_and_comes("restart")

    def test_ends_while_it_is_off(self):
        """Who is finished or gone in the meantime leaves no request behind."""
        world = self.world
        self.waiting("leaves")
        world.switch("reload", OFF)
        code, _ = world.rest.send("DELETE", f"{GROUP}/namespaces/team/workloads/leaves")
        self.assertEqual(code, 200)
        world.switch("reload", ON)
        eventually(lambda: not world.requests("leaves"), "the request is gone")


class Killed(LiveTest):
    def test_each_step(self):
        world = self.world
        self.waiting("steps")
        uid = world.request("steps")
        world.told_of("steps")
        world.crash()  # the request is there
        self.assertEqual(world.request("steps"), uid)
        world.tell("steps", "Accepted", message="two minutes")
        eventually(lambda: world.message("steps") == "two minutes", "the message")
        world.crash()
        self.assertEqual(world.message("steps"), "two minutes")
        world.tell("steps", "Accepted", "Failed", message="none left")
        world.crash()  # during the pause, or just before it
        world.becomes("steps", "reserved")
        eventually(lambda: list(world.requests("steps")) == ["steps-steps-2"], "the second attempt")
        second = world.request("steps", 2)
        world.told_of("steps", 2)
        world.crash()
        self.assertEqual(world.request("steps", 2), second)
        world.tell("steps", "Accepted", "Provisioned", attempt=2)
        world.crash()  # Ready, perhaps not admitted yet
        world.becomes("steps", "admitted")
        world.crash()
        self.assertEqual(world.state("steps"), "admitted")
        self.assertEqual(world.request("steps", 2), second)
        world.tell("steps", "Accepted", "Provisioned", "CapacityRevoked", attempt=2)
        world.becomes("steps", "inactive")
        eventually(lambda: not world.requests("steps"), "the request is gone")
        self.assertEqual(world.created("steps"), 2)

    def test_during_the_pause(self):
        world = self.world
        self.waiting("pause", backoffBaseSeconds=600)
        world.told_of("pause")
        world.tell("pause", "Failed")
        world.becomes("pause", "pending")
        eventually(lambda: not world.requests("pause"), "the request is gone")
        at = world.get("pause")["status"]["requeueState"]["requeueAt"]
        world.crash()
        self.assertEqual(world.state("pause"), "pending")
        self.assertEqual(world.get("pause")["status"]["requeueState"]["requeueAt"], at)
        self.assertFalse(world.requests("pause"))
        self.assertEqual(world.created("pause"), 1)

    def test_right_after_the_reservation(self):
        """However early the host dies, there is one request in the end."""
        world = self.world
        world.capacity("early")
        world.queue("early", ["early"], {"f": 40})
        for number in range(4):
            world.workload(f"early{number}", "early")
            world.crash()
        for number in range(4):
            name = f"early{number}"
            world.becomes(name, "reserved")
            eventually(lambda n=name: list(world.requests(n)) == [f"{n}-early-1"], f"one of {name}")
            self.assertLessEqual(world.created(name), 1)  # an event may be lost in a crash


class Requests(LiveTest):
    def templates(self, workload):
        return [each for each in
                self.world.rest.get("/api/v1/namespaces/team/podtemplates")["items"]
                if each["metadata"]["name"].startswith(f"ppt-{workload}-")]

    def test_made_again(self):
        world = self.world
        uid = self.waiting("again")
        code, _ = world.rest.send("DELETE", f"{REQUESTS}/again-again-1")
        self.assertEqual(code, 200)
        other = eventually(lambda: world.requests("again") and world.request("again"), "a new one")
        self.assertNotEqual(other, uid)
        eventually(lambda: [each["metadata"]["ownerReferences"][0]["uid"]
                            for each in self.templates("again")] == [other],
                   "there is one template, that of the new one")
        world.tell("again", "Provisioned")
        world.becomes("again", "admitted")
        # Who runs needs it no more.
        world.rest.send("DELETE", f"{REQUESTS}/again-again-1")
        world.crash()
        self.assertEqual(world.state("again"), "admitted")
        self.assertFalse(world.requests("again"))

    def test_deleted_with_finish_and_eviction(self):
        world = self.world
        world.capacity("ends")
        world.queue("ends", ["ends"], {"f": 4})
        name = world.job("ends", "ends", "true")
        world.becomes(name, "reserved")
        request = eventually(lambda: list(world.requests(name)), "a request")[0]
        world.patch(f"{REQUESTS}/{request}/status",
                    {"status": {"conditions": [condition("Provisioned")]}})
        world.becomes(name, "finished")
        eventually(lambda: not world.requests(name), "nothing is left of a finished one")
        first = self.waiting("evicted")
        world.patch(f"{GROUP}/namespaces/team/workloads/evicted", {"spec": {"active": False}})
        world.becomes("evicted", "inactive")
        eventually(lambda: not world.requests("evicted"), "nothing is left of an evicted one")
        world.patch(f"{GROUP}/namespaces/team/workloads/evicted", {"spec": {"active": True}})
        world.becomes("evicted", "reserved")
        # It begins anew with the first attempt's name; an answer to that one is none to this one.
        self.assertNotEqual(world.request("evicted"), first)
        world.tell("evicted", "Provisioned", uid=first, expect=(409,))
        eventually(lambda: [each["metadata"]["name"] for each in self.templates("evicted")]
                   == ["ppt-evicted-evicted-1-main"], "there is one template")

    def test_configuration_comes_late(self):
        world = self.world
        world.create(f"{GROUP}/admissionchecks", {"metadata": {"name": "late"}, "spec": {
            "controllerName": CONTROLLER,
            "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig",
                           "name": "late"}}})
        world.queue("late", ["late"], {"f": 4})
        world.workload("late", "late")
        inactive = eventually(lambda: world.active("clusterqueues", "late")["status"] == "False"
                              and world.active("clusterqueues", "late"), "the queue says why")
        self.assertIn("there is no ProvisioningRequestConfig late", inactive["message"])
        world.create(f"{GROUP}/provisioningrequestconfigs", {
            "metadata": {"name": "late"}, "spec": {"provisioningClassName": "by-hand"}})
        world.becomes("late", "reserved")
        world.request("late")


class Races(LiveTest):
    def test_two_checks_in_one_instant(self):
        """One says Ready while the other says Retry: the workload is evicted, and tried again."""
        world = self.world
        world.check("by-python")
        for turn in range(5):
            name = f"two{turn}"
            world.capacity(name)
            world.queue(name, [name, "by-python"], {"f": 4})
            world.workload(name, name)
            world.becomes(name, "reserved")
            uid = world.request(name)
            states = ("Ready", "Retry") if turn % 2 else ("Ready", "Ready")
            threads = [threading.Thread(  # who comes second may find it gone, or another
                target=world.tell, args=(name, "Provisioned"),
                kwargs={"expect": (200, 404, 409, 422), "uid": uid}),
                       threading.Thread(target=world.patch, args=(
                           f"{GROUP}/namespaces/team/workloads/{name}/status",
                           {"status": {"admissionChecks": [{
                               "name": "by-python", "state": states[1], "message": "",
                               "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if states[1] == "Ready":
                world.becomes(name, "admitted")
                continue
            # Evicted once, and nothing of the first attempt counts in the second.
            eventually(lambda n=name: world.retries(n, "by-python") == 1, f"{name} is evicted")
            world.becomes(name, "reserved")
            self.assertEqual(world.checks(name), {name: "Pending", "by-python": "Pending"})
            eventually(lambda n=name: len(world.requests(n)) == 1, f"one request of {name}")

    def test_two_of_this_plugin(self):
        """Two checks of one workload are two requests; when one fails both begin anew."""
        world = self.world
        for check in ("left", "right"):
            world.capacity(check)
        world.queue("pair", ["left", "right"], {"f": 4})
        world.workload("pair", "pair")
        first = eventually(lambda: len(world.requests("pair")) == 2 and world.requests("pair"),
                           "two requests")
        self.assertEqual(sorted(first), ["pair-left-1", "pair-right-1"])

        def tell(request, kind):
            world.patch(f"{REQUESTS}/{request}/status",
                        {"status": {"conditions": [condition(kind)]}})

        tell("pair-right-1", "Provisioned")
        eventually(lambda: world.checks("pair") == {"left": "Pending", "right": "Ready"}, "one")
        self.assertEqual(world.state("pair"), "reserved")
        tell("pair-left-1", "Failed")
        # The one that failed counts its attempts; the other gets a request of the same name.
        eventually(lambda: sorted(world.requests("pair")) == ["pair-left-2", "pair-right-1"] and
                   world.requests("pair")["pair-right-1"] != first["pair-right-1"], "anew")
        self.assertEqual(world.checks("pair"), {"left": "Pending", "right": "Pending"})
        tell("pair-left-2", "Provisioned")
        tell("pair-right-1", "Provisioned")
        world.becomes("pair", "admitted")

    def test_late_answer(self):
        """The capacity of an attempt that is over arrives: nobody starts with it."""
        world = self.world
        self.waiting("tardy", backoffBaseSeconds=600)
        world.tell("tardy", "Failed")
        world.becomes("tardy", "pending")
        eventually(lambda: not world.requests("tardy"), "the request is gone")
        world.tell("tardy", "Provisioned", expect=(404,))
        self.assertEqual(world.state("tardy"), "pending")

    def test_second_writer(self):
        """Somebody answers in the plugin's place: it counts, the plugin does not take it back."""
        world = self.world
        self.waiting("writer")
        world.answer("writer", "writer", "Ready", message="the boss says so")
        world.becomes("writer", "admitted")
        self.assertEqual(world.message("writer"), "the boss says so")
        world.tell("writer", "CapacityRevoked")
        world.becomes("writer", "inactive")
        eventually(lambda: not world.requests("writer"), "the request is gone")


class ByCommand(unittest.TestCase):
    """A program that says in a file that it began, and waits for another file."""

    def setUp(self):
        self.world = Provisioning(OFF)
        self.addCleanup(self.world.end)
        self.folder = self.world.host.folder
        program = os.path.join(self.folder, "boot")
        with open(program, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\nrequest=$(cat)\n"
                      f"printf '%s\\n' \"$request\" >> {self.folder}/begun\n"
                      f"trap 'echo stopped >> {self.folder}/stopped; exit 1' TERM\n"
                      f"while [ ! -e {self.folder}/gate ]; do sleep 0.05; done\n"
                      "echo '{\"provisioned\": true, \"message\": \"two nodes\"}'\n")
        os.chmod(program, os.stat(program).st_mode | stat.S_IXUSR)
        config = f"{{ command: [{program}] }}"
        self.on = (f"{{ load: [ {{ name: provisioning-check{ISOLATION}, "
                   f"config: {config} }} ] }}")
        self.world.switch("reload", self.on)
        self.world.capacity("boot")
        self.world.queue("boot", ["boot"], {"f": 4})

    def begun(self):
        """The UIDs of the requests for which the program was started, in order."""
        try:
            with open(os.path.join(self.folder, "begun"), encoding="utf-8") as text:
                whole = text.read().rpartition("\n")[0]
        except FileNotFoundError:
            return []
        return [json.loads(line)["request"]["metadata"]["uid"] for line in whole.splitlines()]

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        self.world.workload("boot", "boot")
        uid = self.world.request("boot")
        eventually(self.begun, "the program runs")
        self.assertEqual(self.begun(), [uid])
        self.world.told_of("boot")
        return uid

    def end(self, uid, runs):
        with open(self.file("gate"), "w", encoding="utf-8"):
            pass
        self.world.becomes("boot", "admitted")
        self.assertEqual(self.begun(), [uid] * runs)
        self.assertEqual(self.world.message("boot"), "two nodes")
        self.assertEqual(self.world.created("boot"), 1)

    def test_killed_while_it_runs(self):
        uid = self.start()
        self.world.crash()
        eventually(lambda: len(self.begun()) == 2, "it is run again, for the same request")
        self.end(uid, 2)
        self.world.crash()  # what is provisioned is not provisioned again
        self.assertEqual(self.world.state("boot"), "admitted")
        self.world.patch(f"{REQUESTS}/boot-boot-1", {"metadata": {"labels": {"seen": "yes"}}})
        self.assertEqual(self.begun(), [uid] * 2)

    def test_reloaded_while_it_runs(self):
        uid = self.start()
        self.world.switch("reload", OFF)
        eventually(lambda: os.path.exists(self.file("stopped")), "it is stopped")
        self.assertEqual(self.world.state("boot"), "reserved")
        self.world.switch("reload", self.on)
        eventually(lambda: len(self.begun()) == 2, "it is run again, for the same request")
        self.end(uid, 2)

    def test_stopped_with_its_workload(self):
        self.start()
        self.world.rest.send("DELETE", f"{GROUP}/namespaces/team/workloads/boot")
        eventually(lambda: os.path.exists(self.file("stopped")), "it is stopped")
        eventually(lambda: not self.world.requests("boot"), "the request is gone")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)

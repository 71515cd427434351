#!/usr/bin/env python3
"""A manager and its workers, all of them live: where jobs run, how often, what comes back, and what
is left behind when a worker or the manager is killed.

    live_test.py --sluice build/dev/bin/sluice --e2e tests/e2e [TestClass.test_name …]
"""
import argparse
import os
import subprocess
import sys
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS, REST = OPTIONS.parse_known_args()
OPTIONS.sluice = os.path.abspath(OPTIONS.sluice)
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import eventually
from line import Line
from places import GROUP, JOBS, Places, is_true, secret_of


class Life(unittest.TestCase):
    """Two workers and all that goes well."""

    @classmethod
    def setUpClass(cls):
        cls.places = Places(OPTIONS.sluice, workers=2, cpus=4)

    @classmethod
    def tearDownClass(cls):
        cls.places.__exit__()

    def tearDown(self):
        self.places.wait_quiet()

    def test_a_job_runs_once_at_a_worker_and_its_end_comes_back(self):
        places = self.places
        places.submit("one")
        places.wait_for_end("one")
        self.assertEqual(places.runs("one"), (1, 1))
        job = places.manager.jobs()["one"]
        self.assertEqual(job["status"]["succeeded"], 1)
        self.assertEqual(job["spec"]["managedBy"], "kueue.x-k8s.io/multikueue")
        self.assertIn(places.chosen("one"), ("worker1", "worker2"))
        self.assertIn("The workload got reservation on", places.check("one")["message"])

    def test_a_job_that_fails_there_fails_here(self):
        places = self.places
        places.submit("bad", then="exit 3")
        places.wait_for_end("bad", "Failed")
        self.assertEqual(places.runs("bad"), (1, 0))
        finished = next(each for each in places.workload("bad")["status"]["conditions"]
                        if each["type"] == "Finished")
        self.assertEqual(finished["reason"], "Failed")

    def test_more_work_than_one_worker_has_room_for_goes_to_both(self):
        places = self.places
        go = os.path.join(places.folder, "go")
        names = [f"many{i}" for i in range(6)]  # 6 · 1 CPU on 2 · 4 CPUs, one worker has 4
        for name in names:
            places.submit(name, then=f"until [ -e {go} ]; do sleep 0.05; done")
        for name in names:
            places.wait_started(name)
        eventually(lambda: {places.chosen(name) for name in names} == {"worker1", "worker2"},
                   "both have some")
        eventually(lambda: places.manager.rest.get(f"{GROUP}/clusterqueues/q")["status"]
                   ["flavorsUsage"][0]["resources"][0]["total"] == "6",
                   "the manager's queue shows what runs, a write after it")
        with open(go, "w", encoding="utf-8"):
            pass
        for name in names:
            places.wait_for_end(name)
            self.assertEqual(places.runs(name), (1, 1), name)

    def explain(self, name):
        done = subprocess.run(
            [OPTIONS.sluice, "explain", f"team/job/{name}", "--kubeconfig",
             self.places.manager.host.kubeconfig], capture_output=True, text=True, timeout=300,
            check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_explain_tells_what_the_clusters_say(self):
        places = self.places
        go = os.path.join(places.folder, "told")
        for name in ("told1", "told2"):
            places.submit(name, cpu=4, then=f"until [ -e {go} ]; do sleep 0.05; done")
        for name in ("told1", "told2"):
            places.wait_shown(name, 1)
            said = self.explain(name)
            self.assertIn(f"It is admitted in cluster {places.chosen(name)}\n", said)
            self.assertIn("1 pod of its job is active there", said)
        places.submit("told3", cpu=3)
        eventually(lambda: self.explain("told3").count("more needed") == 2,
                   "both say what is missing: " + self.explain("told3"))
        said = self.explain("told3")
        for worker in ("worker1", "worker2"):
            self.assertRegex(said, f"It waits in cluster {worker}, .* 3 more needed")
            self.assertIn(f"In cluster {worker}, cpu for pod set main: 3 asked; flavor f has 0 "
                          "free of at most 4, 3 missing\n", said)
            self.assertIn(f"In cluster {worker} it is 1 of 1 that wait in its ClusterQueue", said)
        self.assertNotIn("told1", said)  # what else is there is nobody's affair here
        with open(go, "w", encoding="utf-8"):
            pass
        for name in ("told1", "told2", "told3"):
            places.wait_for_end(name)

    def test_what_runs_there_is_seen_here(self):
        places = self.places
        places.submit("seen", then="sleep 600")
        places.wait_shown("seen", 1)
        code, _ = places.manager.rest.send("DELETE", f"{JOBS}/seen")
        self.assertEqual(code, 200)  # and its copies go, see tearDown
        places.wait_quiet()

    def test_an_eviction_here_withdraws_what_runs_there(self):
        places = self.places
        places.submit("moved", then="sleep 600")
        places.wait_started("moved")
        places.manager.patch(f"{GROUP}/namespaces/team/workloads/"
                             + places.workload("moved")["metadata"]["name"],
                             {"spec": {"active": False}})
        places.wait_quiet()
        eventually(lambda: places.chosen("moved") is None, "it is nowhere")
        places.manager.rest.send("DELETE", f"{JOBS}/moved")

    def test_an_eviction_there_sends_it_off_anew(self):
        places = self.places
        places.submit("again", then="sleep 600")
        places.wait_started("again")
        first = places.workload("again")
        worker = places.workers[int(places.chosen("again")[-1]) - 1]
        worker.patch(f"{GROUP}/namespaces/team/workloads/{first['metadata']['name']}",
                     {"spec": {"active": False}})
        places.wait_started("again", 2)
        evictions = lambda: places.workload("again")["status"].get(  # noqa: E731
            "schedulingStats", {}).get("evictions", [])
        eventually(evictions, "its eviction is counted")
        self.assertEqual(sum(each["count"] for each in evictions()), 1)
        places.wait_shown("again", 1)
        places.manager.rest.send("DELETE", f"{JOBS}/again")

    def test_a_job_of_its_own_controllers_is_refused(self):
        places = self.places
        places.submit("own", managedBy="kubernetes.io/job-controller")
        eventually(lambda: places.check("own").get("state") == "Rejected"
                   or not places.workload("own").get("spec", {}).get("active", True),
                   "the check is Rejected")
        self.assertEqual(places.runs("own"), (0, 0))
        places.manager.rest.send("DELETE", f"{JOBS}/own")


class Elastic(unittest.TestCase):
    """A job changes its size while it runs elsewhere."""

    @classmethod
    def setUpClass(cls):
        cls.places = Places(OPTIONS.sluice, workers=2, cpus=4, beside=["elastic-jobs"])

    @classmethod
    def tearDownClass(cls):
        cls.places.__exit__()

    def submit(self, name, size):
        self.go = os.path.join(self.places.folder, name + ".go")
        self.places.submit_elastic(name, size, self.go)
        self.wait_for_slices(name, [("Admitted", size)])

    def running(self, name):
        worker = self.places.worker_of(name)
        pods = worker.items("/api/v1/namespaces/team/pods").values() if worker else []
        return sorted(pod["metadata"]["uid"] for pod in pods
                      if pod["metadata"]["ownerReferences"][0]["name"] == name
                      and pod["status"].get("phase") == "Running"
                      and "deletionTimestamp" not in pod["metadata"])

    def wait_for_slices(self, name, wanted, running=None):
        """The manager's are the worker's, and that many pods run."""
        def there():
            worker = self.places.worker_of(name)
            return (worker and self.places.slices(self.places.manager, name) == wanted
                    and self.places.slices(worker, name) == wanted
                    and len(self.running(name)) == (running or wanted[-1][1]))
        eventually(there, f"{name} is {wanted} at both, there is "
                          f"{self.places.slices(self.places.manager, name)} and "
                          f"{[self.places.slices(worker, name) for worker in self.places.workers]}")

    def test_growth_is_admitted_where_the_job_runs_and_the_rest_runs_on(self):
        self.submit("grows", 2)
        worker = self.places.worker_of("grows")
        first = self.running("grows")
        self.places.resize("grows", 4)
        self.wait_for_slices("grows", [("WorkloadSliceReplaced", 2), ("Admitted", 4)])
        self.assertTrue(set(first) <= set(self.running("grows")))
        self.places.resize("grows", 3)  # in place
        self.wait_for_slices("grows", [("WorkloadSliceReplaced", 2), ("Admitted", 3)])
        self.places.resize("grows", 6)  # the worker has 4, the other one is empty
        self.wait_for_slices("grows", [("WorkloadSliceReplaced", 2), ("Admitted", 3),
                                       ("waits", 6)], running=3)
        waits = next(each for each in self.places.manager.workloads().values()
                     if each["spec"]["podSets"][0]["count"] == 6)
        self.assertIn("waits for quota at worker",
                      waits["status"]["admissionChecks"][0]["message"])
        worker.quota(6)
        self.wait_for_slices("grows", [("WorkloadSliceReplaced", 2), ("WorkloadSliceReplaced", 3),
                                       ("Admitted", 6)])
        for place in (self.places.manager, worker):
            eventually(lambda place=place: place.used() == 6, "6 are used, a write after it")
        worker.quota(4)
        self.places.resize("grows", 2)
        with open(self.go, "w", encoding="utf-8"):
            pass
        self.places.wait_for_end("grows")
        self.places.wait_quiet()
        self.assertEqual(self.places.slices(self.places.manager, "grows"),
                         [("Succeeded", 2), ("WorkloadSliceReplaced", 2),
                          ("WorkloadSliceReplaced", 3)])

    def test_an_eviction_there_takes_the_whole_and_it_comes_back_in_its_size(self):
        self.submit("moves", 1)
        self.places.resize("moves", 3)
        self.wait_for_slices("moves", [("WorkloadSliceReplaced", 1), ("Admitted", 3)])
        worker = self.places.worker_of("moves")
        slice_there = next(name for name, each in worker.workloads().items()
                           if is_true(each, "Admitted") and not is_true(each, "Finished"))
        first = worker.jobs()["moves"]["metadata"]["uid"]
        worker.patch(f"{GROUP}/namespaces/team/workloads/{slice_there}",
                     {"spec": {"active": False}})

        def runs_anew():
            there = self.places.worker_of("moves")
            job = there.jobs().get("moves") if there else None
            return job and job["metadata"]["uid"] != first and len(self.running("moves")) == 3
        eventually(runs_anew, "it runs again, in another job")
        self.places.wait_shown("moves", 3)
        eventually(lambda: self.places.manager.used() == 3, "3 are used, a write after it")
        self.places.manager.rest.send("DELETE", f"{JOBS}/moves")
        self.places.wait_quiet()

    def test_who_deletes_a_job_that_grew_ends_it_there(self):
        self.submit("goes", 1)
        for size in (2, 3, 4):
            self.places.resize("goes", size)
            eventually(lambda size=size: len(self.running("goes")) == size, f"{size} run")
        self.places.manager.rest.send("DELETE", f"{JOBS}/goes")
        self.places.wait_quiet()


class Estimates(unittest.TestCase):
    """Each worker is asked what it would do, before any gets a copy."""

    def test_the_one_that_starts_it_first_gets_the_only_copy(self):
        with Places(OPTIONS.sluice, workers=3, cpus=[1, 4, 2], dispatcher="Estimate") as places:
            go = os.path.join(places.folder, "go")
            wait = f"until [ -e {go} ]; do sleep 0.05; done"
            sizes = {"large": 4, "small": 1, "middle": 2}  # only so they fit, whatever comes first
            for name, cpu in sizes.items():
                places.submit(name, cpu=cpu, then=wait)
            for name in sizes:
                places.wait_started(name)
            self.assertEqual({name: places.chosen(name) for name in sizes},
                             {"large": "worker2", "small": "worker1", "middle": "worker3"})
            for what in ("dispatched", "admitted"):
                counted = {name: places.metric(f"multikueue_workloads_{what}_total", name)
                           for name in ("worker1", "worker2", "worker3")}
                self.assertEqual(counted, {"worker1": 1, "worker2": 1, "worker3": 1})
            with open(go, "w", encoding="utf-8"):
                pass
            for name in sizes:
                places.wait_for_end(name)
            places.wait_quiet()

    def test_where_all_are_full_it_waits_at_the_one_that_is_free_first(self):
        with Places(OPTIONS.sluice, workers=2, cpus=1, dispatcher="Estimate") as places:
            for name, runtime in (("long", "3h"), ("short", "1h")):
                places.submit(name, then="sleep 600", runtime=runtime)
                places.wait_started(name)
            short = places.chosen("short")
            places.submit("next", then="true")
            eventually(lambda: [kind for _, kind, name in places.copies()
                                if name == places.workload("next").get("metadata", {}).get("name")],
                       "it has a copy")
            worker = places.workers[int(short[-1]) - 1]
            self.assertIn(places.workload("next")["metadata"]["name"], worker.workloads())
            self.assertEqual(len(places.copies()), 5)  # two jobs with their workloads, and this
            places.manager.rest.send("DELETE", f"{JOBS}/short")
            places.wait_for_end("next")
            self.assertEqual(places.chosen("next"), short)
            places.manager.rest.send("DELETE", f"{JOBS}/long")
            places.wait_quiet()


class Losses(unittest.TestCase):
    """A worker or the manager is killed."""

    def test_a_worker_that_is_lost_is_replaced_and_cleaned_up(self):
        with Places(OPTIONS.sluice, workers=2, cpus=4, workerLostTimeoutSeconds=5) as places:
            places.submit("lost", then="sleep 600", alone=False)  # nobody can end the first
            places.wait_started("lost")
            first = places.chosen("lost")
            worker = places.workers[int(first[-1]) - 1]
            worker.kill()
            eventually(lambda: places.chosen("lost") not in (first, None), "another worker has it")
            places.wait_started("lost", 2)
            self.assertEqual(places.active(first)["reason"], "ClientConnectionFailed")
            worker.restart()
            eventually(lambda: not worker.jobs() and not worker.workloads(),
                       "what came back late is cleaned up")
            places.wait_connected([first])
            self.assertEqual(len(places.copies()), 2)  # job and workload at the other
            self.assertEqual(places.runs("lost"), (2, 0))

    def test_a_worker_that_comes_back_in_time_keeps_its_work(self):
        with Places(OPTIONS.sluice, workers=2, cpus=4, workerLostTimeoutSeconds=600) as places:
            go = os.path.join(places.folder, "go")
            places.submit("kept", then=f"until [ -e {go} ]; do sleep 0.05; done",
                          backoffLimit=3)
            places.wait_started("kept")
            first = places.chosen("kept")
            worker = places.workers[int(first[-1]) - 1]
            worker.kill()
            eventually(lambda: not is_true(places.cluster(first), "Active"), "it is seen as lost")
            self.assertEqual(places.chosen("kept"), first)
            worker.restart()
            with open(go, "w", encoding="utf-8"):
                pass
            places.wait_for_end("kept")
            self.assertEqual(places.chosen("kept"), first)
            places.wait_quiet()

    def test_the_manager_goes_on_where_it_was(self):
        with Places(OPTIONS.sluice, workers=2, cpus=4) as places:
            names = [f"job{i}" for i in range(12)]
            for name in names:
                places.submit(name, then="sleep 0.3")
            for kill in range(3):
                eventually(lambda: sum(places.runs(name)[0] for name in names) > 3 * kill,
                           "some have begun")
                places.manager.kill()
                places.manager.restart()
            for name in names:
                places.wait_for_end(name)
                self.assertEqual(places.runs(name), (1, 1), name)
            places.wait_quiet()


class Taken(unittest.TestCase):
    """The name of a job is a job's of the worker's own, for ever."""

    def test_it_goes_to_another_cluster_when_one_waited_long_enough(self):
        with Places(OPTIONS.sluice, workers=2, cpus=[4, 0], workerLostTimeoutSeconds=6) as places:
            first, second = places.workers
            first.create(JOBS, {
                "metadata": {"name": "taken"}, "spec": {"suspend": True, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [
                        {"name": "main", "image": "none", "command": ["true"]}]}}}})
            places.submit("taken")
            eventually(lambda: "cannot be made at" in places.check("taken").get("message", ""),
                       "the check says what is wrong")
            self.assertEqual(places.chosen("taken"), "worker1")
            second.quota(4)
            places.wait_for_end("taken")
            self.assertEqual(places.chosen("taken"), "worker2")
            self.assertEqual(places.runs("taken"), (1, 1))
            eventually(lambda: places.copies() == [(1, "job", "taken")], "its own job is left")

    def test_where_there_is_no_other_the_quota_is_given_back(self):
        with Places(OPTIONS.sluice, workers=1, workerLostTimeoutSeconds=6) as places:
            worker = places.workers[0]
            worker.create(JOBS, {
                "metadata": {"name": "taken"}, "spec": {"suspend": True, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [
                        {"name": "main", "image": "none", "command": ["true"]}]}}}})
            places.submit("taken")
            eventually(lambda: places.manager.used() == 1, "it has its quota")
            eventually(lambda: places.manager.used() == 0, "it has given it back")
            self.assertIn("already exists", str(places.workload("taken")["status"]))
            worker.rest.send("DELETE", f"{JOBS}/taken")
            places.wait_for_end("taken")
            self.assertEqual(places.runs("taken"), (1, 1))


class Shared(unittest.TestCase):
    """Two managers have the same workers, each under an origin of its own."""

    @classmethod
    def setUpClass(cls):
        cls.places = Places(OPTIONS.sluice, workers=2, cpus=4)
        cls.first = cls.places.manager
        cls.second = cls.places.add_manager("second")

    @classmethod
    def tearDownClass(cls):
        cls.second.host.__exit__()
        cls.places.manager = cls.first
        cls.places.__exit__()

    def tearDown(self):
        self.at(self.first).wait_quiet()

    def at(self, manager):
        """What is submitted and looked at from now on is this one's."""
        self.places.manager = manager
        return self.places

    def test_work_of_both_runs_once_though_they_want_more_than_there_is(self):
        of = {self.first: [f"a{i}" for i in range(6)], self.second: [f"b{i}" for i in range(6)]}
        for manager, names in of.items():
            for name in names:
                self.at(manager).submit(name, cpu=2, then="sleep 0.2")
        for manager, names in of.items():
            for name in names:
                self.at(manager).wait_for_end(name)
                self.assertEqual(self.places.runs(name), (1, 1), name)

    def test_jobs_of_the_same_name_do_not_take_each_other_s_place(self):
        for manager in (self.first, self.second):
            self.at(manager).submit("same", then="sleep 0.5", alone=False)
        for manager in (self.first, self.second):
            self.at(manager).wait_for_end("same")
        self.assertEqual(self.places.runs("same"), (2, 2))

    def test_who_comes_back_leaves_the_other_s_work_alone(self):
        go = os.path.join(self.places.folder, "shared")
        self.at(self.second).submit("stays", then=f"until [ -e {go} ]; do sleep 0.05; done")
        self.places.wait_started("stays")
        self.first.kill()
        self.first.restart()
        self.at(self.first).wait_connected(["worker1", "worker2"])
        self.places.submit("after")  # all that it withdraws it has withdrawn before
        self.places.wait_for_end("after")
        with open(go, "w", encoding="utf-8"):
            pass
        self.at(self.second).wait_for_end("stays")
        self.assertEqual(self.places.runs("stays"), (1, 1))


class Yesterday(unittest.TestCase):
    """A worker's store is that of an earlier moment."""

    def test_what_it_forgot_runs_anew_and_what_it_remembers_too_well_goes(self):
        with Places(OPTIONS.sluice, workers=1, cpus=4) as places:
            worker, go = places.workers[0], os.path.join(places.folder, "go")
            wait = f"until [ -e {go} ]; do sleep 0.05; done"
            places.submit("over", then=f"until [ -e {go}1 ]; do sleep 0.05; done")
            places.submit("both", then=wait)
            for name in ("over", "both"):
                places.wait_shown(name, 1)
            backup = worker.backup()
            with open(go + "1", "w", encoding="utf-8"):
                pass
            places.wait_for_end("over")
            eventually(lambda: "over" not in worker.jobs(), "its copies are withdrawn")
            places.submit("later", then=wait)
            places.wait_started("later")  # a pod is shown before its process has begun
            places.wait_shown("later", 1)
            worker.kill()
            places.end_orphans()  # the machine is gone
            worker.go_back_to(backup)
            worker.restart()
            places.wait_started("later", 2)
            eventually(lambda: "over" not in worker.jobs(), "what has ended is withdrawn again")
            places.wait_shown("later", 1)
            with open(go, "w", encoding="utf-8"):
                pass
            places.wait_for_end("later")
            self.assertEqual(places.runs("later"), (2, 1))
            eventually(lambda: any(is_true(places.manager.jobs()["both"], how)
                                   for how in ("Complete", "Failed")), "its end is known")
            self.assertLessEqual(places.runs("both")[1], 1)
            places.wait_quiet()
            eventually(lambda: not places.manager.used() and not worker.used(), "quota is free")


    def test_versions_that_have_overtaken_what_was_seen_are_noticed(self):
        lines = []

        def around(_, worker):
            if not lines:
                lines.append(Line(worker.host.port))
            return lines[0].port
        with Places(OPTIONS.sluice, workers=1, cpus=4, around=around) as places:
            worker, go = places.workers[0], os.path.join(places.folder, "go")
            worker.kill()
            disk = worker.disk()
            worker.restart()
            places.wait_connected(["worker1"])
            places.submit("later", then=f"until [ -e {go} ]; do sleep 0.05; done")
            places.wait_started("later")
            places.wait_shown("later", 1)
            lines[0].cut()
            seen = worker.version()
            worker.kill()
            places.end_orphans()  # the machine is gone
            worker.put_back(disk)
            worker.restart()
            self.assertLess(worker.version(), seen)
            worker.create("/api/v1/namespaces/team/configmaps", {"metadata": {"name": "count"}})
            while worker.version() <= seen + 1:  # what the manager asks for next is there
                worker.patch("/api/v1/namespaces/team/configmaps/count",
                             {"data": {"version": str(worker.version())}})
            lines[0].mend()
            places.wait_started("later", 2)
            places.wait_shown("later", 1)
            with open(go, "w", encoding="utf-8"):
                pass
            places.wait_for_end("later")
            self.assertEqual(places.runs("later"), (2, 1))
            places.wait_quiet()
        lines[0].close()


class Connections(unittest.TestCase):
    """What the condition of a cluster says."""

    @classmethod
    def setUpClass(cls):
        cls.places = Places(OPTIONS.sluice, workers=2)

    @classmethod
    def tearDownClass(cls):
        cls.places.__exit__()

    def told(self, text, reason, words):
        """What becomes of a cluster with this kubeconfig."""
        places = self.places
        path = "/api/v1/namespaces/kueue-system/secrets/worker1"
        good = places.kubeconfig(places.workers[0])
        places.manager.patch(path, secret_of("worker1", text))
        def told():
            active = places.active("worker1")
            return active.get("reason") == reason and words in active["message"]
        eventually(told, f"{reason}: {words}, there is {places.active('worker1')}")
        check = places.manager.rest.get(f"{GROUP}/admissionchecks/clusters")
        eventually(lambda: "worker1" in str(
            places.manager.rest.get(f"{GROUP}/admissionchecks/clusters")["status"]), str(check))
        places.manager.patch(path, secret_of("worker1", good))  # rotated, without a restart
        places.wait_connected(["worker1"])

    def test_credentials_that_cannot_be_used_are_told_of(self):
        good = self.places.kubeconfig(self.places.workers[0])
        other = self.places.kubeconfig(self.places.workers[1])
        authority = next(line for line in other.split("\n") if "certificate-authority-data" in line)
        own = next(line for line in good.split("\n") if "certificate-authority-data" in line)
        token = next(line for line in good.split("\n") if "token:" in line)
        for text, reason, words in (
                ("no: kubeconfig", "BadKubeConfig", "current-context"),
                (good.replace(own, authority), "ClientConnectionFailed", "certificate"),
                (good.replace(token, "    token: wrong"), "ClientConnectionFailed", "nauthorized"),
                (good.replace(token, "    tokenFile: /etc/passwd"), "InsecureKubeConfig",
                 "names a file"),
                (good.replace(own, "    insecure-skip-tls-verify: true"), "InsecureKubeConfig",
                 "insecure-skip-tls-verify")):
            with self.subTest(reason=reason, words=words):
                self.told(text, reason, words)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)

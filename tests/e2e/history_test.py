#!/usr/bin/env python3
"""What ended is kept: `sluice history` and its API on a live host, over deletions and kill -9, and
what each role sees of it.

    history_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import csv
import datetime
import io
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from host import Host, eventually
from rest import Rest

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
RUNS = "/apis/sluice.dev/v1alpha1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
HOUR = 3600
# Six digits behind the point of an hour are 3.6 ms, and times have milliseconds.
EXACT = 5e-6


def binding(user, role):
    return {"metadata": {"name": f"{user}-{role}"}, "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}


OBJECTS = [
    (f"{KUEUE}/resourceflavors", {"metadata": {"name": "spot"}}),
    (f"{KUEUE}/clusterqueues", {"metadata": {"name": "cq"}, "spec": {
        "namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": [{
            "name": "spot", "resources": [
                {"name": "cpu", "nominalQuota": 4},
                {"name": "nvidia.com/gpu", "nominalQuota": 2}]}]}]}}),
    *[entry for ns in ("team-a", "team-b") for entry in (
        ("/api/v1/namespaces", {"metadata": {"name": ns}}),
        (f"{KUEUE}/namespaces/{ns}/localqueues",
         {"metadata": {"name": "main"}, "spec": {"clusterQueue": "cq"}}))],
    (f"{RBAC}/namespaces/team-a/rolebindings", binding("ann", "edit")),
    (f"{RBAC}/clusterroles", {"metadata": {"name": "any-priority"}, "rules": [{
        "apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["prioritize"]}]}),
    (f"{RBAC}/namespaces/team-a/rolebindings", binding("ann", "any-priority")),
    (f"{RBAC}/namespaces/team-b/rolebindings", binding("bob", "edit")),
    (f"{RBAC}/namespaces/team-b/rolebindings", binding("bea", "kueue-batch-user-role")),
    (f"{RBAC}/clusterrolebindings", binding("olga", "kueue-batch-admin-role")),
]
TOKENS = {name: f"{name}-0123456789abcdef" for name in ("ann", "bob", "bea", "olga", "eve")}


def workload(name, cpu, priority=0, gpu=0):
    requests = {"cpu": str(cpu)} | ({"nvidia.com/gpu": str(gpu)} if gpu else {})
    return {"metadata": {"name": name}, "spec": {
        "queueName": "main", "priority": priority, "podSets": [{
            "name": "main", "count": 1, "template": {"spec": {
                "restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "any", "resources": {"requests": requests}}]}}}]}}


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class HistoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host = Host(SLUICE, extra=cls.EXTRA, tokens=TOKENS)
        cls.host.start()
        cls.addClassCleanup(cls.host.__exit__)
        cls.admin = Rest(cls.host.kubeconfig)
        for path, body in OBJECTS:
            code, answer = cls.admin.send("POST", path, body)
            assert code == 201, answer

    EXTRA = ""

    def rest(self, user):
        out = Rest(self.host.kubeconfig)
        out.token = TOKENS[user]
        return out

    def create(self, user, ns, body):
        code, answer = self.rest(user).send("POST", f"{KUEUE}/namespaces/{ns}/workloads", body)
        self.assertEqual(code, 201, answer)
        return answer

    def conditions(self, ns, name):
        status = self.admin.get(f"{KUEUE}/namespaces/{ns}/workloads/{name}").get("status", {})
        return {each["type"]: each for each in status.get("conditions", [])}

    def until(self, ns, name, condition, value="True"):
        return eventually(
            lambda: self.conditions(ns, name).get(condition, {}).get("status") == value
            and self.conditions(ns, name), f"{name}: {condition}={value}")

    def finish(self, ns, name, reason="Succeeded"):
        code, answer = self.admin.send(
            "PATCH", f"{KUEUE}/namespaces/{ns}/workloads/{name}/status",
            {"status": {"conditions": [{
                "type": "Finished", "status": "True", "reason": reason, "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
            content="application/merge-patch+json")
        self.assertEqual(code, 200, answer)
        return self.conditions(ns, name)

    def delete(self, ns, name, kind=f"{KUEUE}/namespaces/{{}}/workloads"):
        code, answer = self.admin.send("DELETE", f"{kind.format(ns)}/{name}")
        self.assertEqual(code, 200, answer)

    def sluice(self, *args, user=None, ns=None):
        kubeconfig = self.host.kubeconfig
        if user:
            with open(kubeconfig, encoding="utf-8") as text:
                config = text.read()
            rest = Rest(kubeconfig)
            config = config.replace(rest.token, TOKENS[user])
            if ns:
                config = re.sub(r"namespace: \S+", f"namespace: {ns}", config)
            kubeconfig = os.path.join(self.host.folder, f"kubeconfig-{user}")
            with open(kubeconfig, "w", encoding="utf-8") as out:
                out.write(config)
            os.chmod(kubeconfig, 0o600)
        return subprocess.run([SLUICE, *args], capture_output=True, text=True, timeout=180,
                              check=False, env=self.host.environment(KUBECONFIG=kubeconfig))


class Sums(HistoryTest):
    def test_sums_are_the_arithmetic_also_after_deletion_and_kill(self):
        held = 0
        self.create("ann", "team-a", workload("one", 2, gpu=1))
        self.create("bob", "team-b", workload("two", 1))
        for ns, name, cpu in (("team-a", "one", 2), ("team-b", "two", 1)):
            self.until(ns, name, "Admitted")
            done = self.finish(ns, name)
            ran = seconds(done["Finished"]["lastTransitionTime"]) - seconds(
                done["QuotaReserved"]["lastTransitionTime"])
            held += cpu * ran / HOUR
            self.delete(ns, name)
        # Preempted by the one of higher priority, and back when that is gone.
        self.create("ann", "team-a", workload("low", 4))
        first = self.until("team-a", "low", "Admitted")
        self.create("ann", "team-a", workload("high", 4, priority=10))
        evicted = self.until("team-a", "low", "Evicted")
        begin = seconds(self.until("team-a", "high", "Admitted")["QuotaReserved"]
                        ["lastTransitionTime"])
        done = self.finish("team-a", "high", "Failed")
        held += 4 * (seconds(done["Finished"]["lastTransitionTime"]) - begin) / HOUR
        held += 4 * (seconds(evicted["QuotaReserved"]["lastTransitionTime"])
                     - seconds(first["QuotaReserved"]["lastTransitionTime"])) / HOUR
        again = self.until("team-a", "low", "Admitted")
        done = self.finish("team-a", "low")
        held += 4 * (seconds(done["Finished"]["lastTransitionTime"])
                     - seconds(again["QuotaReserved"]["lastTransitionTime"])) / HOUR
        for name in ("low", "high"):
            self.delete("team-a", name)

        before = self.admin.get(f"{RUNS}/runs?groupBy=user,queue")
        total = before["total"]
        self.assertEqual((total["started"], total["finished"], total["failed"],
                          total["evicted"], total["running"]), (5, 3, 1, 1, 0), total)
        self.assertAlmostEqual(total["heldHours"]["cpu"], held, delta=EXACT)
        self.assertEqual([(each["group"], each["started"]) for each in before["groups"]],
                         [({"user": "ann", "queue": "team-a/main"}, 4),
                          ({"user": "bob", "queue": "team-b/main"}, 1)])
        self.assertGreater(before["groups"][0]["heldHours"]["nvidia.com/gpu"], 0)

        self.host.stop(signal.SIGKILL)
        self.host.start()
        self.assertEqual(self.admin.get(f"{RUNS}/runs?groupBy=user,queue"), before)
        self.see_csv(before)
        self.see_runs()

    def see_csv(self, summary):
        done = self.sluice("history", "--by", "user,queue", "-o", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([(row["user"], row["queue"], int(row["started"])) for row in rows],
                         [("ann", "team-a/main", 4), ("bob", "team-b/main", 1)])
        for row, group in zip(rows, summary["groups"]):
            self.assertAlmostEqual(float(row["coreHours"]), group["heldHours"]["cpu"], delta=EXACT)
        table = self.sluice("history", "--by", "reason").stdout
        self.assertIn("Preempted", table)

    def see_runs(self):
        done = self.sluice("history", "--runs", "-o", "json")
        runs = json.loads(done.stdout)["items"]
        self.assertEqual([(run["workload"], run["number"], run["outcome"]) for run in runs][:2],
                         [("low", 2, "Finished"), ("high", 1, "Failed")])
        first = self.admin.get(f"{RUNS}/runs?limit=2")
        token = first["metadata"]["continue"]
        rest = self.admin.get(f"{RUNS}/runs?continue={token}")
        self.assertEqual([run["metadata"]["name"] for run in first["items"] + rest["items"]],
                         [run["metadata"]["name"] for run in runs])
        self.assertIn("low", self.host.kubectl("get", "runs.sluice.dev", "-A"))


class Jobs(HistoryTest):
    EXTRA = "executor: { nodes: [{ name: here, capacity: { cpu: '4', memory: 4Gi } }] }\n"

    def test_what_pods_used_is_known_after_everything_is_gone(self):
        burn = "timeout 1 sh -c 'while :; do :; done'; true"
        code, answer = self.rest("ann").send("POST", "/apis/batch/v1/namespaces/team-a/jobs", {
            "metadata": {"name": "burn", "labels": {"kueue.x-k8s.io/queue-name": "main"},
                         "annotations": {"sluice.dev/created-by": "somebody-else"}},
            "spec": {"parallelism": 2, "completions": 2, "template": {"spec": {
                "restartPolicy": "Never", "containers": [{
                    "name": "c", "image": "any", "command": ["sh", "-c", burn],
                    "resources": {"requests": {"cpu": "1"}}}]}}}})
        self.assertEqual(code, 201, answer)
        self.assertEqual(answer["metadata"]["annotations"]["sluice.dev/created-by"], "ann",
                         "nobody says himself who he is")
        code, answer = self.rest("ann").send(
            "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/burn",
            {"metadata": {"annotations": {"sluice.dev/created-by": "bob"}}},
            content="application/merge-patch+json")
        self.assertEqual(answer["metadata"]["annotations"]["sluice.dev/created-by"], "ann")

        def job():
            status = self.admin.get("/apis/batch/v1/namespaces/team-a/jobs/burn")["status"]
            return any(each["type"] == "Complete" for each in status.get("conditions", []))

        eventually(job, "the job is complete")
        def used_conditions():
            pods = self.admin.get("/api/v1/namespaces/team-a/pods")["items"]
            return [each["message"] for pod in pods for each in pod["status"]["conditions"]
                    if each["type"] == "sluice.dev/Used"]
        eventually(lambda: len(used_conditions()) == 2, "it is told what both have used")
        said = used_conditions()
        used = sum(float(text.split("cpu ")[1].split("s,")[0]) for text in said)
        self.admin.send("DELETE", "/apis/batch/v1/namespaces/team-a/jobs/burn?"
                        "propagationPolicy=Background")
        eventually(lambda: not self.admin.get("/api/v1/namespaces/team-a/pods")["items"],
                   "its pods are gone")
        for _ in range(2):
            run = self.admin.get(f"{RUNS}/namespaces/team-a/runs")["items"]
            self.assertEqual([(each["job"], each["user"], each["outcome"]) for each in run],
                             [("burn", "ann", "Finished")])
            self.assertEqual(run[0]["used"]["pods"], 2)
            self.assertAlmostEqual(run[0]["used"]["cpuSeconds"], used, delta=1e-5)
            self.assertGreater(run[0]["used"]["memoryPeakBytes"], 1 << 20)
            self.host.stop(signal.SIGKILL)
            self.host.start()
        self.assertIn("Job/burn", self.sluice("history", "--runs").stdout)


class Roles(HistoryTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls()
        for user, ns in (("ann", "team-a"), ("bob", "team-b")):
            self.create(user, ns, workload(f"secret-of-{user}", 1))
            self.until(ns, f"secret-of-{user}", "Admitted")
            self.finish(ns, f"secret-of-{user}")
            self.delete(ns, f"secret-of-{user}")

    def runTest(self):
        """So that an instance can be made to use its helpers."""

    def test_a_tenant_sees_his_namespaces_and_no_name_of_others(self):
        for user, own, other, stranger in (("ann", "team-a", "team-b", "bob"),
                                           ("bob", "team-b", "team-a", "ann"),
                                           ("bea", "team-b", "team-a", "ann")):
            rest = self.rest(user)
            for query in ("", "?groupBy=user,namespace,queue", "?groupBy=flavor,day"):
                code, answer = rest.send("GET", f"{RUNS}/namespaces/{own}/runs{query}")
                self.assertEqual(code, 200, answer)
                text = json.dumps(answer)
                self.assertNotIn(stranger, text)
                self.assertNotIn(other, text)
            self.assertEqual(rest.send("GET", f"{RUNS}/namespaces/{own}/runs?groupBy=")[1]
                             ["total"]["started"], 1)
            for path in (f"{RUNS}/namespaces/{other}/runs", f"{RUNS}/runs",
                         f"{RUNS}/runs?groupBy=", f"{RUNS}/runs?namespace={own}",
                         f"{RUNS}/namespaces/{other}/runs?groupBy=user"):
                code, answer = rest.send("GET", path)
                self.assertEqual(code, 403, answer)
                self.assertNotIn(f"secret-of-{stranger}", json.dumps(answer))
            # A filter is no way around: what it names in others' namespaces is not there.
            code, answer = rest.send(
                "GET", f"{RUNS}/namespaces/{own}/runs?user={stranger}&groupBy=")
            self.assertEqual((code, answer["total"]["started"]), (200, 0))

    def test_the_curves_of_a_shared_queue_are_those_of_his_namespace(self):
        # As the web page asks for them.
        since = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=59)).strftime(
            "%Y-%m-%dT%H:%M:00Z")
        for by, among in (("minute", 1), ("flavor,minute", 2)):
            curve = f"runs?groupBy={by}&from={since}&clusterQueue=cq"
            code, all_of_it = self.rest("olga").send("GET", f"{RUNS}/{curve}")
            self.assertEqual((code, all_of_it["total"]["started"]), (200, 2))
            for user, own, other in (("ann", "team-a", "team-b"), ("bea", "team-b", "team-a")):
                code, answer = self.rest(user).send("GET", f"{RUNS}/namespaces/{own}/{curve}")
                self.assertEqual((code, answer["total"]["started"]), (200, 1), answer)
                self.assertEqual(sum(each["started"] for each in answer["groups"]), 1)
                self.assertEqual({len(each["group"]) for each in answer["groups"]}, {among})
                for path in (curve, f"namespaces/{other}/{curve}"):
                    code, answer = self.rest(user).send("GET", f"{RUNS}/{path}")
                    self.assertEqual(code, 403, answer)
                    self.assertNotIn("total", answer)
        self.assertEqual(self.rest("eve").send("GET", f"{RUNS}/{curve}")[0], 403)

    def test_who_may_do_nothing_sees_nothing(self):
        for path in (f"{RUNS}/runs", f"{RUNS}/namespaces/team-a/runs"):
            self.assertEqual(self.rest("eve").send("GET", path)[0], 403)
        stranger = self.rest("eve")
        stranger.token = "nobody-knows-this-token"
        self.assertEqual(stranger.send("GET", f"{RUNS}/runs")[0], 401)

    def test_an_operator_sees_all(self):
        code, answer = self.rest("olga").send("GET", f"{RUNS}/runs?groupBy=user")
        self.assertEqual(code, 200, answer)
        self.assertEqual([each["group"]["user"] for each in answer["groups"]], ["ann", "bob"])

    def test_the_command_asks_for_what_one_may_see(self):
        done = self.sluice("history", "--by", "user", user="ann", ns="team-a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("only of namespace team-a", done.stderr)
        self.assertIn("ann", done.stdout)
        self.assertNotIn("bob", done.stdout)
        done = self.sluice("history", "-n", "team-b", user="ann")
        self.assertEqual(done.returncode, 1)
        self.assertIn('cannot list resource "runs"', done.stderr)

    def test_nothing_but_lists_is_served(self):
        for verb, path, code in (("POST", f"{RUNS}/namespaces/team-a/runs", 405),
                                 ("DELETE", f"{RUNS}/runs", 405),
                                 ("GET", f"{RUNS}/runs?watch=true", 405),
                                 ("GET", f"{RUNS}/runs/x", 404),
                                 ("GET", f"{RUNS}/runs?groupBy=nonsense", 400),
                                 ("GET", f"{RUNS}/runs?groupBy=minute", 400),
                                 ("GET", f"{RUNS}/runs?from=x", 400)):
            body = {} if verb == "POST" else None
            self.assertEqual(self.admin.send(verb, path, body)[0], code, (verb, path))


class Quotas(HistoryTest):
    """What quotas were: kept as they change, over kill -9, seen by who may read the queue."""

    def set_quota(self, cpu):
        code, answer = self.admin.send("PATCH", f"{KUEUE}/clusterqueues/cq", [
            {"op": "replace", "path":
             "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": cpu}],
            content="application/json-patch+json")
        self.assertEqual(code, 200, answer)

    def told(self):
        """Nominal cpu of cq, one after the other; each ends where the next begins."""
        items = self.admin.get(f"{RUNS}/quotas?clusterQueue=cq")["items"]
        self.assertEqual([each.get("to") for each in items],
                         [each["from"] for each in items[1:]] + [None])
        return [each["quotas"][0]["nominal"] for each in items]

    def test_changes_are_kept_with_their_times(self):
        before = seconds(self.admin.get(f"{KUEUE}/clusterqueues/cq")
                         ["metadata"]["creationTimestamp"])
        first = self.admin.get(f"{RUNS}/quotas?clusterQueue=cq")["items"][0]
        self.assertGreaterEqual(seconds(first["from"]), before)
        self.assertLess(seconds(first["from"]), before + 1)
        self.assertEqual(first["quotas"][1],
                         {"flavor": "spot", "resource": "nvidia.com/gpu", "nominal": 2})
        self.set_quota("8")
        self.set_quota("2500m")
        self.assertEqual(self.told(), [4, 8, 2.5])
        moment = self.admin.get(f"{RUNS}/quotas?clusterQueue=cq")["items"][1]["from"]
        cut = self.admin.get(f"{RUNS}/quotas?clusterQueue=cq&to={moment}")["items"]
        self.assertEqual([each["quotas"][0]["nominal"] for each in cut], [4])
        self.host.stop(signal.SIGKILL)
        self.host.start()
        self.assertEqual(self.told(), [4, 8, 2.5])
        table = self.sluice("history", "--quotas").stdout
        self.assertRegex(table, r"CLUSTERQUEUE +FROM +TO +FLAVOR +RESOURCE +NOMINAL")
        self.assertRegex(table, r"cq .* now +spot +cpu +2\.5")
        rows = list(csv.DictReader(io.StringIO(
            self.sluice("history", "--quotas", "-o", "csv").stdout)))
        self.assertEqual([row["nominal"] for row in rows if row["resource"] == "cpu"],
                         ["4", "8", "2.5"])
        wrong = self.sluice("history", "--quotas", "-n", "team-a")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("ClusterQueues belong to no namespace", wrong.stderr)

    def test_those_of_cohorts_are_kept_too(self):
        cohort = {"metadata": {"name": "lab"}, "spec": {"resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [{"name": "spot", "resources": [
                {"name": "cpu", "nominalQuota": 3}]}]}]}}
        self.assertEqual(self.admin.send("POST", f"{KUEUE}/cohorts", cohort)[0], 201)
        code, answer = self.admin.send("PATCH", f"{KUEUE}/cohorts/lab", [
            {"op": "replace", "path":
             "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": 5}],
            content="application/json-patch+json")
        self.assertEqual(code, 200, answer)
        eventually(lambda: len(self.admin.get(f"{RUNS}/quotas?cohort=lab")["items"]) == 2,
                   "the change is in the history")
        self.host.stop(signal.SIGKILL)
        self.host.start()
        self.assertEqual(self.admin.send("DELETE", f"{KUEUE}/cohorts/lab")[0], 200)
        eventually(lambda: "to" in self.admin.get(f"{RUNS}/quotas?cohort=lab")["items"][-1],
                   "its end is in the history")
        items = self.admin.get(f"{RUNS}/quotas?cohort=lab")["items"]
        self.assertEqual([(each["cohort"], each["quotas"][0]["nominal"]) for each in items],
                         [("lab", 3), ("lab", 5)])
        self.assertEqual(items[0]["to"], items[1]["from"])
        self.assertIn("to", items[1])
        self.assertEqual(self.admin.get(f"{RUNS}/quotas?cohort=*")["items"], items)
        self.assertNotIn("lab", str(self.admin.get(f"{RUNS}/quotas")))
        self.assertRegex(self.sluice("history", "--quotas", "--cohort", "lab").stdout,
                         r"COHORT +FROM.*\n +lab .* spot +cpu +3 ")
        wrong = self.sluice("history", "--cohort", "lab")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("--cohort: found \"lab\"; allowed with --quotas only", wrong.stderr)
        for user, path, wanted in (
                ("olga", "quotas?cohort=lab", 200), ("olga", "quotas?cohort=*", 200),
                ("ann", "quotas?cohort=lab", 403), ("eve", "quotas?cohort=*", 403),
                ("olga", "quotas?cohort=lab&clusterQueue=cq", 400)):
            self.assertEqual(self.rest(user).send("GET", f"{RUNS}/{path}")[0], wanted,
                             (user, path))

    def test_it_is_for_whom_the_queue_is(self):
        code, answer = self.admin.send("POST", f"{RBAC}/clusterroles", {
            "metadata": {"name": "read-cq"}, "rules": [{
                "apiGroups": ["kueue.x-k8s.io"], "resources": ["clusterqueues"],
                "verbs": ["get"], "resourceNames": ["cq"]}]})
        self.assertEqual(code, 201, answer)
        code, answer = self.admin.send("POST", f"{RBAC}/clusterrolebindings",
                                       binding("bob", "read-cq"))
        self.assertEqual(code, 201, answer)
        for user, path, wanted in (
                ("olga", "quotas", 200), ("olga", "quotas?clusterQueue=cq", 200),
                ("bob", "quotas?clusterQueue=cq", 200), ("bob", "quotas", 403),
                ("bob", "quotas?clusterQueue=other", 403),
                ("bob", "quotas?clusterQueue=", 403),
                ("bob", "quotas?clusterQueue=other&clusterQueue=cq", 403),
                ("ann", "quotas?clusterQueue=cq", 403), ("ann", "quotas", 403),
                ("eve", "quotas?clusterQueue=cq", 403)):
            code, answer = self.rest(user).send("GET", f"{RUNS}/{path}")
            self.assertEqual(code, wanted, (user, path, answer))
        twice = "quotas?clusterQueue=cq&clusterQueue=other"
        answer = self.rest("bob").get(f"{RUNS}/{twice}")
        self.assertEqual({each["clusterQueue"] for each in answer["items"]}, {"cq"})
        for verb, path, code in (("POST", "quotas", 405), ("GET", "quotas?watch=true", 405),
                                 ("GET", "namespaces/team-a/quotas", 404),
                                 ("GET", "quotas?from=x", 400)):
            body = {} if verb == "POST" else None
            self.assertEqual(self.admin.send(verb, f"{RUNS}/{path}", body)[0], code, path)


class Off(HistoryTest):
    EXTRA = "history: { enabled: false }\n"

    def test_a_host_without_history_says_so(self):
        for path in ("runs", "quotas"):
            self.assertEqual(self.admin.send("GET", f"{RUNS}/{path}")[0], 404)
        self.assertFalse(os.path.exists(os.path.join(self.host.store, "history.db")))


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--sluice", required=True)
    OPTIONS, REST = PARSER.parse_known_args()
    SLUICE = os.path.abspath(OPTIONS.sluice)
    unittest.main(argv=[sys.argv[0], *REST])

#!/usr/bin/env python3
"""What each role sees of a live host through what the web page asks, what if, the history and the
metrics: a table of questions and of who is answered, and not a word about others in any answer.

    roles_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import json
import os
import sys
import unittest

from host import Host, eventually
from rest import Rest

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
OWN = "/apis/sluice.dev/v1alpha1"
RBAC = "rbac.authorization.k8s.io"
VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"
METRICS = "/apis/metrics.k8s.io/v1beta1"
WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MAY_I = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
HIDDEN = "hidden"  # is in each name of the other team, and nowhere else
ROLES = ("operator", "lead", "user", "viewer", "nobody")
TENANTS = ("lead", "user", "viewer")
TOKENS = {name: f"{name}-0123456789abcdef" for name in (*ROLES, "hidden-user")}
MACHINE = """
executor:
  type: local
  nodes: [{ name: here, capacity: { cpu: 16 } }]
"""


def binding(user, role):
    return {"metadata": {"name": user},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}]}


def queue(name, cpu):
    return {"metadata": {"name": name}, "spec": {
        "cohortName": "all", "namespaceSelector": {},
        "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{
            "name": "spot", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]}]}}


def job(name, cpu):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {
        "name": name, "labels": {"kueue.x-k8s.io/queue-name": "main"}}, "spec": {"template": {
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [{
                "name": "c", "image": "none", "command": ["sh", "-c", f"echo {name}; sleep 600"],
                "resources": {"requests": {"cpu": str(cpu)}}}]}}}}


def bindings():
    cluster = f"/apis/{RBAC}/v1/clusterrolebindings"
    yield cluster, binding("operator", "kueue-batch-admin-role")
    for user, role, ns in (("lead", "admin", "team-a"), ("user", "kueue-batch-user-role", "team-a"),
                           ("viewer", "view", "team-a"), ("hidden-user", "edit", "hidden-ns")):
        yield f"/apis/{RBAC}/v1/namespaces/{ns}/rolebindings", binding(user, role)


OBJECTS = [
    (f"{KUEUE}/resourceflavors", {"metadata": {"name": "spot"}}),
    (f"{KUEUE}/clusterqueues", queue("ours", 4)), (f"{KUEUE}/clusterqueues", queue("hidden-cq", 4)),
    *[entry for ns, to in (("team-a", "ours"), ("hidden-ns", "hidden-cq")) for entry in (
        ("/api/v1/namespaces", {"metadata": {"name": ns}}),
        (f"{KUEUE}/namespaces/{ns}/localqueues",
         {"metadata": {"name": "main"}, "spec": {"clusterQueue": to}}))],
    *bindings(),
]

# Who is answered; all others are refused. {own}, {other}: workloads; {pod}, {otherpod}: pods.
A, B = "namespaces/team-a", "namespaces/hidden-ns"
QUESTIONS = [
    # the tree, the queues, their checks, flavors, machines
    (("operator",), f"{KUEUE}/clusterqueues"), (("operator",), f"{KUEUE}/clusterqueues/hidden-cq"),
    (("operator",), f"{KUEUE}/clusterqueues/ours"), (("operator",), f"{KUEUE}/cohorts"),
    (("operator",), f"{KUEUE}/resourceflavors"), (("operator",), f"{KUEUE}/admissionchecks"),
    (("operator",), f"{KUEUE}/localqueues"), (("operator", *TENANTS), f"{KUEUE}/{A}/localqueues"),
    (("operator",), f"{KUEUE}/{B}/localqueues"),
    ((), "/api/v1/nodes"), ((), "/api/v1/namespaces"), ((), "/metrics"),
    # workloads, in whole and in part
    (("operator",), f"{KUEUE}/workloads"),
    (("operator",), f"{KUEUE}/workloads?fieldSelector=status.admission.clusterQueue%3Dhidden-cq"),
    (("operator", *TENANTS), f"{KUEUE}/{A}/workloads"), (("operator",), f"{KUEUE}/{B}/workloads"),
    (("operator", *TENANTS), f"{KUEUE}/{A}/workloads/{{own}}"),
    (("operator",), f"{KUEUE}/{B}/workloads/{{other}}"),
    # who waits, and why
    (("operator",), f"{VISIBILITY}/clusterqueues/ours/pendingworkloads"),
    (("operator",), f"{VISIBILITY}/clusterqueues/hidden-cq/pendingworkloads"),
    (("operator", *TENANTS), f"{VISIBILITY}/{A}/localqueues/main/pendingworkloads"),
    (("operator",), f"{VISIBILITY}/{B}/localqueues/main/pendingworkloads"),
    (("operator", *TENANTS), f"{OWN}/{A}/workloads/{{own}}/explain"),
    (("operator",), f"{OWN}/{B}/workloads/{{other}}/explain"),
    # pods, logs, events, what is used
    (("operator", *TENANTS), f"/api/v1/{A}/pods"), (("operator",), f"/api/v1/{B}/pods"),
    (("operator", *TENANTS), f"/api/v1/{A}/pods/{{pod}}/log"),
    (("operator",), f"/api/v1/{B}/pods/{{otherpod}}/log"), ((), "/api/v1/events"),
    (("lead", "viewer"), f"/api/v1/{A}/events"), ((), f"/api/v1/{B}/events"),
    (("operator", *TENANTS), f"{METRICS}/{A}/pods"), (("operator",), f"{METRICS}/{B}/pods"),
    (("operator",), f"{METRICS}/pods"), (("operator",), f"{METRICS}/nodes"),
    # the past
    (("operator",), f"{OWN}/runs"), (("operator",), f"{OWN}/runs?groupBy=clusterQueue"),
    (("operator",), f"{OWN}/runs?namespace=team-a"),
    (("operator", *TENANTS), f"{OWN}/{A}/runs"),
    (("operator", *TENANTS), f"{OWN}/{A}/runs?groupBy=user,clusterQueue"),
    (("operator", *TENANTS), f"{OWN}/{A}/runs?clusterQueue=hidden-cq&groupBy="),
    (("operator",), f"{OWN}/{B}/runs"), (("operator",), f"{OWN}/{B}/runs?groupBy=user"),
    (("operator",), f"{OWN}/quotas"), (("operator",), f"{OWN}/quotas?clusterQueue=ours"),
    (("operator",), f"{OWN}/quotas?clusterQueue=hidden-cq"),
]


class Roles(unittest.TestCase):
    sluice = ""

    @classmethod
    def setUpClass(cls):
        cls.host = Host(cls.sluice, extra=MACHINE, tokens=TOKENS)
        cls.addClassCleanup(cls.host.__exit__)
        cls.host.start()
        cls.admin = Rest(cls.host.kubeconfig)
        for path, body in OBJECTS:
            cls.post(cls.admin, path, body)
        # The other team borrows what is ours, so that we wait, and could take it back.
        cls.post(cls.rest("hidden-user"), f"/apis/batch/v1/{B}/jobs", job("hidden-job", 7))
        cls.names = {"otherpod": cls.pod_of("hidden-ns")}
        cls.post(cls.rest("user"), f"/apis/batch/v1/{A}/jobs", job("runs", 1))
        cls.names["pod"] = cls.pod_of("team-a")
        cls.post(cls.admin, f"/apis/batch/v1/{A}/jobs", job("waits", 30))
        cls.names["own"] = cls.workload_of("team-a", "waits")
        cls.names["other"] = cls.workload_of("hidden-ns", "hidden-job")
        eventually(lambda: cls.admin.get(f"{VISIBILITY}/{A}/localqueues/main/pendingworkloads")
                   ["items"], "a job of ours waits")

    @staticmethod
    def post(rest, path, body):
        code, answer = rest.send("POST", path, body)
        if code != 201:
            raise AssertionError((path, code, answer))

    @classmethod
    def rest(cls, role):
        out = Rest(cls.host.kubeconfig)
        out.token = TOKENS.get(role, "a-token-that-nobody-knows")
        return out

    @classmethod
    def pod_of(cls, ns):
        def running():
            pods = cls.admin.get(f"/api/v1/namespaces/{ns}/pods")["items"]
            return [pod["metadata"]["name"] for pod in pods
                    if pod["status"].get("phase") == "Running"]
        return eventually(running, f"a pod of {ns} runs")[0]

    @classmethod
    def workload_of(cls, ns, owner):
        def found():
            return [each["metadata"]["name"] for each in
                    cls.admin.get(f"{KUEUE}/namespaces/{ns}/workloads")["items"]
                    if each["metadata"]["ownerReferences"][0]["name"] == owner]
        return eventually(found, f"{owner} has a workload")[0]

    def test_who_is_answered(self):
        wrong = []
        for allowed, template in QUESTIONS:
            path = template.format(**self.names)
            for role in (*ROLES, "stranger"):
                code, answer = self.rest(role).send("GET", path)
                wanted = 200 if role in allowed else 401 if role == "stranger" else 403
                if code != wanted:
                    wrong.append((role, path, code, "wanted", wanted))
                # A refusal may repeat what was asked for, and nothing else.
                said = json.dumps(answer)
                for asked in (path, self.names["other"], self.names["otherpod"], "hidden-ns",
                              "hidden-cq"):
                    if code != 200 and asked in path:
                        said = said.replace(asked, "")
                if role != "operator" and HIDDEN in said:
                    wrong.append((role, path, "names others", said))
        self.assertEqual(wrong, [])

    def test_a_watch_needs_what_a_list_needs(self):
        wrong = []
        for allowed, template in QUESTIONS:
            if "/v1beta2/" not in template or "{" in template or "hidden-cq" in template:
                continue
            if not template.startswith(KUEUE) or template.endswith("/ours"):
                continue
            path = template + "?watch=true&timeoutSeconds=1&resourceVersion=0"
            for role in ROLES:
                if role in allowed:
                    continue
                code, answer = self.rest(role).send("GET", path)
                if code != 403:
                    wrong.append((role, path, code, answer))
        self.assertEqual(wrong, [])

    def ask(self, role, ns, *objects, **more):
        return self.rest(role).send("POST", f"{OWN}/whatifs", {
            "apiVersion": "sluice.dev/v1alpha1", "kind": "WhatIf",
            "spec": {"namespace": ns, "objects": list(objects)} | more})

    def test_what_if_names_no_victims_of_others(self):
        # Ours again: the other team's job would be evicted, and only the operator hears which.
        for role in ("operator", "lead", "user"):
            code, answer = self.ask(role, "team-a", job("wanted", 3))
            self.assertEqual(code, 201, (role, answer))
            first = answer["status"]["workloads"][0]
            self.assertEqual(first["decision"], "Starts", (role, answer))
            changes = answer["status"]["changes"]
            if role == "operator":
                self.assertEqual([each["job"] for each in changes["evicted"]],
                                 ["Job hidden-job"])
                continue
            self.assertNotIn(HIDDEN, json.dumps(answer), role)
            self.assertEqual(changes["otherNamespaces"], {"evicted": 1}, role)
        # What waits hears who holds what it lacks, by count.
        code, answer = self.ask("user", "team-a", job("wanted", 6))
        self.assertEqual(code, 201, answer)
        self.assertNotIn(HIDDEN, json.dumps(answer))

    def test_what_if_needs_the_right_to_write(self):
        quota = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
                 **queue("hidden-cq", 1)}
        local = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
                 "metadata": {"name": "more"}, "spec": {"clusterQueue": "hidden-cq"}}
        gone = [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hidden-job"}}]
        for ns, objects, more, allowed in (
                ("team-a", [job("wanted", 1)], {}, ("operator", "lead", "user")),
                ("hidden-ns", [job("wanted", 1)], {}, ("operator",)),
                ("hidden-ns", [], {"delete": gone}, ("operator",)),
                ("team-a", [quota], {}, ("operator",)),
                ("team-a", [local], {}, ("operator", "lead"))):
            for role in ROLES:
                code, answer = self.ask(role, ns, *objects, **more)
                self.assertEqual(code, 201 if role in allowed else 403,
                                 (role, ns, objects, more, answer))

    def test_who_may_not_make_pods_leaves_none_behind(self):
        jobs = f"/apis/batch/v1/{A}/jobs"
        orphan = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Orphan"}
        self.post(self.rest("user"), jobs, job("left", 30))
        code, answer = self.rest("user").send("DELETE", f"{jobs}/left", orphan)
        self.assertEqual(code, 403, answer)
        self.assertIn("takes the right to make pods", answer["message"])
        self.assertEqual(self.rest("lead").send("DELETE", f"{jobs}/left", orphan)[0], 200)
        self.post(self.rest("user"), jobs, job("goes", 30))
        background = orphan | {"propagationPolicy": "Background"}
        self.assertEqual(self.rest("user").send("DELETE", f"{jobs}/goes", background)[0], 200)

    def test_who_one_is_and_what_one_may_anybody_may_ask(self):
        for role in ROLES:
            for path, body in (
                    (WHO_AM_I, {"apiVersion": "authentication.k8s.io/v1",
                                "kind": "SelfSubjectReview"}),
                    (MAY_I, {"apiVersion": "authorization.k8s.io/v1",
                             "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {
                                 "verb": "list", "resource": "namespaces"}}})):
                code, answer = self.rest(role).send("POST", path, body)
                self.assertEqual(code, 201, (role, answer))
                self.assertNotIn(HIDDEN, json.dumps(answer))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Roles.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

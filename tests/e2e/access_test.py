#!/usr/bin/env python3
"""Who may do what on a live host: users × verbs × resources × namespaces as a table, and everything
by which somebody could get more than he was given.

    access_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import hashlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import unittest

from host import Host, eventually
from wire import Wire, context

RBAC = "/apis/rbac.authorization.k8s.io/v1"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"
DRY = "?dryRun=All"

# The users, by token. The second of them is in a group that the token file names, the third one's
# token is there as a digest only.
USERS = {
    "ann": ("ann", ""),            # edit in team-a
    "bob": ("bob", '"team-b"'),    # edit in team-b, by his group
    "vic": ("vic", ""),            # view in team-a
    "adm": ("adm", ""),            # admin in team-a
    "usr": ("usr", ""),            # Kueue's user role in team-a
    "ops": ("ops", ""),            # Kueue's administrator role everywhere
    "rea": ("rea", ""),            # view everywhere
    "sta": ("sta", ""),            # the status of workloads in team-a
    "log": ("log", ""),            # logs in team-a
    "nam": ("nam", ""),            # the ConfigMap `one` of team-a
    "pat": ("pat", ""),            # patches ConfigMaps in team-a
    "imp": ("imp", ""),            # may act as ann and as the group team-b
    "non": ("non", ""),            # nothing
}
ADMIN = "admin"
EVERYONE = {ADMIN, *USERS}


def token(user):
    return f"the-token-of-{user}"


def role(ns, name, rules):
    kind = "Role" if ns else "ClusterRole"
    metadata = {"name": name} | ({"namespace": ns} if ns else {})
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata,
            "rules": [{"apiGroups": groups, "resources": resources, "verbs": verbs}
                      | ({"resourceNames": names} if names else {})
                      for groups, resources, verbs, names in rules]}


def binding(ns, name, to, subject, kind="User", role_kind="ClusterRole"):
    metadata = {"name": name} | ({"namespace": ns} if ns else {})
    group = {"apiGroup": "rbac.authorization.k8s.io"}
    return {"apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding" if ns else "ClusterRoleBinding", "metadata": metadata,
            "roleRef": group | {"kind": role_kind, "name": to},
            "subjects": [group | {"kind": kind, "name": subject}]}


def rbac_path(entry):
    plural = entry["kind"].lower() + "s"
    ns = entry["metadata"].get("namespace")
    return f"{RBAC}/namespaces/{ns}/{plural}" if ns else f"{RBAC}/{plural}"


SETUP = [
    binding("team-a", "ann", "edit", "ann"),
    binding("team-b", "b", "edit", "team-b", "Group"),
    binding("team-a", "vic", "view", "vic"),
    binding("team-a", "adm", "admin", "adm"),
    binding("team-a", "usr", "kueue-batch-user-role", "usr"),
    binding("", "ops", "kueue-batch-admin-role", "ops"),
    binding("", "rea", "view", "rea"),
    role("team-a", "sta", [(["kueue.x-k8s.io"], ["workloads/status"], ["get", "patch", "update"],
                            [])]),
    binding("team-a", "sta", "sta", "sta", role_kind="Role"),
    role("team-a", "log", [([""], ["pods/log"], ["get"], [])]),
    binding("team-a", "log", "log", "log", role_kind="Role"),
    role("team-a", "nam", [([""], ["configmaps"], ["get", "delete", "patch", "update"], ["one"])]),
    binding("team-a", "nam", "nam", "nam", role_kind="Role"),
    role("team-a", "pat", [([""], ["configmaps"], ["patch"], [])]),
    binding("team-a", "pat", "pat", "pat", role_kind="Role"),
    role("", "imp", [([""], ["users"], ["impersonate"], ["ann"]),
                     ([""], ["groups"], ["impersonate"], ["team-b"])]),
    binding("", "imp", "imp", "imp"),
]


def config_map(name, **more):
    return {"metadata": {"name": name}, "data": {"key": "v"}} | more


WORKLOAD = {"metadata": {"name": "wl"}, "spec": {"queueName": "none", "podSets": [
    {"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "any", "resources": {"requests": {"cpu": "1"}}}]}}}]}}
POD = {"metadata": {"name": "p"}, "spec": {
    "nodeName": "elsewhere", "containers": [{"name": "c", "image": "any"}]}}
JOB = {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": WORKLOAD["spec"]["podSets"]
                                           [0]["template"]}}
MERGE = "application/merge-patch+json"


class Access(unittest.TestCase):
    sluice = ""

    @classmethod
    def setUpClass(cls):
        cls.host = Host(cls.sluice)
        cls.addClassCleanup(cls.host.__exit__)
        tokens = os.path.join(cls.host.folder, "tokens")
        with open(tokens, "w", encoding="utf-8") as out:
            out.write("# who\n")
            for user, (name, groups) in USERS.items():
                secret = token(user)
                if user == "vic":
                    secret = "sha256:" + hashlib.sha256(secret.encode()).hexdigest()
                out.write(f"{secret},{name},uid-{name}" + (f",{groups}" if groups else "") + "\n")
        with open(cls.host.config, encoding="utf-8") as text:
            content = text.read()
        content = content.replace("server: { ", f"server: {{ tokenFile: {tokens}, ")
        with open(cls.host.config, "w", encoding="utf-8") as out:
            out.write(content)
        cls.host.write_config = lambda *_: None
        cls.host.start()
        cls.wires = {user: Wire(cls.host, token=token(user)) for user in USERS}
        cls.wires[ADMIN] = Wire(cls.host)
        for wire in cls.wires.values():
            cls.addClassCleanup(wire.connection.close)
        for ns in ("team-a", "team-b"):
            cls.make("/api/v1/namespaces", {"metadata": {"name": ns}})
            for name in ("one", "two"):
                cls.make(f"/api/v1/namespaces/{ns}/configmaps", config_map(name))
            cls.make(f"/api/v1/namespaces/{ns}/secrets", {"metadata": {"name": "s"}})
            cls.make(f"/api/v1/namespaces/{ns}/pods", POD)
            cls.make(f"{KUEUE}/namespaces/{ns}/workloads", WORKLOAD)
        for entry in SETUP:
            cls.make(rbac_path(entry), entry)

    @classmethod
    def make(cls, path, body):
        made = cls.wires[ADMIN].ask("POST", path, body)
        if made[0] != 201:
            raise AssertionError(f"{path}: {made}")

    def ask(self, user, method, path, body=None, kind="application/json", headers=None):
        return self.wires[user].ask(method, path, body, kind, headers)

    def refused(self, user, *args, **more):
        status, _, body = self.ask(user, *args, **more)
        self.assertEqual(status, 403, (user, args, body))
        self.assertEqual((body["kind"], body["reason"]), ("Status", "Forbidden"))
        return body["message"]


def rows():
    """What is asked, the status where it is allowed, and to whom it is."""
    a, b = "/api/v1/namespaces/team-a", "/api/v1/namespaces/team-b"
    wa = f"{KUEUE}/namespaces/team-a/workloads"
    edit_a, see_a = {"ann", "adm"}, {"ann", "adm", "vic", "rea"}
    yield "GET", a + "/configmaps", None, 200, see_a
    yield "GET", b + "/configmaps", None, 200, {"bob", "rea"}
    yield "GET", "/api/v1/configmaps", None, 200, {"rea"}  # not filtered: refused
    yield "WATCH", a + "/configmaps", None, 200, see_a
    yield "WATCH", b + "/configmaps", None, 200, {"bob", "rea"}
    yield "WATCH", "/api/v1/configmaps", None, 200, {"rea"}
    yield "WATCH", a + "/configmaps?fieldSelector=metadata.name%3Done", None, 200, see_a
    yield "GET", a + "/configmaps/one", None, 200, see_a | {"nam"}
    yield "GET", a + "/configmaps/two", None, 200, see_a
    yield "GET", b + "/configmaps/one", None, 200, {"bob", "rea"}
    yield "POST", a + "/configmaps" + DRY, config_map("new"), 201, edit_a
    yield "POST", b + "/configmaps" + DRY, config_map("new"), 201, {"bob"}
    yield "PUT", a + "/configmaps/one" + DRY, config_map("one"), 200, edit_a | {"nam"}
    yield "PATCH", a + "/configmaps/one" + DRY, {}, 200, edit_a | {"nam", "pat"}
    yield "PATCH", a + "/configmaps/two" + DRY, {}, 200, edit_a | {"pat"}
    yield "DELETE", a + "/configmaps/one" + DRY, None, 200, edit_a | {"nam"}
    yield "DELETE", a + "/configmaps/two" + DRY, None, 200, edit_a
    yield "DELETE", a + "/configmaps" + DRY, None, 200, edit_a
    yield "DELETE", b + "/configmaps" + DRY, None, 200, {"bob"}
    yield "GET", a + "/secrets/s", None, 200, edit_a  # seeing is not enough
    yield "GET", a + "/secrets", None, 200, edit_a
    yield "GET", "/api/v1/secrets", None, 200, set()
    yield "GET", a + "/pods", None, 200, see_a | {"usr", "ops"}
    yield "GET", a + "/pods/p/log", None, (200, 400, 404), see_a | {"log", "usr", "ops"}
    yield "GET", b + "/pods/p/log", None, (200, 400, 404), {"bob", "rea", "ops"}
    yield "PATCH", a + "/pods/p/status" + DRY, {}, 200, set()
    yield "GET", a + "/events", None, 200, see_a
    yield "GET", "/api/v1/events", None, 200, {"rea"}
    yield "POST", "/apis/batch/v1/namespaces/team-a/jobs" + DRY, JOB, 201, edit_a | {"usr", "ops"}
    yield "POST", "/apis/batch/v1/namespaces/team-b/jobs" + DRY, JOB, 201, {"bob", "ops"}
    yield "GET", wa, None, 200, see_a | {"usr", "ops"}
    yield "GET", KUEUE + "/workloads", None, 200, {"rea", "ops"}
    yield "WATCH", KUEUE + "/workloads", None, 200, {"rea", "ops"}
    yield "PATCH", wa + "/wl" + DRY, {}, 200, edit_a | {"ops"}
    yield "GET", wa + "/wl/status", None, 200, see_a | {"usr", "ops", "sta"}
    yield "PATCH", wa + "/wl/status" + DRY, {"status": {}}, 200, {"sta"}
    yield "PUT", wa + "/wl/status" + DRY, None, (400, 409, 422), {"sta"}
    yield "GET", f"{VISIBILITY}/namespaces/team-a/localqueues/q/pendingworkloads", None, \
        (200, 404), see_a | {"usr", "ops"}
    yield "GET", f"{VISIBILITY}/namespaces/team-b/localqueues/q/pendingworkloads", None, \
        (200, 404), {"bob", "rea", "ops"}
    yield "GET", f"{VISIBILITY}/clusterqueues/q/pendingworkloads", None, (200, 404), {"ops"}
    yield "GET", "/apis/sluice.dev/v1/namespaces/team-a/workloads/wl/explain", None, (200, 404), \
        see_a | {"usr", "ops"}
    yield "GET", KUEUE + "/clusterqueues", None, 200, {"ops"}
    yield "POST", KUEUE + "/resourceflavors" + DRY, {"metadata": {"name": "f"}}, 201, {"ops"}
    yield "GET", "/api/v1/namespaces", None, 200, {"rea"}
    yield "GET", "/api/v1/namespaces/team-a", None, 200, see_a
    yield "POST", "/api/v1/namespaces" + DRY, {"metadata": {"name": "mine"}}, 201, set()
    yield "DELETE", "/api/v1/namespaces/team-a" + DRY, None, 200, set()
    yield "GET", "/api/v1/nodes", None, 200, set()
    yield "GET", f"{RBAC}/namespaces/team-a/roles", None, 200, {"adm"}
    yield "GET", f"{RBAC}/namespaces/team-b/roles", None, 200, set()
    yield "GET", f"{RBAC}/clusterroles", None, 200, set()
    yield "POST", f"{RBAC}/clusterroles" + DRY, role("", "x", []), 201, set()
    for path in ("/api", "/apis", "/api/v1", "/apis/kueue.x-k8s.io/v1beta2"):
        yield "GET", path, None, 200, EVERYONE
    for path in ("/version", "/healthz", "/livez", "/readyz"):
        yield "GET", path, None, 200, EVERYONE
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    yield "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, 201, EVERYONE
    rules = {"spec": {"namespace": "team-a"}}
    yield "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", rules, 201, EVERYONE
    yield "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, 201, EVERYONE
    of_others = {"spec": {"user": "ann", "resourceAttributes": {
        "verb": "get", "resource": "pods", "namespace": "team-a"}}}
    yield "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", of_others, 201, set()
    yield "POST", ("/apis/authorization.k8s.io/v1/namespaces/team-a/localsubjectaccessreviews"), \
        of_others, 201, {"adm"}
    yield "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "x"}}, 201, \
        set()


class Matrix(Access):
    def asked(self, user, method, path, body):
        if method == "WATCH":
            # Only whether it begins; a connection of its own, which is given up at once.
            secret = None if user == ADMIN else token(user)
            with Wire(self.host, token=secret) as wire:
                mark = "&" if "?" in path else "?"
                return wire.send("GET", path + mark + "watch=true").status
        kind = MERGE if method == "PATCH" else "application/json"
        return self.ask(user, method, path, body, kind)[0]

    def test_users_verbs_resources_namespaces(self):
        wrong, asked = [], 0
        for method, path, body, code, allowed in rows():
            codes = code if isinstance(code, tuple) else (code,)
            for user in sorted(EVERYONE):
                may = user in allowed | {ADMIN}
                status = self.asked(user, method, path, body)
                asked += 1
                if status not in (codes if may else (403,)):
                    wrong.append(f"{user} {method} {path}: {status}, expected "
                                 f"{codes if may else 403}")
        self.assertEqual(wrong, [])
        self.assertGreater(asked, 700)

    def test_without_credentials(self):
        for secret in ("", "wrong", "the-token-of-an", "the-token-of-ann "[:-2], "ann"):
            with Wire(self.host, token=secret) as wire:
                for path in ("/version", "/healthz", "/livez", "/readyz"):
                    self.assertEqual(wire.ask("GET", path)[0], 200)
                for method, path in (("GET", "/api"), ("GET", "/apis"), ("GET", "/"),
                                     ("GET", "/openapi/v3"), ("GET", "/metrics"),
                                     ("GET", "/no/such/path"), ("GET", "/api/v1/namespaces"),
                                     ("DELETE", "/api/v1/namespaces/team-a")):
                    status, _, body = wire.ask(method, path)
                    self.assertEqual((status, body["reason"]), (401, "Unauthorized"), path)
        digest = "sha256:" + hashlib.sha256(token("vic").encode()).hexdigest()
        for header in ("Basic YW5uOng=", "Bearer", "Bearer ", "Negotiate abc", digest,
                       "Bearer " + digest, f"Bearer {token('ann')} x", token("ann")):
            with Wire(self.host, token="") as wire:
                status = wire.ask("GET", "/api", headers={"Authorization": header})[0]
                self.assertEqual(status, 401, header)


class Gaining(Access):
    """Nobody gets more than he was given."""

    def test_roles_and_bindings(self):
        in_a = f"{RBAC}/namespaces/team-a"
        more = (["kueue.x-k8s.io"], ["workloads/status"], ["patch"], [])
        allowed = (
            (in_a + "/roles", role("team-a", "less", [([""], ["secrets"], ["get"], [])])),
            (in_a + "/rolebindings", binding("team-a", "friend", "edit", "friend")),
            (in_a + "/rolebindings", binding("team-a", "less", "less", "friend",
                                             role_kind="Role")),
        )
        for path, body in allowed:
            status, _, answer = self.ask("adm", "POST", path, body)
            self.assertEqual(status, 201, answer)
        refused = (
            ("POST", in_a + "/roles", role("team-a", "more", [more])),
            ("POST", in_a + "/roles", role("team-a", "all", [(["*"], ["*"], ["*"], [])])),
            ("POST", in_a + "/rolebindings", binding("team-a", "me", "cluster-admin", "adm")),
            ("POST", in_a + "/rolebindings", binding("team-a", "me", "sta", "adm",
                                                     role_kind="Role")),
            ("POST", f"{RBAC}/namespaces/team-b/rolebindings",
             binding("team-b", "me", "view", "adm")),
            ("POST", f"{RBAC}/clusterrolebindings", binding("", "me", "view", "adm")),
            ("PUT", in_a + "/roles/less", role("team-a", "less", [more])),
            ("PATCH", in_a + "/roles/less", {"rules": role("team-a", "less", [more])["rules"]}),
            ("PATCH", in_a + "/roles/less",
             role("team-a", "less", [(["*"], ["*"], ["*"], [])])),
        )
        for method, path, body in refused:
            message = self.refused("adm", method, path, body,
                                   kind=MERGE if method == "PATCH" else "application/json")
            self.assertIn("forbidden", message)
        apply = "application/apply-patch+yaml"
        for name in ("less", "new"):
            self.refused("adm", "PATCH", f"{in_a}/roles/{name}?fieldManager=m&force=true",
                         role("team-a", name, [more]), kind=apply)
        # Whom the administrator binds somebody to does not follow the roles of others.
        self.refused("friend" if "friend" in USERS else "non", "GET",
                     "/api/v1/namespaces/team-a/secrets/s")

    def test_applying_what_is_not_there_is_creating(self):
        path = "/api/v1/namespaces/team-a/configmaps/"
        apply = {"kind": "application/apply-patch+yaml"}
        query = "?fieldManager=m&force=true"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}
        self.assertEqual(self.ask("pat", "PATCH", path + "one" + query, body, **apply)[0], 200)
        message = self.refused("pat", "PATCH", path + "fresh" + query, body, **apply)
        self.assertIn("may not create", message)
        self.assertEqual(self.ask(ADMIN, "GET", path + "fresh")[0], 404)
        self.assertEqual(self.ask("ann", "PATCH", path + "fresh" + query, body, **apply)[0], 201)

    def test_no_annotation_is_a_status(self):
        """Not in the version in which it stands for fields that the version does not have."""
        admitted = {"admission": {"clusterQueue": "q", "podSetAssignments": [
            {"name": "main", "count": 1, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "1"}}]},
            "conditions": [{"type": kind, "status": "True", "reason": "Granted", "message": "by me",
                            "lastTransitionTime": "2020-01-01T00:00:00Z"}
                           for kind in ("QuotaReserved", "Admitted")]}
        for number, fields in enumerate((
                {"status": admitted}, {f"status.{key}": value for key, value in admitted.items()},
                {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap",
                                               "name": "one", "uid": "u"}]})):
            name = f"granted-{number}"
            for verb, path in (("POST", ""), ("PATCH", f"/granted-{number}")):
                body = WORKLOAD | {"metadata": {"name": name, "annotations": {
                    "sluice.dev/v1beta2-fields": json.dumps(fields)}}}
                code, _, answer = self.ask(
                    "ann", verb, KUEUE.replace("v1beta2", "v1beta1") +
                    "/namespaces/team-a/workloads" + path, body,
                    "application/json" if verb == "POST" else "application/merge-patch+json")
                self.assertIn(code, (200, 201), answer)
                stored = self.ask(ADMIN, "GET", f"{KUEUE}/namespaces/team-a/workloads/{name}")[2]
                self.assertNotIn("Granted", json.dumps(stored.get("status", {})))
                self.assertNotIn("admission", stored.get("status", {}))
                self.assertNotIn("ownerReferences", stored["metadata"])

    def test_a_priority_is_that_of_a_class(self):
        path = f"{KUEUE}/namespaces/team-a/workloads"
        spec = WORKLOAD["spec"]
        self.assertIn("prioritize", self.refused("ann", "POST", path, WORKLOAD | {
            "metadata": {"name": "first-of-all"}, "spec": spec | {"priority": 2147483647}}))
        plain = WORKLOAD | {"metadata": {"name": "as-any"}}
        self.assertEqual(self.ask("ann", "POST", path, plain)[0], 201)
        raised = plain | {"spec": spec | {"priority": 1}}
        self.refused("ann", "PATCH", path + "/as-any", raised, kind=MERGE)
        self.refused("ann", "PATCH", path + "/as-any?fieldManager=m&force=true", raised,
                     kind="application/apply-patch+yaml")
        self.assertEqual(self.ask(ADMIN, "PATCH", path + "/as-any", {"spec": {"priority": 1}},
                                  MERGE)[0], 200)
        # What it has it keeps, whoever writes something else of it.
        self.assertEqual(self.ask("ann", "PATCH", path + "/as-any",
                                  {"metadata": {"labels": {"a": "b"}}}, MERGE)[0], 200)

    def whoami(self, user, headers):
        status, _, body = self.ask(user, "POST", "/apis/authentication.k8s.io/v1/"
                                   "selfsubjectreviews", {}, headers=headers)
        return status, body.get("status", {}).get("userInfo", {}) if status == 201 else body

    def test_acting_as_others(self):
        ann = {"Impersonate-User": "ann"}
        status, who = self.whoami("imp", ann)
        self.assertEqual((status, who["username"], who["groups"]),
                         (201, "ann", ["system:authenticated"]))
        path = "/api/v1/namespaces/team-a/configmaps"
        self.assertEqual(self.ask("imp", "GET", path, headers=ann)[0], 200)
        self.refused("imp", "GET", path)  # by himself he may not
        in_b = "/api/v1/namespaces/team-b/configmaps"
        self.refused("imp", "GET", in_b, headers=ann)
        both = ann | {"Impersonate-Group": "team-b"}
        self.assertEqual(self.ask("imp", "GET", in_b, headers=both)[0], 200)
        for headers in ({"Impersonate-User": "bob"}, {"Impersonate-User": "sluice-admin"},
                        ann | {"Impersonate-Group": "system:masters"},
                        ann | {"Impersonate-Uid": "1"},
                        ann | {"Impersonate-Extra-scopes": "all"},
                        {"Impersonate-User": "system:serviceaccount:team-a:default"}):
            self.assertIn("impersonate", self.refused("imp", "GET", path, headers=headers))
        for user in ("ann", "adm", "ops", "non"):
            self.refused(user, "GET", "/api", headers=ann)
        self.assertEqual(self.ask("imp", "GET", path,
                                  headers={"Impersonate-Group": "team-b"})[0], 400)
        self.assertEqual(self.ask("imp", "GET", path,
                                  headers={"Impersonate-User": "a\xff"})[0], 400)
        # The administrator may; who is made up has no rights.
        self.refused(ADMIN, "GET", path, headers={"Impersonate-User": "nobody"})
        status, who = self.whoami(ADMIN, {"Impersonate-User": "nobody"})
        self.assertEqual((status, who["username"]), (201, "nobody"))

    def test_reviews_tell_the_truth(self):
        authorization = "/apis/authorization.k8s.io/v1"
        for user, verb, resource, ns, expected in (
                ("ann", "create", "configmaps", "team-a", True),
                ("ann", "create", "configmaps", "team-b", False),
                ("ann", "list", "configmaps", "", False),
                ("vic", "get", "pods", "team-a", True),
                ("vic", "delete", "pods", "team-a", False)):
            asked = {"verb": verb, "resource": resource, "namespace": ns}
            for by, path, extra in ((user, "/selfsubjectaccessreviews", {}),
                                    (ADMIN, "/subjectaccessreviews", {"user": user})):
                _, _, answer = self.ask(by, "POST", authorization + path,
                                        {"spec": extra | {"resourceAttributes": asked}})
                self.assertEqual(answer["status"]["allowed"], expected, (user, asked))
        _, _, rules = self.ask("nam", "POST", authorization + "/selfsubjectrulesreviews",
                               {"spec": {"namespace": "team-a"}})
        self.assertIn({"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["one"],
                       "verbs": ["get", "delete", "patch", "update"]},
                      rules["status"]["resourceRules"])
        _, _, review = self.ask(ADMIN, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                {"spec": {"token": token("bob")}})
        self.assertEqual(review["status"]["user"], {
            "username": "bob", "uid": "uid-bob", "groups": ["team-b", "system:authenticated"]})
        self.assertNotIn(token("bob"), json.dumps(review))
        _, _, review = self.ask(ADMIN, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                {"spec": {"token": "unknown"}})
        self.assertFalse(review["status"]["authenticated"])

    def test_kubectl_auth(self):
        if shutil.which("kubectl") is None:
            self.skipTest("there is no kubectl here (Debian: kubernetes-client)")
        listed = self.host.kubectl("auth", "can-i", "--list", "-n", "team-a", "--as", "vic")
        self.assertRegex(listed, r"configmaps +\[\] +\[\] +\[get list watch\]")
        self.assertNotIn("secrets", listed)
        as_bob = self.host.run("auth", "can-i", "list", "pods", "-A", "--as", "bob")
        self.assertEqual((as_bob.returncode, as_bob.stdout.strip()), (1, "no"))


class Certificates(Access):
    def issue(self, name, subject, days="1", own=False):
        """A client certificate of the host's authority, or of another one."""
        base = os.path.join(self.host.folder, name)
        pki = os.path.join(self.host.folder, "data", "pki")
        authority = ["-CA", pki + "/ca.crt", "-CAkey", pki + "/ca.key", "-CAcreateserial"]

        def run(*args):
            subprocess.run(["openssl", *args], check=True, capture_output=True)
        run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", subject, "-keyout", base + ".key", "-out", base + ".csr")
        run("x509", "-req", "-in", base + ".csr", "-days", days, "-out", base + ".crt",
            *(["-signkey", base + ".key"] if own else authority))
        tls = context(self.host.kubeconfig)
        tls.load_cert_chain(base + ".crt", base + ".key")
        return tls

    def setUp(self):
        if shutil.which("openssl") is None:
            self.skipTest("there is no openssl here")

    def test_name_and_organisations_are_user_and_groups(self):
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        tls = self.issue("cid", "/O=team-b/O=others/CN=cid")
        with Wire(self.host, token="", tls=tls) as wire:
            _, _, body = wire.ask("POST", path, {})
            self.assertEqual(body["status"]["userInfo"], {
                "username": "cid", "groups": ["team-b", "others", "system:authenticated"]})
            self.assertEqual(wire.ask("GET", "/api/v1/namespaces/team-b/configmaps")[0], 200)
            self.assertEqual(wire.ask("GET", "/api/v1/namespaces/team-a/configmaps")[0], 403)
        with Wire(self.host, token="", tls=self.issue("no-name", "/O=team-b")) as wire:
            self.assertEqual(wire.ask("POST", path, {})[0], 401)

    def test_those_of_others_and_old_ones_are_refused(self):
        for tls in (self.issue("self", "/O=system:masters/CN=self", own=True),
                    self.issue("old", "/O=system:masters/CN=old", days="-1")):
            try:
                with Wire(self.host, token="", tls=tls) as wire:
                    self.assertEqual(wire.ask("GET", "/api")[0], 401)
            except (ssl.SSLError, ConnectionError, http.client.HTTPException):
                pass  # or not even that


class Audit(Access):
    def lines(self, **fields):
        """Lines of the audit log with these fields, as dictionaries."""
        found = []
        for line in self.host.log().rpartition("\n")[0].splitlines():  # whole ones
            if " audit: " not in line:
                continue
            entry = {key: json.loads(value) if value.startswith('"') else value for key, value in
                     re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line)}
            entry["result"] = line.split(" audit: ")[1].split()[0]
            if all(entry.get(key) == value for key, value in fields.items()):
                found.append(entry)
        return found

    def test_a_line_per_write(self):
        maps = "/api/v1/namespaces/team-a/configmaps"
        wl = f"{KUEUE}/namespaces/team-a/workloads/wl"
        patch = {"kind": MERGE}
        secret = {"metadata": {"name": "hidden"}, "stringData": {"p": "do-not-log-me"}}
        cases = (
            # user, method, path, body, more | verb, resource, object, code, reason
            ("ann", "POST", maps, config_map("audited"), {},
             "create", "configmaps", "team-a/audited", 201, ""),
            ("ann", "POST", maps, config_map("audited"), {},
             "create", "configmaps", "team-a/", 409, "AlreadyExists"),
            ("ann", "PUT", maps + "/audited", config_map("audited", data={"a": "b"}), {},
             "update", "configmaps", "team-a/audited", 200, ""),
            ("ann", "PATCH", maps + "/audited", {"data": {"c": "d"}}, patch,
             "patch", "configmaps", "team-a/audited", 200, ""),
            ("ann", "PATCH", maps + "/audited", [], patch,
             "patch", "configmaps", "team-a/audited", 400, "BadRequest"),
            ("sta", "PATCH", wl + "/status", {"status": {}}, patch,
             "patch", "workloads.kueue.x-k8s.io/status", "team-a/wl", 200, ""),
            ("vic", "PATCH", wl + "/status", {"status": {}}, patch,
             "patch", "workloads.kueue.x-k8s.io/status", "team-a/wl", 403, "Forbidden"),
            ("vic", "DELETE", maps + "/audited", None, {},
             "delete", "configmaps", "team-a/audited", 403, "Forbidden"),
            ("bob", "DELETE", maps, None, {},
             "deletecollection", "configmaps", "team-a/", 403, "Forbidden"),
            ("ann", "DELETE", maps + "/nothing", None, {},
             "delete", "configmaps", "team-a/nothing", 404, "NotFound"),
            ("ann", "DELETE", maps + "/audited", None, {},
             "delete", "configmaps", "team-a/audited", 200, ""),
            ("ann", "POST", "/api/v1/namespaces/team-a/secrets", secret, {},
             "create", "secrets", "team-a/hidden", 201, ""),
            (ADMIN, "POST", "/api/v1/namespaces", {"metadata": {"name": "Wrong_Name"}}, {},
             "create", "namespaces", "", 422, "Invalid"),
        )
        for user, method, path, body, more, verb, resource, name, code, reason in cases:
            status, _, answer = self.ask(user, method, path, body, **more)
            self.assertEqual(status, code, answer)
            wanted = {"user": "sluice-admin" if user == ADMIN else user, "verb": verb,
                      "resource": resource, "object": name, "code": str(code), "reason": reason,
                      "result": "done" if code < 400 else "refused", "impersonatedBy": ""}
            found = eventually(lambda wanted=wanted: self.lines(**wanted), f"a line {wanted}")
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0]["peer"], r"^127\.0\.0\.1:\d+$")
        self.assertNotIn("do-not-log-me", self.host.log())
        for user in USERS:
            self.assertNotIn(token(user), self.host.log())

    def test_reading_is_not_logged_acting_as_others_is(self):
        path = "/api/v1/namespaces/team-a/configmaps"
        self.ask("ann", "POST", path + DRY, config_map("before"))
        eventually(lambda: self.lines(object="team-a/before"), "all that was is logged")
        before = len(self.lines())
        self.ask("ann", "GET", path)
        self.refused("non", "GET", path)
        self.ask("imp", "POST", path + DRY, config_map("tried"),
                 headers={"Impersonate-User": "ann"})
        found = eventually(lambda: self.lines(object="team-a/tried"), "the line")
        self.assertEqual((found[0]["user"], found[0]["impersonatedBy"], found[0]["dryRun"]),
                         ("ann", "imp", "true"))
        self.assertEqual(len(self.lines()), before + 1)

    def test_a20_reads_of_secrets_and_strangers_are_logged(self):
        path = "/api/v1/namespaces/team-a/secrets"
        self.assertEqual(self.ask("ann", "GET", path)[0], 200)
        self.refused("non", "GET", path + "/x")
        self.refused("non", "GET", path, headers={"Impersonate-User": "bob"})
        with Wire(self.host, token="nobodys-token") as wire:
            self.assertEqual(wire.ask("GET", path)[0], 401)
        for wanted in ({"user": "ann", "verb": "list", "code": "200", "result": "done"},
                       {"user": "non", "verb": "get", "object": "team-a/x", "code": "403"}):
            eventually(lambda wanted=wanted: self.lines(resource="secrets", **wanted), f"{wanted}")
        tried = {"user": "bob", "impersonatedBy": "non", "verb": "GET", "code": "403"}
        eventually(lambda: self.lines(**tried), f"{tried}")
        stranger = {"user": "", "verb": "GET", "code": "401", "reason": "Unauthorized"}
        found = eventually(lambda: self.lines(**stranger), "a line without a user")
        self.assertRegex(found[0]["peer"], r"^127\.0\.0\.1:\d+$")

    def test_collections_are_logged_object_by_object(self):
        path = "/api/v1/namespaces/team-b/configmaps"
        for name in ("x1", "x2"):
            self.ask("bob", "POST", path, config_map(name) | {
                "metadata": {"name": name, "labels": {"x": "y"}}})
        self.assertEqual(self.ask("bob", "DELETE", path + "?labelSelector=x%3Dy")[0], 200)
        for name in ("x1", "x2"):
            eventually(lambda name=name: self.lines(
                verb="deletecollection", object="team-b/" + name, user="bob", code="200"), name)

    def test_no_text_of_a_client_forges_a_line(self):
        forged = "x\u001b[2J\n2026-01-01T00:00:00Z info audit: done user=nobody verb=create"
        self.ask(ADMIN, "GET", "/api", headers={"User-Agent": "a"})
        body = config_map(forged)
        self.assertEqual(self.ask("ann", "POST", "/api/v1/namespaces/team-a/configmaps",
                                  body)[0], 422)
        self.ask("ann", "PUT", "/api/v1/namespaces/team-a/configmaps/a%20user=root", body)
        eventually(lambda: self.lines(object="team-a/a user=root"), "a quoted name")
        self.assertEqual(self.lines(user="nobody"), [])
        self.assertEqual(self.lines(user="root"), [])
        self.assertNotIn("\u001b", self.host.log())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Access.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

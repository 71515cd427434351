#!/usr/bin/env python3
"""The whole matrix of rights on a live host: every resource that it serves (of its own kinds, of
Kubernetes' and of its plugins) × every verb, asked by users of whom each has one verb everywhere,
and by users of whom each has one resource with all verbs. What nobody gave is 403, what was given
is anything else.

    rights_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import os
import sys
import unittest

from host import Host
from wire import Wire

RBAC = "/apis/rbac.authorization.k8s.io/v1"
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
# Who asks about himself needs no right; what if needs that of what it asks about, which an empty
# question does not name.
EVERYBODYS = {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews",
              "whatifs"}


def resources(wire):
    """(group, version, resource, namespaced, verbs) of all that discovery tells."""
    groups = [("", "v1", "/api/v1")]
    for group in wire.ask("GET", "/apis")[2]["groups"]:
        version = group["preferredVersion"]["version"]
        groups.append((group["name"], version, f"/apis/{group['name']}/{version}"))
    for group, version, path in groups:
        for each in wire.ask("GET", path)[2]["resources"]:
            yield group, version, each["name"], each["namespaced"], each["verbs"]


class Cell:
    """One resource, and how each verb of it is asked for so that nothing changes."""

    def __init__(self, group, version, name, namespaced, verbs):
        self.group, self.name, self.verbs = group, name, [v for v in VERBS if v in verbs]
        self.key = f"{group}/{name}"
        base = f"/apis/{group}/{version}" if group else f"/api/{version}"
        if namespaced:
            base += "/namespaces/team-a"
        resource, _, sub = name.partition("/")
        self.all = f"{base}/{resource}"
        self.one = f"{self.all}/none" + (f"/{sub}" if sub else "")
        self.sub = bool(sub)

    def ask(self, wire, verb):
        collection = self.one if self.sub else self.all
        method, path = {
            "get": ("GET", self.one), "list": ("GET", collection + "?limit=1"),
            "watch": ("GET", collection + "?watch=true&resourceVersion=none"),
            "create": ("POST", collection + "?dryRun=All"),
            "update": ("PUT", self.one + "?dryRun=All"),
            "patch": ("PATCH", self.one + "?dryRun=All"),
            "delete": ("DELETE", self.one + "?dryRun=All"),
            "deletecollection": (
                "DELETE", collection + "?dryRun=All&fieldSelector=metadata.name%3Dnone")}[verb]
        body = None if method in ("GET", "DELETE") else {}
        kind = "application/merge-patch+json" if verb == "patch" else "application/json"
        return wire.ask(method, path, body, kind)


class Rights(unittest.TestCase):
    sluice = ""

    @classmethod
    def setUpClass(cls):
        cls.host = Host(cls.sluice, plugins="{ load: [ { name: multi-cluster }, "
                        "{ name: provisioning-check }, { name: concurrent-admission } ] }")
        cls.addClassCleanup(cls.host.__exit__)
        with cls.host as host, Wire(host) as wire:  # once, to ask what there is
            cls.cells = [Cell(*each) for each in resources(wire)]
        cls.host = Host(cls.sluice, plugins=cls.host.plugins)
        cls.addClassCleanup(cls.host.__exit__)
        cls.users = [f"verb-{verb}" for verb in VERBS]
        cls.users += [f"cell-{i}" for i in range(len(cls.cells))]
        tokens = os.path.join(cls.host.folder, "tokens")
        with open(tokens, "w", encoding="utf-8") as out:
            for user in cls.users:
                out.write(f"the-token-of-{user},{user},{user}\n")
        with open(cls.host.config, encoding="utf-8") as text:
            content = text.read().replace("server: { ", f"server: {{ tokenFile: {tokens}, ")
        with open(cls.host.config, "w", encoding="utf-8") as out:
            out.write(content)
        cls.host.write_config = lambda *_: None
        cls.host.start()
        with Wire(cls.host) as wire:
            wire.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "team-a"}})
            for verb in VERBS:
                cls.give(wire, f"verb-{verb}", ["*"], ["*"], [verb])
            for i, cell in enumerate(cls.cells):
                cls.give(wire, f"cell-{i}", [cell.group], [cell.name], list(VERBS))

    @classmethod
    def give(cls, wire, user, groups, names, verbs):
        api = {"apiGroup": "rbac.authorization.k8s.io"}
        for path, body in (
                ("clusterroles", {"metadata": {"name": user}, "rules": [
                    {"apiGroups": groups, "resources": names, "verbs": verbs}]}),
                ("clusterrolebindings", {
                    "metadata": {"name": user},
                    "roleRef": api | {"kind": "ClusterRole", "name": user},
                    "subjects": [api | {"kind": "User", "name": user}]})):
            made = wire.ask("POST", f"{RBAC}/{path}", body)
            if made[0] != 201:
                raise AssertionError(made)

    def judge(self, user, allowed):
        """allowed(cell, verb): whether the user has it."""
        wrong, asked = [], 0
        with Wire(self.host, token=f"the-token-of-{user}") as wire:  # no refusal ends it
            for cell in self.cells:
                for verb in cell.verbs:
                    status, _, answer = cell.ask(wire, verb)
                    asked += 1
                    wanted = allowed(cell, verb) or cell.name in EVERYBODYS
                    if (status != 403) != wanted or status >= 500:
                        wrong.append((user, verb, cell.key, status, answer))
        self.assertEqual(wrong, [])
        return asked

    def test_all_of_our_kinds_are_in_it(self):
        names = {cell.key for cell in self.cells}
        for key in ("kueue.x-k8s.io/clusterqueues", "kueue.x-k8s.io/workloads/status",
                    "kueue.x-k8s.io/multikueueclusters", "sluice.dev/jobkinds", "/secrets",
                    "batch/jobs", "/pods/log", "rbac.authorization.k8s.io/clusterroles"):
            self.assertIn(key, names)

    def test_one_verb_is_no_other(self):
        asked = sum(self.judge(f"verb-{verb}", lambda _, asked, verb=verb: asked == verb)
                    for verb in VERBS)
        self.assertGreater(asked, 1000)

    def test_one_resource_is_no_other(self):
        asked = sum(self.judge(f"cell-{i}", lambda cell, _, own=own: cell.key == own.key)
                    for i, own in enumerate(self.cells))
        self.assertGreater(asked, 5000)
        print(f"{len(self.cells)} resources, {asked} requests", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Rights.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

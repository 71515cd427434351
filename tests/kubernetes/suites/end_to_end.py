#!/usr/bin/env python3
"""Runs Kueue's own end-to-end specs against `sluice controller` on a real control plane.

usage: end_to_end.py --sluice PROGRAM --programs FOLDER --work FOLDER [--compiled] [--focus RE]
                     [--ginkgo.label-filter=…] SUITE…

A suite is a folder below test/e2e/singlecluster of the module sigs.k8s.io/kueue: baseline, or
extended, of which only what is about LeaderWorkerSets is run: no other operator is there. Where the
module comes from, how it is changed in a copy, and what is in WORK, is as in run.py, whose options
these are as well. It takes a quarter of an hour, and what fails is told, not judged.

Around the specs are API server, etcd, kube-controller-manager and kube-scheduler; two nodes without
machines, of the names and labels that Kueue's have, on which pods do what the images of the specs
do (nodes.py); the released manager of LeaderWorkerSets; and one controller with what
`sluice manifests` prints (webhooks, the visibility API, and no right beyond), that reads Kueue's
configuration of these specs. Commands that specs run in pods are done here: those that end one by
HTTP, and those that fetch the metrics of the manager. `kubectl kueue` is Kueue's own, compiled.

Specs cannot pass that
- are about topologies, or ask Prometheus: they are left out, unless a label filter names them;
- want a Workload of a StatefulSet to stay, OnHold, while that has no replicas;
- want limits that nobody set among the metrics of quota.
The wait for Kueue's Deployment, its restarts and its Lease is left out. Marks that are others by
choice are taken for Kueue's (specs.py): those of options, labels of pods that name their queues,
the UID in the name of a Workload of a LeaderWorkerSet.
docs/kubernetes.md says what was found.
"""
import contextlib
import os
import re

import run  # it knows where the modules of the folder above are
import build
import specs
import suites
from client import eventually
from control_plane import ControlPlane, own_address
from lws import LeaderWorkerSets
from nodes import Nodes
from objects import Kueue

CONFIGURATIONS = "test/e2e/config"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices/"
OWNED = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/owned"
NAMESPACE = "sluice-system"
# The account of Kueue's manager, with which specs fetch its metrics.
ACCOUNT = "kueue-controller-manager"
LABELS = {"baseline": "!feature:prometheus && !feature:tas",
          "extended": "feature:leaderworkerset"}


class EndToEnd(run.Run):
    """A suite: its cluster, and the controller that decides for it from the beginning."""
    root = specs.END_TO_END
    around = nodes = address = None

    def arguments(self):
        return ["--ginkgo.label-filter=" + LABELS.get(self.suite, "")]

    def rights(self):
        """The configuration with which Kueue's manager would run."""
        base = os.path.join(self.options.kueue, CONFIGURATIONS)
        path = os.path.join(base, self.suite, "controller_manager_config.yaml")
        if os.path.exists(path):
            return path
        return os.path.join(base, "default", "controller_manager_config.yaml")

    def manifests(self, pages):
        """The webhooks by URL; by Services what API servers pass on."""
        return super().manifests(pages) + [
            each for each in self.printed("--only", "APIService,Service")
            if each["metadata"]["name"].endswith("visibility") or each["kind"] == "APIService"]

    def place(self):
        """From there specs look for kubectl-kueue."""
        return os.path.join(self.options.kueue, self.root, self.suite)

    def surroundings(self):
        self.address = own_address()
        if not self.address:
            raise AssertionError("this machine has no address but loopback, which no endpoint of "
                                 "the visibility API may have")
        specs.compile_go(self.options.kueue, "build", "-o", "bin/kubectl-kueue", "./cmd/kueuectl")
        self.cluster = ControlPlane(build.find(self.options.programs, "control-plane"))
        self.cluster.start()
        self.around = contextlib.ExitStack()
        self.define([])
        self.nodes = self.around.enter_context(Nodes(self.cluster.api, cpu="64"))
        if self.suite == "extended":
            self.around.enter_context(LeaderWorkerSets(
                self.cluster, build.find(self.options.programs, "lws"),
                build.find(self.options.programs, "lwscrds")))
        self.cluster.api.post(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
                              {"metadata": {"name": ACCOUNT}})
        self.decide(self.rights(), "--plugins", ",".join(suites.plugins(self.suite)),
                    "--webhook-address", f"0.0.0.0:{self.port}", "--webhook-names", "127.0.0.1",
                    "--advertise-ip", self.address)
        for version in ("v1beta1", "v1beta2"):
            eventually(lambda at=version: self.passed_on(at), "the visibility API is there")
        self.await_collector()
        return {"KUBECONFIG": self.cluster.kubeconfig("admin"), "KUEUE_NAMESPACE": NAMESPACE}

    def await_collector(self):
        """The garbage collector learns of new kinds twice a minute, of all at once. Before that it
        does not know that Jobs own Workloads, and those of orphans would not stay."""
        api = self.cluster.api
        owner = api.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "owner"}})
        Kueue(api).make("LocalQueue", "localqueues", "owned", {"clusterQueue": "none"}, "default",
                        owner)
        api.delete("/api/v1/namespaces/default/configmaps/owner")
        eventually(lambda: api.send("GET", OWNED)[0] == 404, "the collector knows the kinds")

    def passed_on(self, version):
        service = self.cluster.api.get(f"{SERVICES}{version}.visibility.kueue.x-k8s.io")
        return any(each["type"] == "Available" and each["status"] == "True"
                   for each in service.get("status", {}).get("conditions", []))

    def execute(self, asked):
        """Does what a command would do in a pod."""
        command = asked["command"][-1]
        if "/metrics" in command:
            return {"output": self.page()}
        code = re.search(r"/exit\?code=(\d+)", command)
        if code:
            self.nodes.exit(asked["namespace"], asked["pod"], int(code.group(1)))
        elif "/readyz" not in command:
            raise AssertionError(f"there is no {command}")
        return {"output": "ok"}

    def end(self, asked):
        if self.around is not None:
            self.around.close()
        self.around = None
        return super().end(asked)


if __name__ == "__main__":
    run.main(EndToEnd)

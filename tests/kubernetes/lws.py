"""The released manager of LeaderWorkerSets beside a control plane, with its webhooks.

    with LeaderWorkerSets(cluster, program, definitions) as sets:
        …
"""
import base64
import os
import subprocess

import yaml

from client import eventually
from control_plane import Process
from objects import DEFINITIONS, established
from ports import own_port

HOOKS = "/apis/admissionregistration.k8s.io/v1/"
SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"


class LeaderWorkerSets:
    def __init__(self, cluster, program, definitions):
        self.cluster, self.definitions = cluster, definitions
        self.health, self.port = own_port(), own_port()
        config = {
            "apiVersion": "config.lws.x-k8s.io/v1alpha1", "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {"port": self.port, "host": "127.0.0.1", 
                        "certDir": cluster.key_pair_in(cluster.path("lws-certificates"))}}
        path = cluster.path("lws.yaml")
        with open(path, "w", encoding="utf-8") as out:
            yaml.safe_dump(config, out)
        self.process = Process(cluster.folder, "lws", [program, "--config", path],
                               KUBECONFIG=cluster.kubeconfig("admin"))

    def __enter__(self):
        api = self.cluster.api
        subprocess.run(["kubectl", "--kubeconfig", self.cluster.kubeconfig("admin"), "create",
                        "-f", os.path.realpath(self.definitions)], check=True, capture_output=True)
        eventually(lambda: all(established(each) for each in api.items(DEFINITIONS)),
                   "the definitions are established")
        eventually(lambda: api.send("GET", SETS)[0] == 200, "sets are served")
        self.process.start()
        eventually(lambda: self.process.is_ready(self.health), "its manager is there")
        for kind, step in (("mutating", "mutate"), ("validating", "validate")):
            api.post(f"{HOOKS}{kind}webhookconfigurations", {
                "metadata": {"name": "lws"}, "webhooks": [
                    self.webhook(step, "leaderworkerset.x-k8s.io", "leaderworkersets",
                                 "leaderworkerset-x-k8s-io-v1-leaderworkerset"),
                    self.webhook(step, "", "pods", "-v1-pod")]})
        eventually(self.answers, "its webhooks answer")
        return self

    def __exit__(self, *_):
        self.process.stop(kill=True)

    def webhook(self, step, group, plural, path):
        with open(self.cluster.path("ca.crt"), "rb") as authority:
            trusted = base64.b64encode(authority.read()).decode()
        return {"name": f"{step}.{plural}.test", "sideEffects": "None", "failurePolicy": "Fail",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"caBundle": trusted,
                                 "url": f"https://127.0.0.1:{self.port}/{step}-{path}"},
                "rules": [{"apiGroups": [group], "apiVersions": ["v1"], "resources": [plural],
                           "operations": ["CREATE"] if plural == "pods" else
                                         ["CREATE", "UPDATE"]}]}

    def answers(self):
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
        return self.cluster.api.send("POST", "/api/v1/namespaces/default/pods?dryRun=All",
                                     pod)[0] == 201

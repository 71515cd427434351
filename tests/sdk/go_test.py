#!/usr/bin/env python3
"""The package for Go: its own tests; and a plugin from `sluice plugin new --lang go`, as its author
builds it without a network, inspected, validated and asked by a host that simulates.

usage: go_test.py --source . --sluice build/dev/bin/sluice --work FOLDER
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--source", required=True)
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--work", required=True)
OPTIONS, LEFT = OPTIONS.parse_known_args()
SKIP = 77
SDK = os.path.join(os.path.abspath(OPTIONS.source), "sdk", "go")
WORK = os.path.abspath(OPTIONS.work)
NAME = "office-hours"

OBJECTS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: hours}
spec: {controllerName: example.com/office-hours}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: shared}
spec:
  namespaceSelector: {}
  admissionChecksStrategy: {admissionChecks: [{name: hours}]}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 8}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: work, namespace: default}
spec: {clusterQueue: shared}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: train, namespace: default}
spec:
  queueName: work
  podSets:
  - name: main
    count: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{name: c, image: train, resources: {requests: {cpu: "1"}}}]
"""


def run(*command, folder=WORK):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env=os.environ | {"GOPROXY": "off", "GOTOOLCHAIN": "local",
                                            "GOFLAGS": "-buildvcs=false", "GOWORK": "off"})
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Go(unittest.TestCase):
    def test_the_package(self):
        self.assertEqual(run("gofmt", "-l", ".", folder=SDK), "")
        run("go", "vet", "./...", folder=SDK)
        run("go", "test", "./...", folder=SDK)

    def test_a_plugin_from_its_template(self):
        folder = os.path.join(WORK, NAME)
        shutil.rmtree(folder, ignore_errors=True)
        sluice = os.path.abspath(OPTIONS.sluice)
        self.assertIn("go test && go build", run(sluice, "plugin", "new", NAME, "--lang", "go"))
        run("go", "mod", "edit", "-replace", "sluice.dev/sdk=" + SDK, folder=folder)
        self.assertEqual(run("gofmt", "-l", ".", folder=folder), "")
        run("go", "vet", ".", folder=folder)
        run("go", "test", folder=folder)
        run("go", "build", "-o", NAME, folder=folder)
        config = os.path.join(WORK, "sluice.yaml")
        with open(config, "w", encoding="utf-8") as text:
            text.write(json.dumps({
                "apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
                "store": {"path": "memory"},
                "plugins": {"directory": folder, "load": [{
                    "name": NAME, "isolation": "process", "command": ["./" + NAME],
                    "config": {"fromHour": 0, "toHour": 24}}]}}))
        said = run(sluice, "plugin", "inspect", NAME, "--host-config", config)
        self.assertIn("check-controller.begin", said)
        run(sluice, "plugin", "validate", NAME, "--host-config", config)
        objects = os.path.join(WORK, "objects.yaml")
        with open(objects, "w", encoding="utf-8") as text:
            text.write(OBJECTS)
        self.assertIn("default/train  Admitted",
                      run(sluice, "simulate", "--config", config, objects))

    def test_other_templates_are_refused(self):
        wrong = "there is no template validator in Go; there is one of check"
        with self.assertRaisesRegex(AssertionError, wrong):
            run(os.path.abspath(OPTIONS.sluice), "plugin", "new", "x", "--lang", "go", "--kind",
                "validator")


def without_go():
    """Why nothing of it can be tried; empty: it can."""
    if shutil.which("go") is None or shutil.which("gofmt") is None:
        return "there is no Go on this machine (go, gofmt)"
    said = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=False,
                          env=os.environ | {"GOTOOLCHAIN": "local"}).stdout.strip()
    digits = said.removeprefix("go").split(".")[:2]
    if not all(each.isdigit() for each in digits) or tuple(map(int, digits)) < (1, 21):
        return f"Go is {said or 'of an unknown version'}; the package needs 1.21"
    return ""


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    if why := without_go():
        print("skipped: " + why)
        sys.exit(SKIP)
    unittest.main(argv=[sys.argv[0], *LEFT], verbosity=2)

#!/usr/bin/env python3
"""The newest kubectl, built from its Go module, against a live host.

Its build takes minutes and downloads modules, so it is asked for:

    SLUICE_E2E_GO=1 go_test.py --sluice build/dev/bin/sluice --build build/dev

The program is kept in the build folder. Clients of this age send built-in kinds as protobuf, and
start their watches with a stream of what there is.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import unittest

from host import Host, eventually, skip

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "go")
QUEUES = os.path.join(os.path.dirname(HERE), "kueue_samples", "v1beta2", "single-queue.yaml")


def build(folder):
    """The program; made once per content of the module files."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum", "main.go"):
        with open(os.path.join(HERE, name), "rb") as text:
            digest.update(text.read())
    program = os.path.join(os.path.abspath(folder), f"e2e-go-{digest.hexdigest()[:16]}", "kubectl")
    if os.path.exists(program):
        return program
    version = "-X k8s.io/component-base/version.gitVersion=" + release()
    done = subprocess.run(["go", "build", "-ldflags", version, "-o", program, "."],
                          cwd=HERE, env=os.environ | {"GOFLAGS": "-buildvcs=false"}, check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        skip("Go cannot build tests/e2e/go:\n" + done.stderr[-2000:])
    return program


def release():
    """Of Kubernetes: module k8s.io/kubectl v0.X.Y is kubectl v1.X.Y."""
    with open(os.path.join(HERE, "go.mod"), encoding="utf-8") as text:
        for line in text:
            words = line.replace("require", "").split()
            if words and words[0] == "k8s.io/kubectl":
                return words[1].replace("v0.", "v1.", 1)
    raise AssertionError("go.mod does not name k8s.io/kubectl")


class NewKubectl(unittest.TestCase):
    sluice = program = ""

    @classmethod
    def setUpClass(cls):
        cls.host = Host(cls.sluice).start()
        cls.host.program = cls.program
        cls.host.kubectl("apply", "-f", QUEUES)

    @classmethod
    def tearDownClass(cls):
        cls.host.__exit__()

    def kubectl(self, *args, **more):
        return self.host.kubectl(*args, **more)

    def test_reading(self):
        self.assertIn("Server Version: v1.33.", self.kubectl("version"))
        self.assertIn("clusterqueues.kueue.x-k8s.io", self.kubectl("api-resources", "-o", "name"))
        self.assertRegex(self.kubectl("get", "cq,lq,rf"), r"cluster-queue +(BestEffort|Strict)FIFO")
        self.assertIn("coveredResources", self.kubectl("explain", "cq.spec.resourceGroups"))
        self.assertEqual(self.kubectl("auth", "can-i", "create", "jobs").strip(), "yes")
        self.assertIn("sluice-admin", self.kubectl("auth", "whoami"))
        self.assertIn("cluster-queue", self.kubectl("describe", "cq", "cluster-queue"))

    def test_typed_objects(self):
        self.kubectl("create", "ns", "typed")
        for args in (["configmap", "c", "--from-literal=a=b"],
                     ["secret", "generic", "s", "--from-literal=a=b"], ["serviceaccount", "s"],
                     ["role", "r", "--verb=get", "--resource=pods"],
                     ["rolebinding", "r", "--role=r", "--user=u"],
                     ["job", "j", "--image=any", "--", "sh", "-c", "echo typed"]):
            self.kubectl("-n", "typed", "create", *args)
        self.kubectl("wait", "--for=condition=complete", "job/j", "-n", "typed", "--timeout=180s")
        self.assertEqual(self.kubectl("logs", "job/j", "-n", "typed"), "typed\n")
        self.assertEqual(self.host.json("get", "cm", "c", "-n", "typed")["data"], {"a": "b"})
        self.kubectl("delete", "ns", "typed")
        self.assertNotIn("typed", self.kubectl("get", "ns", "-o", "name"))

    def test_custom_objects(self):
        self.assertIn("unchanged", self.kubectl("apply", "-f", QUEUES))
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", QUEUES)
        self.kubectl("label", "cq", "cluster-queue", "a=b")
        self.kubectl("annotate", "lq", "user-queue", "a=b")
        self.kubectl("patch", "cq", "cluster-queue", "--type=merge", "-p",
                     '{"spec":{"queueingStrategy":"StrictFIFO"}}')
        self.assertRegex(self.kubectl("get", "cq"), "StrictFIFO")
        wrong = self.host.run("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
            "metadata": {"name": "x"}, "spec": {"nodeLabel": {}}}))
        self.assertIn('unknown field "spec.nodeLabel"', wrong.stderr)

    def test_watch_and_wait(self):
        self.kubectl("create", "configmap", "w", "--from-literal=a=b")
        watch = self.host.background("get", "cm", "-w", "--output-watch-events", "--no-headers",
                                     "--field-selector=metadata.name=w")
        try:
            self.assertRegex(watch.stdout.readline(), r"ADDED +w +1 ")
            self.kubectl("label", "cm", "w", "x=y")
            self.assertRegex(watch.stdout.readline(), r"MODIFIED +w +1 ")
            wait = self.host.background("wait", "--for=delete", "cm/w", "--timeout=180s")
            self.kubectl("delete", "cm", "w")
            self.assertRegex(watch.stdout.readline(), r"DELETED +w +1 ")
            wait.communicate(timeout=300)
            self.assertEqual(wait.returncode, 0)
        finally:
            watch.kill()
            watch.communicate()

    def test_a_queued_job(self):
        sample = os.path.join(os.path.dirname(HERE), "kueue_samples", "jobs", "sample-job.yaml")
        job = self.kubectl("create", "-f", sample, "-o", "name").strip()
        self.kubectl("wait", "--for=condition=complete", job, "--timeout=180s")
        self.assertEqual(self.kubectl("logs", job, "--tail=1"), "hello world\n")
        self.assertIn("CreatedWorkload", self.kubectl("describe", job))
        self.assertIn("Started", self.kubectl("events", "--for", job))
        eventually(lambda: "Succeeded" in self.kubectl("get", "workloads"), "it is finished")
        self.kubectl("delete", job)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    if os.environ.get("SLUICE_E2E_GO") != "1":
        skip("building kubectl from its Go module takes minutes; SLUICE_E2E_GO=1 asks for it")
    if shutil.which("go") is None:
        skip("there is no Go here")
    NewKubectl.program = build(options.build)
    NewKubectl.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

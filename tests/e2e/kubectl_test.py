#!/usr/bin/env python3
"""Real kubectl against a live host: what people do with a cluster, command by command.

    kubectl_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import unittest

from host import Host, eventually, skip

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: { name: default-flavor }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: { name: cluster-queue }
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default-flavor
      resources:
      - { name: cpu, nominalQuota: 9 }
      - { name: memory, nominalQuota: 36Gi }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: { name: user-queue, namespace: default }
spec: { clusterQueue: cluster-queue }
"""

JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  labels: {{ kueue.x-k8s.io/queue-name: user-queue }}
spec:
  parallelism: 1
  completions: 1
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: any
        command: [sh, -c, "{script}"]
        resources: {{ requests: {{ cpu: "{cpu}", memory: 100Mi }} }}
"""

WORKLOAD = """
apiVersion: kueue.x-k8s.io/{version}
kind: Workload
metadata: {{ name: {name}, labels: {{ app: {app} }} }}
spec:
  queueName: no-such-queue
  podSets:
  - name: main
    count: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - {{ name: c, image: any, resources: {{ requests: {{ cpu: 1 }} }} }}
"""


def config_map(name, value="v", **labels):
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap",
                       "metadata": {"name": name, "labels": labels}, "data": {"key": value}})


class Kubectl(unittest.TestCase):
    sluice = ""
    host = None

    @classmethod
    def setUpClass(cls):
        cls.holder = Host(cls.sluice)
        cls.host = cls.holder.__enter__()
        cls.host.kubectl("apply", "-f", "-", stdin=QUEUES)

    @classmethod
    def tearDownClass(cls):
        cls.holder.__exit__()

    def kubectl(self, *args, **more):
        return self.host.kubectl(*args, **more)

    def refused(self, *args, stdin=None):
        """What kubectl says when it fails."""
        done = self.host.run(*args, stdin=stdin)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stdout + done.stderr


class Reading(Kubectl):
    def test_version(self):
        self.assertRegex(self.kubectl("version"), r"Server Version: v1\.32\.")

    def test_api_resources(self):
        names = self.kubectl("api-resources", "-o", "name").split()
        for name in ("pods", "jobs.batch", "clusterqueues.kueue.x-k8s.io", "events",
                     "workloads.kueue.x-k8s.io", "roles.rbac.authorization.k8s.io"):
            self.assertIn(name, names)
        self.assertIn("kueue.x-k8s.io/v1beta1", self.kubectl("api-versions"))
        wide = self.kubectl("api-resources", "--api-group=kueue.x-k8s.io", "-o", "wide")
        self.assertRegex(wide, r"clusterqueues +cq +kueue\.x-k8s\.io/v1beta2 +false +ClusterQueue")

    def test_output_forms(self):
        self.assertIn("cluster-queue", self.kubectl("get", "cq"))
        self.assertRegex(self.kubectl("get", "clusterqueues"), r"^NAME +COHORT")
        self.assertIn("STRATEGY", self.kubectl("get", "cq", "-o", "wide"))
        self.assertIn("nominalQuota", self.kubectl("get", "cq", "cluster-queue", "-o", "yaml"))
        self.assertEqual(self.host.json("get", "cq", "cluster-queue")["kind"], "ClusterQueue")
        self.assertEqual(self.kubectl("get", "cq", "-o", "name").strip(),
                         "clusterqueue.kueue.x-k8s.io/cluster-queue")
        self.assertEqual(
            self.kubectl("get", "cq", "-o", "jsonpath={.items[*].spec.resourceGroups[0]"
                         ".flavors[0].resources[0].nominalQuota}"), "9")
        self.assertRegex(self.kubectl("get", "cq", "-o", "custom-columns=N:.metadata.name"),
                         r"N\ncluster-queue")
        self.assertIn("cluster-queue", self.kubectl(
            "get", "cq", "-o", "go-template={{range .items}}{{.metadata.name}}{{end}}"))
        self.assertRegex(self.kubectl("get", "lq", "-A"), r"^NAMESPACE +NAME +CLUSTERQUEUE")
        self.assertRegex(self.kubectl("get", "lq,rf"), r"localqueue\.kueue\.x-k8s\.io/user-queue")
        self.assertNotIn("NAME", self.kubectl("get", "cq", "--no-headers"))

    def test_both_versions(self):
        old = self.host.run("get", "clusterqueues.v1beta1.kueue.x-k8s.io", "cluster-queue", "-o",
                            "yaml")
        self.assertIn("apiVersion: kueue.x-k8s.io/v1beta1", old.stdout)
        self.assertIn("Warning: This version is deprecated. Use v1beta2 instead.", old.stderr)

    def test_selectors_chunks_and_sorting(self):
        for number in range(7):
            self.kubectl("create", "-f", "-", stdin=config_map(
                f"sel-{number}", str(9 - number), odd="yes" if number % 2 else "no"))
        self.assertEqual(len(self.kubectl("get", "cm", "-l", "odd=yes", "-o", "name").split()), 3)
        self.assertEqual(len(self.kubectl("get", "cm", "-l", "odd in (yes,no)", "-o", "name",
                                          "--chunk-size=2").split()), 7)
        self.assertEqual(self.kubectl("get", "cm", "--field-selector=metadata.name=sel-3", "-o",
                                      "name").strip(), "configmap/sel-3")
        self.assertIn("field label not supported",
                      self.refused("get", "cm", "--field-selector=data.key=1"))
        listed = self.kubectl("get", "cm", "-l", "odd", "--sort-by={.data.key}", "--show-labels",
                              "-L", "odd")
        self.assertLess(listed.index("sel-6"), listed.index("sel-0"))
        self.assertIn("odd=yes", listed)

    def test_watch(self):
        watch = self.host.background("get", "cm", "-l", "watched", "-w", "--output-watch-events")
        try:
            self.kubectl("create", "-f", "-", stdin=config_map("watched", watched="yes"))
            self.assertRegex(watch.stdout.readline(), r"EVENT +NAME +DATA +AGE")
            self.assertRegex(watch.stdout.readline(), r"ADDED +watched +1 ")
            self.kubectl("annotate", "cm", "watched", "a=b")
            self.assertRegex(watch.stdout.readline(), r"MODIFIED +watched +1 ")
            self.kubectl("label", "cm", "watched", "watched-")
            self.assertRegex(watch.stdout.readline(), r"DELETED +watched +1 ")
        finally:
            watch.kill()
            watch.communicate()

    def test_watch_as_table(self):
        watch = self.host.background("get", "ns", "tabled", "-w", "--ignore-not-found")
        watch.communicate(timeout=60)
        self.kubectl("create", "ns", "tabled")
        watch = self.host.background("get", "ns", "tabled", "-w")
        try:
            self.assertRegex(watch.stdout.readline(), r"NAME +STATUS +AGE")
            self.assertRegex(watch.stdout.readline(), r"tabled +Active")
            self.kubectl("label", "ns", "tabled", "a=b")
            self.assertRegex(watch.stdout.readline(), r"tabled +Active")
        finally:
            watch.kill()
            watch.communicate()

    def test_explain(self):
        text = self.kubectl("explain", "clusterqueue.spec.resourceGroups")
        self.assertIn("coveredResources", text)
        self.assertIn("VERSION:    v1beta2", text)
        self.assertIn("cohort", self.kubectl("explain", "clusterqueue.spec",
                                             "--api-version=kueue.x-k8s.io/v1beta1"))
        self.assertIn("parallelism", self.kubectl("explain", "job.spec", "--recursive"))

    def test_raw_and_health(self):
        self.assertEqual(self.kubectl("get", "--raw", "/readyz"), "ok")
        self.assertIn("[+]store ok", self.kubectl("get", "--raw", "/readyz?verbose"))
        self.assertIn("ok", self.kubectl("get", "--raw", "/livez"))
        self.assertIn("running at", self.kubectl("cluster-info"))

    def test_errors(self):
        self.assertIn('Error from server (NotFound): clusterqueues.kueue.x-k8s.io "x" not found',
                      self.refused("get", "cq", "x"))
        self.assertIn('doesn\'t have a resource type "nothing"', self.refused("get", "nothing"))


class Writing(Kubectl):
    def test_create_typed(self):
        """Go clients send protobuf here."""
        self.kubectl("create", "ns", "typed")
        self.kubectl("create", "configmap", "typed", "--from-literal=a=b", "-n", "typed")
        self.assertEqual(self.host.json("get", "cm", "typed", "-n", "typed")["data"], {"a": "b"})
        self.kubectl("create", "secret", "generic", "typed", "--from-literal=a=b", "-n", "typed")
        self.kubectl("create", "job", "typed", "--image=x", "-n", "typed", "--", "true")
        self.kubectl("create", "priorityclass", "typed", "--value=7")
        self.kubectl("create", "serviceaccount", "typed", "-n", "typed")
        self.kubectl("create", "role", "typed", "--verb=get", "--resource=pods", "-n", "typed")
        self.kubectl("create", "rolebinding", "typed", "--role=typed", "--user=u", "-n", "typed")
        self.assertIn("AlreadyExists", self.refused("create", "ns", "typed"))
        self.kubectl("delete", "ns", "typed")
        self.assertIn("NotFound", self.refused("get", "cm", "typed", "-n", "typed"))

    def test_apply(self):
        text = config_map("applied", "one")
        self.assertIn("created", self.kubectl("apply", "-f", "-", stdin=text))
        self.assertIn("unchanged", self.kubectl("apply", "-f", "-", stdin=text))
        version = self.host.json("get", "cm", "applied")["metadata"]["resourceVersion"]
        text = config_map("applied", "two")
        self.assertEqual(self.host.run("diff", "-f", "-", stdin=text).returncode, 1)
        self.assertEqual(
            version, self.host.json("get", "cm", "applied")["metadata"]["resourceVersion"])
        self.assertIn("configured", self.kubectl("apply", "-f", "-", stdin=text))
        self.assertEqual(self.host.json("get", "cm", "applied")["data"]["key"], "two")
        self.assertEqual(self.host.run("diff", "-f", "-", stdin=text).returncode, 0)

    def test_apply_of_a_custom_kind(self):
        one = WORKLOAD.format(version="v1beta2", name="custom", app="one")
        two = WORKLOAD.format(version="v1beta2", name="custom", app="two")
        self.kubectl("apply", "-f", "-", stdin=one)
        self.assertIn("unchanged", self.kubectl("apply", "-f", "-", stdin=one))
        self.assertIn("configured", self.kubectl("apply", "-f", "-", stdin=two))
        labels = self.host.json("get", "workload", "custom")["metadata"]["labels"]
        self.assertEqual(labels["app"], "two")
        old = WORKLOAD.format(version="v1beta1", name="custom-old", app="one")
        self.assertIn("created", self.kubectl("apply", "-f", "-", stdin=old))

    def test_server_side_apply(self):
        one = config_map("ssa", "one")
        self.kubectl("apply", "--server-side", "-f", "-", stdin=one)
        self.kubectl("apply", "--server-side", "-f", "-", stdin=one)
        conflict = self.refused("apply", "--server-side", "--field-manager=other", "-f", "-",
                                stdin=config_map("ssa", "two"))
        self.assertIn("conflict", conflict)
        self.kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f",
                     "-", stdin=config_map("ssa", "two"))
        self.assertEqual(self.host.json("get", "cm", "ssa")["data"]["key"], "two")

    def test_validation(self):
        wrong = config_map("bogus").replace('"data"', '"bogusField": 1, "data"')
        self.assertIn("bogusField", self.refused("apply", "-f", "-", stdin=wrong))
        self.assertIn("bogusField", self.refused("create", "-f", "-", stdin=wrong))
        done = self.host.run("create", "--validate=warn", "-f", "-", stdin=wrong)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Warning", done.stderr)
        self.assertIn("bogusField", done.stderr)
        self.kubectl("delete", "cm", "bogus")
        self.kubectl("create", "--validate=false", "-f", "-", stdin=wrong)
        invalid = json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
                              "metadata": {"name": "Wrong_Name"},
                              "spec": {"clusterQueue": "cluster-queue"}})
        self.assertIn("is invalid", self.refused("create", "-f", "-", stdin=invalid))

    def test_dry_run(self):
        self.kubectl("create", "-f", "-", "--dry-run=server", stdin=config_map("dry"))
        self.assertIn("NotFound", self.refused("get", "cm", "dry"))
        self.kubectl("create", "-f", "-", stdin=config_map("dry"))
        self.kubectl("delete", "cm", "dry", "--dry-run=server")
        self.kubectl("apply", "-f", "-", "--dry-run=server", stdin=config_map("dry", "other"))
        self.assertEqual(self.host.json("get", "cm", "dry")["data"]["key"], "v")

    def test_patch(self):
        self.kubectl("create", "-f", "-", stdin=config_map("patched"))
        self.kubectl("patch", "cm", "patched", "-p", '{"data":{"a":"1"}}')  # strategic
        self.kubectl("patch", "cm", "patched", "--type=merge", "-p", '{"data":{"b":"2"}}')
        self.kubectl("patch", "cm", "patched", "--type=json", "-p",
                     '[{"op":"replace","path":"/data/key","value":"w"}]')
        self.assertEqual(self.host.json("get", "cm", "patched")["data"],
                         {"a": "1", "b": "2", "key": "w"})
        self.assertIn("(Invalid)", self.refused("patch", "cm", "patched", "--type=json", "-p",
                                                '[{"op":"remove","path":"/data/none"}]')
                      .replace("The request is invalid", "(Invalid)"))
        self.assertIn("unsupported", self.refused("patch", "cq", "cluster-queue", "-p", "{}")
                      .lower().replace("not supported", "unsupported"))

    def test_edit(self):
        self.kubectl("create", "-f", "-", stdin=config_map("edited", "before"))
        editor = os.path.join(self.host.folder, "editor")
        with open(editor, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\nsed -i s/before/after/ \"$1\"\n")
        os.chmod(editor, 0o755)
        self.kubectl("edit", "cm", "edited", KUBE_EDITOR=editor)
        self.assertEqual(self.host.json("get", "cm", "edited")["data"]["key"], "after")

    def test_replace(self):
        self.kubectl("create", "-f", "-", stdin=config_map("replaced"))
        self.kubectl("replace", "-f", "-", stdin=config_map("replaced", "new"))
        self.assertEqual(self.host.json("get", "cm", "replaced")["data"]["key"], "new")
        self.kubectl("replace", "--force", "-f", "-", stdin=config_map("replaced", "newer"))
        stale = json.loads(config_map("replaced", "stale"))
        stale["metadata"]["resourceVersion"] = "1"
        self.assertIn("Conflict", self.refused("replace", "-f", "-", stdin=json.dumps(stale)))

    def test_label_and_annotate(self):
        self.kubectl("create", "-f", "-", stdin=config_map("labelled"))
        self.kubectl("label", "cm", "labelled", "a=b", "c=d")
        self.kubectl("label", "cm", "labelled", "a-")
        self.kubectl("label", "cq", "cluster-queue", "e2e=yes")
        self.assertIn("already has a value", self.refused("label", "cm", "labelled", "c=e"))
        self.kubectl("annotate", "cm", "labelled", "note=some text")
        metadata = self.host.json("get", "cm", "labelled")["metadata"]
        self.assertEqual(metadata["labels"], {"c": "d"})
        self.assertEqual(metadata["annotations"]["note"], "some text")

    def test_scale(self):
        self.kubectl("create", "-f", "-",
                     stdin=JOB.format(name="scaled", script="true", cpu="100"))
        self.kubectl("scale", "job", "scaled", "--replicas=3")
        self.assertEqual(self.host.json("get", "job", "scaled")["spec"]["parallelism"], 3)
        self.kubectl("scale", "job", "scaled", "--current-replicas=3", "--replicas=2")
        self.assertEqual(self.host.json("get", "job", "scaled")["spec"]["parallelism"], 2)
        self.kubectl("delete", "job", "scaled")

    def test_delete(self):
        for number in range(5):
            self.kubectl("create", "-f", "-", stdin=config_map(f"gone-{number}", group="gone"))
        self.kubectl("delete", "cm", "gone-0")
        self.kubectl("delete", "cm", "gone-1", "--wait=false", "--cascade=orphan")
        self.kubectl("delete", "cm", "gone-2", "--now")
        self.kubectl("delete", "cm", "-l", "group=gone")
        self.assertEqual(self.kubectl("get", "cm", "-l", "group=gone", "-o", "name"), "")
        self.assertIn("NotFound", self.refused("delete", "cm", "gone-0"))
        self.kubectl("delete", "cm", "gone-0", "--ignore-not-found")

    def test_finalizers_and_wait(self):
        held = json.loads(config_map("held"))
        held["metadata"]["finalizers"] = ["example.com/hold"]
        self.kubectl("create", "-f", "-", stdin=json.dumps(held))
        self.kubectl("delete", "cm", "held", "--wait=false")
        self.assertIn("deletionTimestamp", self.host.json("get", "cm", "held")["metadata"])
        wait = self.host.background("wait", "--for=delete", "cm/held", "--timeout=60s")
        self.kubectl("patch", "cm", "held", "--type=merge", "-p",
                     '{"metadata":{"finalizers":null}}')
        wait.communicate(timeout=90)
        self.assertEqual(wait.returncode, 0)

    def test_wait_for_json_path(self):
        self.kubectl("create", "-f", "-", stdin=config_map("awaited"))
        wait = self.host.background("wait", "--for=jsonpath={.data.key}=done", "cm/awaited",
                                    "--timeout=60s")
        self.kubectl("patch", "cm", "awaited", "-p", '{"data":{"key":"done"}}')
        wait.communicate(timeout=90)
        self.assertEqual(wait.returncode, 0)


class Jobs(Kubectl):
    def test_a_job_runs(self):
        job = JOB.format(name="hello", script="echo one; echo two; echo three", cpu="1")
        self.kubectl("apply", "-f", "-", stdin=job)
        self.kubectl("wait", "--for=condition=complete", "job/hello", "--timeout=60s")
        self.assertRegex(self.kubectl("get", "job", "hello"), r"hello +Complete +1/1")
        self.assertEqual(self.kubectl("logs", "job/hello"), "one\ntwo\nthree\n")
        self.assertEqual(self.kubectl("logs", "job/hello", "--tail=1"), "three\n")
        self.assertEqual(self.kubectl("logs", "job/hello", "--limit-bytes=5"), "one\nt")
        self.assertEqual(self.kubectl("logs", "job/hello", "-f"), "one\ntwo\nthree\n")
        self.assertEqual(self.kubectl("logs", "job/hello", "--since=1h"), "one\ntwo\nthree\n")
        self.assertRegex(self.kubectl("logs", "job/hello", "--timestamps", "--tail=1"),
                         r"^\d{4}-\d\d-\d\dT\S+Z three\n$")
        pods = self.host.json("get", "pods", "-l", "job-name=hello")["items"]
        self.assertEqual(len(pods), 1)
        self.assertEqual(pods[0]["status"]["phase"], "Succeeded")
        described = self.kubectl("describe", "job", "hello")
        self.assertIn("Events:", described)
        self.assertIn("CreatedWorkload", described)
        workload = self.host.json("get", "workloads", "-l",
                                  "kueue.x-k8s.io/job-uid=" + self.uid("job", "hello"))["items"][0]
        name = workload["metadata"]["name"]
        self.assertTrue(name.startswith("job-hello-"))
        self.assertIn("QuotaReserved", self.kubectl("describe", "workload", name))
        self.assertIn("Admitted", self.kubectl("events", "--for", f"workload/{name}"))
        self.kubectl("delete", "job", "hello")
        eventually(lambda: not self.kubectl("get", "pods,workloads", "-o", "name").strip()
                   or f"workload.kueue.x-k8s.io/{name}"
                   not in self.kubectl("get", "workloads", "-o", "name"), "its workload is gone")

    def uid(self, kind, name):
        return self.host.json("get", kind, name)["metadata"]["uid"]

    def test_logs_are_followed(self):
        gate = os.path.join(self.host.folder, "gate")
        script = f"echo begin; while [ ! -e {gate} ]; do sleep 0.05; done; echo end"
        self.kubectl("apply", "-f", "-", stdin=JOB.format(name="follow", script=script, cpu="1"))
        eventually(lambda: "Running" in self.kubectl("get", "pods", "-l", "job-name=follow"),
                   "the pod runs")
        logs = self.host.background("logs", "-f", "job/follow")
        try:
            self.assertEqual(logs.stdout.readline(), "begin\n")
            with open(gate, "w", encoding="utf-8"):
                pass
            self.assertEqual(logs.stdout.readline(), "end\n")
            self.assertEqual(logs.wait(timeout=60), 0)
        finally:
            logs.kill()
            logs.communicate()
        self.kubectl("delete", "job", "follow")

    def test_a_large_job_waits(self):
        self.kubectl("apply", "-f", "-", stdin=JOB.format(name="large", script="true", cpu="100"))
        condition = eventually(
            lambda: [c for w in self.host.json("get", "workloads")["items"]
                     for c in w.get("status", {}).get("conditions", [])
                     if w["metadata"]["name"].startswith("job-large-")
                     and c["type"] == "QuotaReserved"], "its workload is judged")[0]
        self.assertEqual(condition["status"], "False")
        self.assertIn("insufficient", condition["message"])
        pending = json.loads(self.kubectl(
            "get", "--raw", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cluster-queue"
            "/pendingworkloads"))
        self.assertTrue(any(item["metadata"]["name"].startswith("job-large-")
                            for item in pending["items"]), pending)
        self.kubectl("delete", "job", "large")


class Rights(Kubectl):
    def test_can_i(self):
        self.assertEqual(self.kubectl("auth", "can-i", "create", "jobs").strip(), "yes")
        self.assertIn("sluice-admin", self.kubectl("auth", "whoami"))
        self.assertIn("*.*", self.kubectl("auth", "can-i", "--list"))

    def test_walls(self):
        for name in ("team-a", "team-b"):
            self.kubectl("create", "ns", name)
        self.kubectl("create", "rolebinding", "edit", "--clusterrole=edit", "--user=ann", "-n",
                     "team-a")
        ann = ["--as", "ann"]
        self.assertEqual(self.kubectl("auth", "can-i", "create", "jobs", "-n", "team-a", *ann)
                         .strip(), "yes")
        denied = self.host.run("auth", "can-i", "create", "jobs", "-n", "team-b", *ann)
        self.assertEqual((denied.returncode, denied.stdout.strip()), (1, "no"))
        self.kubectl("create", "-f", "-", "-n", "team-a", *ann, stdin=config_map("mine"))
        self.assertIn("mine", self.kubectl("get", "cm", "-n", "team-a", *ann))
        self.assertIn('User "ann" cannot list resource "configmaps"',
                      self.refused("get", "cm", "-n", "team-b", *ann))
        self.assertIn("Forbidden", self.refused("get", "cm", "-A", *ann))
        self.assertIn("Forbidden", self.refused("get", "cm", "-n", "team-b", "-w", *ann))
        self.assertIn("Forbidden", self.refused("create", "ns", "team-c", *ann))

    def test_wrong_credentials(self):
        done = self.host.run("get", "ns", "--token=wrong")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("logged in", done.stdout + done.stderr)


class Restart(Kubectl):
    def test_everything_is_there_again(self):
        self.kubectl("create", "-f", "-", stdin=config_map("kept", "value"))
        before = self.host.json("get", "cm", "kept")
        for how in ("SIGTERM", "SIGKILL"):
            self.host.stop(getattr(__import__("signal"), how))
            self.host.start()
            self.assertEqual(self.host.json("get", "cm", "kept"), before)
            self.kubectl("create", "-f", "-", stdin=config_map("after-" + how.lower()))
            after = self.host.json("get", "cm", "after-" + how.lower())
            self.assertGreater(int(after["metadata"]["resourceVersion"]),
                               int(before["metadata"]["resourceVersion"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    if shutil.which("kubectl") is None:
        skip("there is no kubectl here (Debian: kubernetes-client)")
    subprocess.run(["kubectl", "version", "--client"], check=True)
    Kubectl.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

"""A live host with a queue, and real kubectl: what tests of kubectl begin with."""
import argparse
import json
import os
import re
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
    minor = 0  # of the client's version
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

    def says(self, pattern, *args):
        """What kubectl says once it says that: an event, or the status of a queue, is written after
        what it tells of."""
        said = ""

        def look():
            nonlocal said
            said = self.kubectl(*args)
            return re.search(pattern, said)
        try:
            eventually(look, pattern)
        except AssertionError as error:
            raise AssertionError(f"{error}; but\n{said}") from None
        return said

    def needs(self, minor):
        """Commands and flags that older clients do not have."""
        if self.minor < minor:
            self.skipTest(f"kubectl 1.{minor} or newer is needed, this is 1.{self.minor}")

    def gone(self, *what):
        """Waits until it is; older clients fail where it is gone already."""
        done = self.host.run("wait", "--for=delete", *what, "--timeout=180s")
        if "no matching resources" not in done.stderr:
            self.assertEqual(done.returncode, 0, done.stderr)

    def refused(self, *args, stdin=None):
        """What kubectl says when it fails."""
        done = self.host.run(*args, stdin=stdin)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    if shutil.which("kubectl") is None:
        skip("there is no kubectl here (Debian: kubernetes-client)")
    version = json.loads(subprocess.run(["kubectl", "version", "--client", "-o", "json"],
                                        check=True, capture_output=True, text=True).stdout)
    print("kubectl", version["clientVersion"]["gitVersion"], flush=True)
    Kubectl.minor = int(version["clientVersion"]["gitVersion"].split(".")[1])
    Kubectl.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

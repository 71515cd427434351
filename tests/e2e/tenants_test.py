#!/usr/bin/env python3
"""Jobs of two namespaces on one live host that runs as root: whose they are on the machine, and
what of each other and of the host they cannot reach.

    tenants_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import os
import signal
import sys
import unittest

from host import Host, eventually, skip
from wire import Wire

# Of no other host on this machine: one of these jobs ends whatever else runs as its user.
FIRST_USER = 2_100_000_000
USERS = f"executor: {{ type: local, jobUsers: {{ first: {FIRST_USER} }} }}\n"


class Tenants(unittest.TestCase):
    sluice = ""

    def setUp(self):
        self.host = Host(self.sluice, extra=USERS)
        self.addCleanup(self.host.__exit__)
        self.host.start()
        with Wire(self.host) as wire:
            for name in ("team-a", "team-b"):
                wire.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    def start(self, ns, name, script):
        pod = {"metadata": {"name": name}, "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "c", "image": "any", "command": ["sh", "-c", script]}]}}
        with Wire(self.host) as wire:
            made = wire.ask("POST", f"/api/v1/namespaces/{ns}/pods", pod)
            self.assertEqual(made[0], 201, made)

    def said(self, ns, name, ended=True):
        """The log of a pod that has ended, or said something."""
        path = f"/api/v1/namespaces/{ns}/pods/{name}"

        def look():
            phase = wire.ask("GET", path)[2].get("status", {}).get("phase")
            status, _, text = wire.ask("GET", path + "/log")
            done = phase in ("Succeeded", "Failed") if ended else status == 200 and text
            return (text.decode() or " ") if done and isinstance(text, bytes) else None

        with Wire(self.host) as wire:
            return eventually(look, f"{ns}/{name} has something to say")

    def run_pod(self, ns, name, script):
        self.start(ns, name, script)
        return self.said(ns, name)

    def test_a_namespace_is_a_user(self):
        first = self.run_pod("team-a", "one", "echo user $(id -u)")
        self.assertGreaterEqual(int(first.split()[1]), FIRST_USER)
        self.assertEqual(self.run_pod("team-a", "two", "echo user $(id -u)"), first)
        other = self.run_pod("team-b", "one", "echo user $(id -u)")
        self.assertNotEqual(other, first)
        self.host.stop(signal.SIGKILL)
        self.host.start()
        self.assertEqual(self.run_pod("team-b", "two", "echo user $(id -u)"), other)
        self.assertEqual(self.run_pod("team-a", "three", "echo user $(id -u)"), first)

    def test_files_of_others_and_of_the_host_are_out_of_reach(self):
        self.start("team-a", "owner", "echo mine > file; pwd; exec sleep 1000")
        folder = self.said("team-a", "owner", ended=False).strip()
        data = os.path.join(self.host.folder, "data")
        said = self.run_pod("team-b", "thief", f"""
            cat {folder}/file; ls {folder}; ls {data}; cat {data}/kubeconfig; cat {data}/pki/ca.key
            for p in /proc/[0-9]*; do
                [ "$(stat -c %u $p 2>/dev/null)" = "$(id -u)" ] && continue
                cat $p/environ 2>/dev/null | tr '\\0' '\\n' | grep HOME && echo read $p
            done
            kill -9 -1; echo alive""")
        for stolen in ("mine", "token", "PRIVATE", "HOME"):
            self.assertNotIn(stolen, said)
        self.assertEqual(said.count("Permission denied"), 5, said)
        with Wire(self.host) as wire:  # `kill -9 -1` ended nobody's but its own
            owner = wire.ask("GET", "/api/v1/namespaces/team-a/pods/owner")[2]
            self.assertEqual(owner["status"]["phase"], "Running")
        # The machine was not left with its folder.
        with Wire(self.host) as wire:
            wire.ask("DELETE", "/api/v1/namespaces/team-a/pods/owner")
        eventually(lambda: not os.path.exists(folder), "its folder is gone")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    if os.geteuid() != 0:
        skip("jobs run as other users only where the host is root")
    Tenants.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

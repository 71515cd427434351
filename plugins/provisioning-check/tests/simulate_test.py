#!/usr/bin/env python3
"""The plugin under `sluice simulate`: it asks for capacity, runs no program, and the check stays
Pending until the Timeline says what became of the request, or of the check.

    simulate_test.py --sluice build/dev/bin/sluice --examples examples/provisioning [--isolated]

--isolated: the plugin in a process of its own; the decisions are the same.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--examples", required=True)
OPTIONS.add_argument("--isolated", action="store_true")
OPTIONS, REST = OPTIONS.parse_known_args()
ISOLATION = {"isolation": "process"} if OPTIONS.isolated else {}
REQUEST = "job-render-318d7-capacity-{}"


def condition(kind, at):
    return {"type": kind, "status": "True", "reason": "Told", "message": f"{kind} by the Timeline",
            "lastTransitionTime": at}


class Simulate(unittest.TestCase):
    def simulate(self, *events):
        """The decisions as `SECONDS type`, and the objects at the end by kind and name."""
        with tempfile.TemporaryDirectory() as folder:
            ran, dump = os.path.join(folder, "ran"), os.path.join(folder, "dump")
            config = os.path.join(folder, "sluice.yaml")
            with open(config, "w", encoding="utf-8") as out:
                json.dump({"apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
                           "plugins": {"load": [{"name": "provisioning-check", **ISOLATION,
                                                 "config": {"command": ["touch", ran]}}]}}, out)
            timeline = os.path.join(folder, "timeline.json")
            with open(timeline, "w", encoding="utf-8") as out:
                json.dump({"apiVersion": "sluice.dev/v1alpha1", "kind": "Timeline",
                           "start": "2026-01-01T00:00:00Z", "events": list(events)}, out)
            done = subprocess.run(
                [OPTIONS.sluice, "simulate", "--config", config, "--log", "-", "--dump", dump,
                 os.path.join(OPTIONS.examples, "queues.yaml"),
                 os.path.join(OPTIONS.examples, "job.yaml"), timeline],
                capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(os.path.exists(ran), "a program was run")
            with open(dump, encoding="utf-8") as text:
                self.dump = text.read()
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [f"{line['t']} {line['type']}" for line in lines if line["type"] != "Summary"]

    def provisioning(self, attempt, kind, at):
        return {"at": f"{at}s", "patch": {
            "kind": "ProvisioningRequest", "namespace": "team-a", "name": REQUEST.format(attempt),
            "subresource": "status", "merge": {"status": {"conditions": [
                condition(kind, f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z")]}}}}

    def test_nobody_answers(self):
        self.assertEqual(self.simulate(), ["0.0 QuotaReserved"])
        self.assertIn(f'"name":"{REQUEST.format(1)}"', self.dump)
        self.assertIn('"name":"capacity","state":"Pending"', self.dump.replace(": ", ":"))

    def test_provisioned(self):
        self.assertEqual(self.simulate(self.provisioning(1, "Provisioned", 180)),
                         ["0.0 QuotaReserved", "180.0 CheckState", "180.0 Admitted"])

    def test_failed_then_provisioned(self):
        # The pause of the configuration is 10 s.
        self.assertEqual(
            self.simulate(self.provisioning(1, "Failed", 60),
                          self.provisioning(2, "Provisioned", 100)),
            ["0.0 QuotaReserved", "60.0 CheckState", "60.0 Evicted", "60.0 Pending",
             "70.0 Requeued", "70.0 QuotaReserved", "100.0 CheckState", "100.0 Admitted"])
        self.assertNotIn(REQUEST.format(1), self.dump)

    def test_check_answered(self):
        answer = {"name": "capacity", "state": "Ready", "message": "by hand",
                  "lastTransitionTime": "2026-01-01T00:00:30Z"}
        self.assertEqual(
            self.simulate({"at": "30s", "patch": {
                "kind": "Workload", "namespace": "team-a", "name": "job-render-318d7",
                "subresource": "status", "merge": {"status": {"admissionChecks": [answer]}}}}),
            ["0.0 QuotaReserved", "30.0 CheckState", "30.0 Admitted"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)

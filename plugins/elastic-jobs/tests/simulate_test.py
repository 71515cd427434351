#!/usr/bin/env python3
"""What `sluice simulate` tells of elastic jobs that shrink (C7): in the story, in the log, and
without warnings.

    simulate_test.py --sluice build/dev/bin/sluice
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

SLUICE = None

QUEUE = [
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "c"},
     "spec": {"namespaceSelector": {}, "resourceGroups": [
         {"coveredResources": ["cpu"], "flavors": [
             {"name": "f", "resources": [{"name": "cpu", "nominalQuota": 10}]}]}]}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
     "metadata": {"name": "q", "namespace": "default"}, "spec": {"clusterQueue": "c"}}]


def job(pods, completions):
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "j", "namespace": "default",
                         "labels": {"kueue.x-k8s.io/queue-name": "q"},
                         "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
            "spec": {"parallelism": pods, "completions": completions, "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}}}}


def patch(at, merge, **more):
    return {"at": at, "patch": {"kind": "Job", "namespace": "default", "name": "j",
                                "merge": merge, **more}}


def simulate(objects, events, *options):
    timeline = {"apiVersion": "sluice.dev/v1alpha1", "kind": "Timeline", "events": events}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "List", "items": objects + [timeline]}, out)
        return subprocess.run(
            [SLUICE, "simulate", "--plugins", "elastic-jobs", *options, path],
            capture_output=True, text=True, check=True)


class C7Simulate(unittest.TestCase):
    def test_a_scale_down_is_told_in_story_and_log(self):
        case = QUEUE + [job(3, 100)], [patch("10s", {"spec": {"parallelism": 0}})]
        story = simulate(*case).stdout
        self.assertRegex(story, r"\n +10s  default/job-j-\w+ +goes on with fewer pods: main ×0 ")
        self.assertRegex(story, r"\n  c +f +cpu +0 +10 ")
        log = [json.loads(line) for line in simulate(*case, "--log", "-").stdout.splitlines()]
        lowered = [each for each in log if each["type"] == "Lowered"]
        self.assertEqual([(each["t"], each["podSets"][0]["count"]) for each in lowered], [(10, 0)])

    def test_pods_that_are_done_give_no_warning(self):
        # Three of six are done: a growth to 8 asks for 6 at most, and less is taken at once.
        done = {"status": {"succeeded": 3, "active": 3, "ready": 3}}
        run = simulate(QUEUE + [job(5, 6)], [
            patch("5s", done, subresource="status"), patch("10s", {"spec": {"parallelism": 8}}),
            patch("20s", {"spec": {"parallelism": 2}})])
        self.assertEqual(run.stderr, "")
        self.assertRegex(run.stdout,
                         r"\n +20s  default/job-j-\w+ +goes on with fewer pods: main ×2 ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    known, rest = parser.parse_known_args()
    SLUICE = known.sluice
    unittest.main(argv=[sys.argv[0], *rest])

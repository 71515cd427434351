#!/usr/bin/env python3
"""`sluice simulate` on the examples, with every plugin that the product has: each is taken as a
host takes it, and the same is decided.

    simulated_test.py --sluice build/dev/bin/sluice --examples examples [Simulated.test_name …]
"""
import argparse
import json
import os
import subprocess
import sys
import unittest

# What is read, how many workloads it makes, how many of these are admitted.
INPUTS = [
    (["quickstart"], 6, 7),  # one is evicted for another and comes back
    (["quickstart/1-capacity.yaml", "quickstart/2-teams.yaml", "live/team-a.yaml"], 3, 3),  # Jobs
    (["elastic"], 2, 2),
    (["checks"], 1, 0),  # nobody answers its check
    (["provisioning"], 1, 0),
]


class Simulated(unittest.TestCase):
    sluice = examples = ""

    def test_examples_with_all_plugins(self):
        for paths, workloads, admitted in INPUTS:
            with self.subTest(paths):
                done = subprocess.run(
                    [self.sluice, "simulate", *(os.path.join(self.examples, each)
                                                for each in paths)],
                    capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                summary = json.loads(done.stdout.strip().splitlines()[-1])
                self.assertEqual((summary["workloads"], summary["admitted"]),
                                 (workloads, admitted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--examples", required=True)
    options, rest = parser.parse_known_args()
    Simulated.sluice = os.path.abspath(options.sluice)
    Simulated.examples = options.examples
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Decisions that were measured on Kueue (tests/decisions), on a real control plane. decisions.py
plays as many cases as it is given; here are some with few instants."""
import argparse
import glob
import os
import unittest

import build
import decisions

CASES = os.path.join(decisions.HERE, os.pardir, "decisions", "cases")
# How many of each configuration of the scheduler.
NUMBERS = {False: 14, True: 6}


class OnACluster(unittest.TestCase):
    sluice = programs = ""
    maxDiff = None

    def chosen(self):
        """Those with the fewest instants."""
        paths = [each for each in glob.glob(os.path.join(CASES, "*.json"))
                 if not each.endswith(".expect.json")]
        cases = sorted((decisions.DecisionCase(path) for path in paths),
                       key=lambda case: (len(case.instants), case.name))
        out = []
        for fair, number in NUMBERS.items():
            some = [case for case in cases
                    if case.expected["config"] == {"fairSharing": {"enable": fair}}
                    and case.can_be_expressed(self.sluice, "none")]
            out += some[:number]
        return out

    def test_they_are_what_was_measured(self):
        options = argparse.Namespace(sluice=self.sluice, programs=self.programs, plugins="none")
        cases = self.chosen()
        self.assertEqual(len(cases), sum(NUMBERS.values()))
        played = decisions.play_all(options, cases)
        self.assertEqual(len(played), len(cases))
        self.assertEqual({case.name: case.found for case in played if case.found}, {})


if __name__ == "__main__":
    build.run_tests(OnACluster)

#!/usr/bin/env python3
"""What ./dev asks ninja for is there: a target that was called anew is found here, and not by who
needs the command months later.

usage: targets_test.py BUILD
"""
import os
import re
import subprocess
import sys
import unittest

BUILD = sys.argv.pop()
DEV = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../dev"))


class Targets(unittest.TestCase):
    def test_each_that_is_named_is_in_the_build(self):
        with open(DEV, encoding="utf-8") as text:
            named = set(re.findall(r"\bsluice_[a-z_]+", text.read()))
        self.assertIn("sluice_plugins", named)
        listed = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"], check=True,
                                capture_output=True, text=True).stdout
        known = {line.split(":")[0] for line in listed.splitlines()}
        self.assertEqual(named - known, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""Runs *.test.mjs beside it with node's own test runner."""
import glob
import os
import shutil
import subprocess
import sys

SKIP = 77  # CTest: this test was skipped


def main():
    if shutil.which("node") is None:
        print("skipped: there is no node here (Debian: nodejs)")
        sys.exit(SKIP)
    here = os.path.dirname(os.path.abspath(__file__))
    tests = sorted(glob.glob(os.path.join(here, "*.test.mjs")))
    sys.exit(subprocess.run(["node", "--test", *tests], check=False, timeout=600).returncode)


if __name__ == "__main__":
    main()

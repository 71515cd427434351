#!/usr/bin/env python3
"""The package for Python as others get it: the SDK is installed, pip takes the package from there
into an environment of its own, without a network, and a plugin runs with it.

usage: pip_test.py --source . --work FOLDER
"""
import argparse
import os
import shutil
import subprocess
import sys
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--source", required=True)
OPTIONS.add_argument("--work", required=True)
OPTIONS, LEFT = OPTIONS.parse_known_args()
SKIP = 77

TEST = '''
import sluice_plugin as sluice
from sluice_plugin.testing import FakeHost

class Yes(sluice.Plugin):
    name = "yes"
    check_controllers = ["example.com/yes"]

    def begin_check(self, query):
        return sluice.ready("yes")

with FakeHost(Yes) as host:
    host.begin("w")
    print(sluice.__file__, host.reports["w"].state)
'''


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={
        "PATH": os.environ["PATH"], "HOME": OPTIONS.work, "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Pip(unittest.TestCase):
    def test_it_is_installed_from_the_sdk_without_a_network(self):
        prefix = os.path.join(OPTIONS.work, "sdk")
        build = os.path.join(OPTIONS.work, "build")
        run("cmake", "-S", os.path.join(OPTIONS.source, "sdk"), "-B", build)
        run("cmake", "--install", build, "--prefix", prefix)
        share = os.path.join(prefix, "share", "sluice-sdk")
        self.assertEqual(sorted(os.listdir(os.path.join(share, "protocol"))),
                         ["sluice-plugin.md", "sluice-plugin.schema.json"])
        own = os.path.join(OPTIONS.work, "environment")
        run(sys.executable, "-m", "venv", own)
        python = os.path.join(own, "bin", "python")
        run(python, "-m", "pip", "install", os.path.join(share, "python"))
        file, state = run(python, "-c", TEST).split()
        self.assertTrue(file.startswith(own), file)
        self.assertEqual(state, "Ready")
        self.assertIn("sluice-plugin", run(python, "-m", "pip", "list"))
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(file), "py.typed")))
        run(python, "-m", "pip", "uninstall", "--yes", "sluice-plugin")


if __name__ == "__main__":
    try:
        import ensurepip  # noqa: F401  what venv makes pip of
    except ImportError:
        print("skipped: this Python has no ensurepip (on Debian: python3-venv)")
        sys.exit(SKIP)
    shutil.rmtree(OPTIONS.work, ignore_errors=True)
    os.makedirs(OPTIONS.work)
    unittest.main(argv=[sys.argv[0], *LEFT], verbosity=2)

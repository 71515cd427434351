#!/usr/bin/env python3
"""@kubernetes/client-node against a live host: starts the host, installs the client into the build
folder as node/package-lock.json says, and runs node/*.test.mjs with node's own test runner.

    node_test.py --sluice build/dev/bin/sluice --build build/dev
"""
import argparse
import os
import subprocess
import sys

from host import Host
from npm import install

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    folder = install(HERE, options.build)
    sluice = os.path.abspath(options.sluice)
    with Host(sluice) as host:
        # Now it has an address for good; the tests start and end it from here.
        host.stop()
        done = subprocess.run(
            ["node", "--test", "--test-reporter=spec", *rest, "client.test.mjs"], cwd=folder,
            timeout=2400, check=False,
            env=host.environment(SLUICE_E2E_SLUICE=sluice, SLUICE_E2E_FOLDER=host.folder))
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""@kubernetes/client-node against a live host: starts the host, installs the client into the build
folder as node/package-lock.json says, and runs node/*.test.mjs with node's own test runner.

    node_test.py --sluice build/dev/bin/sluice --build build/dev
"""
import argparse
import hashlib
import os
import shutil
import subprocess
import sys

from host import Host, skip

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node")


def install(build):
    """The folder of the installed client: made once per content of the lock file."""
    with open(os.path.join(HERE, "package-lock.json"), "rb") as lock:
        version = hashlib.sha256(lock.read()).hexdigest()[:16]
    folder = os.path.join(os.path.abspath(build), "e2e-node-" + version)
    done = os.path.join(folder, "installed")
    if not os.path.exists(done):
        os.makedirs(folder, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(HERE, name), folder)
        try:
            npm = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                                 cwd=folder, capture_output=True, text=True, timeout=300,
                                 check=False)
        except subprocess.TimeoutExpired:
            skip("npm did not answer; the packages of tests/e2e/node are not here")
        if npm.returncode != 0:
            skip("npm cannot install the packages of tests/e2e/node:\n" + npm.stderr[-2000:])
        with open(done, "w", encoding="utf-8"):
            pass
    return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    for command in ("node", "npm"):
        if shutil.which(command) is None:
            skip(f"there is no {command} here (Debian: nodejs, npm)")
    folder = install(options.build)
    # Modules are looked for beside the file that asks for them.
    for name in os.listdir(HERE):
        if name.endswith(".mjs"):
            shutil.copy(os.path.join(HERE, name), folder)
    sluice = os.path.abspath(options.sluice)
    with Host(sluice) as host:
        # Now it has an address for good; the tests start and end it from here.
        host.stop()
        done = subprocess.run(
            ["node", "--test", "--test-reporter=spec", *rest, "client.test.mjs"], cwd=folder,
            timeout=300, check=False,
            env=host.environment(SLUICE_E2E_SLUICE=sluice, SLUICE_E2E_FOLDER=host.folder))
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()

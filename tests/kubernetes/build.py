#!/usr/bin/env python3
"""Builds the programs that the tests of this folder run, once per content of the module files.

usage: build.py FOLDER

FOLDER/control-plane  etcd, kube-apiserver, kube-controller-manager and kube-scheduler in one
FOLDER/kueue          Kueue's manager, the neighbour
FOLDER/lws            the manager of LeaderWorkerSets, a neighbour as well
FOLDER/crds           Kueue's CustomResourceDefinitions, a link into the cache of Go modules
FOLDER/jobset         that of JobSet, such a link
FOLDER/lwscrds        those of LeaderWorkerSet, such a link
FOLDER/requests       that of the cluster autoscaler's ProvisioningRequest, such a link

Cold it takes a quarter of an hour on two cores. Exits with 77 when Go is missing or too old.
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77
# Programs whose module has their name; all others are of the neighbour's.
OWN_MODULES = ("control-plane", "lws")
OLDEST = (1, 24)
KUEUE = "sigs.k8s.io/kueue"
LWS = "sigs.k8s.io/lws"
AUTOSCALER = "k8s.io/autoscaler/cluster-autoscaler/apis"
# What is linked: a module of which Kueue is made, and where in it the definitions are.
LINKS = {"jobset": ("sigs.k8s.io/jobset",
                    "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
         "crds": (KUEUE, "config/components/crd/bases"),
         "lwscrds": (LWS, "config/crd/bases"),
         "requests": (AUTOSCALER, "config/crd/autoscaling.x-k8s.io_provisioningrequests.yaml")}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def digest_of(module):
    digest = hashlib.sha256()
    for name in sorted(os.listdir(os.path.join(HERE, module))):
        with open(os.path.join(HERE, module, name), "rb") as text:
            digest.update(text.read())
    return digest.hexdigest()[:16]


def version_of(module, name):
    """The version of the required module `name`."""
    with open(os.path.join(HERE, module, "go.mod"), encoding="utf-8") as text:
        return re.search(rf"^\s*(?:require )?{re.escape(name)} (v\S+)", text.read(), re.M).group(1)


def find(folder, name):
    """The path of a program, or of a link to definitions; None: it is not built."""
    if name in LINKS:
        path = os.path.join(folder, f"{name}-{version_of('neighbour', LINKS[name][0])}")
    else:
        module = name if name in OWN_MODULES else "neighbour"
        path = os.path.join(folder, f"{name}-{digest_of(module)}")
    return os.path.abspath(path) if os.path.exists(path) else None


def run_tests(case, *more):
    """Runs the file's tests; `case`, of which they are, learns where the programs are. Skips them
    where the control plane, the definitions or one of `more` is not built."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--programs", required=True)
    options, rest = parser.parse_known_args()
    case.sluice, case.programs = os.path.abspath(options.sluice), options.programs
    for name in ("control-plane", *LINKS, *more):
        if not find(options.programs, name):
            skip(f"{name} is not built; ./dev test kubernetes does that")
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


def go(module, *arguments, **more):
    return subprocess.run(["go", *arguments], cwd=os.path.join(HERE, module), text=True,
                          env=os.environ | {"GOFLAGS": "-buildvcs=false"}, check=False, **more)


def check_go():
    try:
        told = subprocess.run(["go", "version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        skip("there is no go; version 1.24 or later builds a control plane for the tests")
    found = re.search(r"go(\d+)\.(\d+)", told.stdout)
    if not found or tuple(map(int, found.groups())) < OLDEST:
        skip(f"{told.stdout.strip()} is too old; 1.24 or later builds a control plane")


def build(folder, name, module, package, flags):
    if find(folder, name):
        return
    print(f"building {name} (minutes, once)", flush=True)
    target = os.path.join(os.path.abspath(folder), f"{name}-{digest_of(module)}")
    done = go(module, "build", "-trimpath", "-ldflags", "-s -w " + flags, "-o", target, package)
    if done.returncode != 0:
        skip(f"Go cannot build {name}; see above")


def link_definitions(folder, name):
    if find(folder, name):
        return
    module, where = LINKS[name]
    version = version_of("neighbour", module)
    done = go(".", "mod", "download", "-json", f"{module}@{version}", capture_output=True)
    if done.returncode != 0:
        skip(f"Go cannot get the module {module}:\n" + done.stderr[-2000:])
    path = os.path.join(folder, f"{name}-{version}")
    if os.path.islink(path):  # of a cache that is gone
        os.unlink(path)
    os.symlink(os.path.join(json.loads(done.stdout)["Dir"], where), path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    os.makedirs(folder, exist_ok=True)
    check_go()
    release = version_of("control-plane", "k8s.io/kubernetes")
    major, minor = release[1:].split(".")[:2]
    package = "k8s.io/component-base/version."
    version = f"-X {package}gitVersion={release} -X {package}gitMajor={major} " \
        f"-X {package}gitMinor={minor}"
    for name in LINKS:
        link_definitions(folder, name)
    build(folder, "control-plane", "control-plane", ".", version)
    build(folder, "kueue", "neighbour", KUEUE + "/cmd/kueue", version)
    build(folder, "lws", "lws", LWS + "/cmd", "")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Are the tests able to fail? Changes one operator, constant, branch or call at a time, builds what
depends on it and runs what tests it.

    mutate.py [--folder build/mutate] [--seed 1] [--in core,host/writes] [--again FILE] [N]

The sources are copied into FOLDER/tree and built there as the preset `quick`; the checkout is not
touched. N mutations (default 16) are drawn, as many in each folder as it has places for them. One
that does not compile is no mutation; another one is drawn for it. A test that takes ten times what
it took before has caught it, too. Survivors are printed at the end: each needs a test, or a reason
why nobody can notice it. --again FILE tries the survivors that an earlier run printed into FILE,
those whose line is still there. Exit status 1 when tests fail without any change.
"""
import argparse
import glob
import os
import random
import re
import subprocess
import sys
import time

from mutations import mutated, mutations_of

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CORE = ["core_base_test", "core_types_test", "core_quota_test", "core_queueing_test",
        "core_preemption_test", "core_scheduling_test", "core_engine_test"]
WHOLE = ["host_kernel_test", "host_controllers_test", "dst_test"]  # of machines that decide
# Where sources are changed: what tests each; and whether the measured decisions do.
FOLDERS = {
    "core": ([*CORE, *WHOLE, "host_explain_test", "plugin_concurrent_admission_test",
              "plugin_elastic_jobs_test", "plugin_pod_groups_test"], True),
    "host/writes": ([*WHOLE, "host_writes_test", "host_plugins_test", "host_rest_test",
                     "host_simulate_test"], False),
    "host/store": (["host_store_test", "host_store_faults_test", "host_store_kill_test",
                    "dst_test"], False),
    "host/access": (["host_access_test", "host_apiserver_test", "host_rest_test"], False),
}
COPIED = ("api", "cmake", "core", "host", "packaging", "plugins", "sdk", "tests", "web", "bench",
          "docs", "examples", "CMakeLists.txt", "CMakePresets.json", "LICENSE",
          "THIRD_PARTY_NOTICES.md", "README.md")


class Tree:
    """A copy of the checkout, and its build."""

    def __init__(self, folder, jobs):
        self.root = os.path.join(os.path.abspath(folder), "tree")
        self.build_folder = os.path.join(self.root, "build", "quick")
        self.jobs = str(jobs)
        os.makedirs(self.root, exist_ok=True)

    def update(self):
        """Only what differs is written, so that only that is built anew."""
        names = subprocess.run(["git", "ls-files", "-z", "--", *COPIED], cwd=ROOT, check=True,
                               capture_output=True).stdout.decode().split("\0")
        for name in filter(None, names):
            with open(os.path.join(ROOT, name), "rb") as source:
                content = source.read()
            self.write(name, content)

    def write(self, name, content):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            with open(path, "rb") as there:
                if there.read() == content:
                    return
        with open(path, "wb") as out:
            out.write(content)

    def run(self, *command, seconds=None):
        """(status, output); status None: it took too long."""
        try:
            done = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.STDOUT, check=False, timeout=seconds,
                                  errors="replace")
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            return None, ""

    def configure(self):
        status, output = self.run("cmake", "--preset", "quick")
        if status != 0:
            sys.exit(output)

    def build(self, targets):
        return self.run("ninja", "-C", self.build_folder, "-j", self.jobs, *targets)

    def test(self, name):
        return os.path.join(self.build_folder, "tests", name)

    def sluice(self):
        return os.path.join(self.build_folder, "bin", "sluice")


class Tests:
    """What is run for the sources of a folder, with the time that each took without a change."""

    def __init__(self, tree, folder):
        programs, decides = FOLDERS[folder]
        self.tree = tree
        self.targets = [*programs, *(["sluice"] if decides else [])]
        self.commands = {name: [tree.test(name), "--gtest_brief=1"] for name in programs}
        if decides:
            cases = sorted(each for each in glob.glob(
                os.path.join(tree.root, "tests/decisions/cases/*.json"))
                if not each.endswith(".expect.json"))
            self.commands["decisions"] = [
                sys.executable, os.path.join(tree.root, "tests/decisions/compare.py"), "--sluice",
                tree.sluice(), *cases]
        self.took = {}

    def prove(self):
        """All pass as they are; from now on the quick ones are run first."""
        status, output = self.tree.build(self.targets)
        if status != 0:
            sys.exit(output)
        for name, command in self.commands.items():
            began = time.monotonic()
            status, output = self.tree.run(*command)
            if status != 0:
                sys.exit(f"{name} fails without any change:\n{output[-3000:]}")
            self.took[name] = time.monotonic() - began
        self.commands = dict(sorted(self.commands.items(), key=lambda each: self.took[each[0]]))

    def catch(self):
        """The name of the first test that notices; None: none does. "" when it does not compile."""
        if self.tree.build(self.targets)[0] != 0:
            return ""
        for name, command in self.commands.items():
            status, _ = self.tree.run(*command, seconds=10 + 10 * self.took[name])
            if status != 0:
                return name if status is not None else name + " (too slow)"
        return None


def places(folders):
    """(folder, name of the source, mutation), all that there are."""
    out = []
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.cpp"), recursive=True)):
            with open(path, encoding="utf-8") as text:
                name = os.path.relpath(path, ROOT)
                out += [(folder, name, each) for each in mutations_of(text.read())]
    return out


def read_survivors(path):
    """{(name of the source, line before, line after)} of what a run printed."""
    with open(path, encoding="utf-8") as text:
        found = re.findall(r"^survivor +(\S+):\d+\n +- (.*)\n +\+ (.*)$", text.read(), re.M)
    if not found:
        sys.exit(f"--again: {path} names no survivor")
    return set(found)


def tell(what, name, mutation):
    print(f"{what:34} {name}:{mutation.line}\n"
          f"    - {mutation.before.strip()}\n    + {mutation.after.strip()}", flush=True)


def run(options):
    folders = options.folders.split(",")
    for each in folders:
        if each not in FOLDERS:
            sys.exit(f"--in: found {each!r}; allowed: {', '.join(FOLDERS)}")
    tree = Tree(options.folder, options.jobs)
    tree.update()
    tree.configure()
    tests = {each: Tests(tree, each) for each in folders}
    for each in tests.values():
        each.prove()
    drawn = places(folders)
    if options.again:
        kept = read_survivors(options.again)
        drawn = [each for each in drawn
                 if (each[1], each[2].before.strip(), each[2].after.strip()) in kept]
    random.Random(options.seed).shuffle(drawn)
    caught, survivors, not_compiled = 0, [], 0
    while drawn and caught + len(survivors) < options.number:
        folder, name, mutation = drawn.pop()
        with open(os.path.join(ROOT, name), encoding="utf-8") as text:
            content = text.read()
        tree.write(name, mutated(content, mutation).encode())
        by = tests[folder].catch()
        tree.write(name, content.encode())
        if by == "":
            not_compiled += 1
        elif by:
            caught += 1
            tell("caught by " + by, name, mutation)
        else:
            survivors.append((name, mutation))
            tell("NOT CAUGHT", name, mutation)
    number = caught + len(survivors)
    print(f"\n{caught} of {number} caught ({100 * caught / max(1, number):.0f} %); "
          f"{not_compiled} did not compile; seed {options.seed}")
    for name, mutation in survivors:
        tell("survivor", name, mutation)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", nargs="?", type=int, default=16, metavar="N")
    parser.add_argument("--folder", default="build/mutate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--in", dest="folders", default=",".join(FOLDERS), metavar="FOLDERS")
    run(parser.parse_args())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Are the tests able to fail? Changes one operator, constant, branch or call at a time and runs
what tests it.

    mutate.py [--folder build/mutate] [--seed 1] [--in core,host/writes] [--seconds 20]
              [--with host_writes_test,dst_test] [--again FILE] [N]

The sources are copied into FOLDER/tree, all mutations are put into the copy, each to be switched on
by a variable of the environment, and the copy is built once as the preset `quick`; the checkout is
not touched. What does not compile is left out. Each case of the tests is run once as it is: how
long does it take, which mutations does it come by? Then N mutations (default 16) are drawn, as many
in each folder as it has places for them, and each is tried with the cases that come by it, the
quick ones first, until they would take more than --seconds (20): each survivor costs as much. A
test that takes ten times what it took before has caught it, too. Survivors are printed at the end:
each needs a test, or a reason why nobody can notice it. --with names the suites that are built and
asked, where not all are. --again FILE tries the survivors that an earlier run printed into FILE,
those whose code is still there. Exit status 1 when tests fail without any change.
"""
import argparse
import glob
import os
import random
import re
import sys

from sources import MOST_OF_A_SOURCE, same, sources_of
from suites import Decisions, Program, Runner, Tests
from tree import Tree

CORE = ["core_base_test", "core_types_test", "core_quota_test", "core_reasons_test",
        "core_queueing_test", "core_preemption_test", "core_scheduling_test", "core_engine_test"]
WHOLE = ["host_kernel_test", "host_controllers_test", "dst_test"]  # of machines that decide
# Where sources are changed, and what tests each, the nearest first.
FOLDERS = {
    "core": [*CORE, *WHOLE, "decisions", "host_explain_test", "plugin_concurrent_admission_test",
             "plugin_elastic_jobs_test", "plugin_pod_groups_test"],
    "host/writes": ["host_writes_test", *WHOLE, "host_plugins_test", "host_rest_test",
                    "host_simulate_test", "host_apiserver_test"],
    "host/store": ["host_store_test", "host_store_faults_test", "host_store_kill_test", "dst_test"],
    "host/access": ["host_access_test", "host_apiserver_test", "host_rest_test"],
}


def suites_of(tree, names):
    cases = [each for each in sorted(glob.glob(
        os.path.join(tree.root, "tests/decisions/cases/*.json")))
        if not each.endswith(".expect.json")]
    decisions = Decisions(os.path.join(tree.root, "tests/decisions/compare.py"),
                          tree.program("bin", "sluice"), cases)
    return [decisions if name == "decisions" else Program(tree.program("tests", name))
            for name in names]


def read_survivors(path):
    """Those that a run printed, each as same() has it; it may have been ended by hand."""
    with open(path, encoding="utf-8") as text:
        found = re.findall(r"^(?:survivor|NOT CAUGHT|NOT REACHED) +(\S+):\d+\n +- (.*)\n +\+ (.*)$",
                           text.read(), re.M)
    if not found:
        sys.exit(f"--again: {path} names no survivor")
    return set(found)


def tell(what, change):
    print(f"{what:34} {change.name}:{change.line}\n    - {change.before}\n    + {change.after}",
          flush=True)


def draw(sources, options):
    """[(number, source)] of those that are tried."""
    drawn = [(number, source) for source in sources for number in source.mutations]
    if options.again:
        kept = read_survivors(options.again)
        drawn = [(number, source) for number, source in drawn
                 if same(source.change(number)) in kept]
    print(f"{len(drawn)} mutations", flush=True)
    random.Random(options.seed).shuffle(drawn)
    return drawn[:options.number]


def try_all(drawn, tests, options):
    """Prints how each fares; the changes that nobody noticed."""
    def catch(each):
        number, source = each
        return tests.catch(number, FOLDERS[source.folder])

    survivors = []
    for (number, source), by in zip(drawn, tests.runner.pool.map(catch, drawn)):
        change = source.change(number)
        if by:
            tell("caught by " + by, change)
        else:
            survivors.append(change)
            tell("NOT CAUGHT" if by == "" else "NOT REACHED", change)
    number, caught = len(drawn), len(drawn) - len(survivors)
    print(f"\n{caught} of {number} caught ({100 * caught / max(1, number):.1f} %); "
          f"seed {options.seed}")
    return survivors


def chosen(option, found, allowed):
    for each in found:
        if each not in allowed:
            sys.exit(f"{option}: found {each!r}; allowed: {', '.join(allowed)}")
    return found


def run(options):
    folders = chosen("--in", options.folders.split(","), FOLDERS)
    names = list(dict.fromkeys(name for each in folders for name in FOLDERS[each]))
    if options.suites:
        names = chosen("--with", options.suites.split(","), names)
    tree = Tree(options.folder, options.jobs)
    sources = sources_of(FOLDERS, folders)
    tree.copy(sources)
    sources = tree.find(sources)
    tree.build(sources, ["sluice" if name == "decisions" else name for name in names])
    runner = Runner(options.jobs)
    try:
        drawn = draw(sources, options)
        tests = Tests(suites_of(tree, names), runner, sources[-1].first + MOST_OF_A_SOURCE,
                      os.path.join(tree.folder, "recorded"), options.seconds)
        for each in try_all(drawn, tests, options):
            tell("survivor", each)
    finally:
        runner.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", nargs="?", type=int, default=16, metavar="N")
    parser.add_argument("--folder", default="build/mutate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--again", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--in", dest="folders", default=",".join(FOLDERS), metavar="FOLDERS")
    parser.add_argument("--with", dest="suites", metavar="SUITES")
    run(parser.parse_args())


if __name__ == "__main__":
    main()

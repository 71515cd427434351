#!/usr/bin/env python3
"""The web page of a host with much in it: frames a second while it scrolls, the browser's memory,
and what it costs the host, while 500 workloads a second change.

    page_bench.py --sluice build/release/bin/sluice --build build/release [--quick] [--day N]

Needs node, npm and chromium, as the test of the page does (tests/e2e/web_test.py). What others do
on the machine counts against it.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(HERE, "..", "..", "tests", "e2e")
sys.path.insert(0, E2E)

from host import Host  # noqa: E402
from npm import browser_tests  # noqa: E402
from rest import Rest  # noqa: E402

FULL = {"cohorts": 50, "queues": 1000, "workloads": 100_000, "inOne": 20_000, "seconds": 15,
        "turns": 100}
QUICK = {"cohorts": 5, "queues": 50, "workloads": 3_000, "inOne": 1_000, "seconds": 3,
         "turns": 10}


def show(name, figures):
    print(f"{name:10} {figures['fps']:7.1f} {figures['changes']:9.0f} {figures['heap']:8.1f}"
          f" {figures['own']:8.0f} {figures['pss']:8.0f} {figures['hostWithPage']:8.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--quick", action="store_true", help="a small host, a few seconds")
    parser.add_argument("--day", type=int, default=0, metavar="N",
                        help="N more changes, as fast as they go, while the overview is open")
    options = parser.parse_args()
    in_browser, folder = browser_tests(os.path.join(E2E, "web"), options.build,
                                       "THE WEB PAGE WAS NOT MEASURED")
    script = os.path.join(folder, "page.mjs")
    with open(os.path.join(HERE, "page.mjs"), encoding="utf-8") as text, \
            open(script, "w", encoding="utf-8") as out:
        out.write(text.read())
    with Host(os.path.abspath(options.sluice), memory=True,
              extra="executor: { type: none }\n") as host:
        rest = Rest(host.kubeconfig)
        done = subprocess.run(
            ["node", "page.mjs"], cwd=folder, capture_output=True, text=True, check=False,
            env=host.environment(BROWSER=in_browser["WEB_BROWSER"], HOST=rest.server,
                                 TOKEN=rest.token, HOST_PID=str(host.process.pid),
                                 SCALE=json.dumps({**(QUICK if options.quick else FULL),
                                                   "day": options.day})))
    if done.returncode != 0:
        sys.exit(done.stderr)
    figures = json.loads(done.stdout)
    print(f"filled in {figures['filled']:.0f} s; {figures['elements']} elements at the end\n"
          f"{'page':10} {'frames/s':>7} {'changes/s':>9} {'heap MB':>8} {'own MB':>8}"
          f" {'PSS MB':>8} {'host':>8}")
    for name in ("overview", "queue", "history", "workloads"):
        show(name, figures[name])
    for key, what in (("afterTurns", "more turns of page"),
                      ("afterDay", f"{options.day} more changes")):
        if after := figures.get(key):
            print(f"after {what}: heap {after['heap']:.1f} MB, own {after['own']:.0f} MB,"
                  f" PSS {after['pss']:.0f} MB")
    print(f"host without a page: {figures['hostWithoutPage']:.3f} of a core")


if __name__ == "__main__":
    main()

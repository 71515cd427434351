#!/usr/bin/env python3
"""Many jobs at once over three workers, and the same over one host with the sum of their quotas:
how long each takes from the first submission to the last end, and how many requests the manager
sent for each job.

    load.py --sluice build/release/bin/sluice --e2e tests/e2e [--jobs 5000] [--cpus 40]
            [--seconds 3] [--dispatcher Estimate]
"""
import argparse
import concurrent.futures
import os
import sys
import time

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS.add_argument("--clock", help="not used here")
OPTIONS.add_argument("--jobs", type=int, default=5000)
OPTIONS.add_argument("--cpus", type=int, default=40, help="of each of the three workers")
OPTIONS.add_argument("--seconds", type=float, default=3, help="that each job runs")
OPTIONS.add_argument("--dispatcher", action="append",
                     choices=["AllAtOnce", "Incremental", "Estimate"])
OPTIONS = OPTIONS.parse_args()
OPTIONS.sluice = os.path.abspath(OPTIONS.sluice)
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import eventually
from places import JOBS, Place, Places, is_true, nodes

WORKERS = 3
QUOTA = OPTIONS.cpus * WORKERS
HOURS = 4 * 3600  # no load takes longer


def job(name):
    return {"metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"}},
            "spec": {"suspend": True, "template": {"spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "none",
                                "command": ["sleep", str(OPTIONS.seconds)],
                                "resources": {"requests": {"cpu": "1"}}}]}}}}


def left(host):
    """How many workloads have not ended."""
    return sum(not is_true(each, "Finished") for each in host.workloads().values())


def makespan(host):
    """Of all jobs, submitted as fast as they are taken."""
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as several:
        list(several.map(lambda i: host.create(JOBS, job(f"j{i}")), range(OPTIONS.jobs)))
    while (open_ones := left(host)) > 0:
        print(f"  {time.monotonic() - begun:.0f} s: {open_ones} left", file=sys.stderr)
        time.sleep(min(5, OPTIONS.seconds))
    return time.monotonic() - begun


def over_three(dispatcher):
    with Places(OPTIONS.sluice, workers=WORKERS, cpus=OPTIONS.cpus, manager_cpus=QUOTA,
                dispatcher=dispatcher, room=QUOTA) as places:
        took = makespan(places.manager)
        eventually(lambda: not places.copies(), "no copy is left at any worker", HOURS)
        names = [f"worker{i + 1}" for i in range(WORKERS)]
        writes, questions = (sum(places.metric(f"sluice_remote_{what}_total", name)
                                 for name in names) for what in ("writes", "questions"))
        return took, writes / OPTIONS.jobs, questions / OPTIONS.jobs


def over_one():
    host = Place(OPTIONS.sluice, QUOTA, extra=nodes(QUOTA))
    try:
        return makespan(host)
    finally:
        host.host.__exit__()


def main():
    bound = OPTIONS.jobs * OPTIONS.seconds / QUOTA
    print(f"{OPTIONS.jobs} jobs of {OPTIONS.seconds} s and 1 CPU, {QUOTA} CPUs: no schedule ends "
          f"before {bound:.0f} s", flush=True)
    one = over_one()
    print(f"one host: {one:.1f} s", flush=True)
    for dispatcher in OPTIONS.dispatcher or ["AllAtOnce", "Estimate"]:
        took, writes, questions = over_three(dispatcher)
        print(f"three workers, {dispatcher}: {took:.1f} s ({took / one:.2f} of one host), "
              f"{writes:.2f} writes and {questions:.2f} questions per job", flush=True)


if __name__ == "__main__":
    main()

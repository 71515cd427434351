#!/usr/bin/env python3
"""Reports of simulations in a real browser: Debian's chromium, driven by puppeteer-core as
web/package-lock.json says. web/report.test.mjs looks at those that are written here, as files and
without a host, and leaves pictures in BUILD/web-pictures.

    report_test.py --sluice build/dev/bin/sluice --build build/dev [--test-name-pattern …]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from npm import browser_tests

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "web")
START = "sluice.dev/v1alpha1"
KUEUE = "kueue.x-k8s.io/v1beta2"

# team, name, how many, the first at a minute, one every so many, minutes it runs, cpu, Gi, priority
JOBS = [
    ("vision", "train", 9, 0, 22, 50, 8, 24, 10),
    ("vision", "label", 26, 5, 8, 12, 2, 4, 0),
    ("vision", "hotfix", 3, 70, 60, 15, 12, 16, 100),
    ("language", "pretrain", 6, 10, 35, 65, 8, 32, 10),
    ("language", "evaluate", 30, 15, 6, 9, 3, 6, 50),
    ("language", "dream", 1, 40, 1, 60, 400, 8, 0),  # nobody has so many machines
    ("nightly", "render", 14, 2, 15, 40, 4, 8, 0),
]
# What a log may call things, and a page must not take for its own.
HOSTILE = "</script><b id=broke>"


def event(team, name, number, minute, minutes, cpu, gib, priority):
    container = {"name": "main", "image": "none",
                 "resources": {"requests": {"cpu": str(cpu), "memory": f"{gib}Gi"}}}
    return {"at": f"{minute}m", "apply": {
        "apiVersion": KUEUE, "kind": "Workload",
        "metadata": {"name": f"{name}-{number}", "namespace": team,
                     "annotations": {"sluice.dev/runtime": f"{minutes}m"}},
        "spec": {"queueName": "main", "priority": priority, "podSets": [
            {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}]}}}


def write_inputs(folder):
    """cluster.yaml, the same with 8 CPUs more, and an afternoon of three teams."""
    with open(os.path.join(HERE, "report", "cluster.yaml"), encoding="utf-8") as file:
        cluster = file.read()
    files = {"cluster.yaml": cluster,
             "changed.yaml": cluster.replace("nominalQuota: 16}", "nominalQuota: 24}"),
             "afternoon.json": json.dumps({"apiVersion": START, "kind": "Timeline", "events": [
                 event(team, name, i + 1, first + i * every, *rest)
                 for team, name, count, first, every, *rest in JOBS for i in range(count)]})}
    assert files["changed.yaml"] != cluster
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def simulate(sluice, folder, *arguments):
    done = subprocess.run([sluice, "simulate", *arguments, "afternoon.json"], cwd=folder, text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def write_reports(sluice, folder):
    """one.html, compared.html and hostile.html; the Summaries of the two runs."""
    write_inputs(folder)
    before = simulate(sluice, folder, "--log", "before.log", "--report", "one.html", "cluster.yaml")
    now = simulate(sluice, folder, "--log", "now.log", "--report", "compared.html", "--against",
                   "before.log", "changed.yaml")
    with open(os.path.join(folder, "hostile.log"), "w", encoding="utf-8") as log:
        for record in ({"t": 60, "type": "Pending", "reason": HOSTILE, "message": HOSTILE},
                       {"t": 90, "type": "Evicted", "reason": HOSTILE, "by": HOSTILE}):
            log.write(json.dumps({**record, "workload": f"x/{HOSTILE}"}) + "\n")
    simulate(sluice, folder, "--report", "hostile.html", "--against", "hostile.log", "cluster.yaml")
    return before, now


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    in_browser, packages = browser_tests(HERE, options.build, "REPORTS WERE NOT TESTED")
    with tempfile.TemporaryDirectory(prefix="sluice-report-") as folder:
        before, now = write_reports(os.path.abspath(options.sluice), folder)
        done = subprocess.run(
            ["node", "--test", "--test-reporter=spec", *rest, "report.test.mjs"], cwd=packages,
            timeout=2400, check=False, env={
                **os.environ, **in_browser, "WEB_REPORTS": folder,
                "WEB_BEFORE": json.dumps(before), "WEB_NOW": json.dumps(now)})
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()

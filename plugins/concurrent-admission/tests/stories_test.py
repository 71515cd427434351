#!/usr/bin/env python3
"""The seven stories of the proposal, simulated: the whole sequence of what happens to every option.

    stories_test.py --sluice build/dev/bin/sluice EXAMPLES EXPECTED [--update]

EXAMPLES is examples/concurrent, EXPECTED a folder with one file for each of its manifests: a line
per decision, `TIME what workload`, hashes of names left out.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

EVENTS = {"QuotaReserved": "reserves", "Admitted": "is admitted", "Evicted": "is evicted",
          "Deactivated": "is deactivated", "Finished": "has finished",
          "ReservationLost": "loses its reservation", "CheckState": "check"}


def when(seconds):
    hours, rest = divmod(int(seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}h{minutes:02}m{seconds:02}s"


def decisions(sluice, path):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        done = subprocess.run(
            [sluice, "simulate", "--plugins", "concurrent-admission", "--log", log, path],
            capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{path}: {done.stderr}")
        with open(log, encoding="utf-8") as text:
            records = [json.loads(line) for line in text]
    out = []
    for each in records:
        what = EVENTS.get(each["type"])
        if what is None:
            continue
        name = re.sub(r"^job-(.*?)-[0-9a-f]{5}(?=-option-|$)", r"\1",
                      each["workload"].split("/", 1)[1])
        more = ""
        if each["type"] == "Evicted":
            more = ": " + each["reason"]
        if each["type"] == "CheckState":
            more = f" {each['check']}: {each['state']}"
        out.append(f"{when(each['t'])} {name} {what}{more}")
    return out


def overbooked(sluice, path):
    """Lines of the table of queues that say more in use than there is."""
    done = subprocess.run([sluice, "simulate", "--plugins", "concurrent-admission", path],
                          capture_output=True, text=True, check=True)
    table = done.stdout.split("USED  NOMINAL", 1)[1].split("WORKLOAD", 1)[0]
    found = re.findall(r"^.*?\S+ +cpu +(\d+) +(\d+)\b.*$", table, re.MULTILINE)
    return [f"{used} of {nominal}" for used, nominal in found if int(used) > int(nominal)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("examples")
    parser.add_argument("expected")
    given = parser.parse_args()
    manifests = sorted(f for f in os.listdir(given.examples) if f.endswith(".yaml"))
    if len(manifests) != 7:
        raise SystemExit(f"{given.examples} has {len(manifests)} manifests, not one for each story")
    failed = 0
    for manifest in manifests:
        got = decisions(given.sluice, os.path.join(given.examples, manifest))
        path = os.path.join(given.expected, manifest.replace(".yaml", ".txt"))
        if given.update:
            with open(path, "w", encoding="utf-8") as out:
                out.write("\n".join(got) + "\n")
            continue
        with open(path, encoding="utf-8") as text:
            wanted = text.read().splitlines()
        # Parents are counted once, though their options hold the quota.
        if over := overbooked(given.sluice, os.path.join(given.examples, manifest)):
            failed += 1
            print(f"{manifest}: in use", *over, sep="\n  ")
        if got != wanted:
            failed += 1
            print(f"{manifest}: expected", *wanted, "got", *got, sep="\n  ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

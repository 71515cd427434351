#!/usr/bin/env python3
"""Has Kueue's own scheduler play measured cases again: does the program of kueue/ make the same?

usage: measured.py [--work FOLDER] CASE…

CASE is NAME.json with NAME.expect.json beside it (tests/decisions/README.md). A case that never
settles is compared up to where that begins. Prints those that come out otherwise, and a summary.
"""

import argparse
import json
import os
import subprocess
import sys

import beside


def decisions(path):
    """What has to be the same: when that begins which never settles, and each instant before it."""
    with open(path, encoding='utf-8') as file:
        expected = json.load(file)
    end = expected.get('unsettledFrom', float('inf'))
    return end, [(i['t'], i['admitted'], sorted(i['pending']), sorted(i.get('evicted', [])))
                 for i in expected['instants'] if i['t'] < end]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--work', default='build/beside')
    parser.add_argument('cases', nargs='+', metavar='CASE')
    arguments = parser.parse_args()
    program = beside.build(arguments.work)
    into = os.path.join(arguments.work, 'measured')
    os.makedirs(into, exist_ok=True)
    same = 0
    for case in arguments.cases:
        again = os.path.join(into, os.path.basename(beside.expectation_of(case)))
        if os.path.exists(again):
            os.remove(again)
        subprocess.run([program, '-into', into, case], stdout=subprocess.DEVNULL, check=True)
        if os.path.exists(again) and decisions(beside.expectation_of(case)) == decisions(again):
            same += 1
        else:
            print(f'{case}: comes out otherwise')
    print(f'{len(arguments.cases)} cases, {same} the same')
    return 0 if same == len(arguments.cases) else 1


if __name__ == '__main__':
    sys.exit(main())

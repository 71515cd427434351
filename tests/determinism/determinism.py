#!/usr/bin/env python3
"""The same input gives the same decision log, byte for byte, for any number of threads.

usage: determinism.py --sluice BIN [--plugins NAME,…|none] [--seeds FROM:TO] [CASE…]

Each scenario (a measured case, or a random one made from a seed) is simulated twice with each of
1, 2 and 8 threads, with and without fair sharing; all logs have to be equal and not empty, and
preemption has to come to an end (compare.py says what counts as endless).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'decisions'))
import compare  # noqa: E402
import scenario  # noqa: E402

THREADS = (1, 2, 8)


def decision_log(arguments, folder, inputs, threads, fair):
    """The bytes of the log, or a text that says what went wrong."""
    config = {'apiVersion': 'config.sluice.dev/v1alpha1', 'kind': 'Configuration',
              'store': {'path': 'memory'},
              'scheduling': {'threads': threads, 'fairSharing': {'enable': fair}}}
    config_path, log_path = os.path.join(folder, 'sluice.yaml'), os.path.join(folder, 'log')
    with open(config_path, 'w', encoding='utf-8') as file:
        json.dump(config, file)
    run = subprocess.run([arguments.sluice, 'simulate', '--config', config_path, '--plugins',
                          arguments.plugins, '--states', '--log', log_path, inputs],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None, f'exit status {run.returncode}: {run.stderr.strip()}'
    with open(log_path, 'rb') as file:
        return file.read(), None


def first_difference(one, other):
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()), 1):
        if a != b:
            return f'line {number}:\n      {a.decode()}\n      {b.decode()}'
    return f'{len(one)} and {len(other)} bytes'


def check(arguments, inputs):
    """What is wrong with the logs of one scenario, or None."""
    for fair in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            first = None
            for threads in THREADS * 2:
                log, error = decision_log(arguments, folder, inputs, threads, fair)
                if error:
                    return error
                first = log if first is None else first
                if log != first:
                    return f'{THREADS[0]} and {threads} threads (fair sharing: {fair}) differ in ' \
                        + first_difference(first, log)
            if not first:
                return 'the log is empty'
            for endless in compare.endless(compare.Log(first.splitlines())):
                return endless
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sluice', required=True)
    parser.add_argument('--plugins', default='none')
    parser.add_argument('--seeds', default='0:0')
    parser.add_argument('cases', nargs='*', metavar='CASE')
    arguments = parser.parse_args()
    failures = []
    for case in arguments.cases:
        failures.append((case, check(arguments, case)))
    begin, end = map(int, arguments.seeds.split(':'))
    for seed in range(begin, end):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f'seed-{seed}.json')
            with open(path, 'w', encoding='utf-8') as file:
                json.dump(scenario.scenario(seed), file)
            failures.append((f'seed {seed}', check(arguments, path)))
    total = len(failures)
    failures = [(name, error) for name, error in failures if error]
    for name, error in failures:
        print(f'{name}: {error}')
    print(f'{total - len(failures)} passed, {len(failures)} failed')
    return 1 if failures or not total else 0


if __name__ == '__main__':
    sys.exit(main())

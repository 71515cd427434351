#!/usr/bin/env python3
"""Replays measured decisions and compares, instant by instant.

usage: compare.py --sluice BIN [--plugins NAME,…|none] [--threads N] CASE…

CASE is the path of NAME.json (manifests and a Timeline) with NAME.expect.json beside it, which
holds what Kueue decided; README.md describes both. A case agrees when, at every measured instant,
- each workload measured as admitted is Admitted, with the same count and flavors per pod set, and
  each workload measured as pending is Pending;
- the same workloads were evicted, each for the same reason and to make room for the same one.
Where the case says who only holds quota ("reserved") and who is turned off ("inactive"), the same
holds of them. With "until", nobody is evicted at another instant up to then, and what comes after a
second look that said no (KEP-993; Kueue has none) is not compared.
A case with "unsettledFrom" is one on which Kueue preempts for ever: nobody may be evicted more
than five times in one instant to make room for the same workload.
"""

import argparse
import bisect
import collections
import json
import os
import subprocess
import sys
import tempfile

MAX_REPEATS = 5


class Log:
    """A decision log by instant: states and evictions."""

    def __init__(self, lines):
        self.states = {}  # t → workload → its entry of the State record
        self.evictions = collections.defaultdict(collections.Counter)  # t → (who, why, for) → n
        self.second_look = float('inf')  # the first that said no
        for line in lines:
            record = json.loads(line)
            if record['type'] == 'State':
                self.states[record['t']] = record['workloads']
            elif record['type'] == 'Evicted':
                why = record.get('preemption') or record.get('reason', '')
                eviction = (record['workload'], why, record.get('by', ''))
                self.evictions[record['t']][eviction] += 1
            elif record['type'] == 'ReservationLost':
                self.second_look = min(self.second_look, record['t'])
        self.times = sorted(self.states)

    def state_at(self, t):
        """A State record stands until the next one."""
        i = bisect.bisect_right(self.times, t)
        return self.states[self.times[i - 1]] if i else {}


def differences(expected, log):
    """What the log has otherwise than it was measured; empty when they agree."""
    found = []
    if 'unsettledFrom' in expected:
        found += endless(log)
    instants = {instant['t']: instant for instant in expected['instants']}
    end = float('inf')
    if 'until' in expected:
        end = min(log.second_look, expected.get('unsettledFrom', end))
    for t in sorted(set(instants) | {t for t in log.evictions if t <= expected.get('until', -1)}):
        if t >= end:
            break
        instant = instants.get(t, {})
        where = f't={t:g}:'
        measured = collections.Counter(tuple(e) for e in instant.get('evicted', []))
        for eviction in (measured - log.evictions[t]).elements():
            found.append(f'{where} no eviction of %s (%s) for %s' % eviction)
        for eviction in (log.evictions[t] - measured).elements():
            found.append(f'{where} unmeasured eviction of %s (%s) for %s' % eviction)
        if instant:
            found += [f'{where} {d}' for d in state_differences(instant, log.state_at(t))]
    return found


def state_differences(instant, state):
    for workload in instant.get('inactive', []):
        entry = state.get(workload, {'state': 'absent'})
        if entry['state'] != 'Inactive':
            yield f'{workload} is {entry["state"]}, measured Inactive'
    holders = [('Admitted', instant['admitted']), ('QuotaReserved', instant.get('reserved', {}))]
    for what, workload, pod_sets in ((w, *entry) for w, of in holders for entry in of.items()):
        entry = state.get(workload, {'state': 'absent'})
        if entry['state'] != what:
            yield f'{workload} is {entry["state"]}, measured {what}'
            continue
        have = {p['name']: (p['count'], p['flavors']) for p in entry['podSets']}
        for name, count, flavors in pod_sets:
            if have.get(name) != (count, flavors):
                yield f'{workload}/{name} has {have.get(name)}, measured {(count, flavors)}'
    for workload, why in instant['pending'].items():
        entry = state.get(workload, {'state': 'absent'})
        if entry['state'] != 'Pending':
            yield f'{workload} is {entry["state"]}, measured Pending: {why}'


def endless(log):
    for t, evictions in log.evictions.items():
        pairs = collections.Counter()
        for (workload, _, by), n in evictions.items():
            pairs[workload, by] += n
        for (workload, by), n in pairs.items():
            if n > MAX_REPEATS:
                yield f't={t:g}: {workload} was evicted {n} times to make room for {by}'


def simulate(sluice, plugins, threads, case, scheduling, until=None):
    """Runs one case; (exit status, text of stderr, lines of the log)."""
    config = {'apiVersion': 'config.sluice.dev/v1alpha1', 'kind': 'Configuration',
              'store': {'path': 'memory'}, 'scheduling': {**scheduling, 'threads': threads}}
    with tempfile.TemporaryDirectory() as folder:
        config_path = os.path.join(folder, 'sluice.yaml')
        log_path = os.path.join(folder, 'log')
        with open(config_path, 'w', encoding='utf-8') as file:
            json.dump(config, file)
        run = subprocess.run([sluice, 'simulate', '--config', config_path, '--plugins', plugins,
                              *(['--until', f'{until:g}s'] if until is not None else []),
                              '--states', '--log', log_path, case],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return run.returncode, run.stderr, []
        with open(log_path, encoding='utf-8') as file:
            return 0, run.stderr, file.read().splitlines()


def check_case(arguments, case):
    with open(case.removesuffix('.json') + '.expect.json', encoding='utf-8') as file:
        expected = json.load(file)
    status, errors, lines = simulate(arguments.sluice, arguments.plugins, arguments.threads, case,
                                     expected['config'], expected.get('until'))
    if status != 0:
        return [f'exit status {status}: {errors.strip()}']
    return differences(expected, Log(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sluice', required=True)
    parser.add_argument('--plugins', default='none')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('cases', nargs='+', metavar='CASE')
    arguments = parser.parse_args()
    failed = 0
    for case in arguments.cases:
        found = check_case(arguments, case)
        failed += bool(found)
        if found:
            print(f'{case}: {len(found)} difference(s)')
            print(*(f'    {line}' for line in found[:20]), sep='\n')
    print(f'{len(arguments.cases) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Makes the world of one difference smaller, as long as it differs in the same way.

usage: shrink.py --sluice BIN [--work FOLDER] WORLD OUT

WORLD is FOLDER/worlds/NNNNNN.json as beside.py leaves it; OUT.json, OUT.config.json and
OUT.expect.json are written after each step, so that a run that is stopped leaves what it has. Five
runs of Kueue have to agree with each other, and the kind of the first difference stays (who waits,
which eviction), so that one difference does not turn into another.
"""

import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

import beside

# What a spec cannot do without, or what would be another world.
KEPT = {'podSets', 'resourceGroups', 'flavors', 'containers', 'template', 'spec', 'name', 'count',
        'resources', 'requests', 'coveredResources', 'clusterQueue', 'queueName', 'image',
        'nominalQuota', 'policy', 'active', 'namespaceSelector', 'priority', 'restartPolicy'}
# Lists of which entries may go, down to the last one.
SHORTENED = ('podSets', 'flavors', 'resourceGroups', 'containers', 'tolerations')


def kind(difference):
    """A difference without names, numbers and reasons."""
    if re.match(r't=\S+ \S+ has ', difference):
        return 'other counts or flavors'
    text = re.sub(r'^t=[^ ]+ ', '', difference).split(': ')[0]
    return re.sub(r'\([^)]*\)|\S+/\S+|\d+', '', text)


class Trial:
    """What both decide about a world."""

    def __init__(self, program, sluice, folder):
        self.program, self.sluice = program, sluice
        self.world = os.path.join(folder, 'world.json')

    def difference(self, world, given):
        """(the first difference, Kueue's expectation); None where they agree, or where Kueue does
        not agree with itself or Sluice refuses the world."""
        expectation = beside.expectation_of(self.world)
        if os.path.exists(expectation):
            os.remove(expectation)
        for path, value in ((self.world, world), (beside.given_of(self.world), given)):
            with open(path, 'w', encoding='utf-8') as file:
                json.dump(value, file)
        subprocess.run([self.program, '-runs', '5', self.world], stdout=subprocess.DEVNULL,
                       check=False)
        if not os.path.exists(expectation):
            return None
        found = beside.differing(self.sluice, [self.world]).get(self.world)
        if not found or found[0].startswith('exit status'):
            return None
        with open(expectation, encoding='utf-8') as file:
            return found[0], json.load(file)


def events(world):
    return next(item for item in world['items'] if item['kind'] == 'Timeline')['events']


def spec_of(world, where, i):
    if where == 'items':
        return world['items'][i].get('spec', {})
    return events(world)[i].get('apply', {}).get('spec', {})


def removable(value, path=()):
    """Paths of fields and entries that may be left out, outer ones first."""
    found = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in KEPT:
                found.append(path + (key,))
            found += removable(inner, path + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            if len(value) > 1 and path[-1] in SHORTENED:
                found.append(path + (i,))
            found += removable(inner, path + (i,))
    return sorted(found, key=len)


def up_to(world, difference):
    """The world without the events that come after a difference."""
    end = float(re.match(r't=([^:]+):', difference)[1])
    out = copy.deepcopy(world)
    events(out)[:] = [e for e in events(out) if float(e['at'].rstrip('s')) <= end]
    return out


def variants(world):
    """Smaller worlds, the largest cuts first: events, then objects, then fields of specs."""
    count = len(events(world))
    for size in sorted({count // 2, count // 4, count // 8, 2, 1} - {0}, reverse=True):
        for start in range(count - size, -1, -size):
            smaller = copy.deepcopy(world)
            del events(smaller)[start:start + size]
            yield smaller
    for i in reversed(range(len(world['items']))):
        if world['items'][i]['kind'] not in ('Timeline', 'Namespace'):
            smaller = copy.deepcopy(world)
            del smaller['items'][i]
            yield smaller
    places = [('items', i) for i in range(len(world['items']))]
    places += [('events', i) for i in range(count)]
    for where, i in places:
        for *path, last in removable(spec_of(world, where, i)):
            smaller = copy.deepcopy(world)
            target = spec_of(smaller, where, i)
            for step in path:
                target = target[step]
            del target[last]
            yield smaller


def save(out, world, given, expectation):
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    for suffix, value in (('', world), ('.config', given), ('.expect', expectation)):
        with open(f'{out}{suffix}.json', 'w', encoding='utf-8') as file:
            json.dump(value, file)


def shrink(trial, world, given, out):
    """The difference that is left; None where there is none to begin with."""
    best = trial.difference(world, given)
    if not best:
        return None
    wanted = kind(best[0])
    save(out, world, given, best[1])
    earlier = up_to(world, best[0])
    left = trial.difference(earlier, given)
    if left and kind(left[0]) == wanted:
        world, best = earlier, left
        save(out, world, given, best[1])
    found = True
    while found:
        found = False
        # Begins again with the large cuts whenever one worked, until none does.
        for smaller in variants(world):
            left = trial.difference(smaller, given)
            if left and kind(left[0]) == wanted:
                world, best, found = smaller, left, True
                save(out, world, given, best[1])
                break
    return best[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sluice', required=True)
    parser.add_argument('--work', default='build/beside')
    parser.add_argument('world', metavar='WORLD')
    parser.add_argument('out', metavar='OUT')
    arguments = parser.parse_args()
    with open(arguments.world, encoding='utf-8') as file:
        world = json.load(file)
    with open(beside.given_of(arguments.world), encoding='utf-8') as file:
        given = json.load(file)
    program = beside.build(arguments.work)
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(program, arguments.sluice, folder)
        left = shrink(trial, world, given, arguments.out)
    if left is None:
        sys.exit(f'error: {arguments.world}: no difference')
    print(f'{arguments.out}.json: {left}')


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Plays new random worlds with Kueue's own scheduler and with Sluice, and compares.

usage: beside.py --sluice BIN [--work FOLDER] [--first N] [--count N] [--without-pods] [SHAPE…]

World N is the same each time; the shapes (all of worlds/shapes.py, or those named) take turns.
Each is played twice on Kueue (kueue/, built with go into FOLDER), its scheduler one cycle at a
time under a virtual clock, with its controller of workloads, and once by `sluice simulate`. A
world in which two runs of Kueue differ, or in which its scheduler never comes back, has no
expectation. One that differs is played ten times more on Kueue before it counts, so that the
order of Go's maps is left out. One with admission checks is compared up to the first second
look (KEP-993) that says no: Kueue has none.

Prints a line for each world that differs, with its first difference (the later ones mostly follow
from it), and a summary; docs/differences-from-kueue.md has the kinds that are known. FOLDER keeps
worlds and expectations; shrink.py makes one smaller. --without-pods: no queue has a quota of pods,
which is where most of the known ones come from. Exit status 0: none differs; 1: some do; 77: there
is no go.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'worlds'), os.path.join(HERE, os.pardir, 'decisions')]
import compare  # noqa: E402  (tests/decisions)
import generate  # noqa: E402  (worlds)
import shapes  # noqa: E402  (worlds)

PROCESSES = 2
PLUGINS = 'flavor-fungibility'  # Kueue does by itself what this plugin does


def build(work):
    """The program of kueue/; ends with 77, and a word why, where it cannot be built."""
    if not shutil.which('go'):
        print('nothing was played: Kueue\'s scheduler is built with go (1.26 or later), and there '
              'is none')
        sys.exit(77)
    os.makedirs(work, exist_ok=True)
    program = os.path.abspath(os.path.join(work, 'kueue-play'))
    # Modules come from Go's own folder, whatever else is said of them.
    flags = os.environ.get('GOFLAGS', '') + ' -mod=mod'
    print('building Kueue\'s scheduler (minutes the first time)', file=sys.stderr)
    done = subprocess.run(['go', 'build', '-o', program, '.'], cwd=os.path.join(HERE, 'kueue'),
                          env={**os.environ, 'GOFLAGS': flags}, check=False)
    if done.returncode:
        sys.exit('error: go build failed')
    return program


def expectation_of(world):
    return world.removesuffix('.json') + '.expect.json'


def given_of(world):
    """The file with the tags of a world, and what stands under scheduling in its configuration."""
    return world.removesuffix('.json') + '.config.json'


def play(program, worlds, runs, seconds):
    """Has Kueue write the expectation of each world; returns those that have one then."""
    for world in worlds:
        if os.path.exists(expectation_of(world)):
            os.remove(expectation_of(world))
    players = [subprocess.Popen([program, '-runs', str(runs), '-limit', f'{seconds}s',
                                 *worlds[part::PROCESSES]], stdout=subprocess.DEVNULL)
               for part in range(PROCESSES)]
    if any([player.wait() for player in players]):
        sys.exit(f'error: {program} failed')
    return [world for world in worlds if os.path.exists(expectation_of(world))]


def differing(sluice, worlds):
    """world → its differences, for those that have any."""
    arguments = argparse.Namespace(sluice=sluice, plugins=PLUGINS, threads=1)
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        found = pool.map(lambda world: compare.check_case(arguments, world), worlds)
        return {world: differences for world, differences in zip(worlds, found) if differences}


def shape_of(world):
    with open(given_of(world), encoding='utf-8') as file:
        return next(tag for tag in json.load(file)['tags'] if tag in shapes.SHAPES)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sluice', required=True)
    parser.add_argument('--work', default='build/beside')
    parser.add_argument('--first', type=int, default=50_000)
    parser.add_argument('--count', type=int, default=500)
    parser.add_argument('--without-pods', action='store_true')
    parser.add_argument('shapes', nargs='*', metavar='SHAPE')
    arguments = parser.parse_args()
    if unknown := set(arguments.shapes) - set(shapes.SHAPES):
        parser.error(f'no shape {", ".join(sorted(unknown))}; there are {", ".join(shapes.SHAPES)}')
    program = build(arguments.work)
    folder = os.path.join(arguments.work, 'worlds')
    shutil.rmtree(folder, ignore_errors=True)
    possible = generate.RESOURCES[:-1] if arguments.without_pods else generate.RESOURCES
    generate.write_all(folder, arguments.first, arguments.count, arguments.shapes, possible)
    worlds = sorted(set(glob.glob(f'{folder}/*.json')) - set(glob.glob(f'{folder}/*.config.json')))
    played = play(program, worlds, runs=2, seconds=15)
    suspects = list(differing(arguments.sluice, played))
    sure = play(program, suspects, runs=10, seconds=60)
    found = differing(arguments.sluice, sure)
    for world, differences in found.items():
        more = f' (and {len(differences) - 1} more)' if len(differences) > 1 else ''
        print(f'{world} ({shape_of(world)}): {differences[0]}{more}')
    without = len(worlds) - len(played) + len(suspects) - len(sure)
    print(f'{len(worlds)} worlds, {without} without an expectation, {len(found)} differ')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())

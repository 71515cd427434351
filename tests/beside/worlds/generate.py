#!/usr/bin/env python3
"""Random worlds in the form that `sluice simulate` takes, the same for the same seed.

usage: generate.py [--without-pods] FOLDER FIRST COUNT [SHAPE…]

Writes FOLDER/NNNNNN.json and FOLDER/NNNNNN.config.json; the seed is the number, the shapes take
turns. --without-pods: no queue has a quota of pods, which Kueue counts in a way of its own.
"""

import argparse
import json
import os
import random

import events
import shapes
from capacity import Capacity
from workloads import Workloads

RESOURCES = ['cpu', 'memory', 'example.com/gpu', 'pods']


class World(Capacity, Workloads):
    def __init__(self, seed, shape, possible=RESOURCES):
        self.rng, self.seed, self.shape = random.Random(f'{shape}-{seed}'), seed, shape
        self.p = shapes.of(shape)
        self.possible = possible
        self.objects, self.timeline, self.tags = [], [], {shape}
        self.made = 0
        self.alive = {}  # workload → what its later events need
        self.waits = self.p['pods_ready'] > 0 and self.chance(self.p['pods_ready'])
        self.build()
        events.fill(self)

    def chance(self, p):
        return self.rng.random() < p

    def between(self, pair):
        return self.rng.randint(*pair)

    def pick(self, *options):
        return self.rng.choice(options)

    def config(self):
        out = self.sharing()
        if self.waits:
            requeuing = {
                'timestamp': self.pick('Eviction', 'Creation'),
                'backoffBaseSeconds': self.pick(10, 60, 90),
                'backoffMaxSeconds': self.pick(100, 3600),
            }
            limit = self.pick(None, 0, 1, 2, 3)
            if limit is not None:
                requeuing['backoffLimitCount'] = limit
            out['waitForPodsReady'] = {
                'timeout': self.pick('307s', '611s', '1207s'),
                'recoveryTimeout': self.pick('203s', '701s'),
                'blockAdmission': self.chance(self.p['block']),
                'requeuingStrategy': requeuing,
            }
        return out

    def sharing(self):
        if not self.fair:
            return {'fairSharing': {'enable': False}}
        fair = {'enable': True}
        both = ['LessThanOrEqualToFinalShare', 'LessThanInitialShare']
        chosen = self.pick(None, both, both[:1], both[1:])
        if chosen:
            fair['preemptionStrategies'] = chosen
        return {'fairSharing': fair}

    def write(self, folder):
        base = os.path.join(folder, f'{self.seed:06d}')
        timeline = {'apiVersion': 'sluice.dev/v1alpha1', 'kind': 'Timeline',
                    'events': self.timeline}
        world = {'apiVersion': 'v1', 'kind': 'List', 'items': self.objects + [timeline]}
        with open(base + '.json', 'w', encoding='utf-8') as file:
            json.dump(world, file, separators=(',', ':'))
        with open(base + '.config.json', 'w', encoding='utf-8') as file:
            json.dump({'tags': sorted(self.tags), 'config': self.config()}, file)


def write_all(folder, first, count, names=(), possible=RESOURCES):
    names = list(names) or list(shapes.SHAPES)
    os.makedirs(folder, exist_ok=True)
    for seed in range(first, first + count):
        World(seed, names[seed % len(names)], possible).write(folder)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--without-pods', action='store_true')
    parser.add_argument('folder', metavar='FOLDER')
    parser.add_argument('first', metavar='FIRST', type=int)
    parser.add_argument('count', metavar='COUNT', type=int)
    parser.add_argument('shapes', metavar='SHAPE', nargs='*')
    given = parser.parse_args()
    possible = RESOURCES[:-1] if given.without_pods else RESOURCES
    write_all(given.folder, given.first, given.count, given.shapes, possible)


if __name__ == '__main__':
    main()

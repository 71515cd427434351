#!/usr/bin/env python3
"""The benchmark inputs are what they claim to be: counts, arrivals, bounds, file sizes."""

import collections
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import generate  # noqa: E402


class Inputs(unittest.TestCase):
    def test_counts_and_bounds(self):
        # baseline: 350·0.2·1 + 100·0.5·5 + 50·1·20 = 1320 CPU seconds on 20 CPUs per queue
        # large-scale: 35·0.15·1 + 11·0.35·5 + 4·0.7·20 = 80.5
        for name, workloads, bound in (('baseline', 15_000, 66.0), ('large-scale', 50_000, 4.025),
                                       ('large-scale-x10', 500_000, 40.25)):
            scenario = generate.SCENARIOS[name]
            self.assertEqual(workloads, generate.workload_count(scenario))
            self.assertAlmostEqual(bound, generate.area_bound_seconds(scenario))

    def test_the_files_hold_every_workload_once_in_order_of_time(self):
        old, generate.MAX_BYTES = generate.MAX_BYTES, 1 << 20
        try:
            with tempfile.TemporaryDirectory() as folder:
                generate.generate('baseline', folder)
                timelines = sorted(f for f in os.listdir(folder) if f.startswith('timeline'))
                self.assertGreater(len(timelines), 4)
                events = []
                for name in timelines:
                    path = os.path.join(folder, name)
                    self.assertLess(os.path.getsize(path), generate.MAX_BYTES + 1024)
                    with open(path, encoding='utf-8') as file:
                        events += json.load(file)['events']
        finally:
            generate.MAX_BYTES = old
        self.assertEqual(15_000, len({e['apply']['metadata']['name'] for e in events}))
        times = [int(e['at'].removesuffix('ms')) for e in events]
        self.assertEqual(sorted(times), times)
        self.assertEqual((0, 58_800), (times[0], times[-1]))  # 50 large ones, one every 1200 ms
        per_queue = collections.Counter(e['apply']['spec']['queueName'] for e in events)
        self.assertEqual({500}, set(per_queue.values()))
        self.assertEqual(30, len(per_queue))


if __name__ == '__main__':
    unittest.main()

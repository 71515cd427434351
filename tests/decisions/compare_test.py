#!/usr/bin/env python3
"""Shows what compare.py accepts and what it does not, on logs written by hand."""

import copy
import json
import unittest

import compare

EXPECTED = {
    'config': {},
    'instants': [
        {'t': 1, 'admitted': {'ns/a': [['main', 3, {'cpu': 'spot'}]]}, 'pending': {'ns/b': 'why'}},
        {'t': 2, 'admitted': {'ns/b': [['main', 1, {'cpu': 'spot'}]]}, 'pending': {'ns/a': 'why'},
         'evicted': [['ns/a', 'InClusterQueue', 'ns/b']]},
        {'t': 3, 'admitted': {'ns/b': [['main', 1, {'cpu': 'spot'}]]}, 'pending': {'ns/a': 'why'}},
    ],
}


def admitted(count, flavor='spot'):
    return {'state': 'Admitted',
            'podSets': [{'name': 'main', 'count': count, 'flavors': {'cpu': flavor}}]}


def state(t, **workloads):
    return {'t': t, 'type': 'State', 'workloads': {f'ns/{k}': v for k, v in workloads.items()}}


def evicted(t, who, by):
    return {'t': t, 'type': 'Evicted', 'workload': who, 'reason': 'Preempted',
            'preemption': 'InClusterQueue', 'by': by}


PENDING = {'state': 'Pending'}
# Nothing changes at t=3, so there is no record; the one of t=2 stands.
AGREEING = [state(1.0, a=admitted(3), b=PENDING), evicted(2.0, 'ns/a', 'ns/b'),
            state(2.0, a=PENDING, b=admitted(1))]


class Differences(unittest.TestCase):
    def found(self, records, expected=None):
        log = compare.Log(json.dumps(r) for r in records)
        return compare.differences(expected or EXPECTED, log)

    def test_none_when_the_log_is_as_measured(self):
        self.assertEqual([], self.found(AGREEING))

    def test_an_admitted_workload_that_is_pending(self):
        records = [state(1.0, a=PENDING, b=PENDING), *AGREEING[1:]]
        self.assertEqual(['t=1: ns/a is Pending, measured Admitted'], self.found(records))

    def test_a_pending_workload_that_is_admitted(self):
        records = [state(1.0, a=admitted(3), b=admitted(1)), *AGREEING[1:]]
        self.assertEqual(['t=1: ns/b is Admitted, measured Pending: why'], self.found(records))

    def test_another_count_or_flavor(self):
        for other in (admitted(2), admitted(3, 'on-demand')):
            found = self.found([state(1.0, a=other, b=PENDING), *AGREEING[1:]])
            self.assertEqual(1, len(found))
            self.assertIn('t=1: ns/a/main has', found[0])

    def test_no_record_at_all(self):
        found = self.found([])
        self.assertIn('t=1: ns/a is absent, measured Admitted', found)
        self.assertIn('t=2: no eviction of ns/a (InClusterQueue) for ns/b', found)

    def test_an_eviction_too_many(self):
        records = [*AGREEING, evicted(3.0, 'ns/b', 'ns/a')]
        self.assertEqual(['t=3: unmeasured eviction of ns/b (InClusterQueue) for ns/a'],
                         self.found(records))

    def test_an_eviction_for_somebody_else(self):
        records = [AGREEING[0], evicted(2.0, 'ns/a', 'ns/c'), AGREEING[2]]
        self.assertEqual(2, len(self.found(records)))

    def test_evictions_without_end(self):
        unsettled = {**copy.deepcopy(EXPECTED), 'unsettledFrom': 4}
        five = [evicted(4.0, 'ns/a', 'ns/b')] * 5
        self.assertEqual([], self.found(AGREEING + five, unsettled))
        self.assertEqual(['t=4: ns/a was evicted 6 times to make room for ns/b'],
                         self.found(AGREEING + five + five[:1], unsettled))


if __name__ == '__main__':
    unittest.main()

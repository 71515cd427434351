#!/usr/bin/env python3
"""Writes the inputs of Kueue's scheduler performance suite as manifests and Timelines.

usage: generate.py NAME FOLDER      NAME: baseline, large-scale or large-scale-x10

A scenario is COHORTS × QUEUES equal ClusterQueues; each gets, per class, COUNT workloads, one every
EVERY ms, which run for RUNTIME ms. large-scale-x10 has ten times the workloads of large-scale in
the same queues, at the same rate. The output depends on the name alone. Timelines are split into
files below MAX_BYTES.
"""

import collections
import json
import os
import sys

Class = collections.namedtuple('Class', 'name count every_ms runtime_ms priority cpu')
Scenario = collections.namedtuple('Scenario', 'cohorts queues classes')

SCENARIOS = {
    'baseline': Scenario(5, 6, (
        Class('small', 350, 100, 200, 50, 1),
        Class('medium', 100, 500, 500, 100, 5),
        Class('large', 50, 1200, 1000, 200, 20))),
    'large-scale': Scenario(10, 100, (
        Class('small', 35, 60, 150, 50, 1),
        Class('medium', 11, 300, 350, 100, 5),
        Class('large', 4, 700, 700, 200, 20))),
}
SCENARIOS['large-scale-x10'] = SCENARIOS['large-scale']._replace(
    classes=tuple(c._replace(count=10 * c.count) for c in SCENARIOS['large-scale'].classes))

NOMINAL_CPU = 20
BORROWING_LIMIT_CPU = 100
NAMESPACE = 'bench'
MAX_BYTES = 24 << 20
KUEUE = 'kueue.x-k8s.io/v1beta2'


def area_bound_seconds(scenario):
    """No schedule ends sooner: the CPU seconds that run, divided by the CPUs there are."""
    cpu_ms = sum(c.count * c.runtime_ms * c.cpu for c in scenario.classes)
    return cpu_ms / 1000 / NOMINAL_CPU


def workload_count(scenario):
    return scenario.cohorts * scenario.queues * sum(c.count for c in scenario.classes)


def queue_names(scenario):
    for cohort in range(scenario.cohorts):
        for queue in range(scenario.queues):
            yield f'cohort-{cohort}', f'queue-{cohort}-{queue}'


def manifests(scenario):
    yield {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': NAMESPACE}}
    yield {'apiVersion': KUEUE, 'kind': 'ResourceFlavor', 'metadata': {'name': 'default'}}
    for cohort, queue in queue_names(scenario):
        cpu = {'name': 'cpu', 'nominalQuota': str(NOMINAL_CPU),
               'borrowingLimit': str(BORROWING_LIMIT_CPU)}
        yield {'apiVersion': KUEUE, 'kind': 'ClusterQueue', 'metadata': {'name': queue},
               'spec': {'cohortName': cohort, 'namespaceSelector': {},
                        'preemption': {'reclaimWithinCohort': 'Any',
                                       'withinClusterQueue': 'LowerPriority'},
                        'resourceGroups': [{'coveredResources': ['cpu'],
                                            'flavors': [{'name': 'default', 'resources': [cpu]}]}]}}
        yield {'apiVersion': KUEUE, 'kind': 'LocalQueue',
               'metadata': {'name': queue, 'namespace': NAMESPACE},
               'spec': {'clusterQueue': queue}}


def event(at_ms, queue, kind, number):
    container = {'name': 'c', 'image': 'pause', 'resources': {'requests': {'cpu': str(kind.cpu)}}}
    return {'at': f'{at_ms}ms', 'apply': {
        'apiVersion': KUEUE, 'kind': 'Workload',
        'metadata': {'name': f'{kind.name}-{queue}-{number}', 'namespace': NAMESPACE,
                     'annotations': {'sluice.dev/runtime': f'{kind.runtime_ms}ms'}},
        'spec': {'queueName': queue, 'priority': kind.priority, 'podSets': [
            {'name': 'main', 'count': 1, 'template': {'spec': {'containers': [container]}}}]}}}


def events(scenario):
    """In order of time. The first of each class comes at 0, as in the measured runs of Kueue."""
    arrivals = sorted(((n - 1) * c.every_ms, order, n) for order, c in enumerate(scenario.classes)
                      for n in range(1, c.count + 1))
    queues = [queue for _, queue in queue_names(scenario)]
    for at_ms, order, number in arrivals:
        for queue in queues:
            yield event(at_ms, queue, scenario.classes[order], number)


def write_timelines(folder, all_events):
    """Timeline files of less than MAX_BYTES each."""
    head = '{"apiVersion":"sluice.dev/v1alpha1","kind":"Timeline","events":[\n'
    file, size, number = None, 0, 0
    for item in all_events:
        line = json.dumps(item, separators=(',', ':'))
        if file is None or size + len(line) + 8 > MAX_BYTES:
            if file:
                file.write('\n]}\n')
                file.close()
            number += 1
            file = open(os.path.join(folder, f'timeline-{number:03}.json'), 'w', encoding='utf-8')
            size = file.write(head)
        else:
            size += file.write(',\n')
        size += file.write(line)
    file.write('\n]}\n')
    file.close()


def generate(name, folder):
    scenario = SCENARIOS[name]
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        os.remove(os.path.join(folder, old))
    items = {'apiVersion': 'v1', 'kind': 'List', 'items': list(manifests(scenario))}
    with open(os.path.join(folder, 'manifests.json'), 'w', encoding='utf-8') as file:
        json.dump(items, file, separators=(',', ':'))
        file.write('\n')
    write_timelines(folder, events(scenario))


if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[1] not in SCENARIOS:
        sys.exit(__doc__)
    generate(sys.argv[1], sys.argv[2])

"""Random scenarios: manifests and a Timeline that depend on the seed alone.

They are made to keep several trees busy at once (so that nomination really runs in parallel) and
to contend: cohorts of cohorts, borrowing and lending limits, every preemption policy, several
flavors, priorities, partial admission, and changes of quota, priority and hold on the way.
"""

import random

KUEUE = 'kueue.x-k8s.io/v1beta2'


def scenario(seed):
    """One List object as a Python value."""
    return _Scenario(random.Random(seed)).build()


class _Scenario:
    def __init__(self, rng):
        self.rng = rng
        self.flavors = [f'flavor-{i}' for i in range(rng.randint(1, 3))]
        self.resources = ['cpu', 'memory'][:rng.randint(1, 2)]
        self.queues = []  # names
        self.specs = {}  # queue → spec
        self.workloads = []  # the objects, for later changes

    def build(self):
        items = [{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'ns'}}]
        for name in self.flavors:
            items.append(self.object('ResourceFlavor', name, {'nodeLabels': {'zone': name}}))
        for tree in range(self.rng.randint(1, 6)):
            items += self.tree(tree)
        items.append({'apiVersion': 'sluice.dev/v1alpha1', 'kind': 'Timeline',
                      'events': self.events()})
        return {'apiVersion': 'v1', 'kind': 'List', 'items': items}

    def object(self, kind, name, spec, namespace=None):
        metadata = {'name': name, **({'namespace': namespace} if namespace else {})}
        return {'apiVersion': KUEUE, 'kind': kind, 'metadata': metadata, 'spec': spec}

    def tree(self, number):
        """A root cohort, perhaps with cohorts below it, and queues at any height; or one queue."""
        root = f'tree-{number}'
        cohorts = [root]
        if self.rng.random() < 0.15:
            cohorts = [None]
        elif self.rng.random() < 0.5:
            for i in range(self.rng.randint(1, 3)):
                cohorts.append(f'{root}-{i}')
                yield self.object('Cohort', cohorts[-1], {
                    'parentName': self.rng.choice(cohorts[:-1]),
                    **({'resourceGroups': self.groups()} if self.rng.random() < 0.3 else {})})
        for i in range(self.rng.randint(1, 6) if cohorts[0] else 1):
            name = f'queue-{number}-{i}'
            self.queues.append(name)
            self.specs[name] = self.queue_spec(self.rng.choice(cohorts))
            yield self.object('ClusterQueue', name, self.specs[name])
            yield self.object('LocalQueue', name, {'clusterQueue': name}, 'ns')

    def queue_spec(self, cohort):
        reclaim = self.rng.choice(['Never', 'LowerPriority', 'Any'])
        borrow = self.rng.choice(['Never', 'LowerPriority']) if reclaim != 'Never' else 'Never'
        preemption = {
            'withinClusterQueue': self.rng.choice(
                ['Never', 'LowerPriority', 'LowerOrNewerEqualPriority']),
            'reclaimWithinCohort': reclaim,
            'borrowWithinCohort': {'policy': borrow}}
        spec = {'namespaceSelector': {}, 'resourceGroups': self.groups(with_limits=bool(cohort)),
                'queueingStrategy': self.rng.choice(['BestEffortFIFO'] * 3 + ['StrictFIFO']),
                'preemption': preemption}
        return {**spec, **({'cohortName': cohort} if cohort else {})}

    def groups(self, with_limits=False):
        flavors = []
        for flavor in self.flavors:
            resources = []
            for resource in self.resources:
                unit = 'Gi' if resource == 'memory' else ''
                quota = {'name': resource, 'nominalQuota': f'{self.rng.randint(0, 8)}{unit}'}
                for limit in ('borrowingLimit', 'lendingLimit'):
                    if with_limits and self.rng.random() < 0.2:
                        most = int(quota['nominalQuota'].removesuffix('Gi'))
                        top = most if limit == 'lendingLimit' else 8
                        quota[limit] = f'{self.rng.randint(0, top)}{unit}'
                resources.append(quota)
            flavors.append({'name': flavor, 'resources': resources})
        return [{'coveredResources': self.resources, 'flavors': flavors}]

    def events(self):
        found = []
        for number in range(self.rng.randint(30, 90)):
            found.append((self.rng.randint(0, 20) * 500, {'apply': self.workload(number)}))
        for _ in range(self.rng.randint(2, 10)):
            found.append((self.rng.randint(4, 24) * 500, self.change()))
        found.sort(key=lambda event: event[0])
        return [{'at': f'{at}ms', **what} for at, what in found]

    def workload(self, number):
        pod_sets = []
        for i in range(self.rng.choice([1, 1, 1, 2])):
            count = self.rng.randint(1, 5)
            requests = {'cpu': self.rng.choice(['500m', '1', '2'])}
            if 'memory' in self.resources and self.rng.random() < 0.6:
                requests['memory'] = self.rng.choice(['512Mi', '1Gi'])
            pod_sets.append({'name': f'set-{i}', 'count': count, 'template': {'spec': {
                'containers': [{'name': 'c', 'image': 'i', 'resources': {'requests': requests}}]}}})
        if count > 1 and self.rng.random() < 0.3:
            pod_sets[-1]['minCount'] = self.rng.randint(1, count - 1)
        made = self.object('Workload', f'w-{number:03}', {
            'queueName': self.rng.choice(self.queues), 'podSets': pod_sets,
            'priority': self.rng.choice([0, 0, 10, 20])}, 'ns')
        made['metadata']['annotations'] = {
            'sluice.dev/runtime': f'{self.rng.randint(1, 12) * 500}ms'}
        self.workloads.append(made)
        return made

    def change(self):
        """A change of quota or stop policy of a queue; all workloads exist for it or not."""
        name = self.rng.choice(self.queues)
        spec = dict(self.specs[name])
        if self.rng.random() < 0.6:
            spec['resourceGroups'] = self.groups()
        else:
            spec['stopPolicy'] = self.rng.choice(['None', 'Hold', 'HoldAndDrain'])
        self.specs[name] = spec
        return {'apply': self.object('ClusterQueue', name, spec)}

"""The workloads of a random world: pod sets, requests, selectors, times and priorities."""

import datetime

from manifests import manifest


class Workloads:
    """What a world draws for each workload that comes."""

    def request(self, resource):
        if self.chance(self.p['zero']):
            return '0'
        return self.amount(resource, 1, 5)

    def container(self, name):
        requests = {r: self.request(r) for r in self.resources if r != 'pods'}
        for r in list(requests):
            if r != 'cpu' and self.chance(0.25):
                del requests[r]
        if self.chance(self.p['uncovered']):
            requests[self.pick('example.com/tpu', 'ephemeral-storage')] = self.pick('0', '1')
        return {'name': name, 'image': 'x', 'resources': {'requests': requests}}

    def pod(self):
        p = self.p
        spec = {'containers': [self.container('c')], 'restartPolicy': 'Never'}
        if self.chance(p['pod_shapes']):
            self.odd_pod(spec)
        if self.chance(p['selectors'] * p['labels']):
            spec['nodeSelector'] = {'zone': self.pick('a', 'b', 'c')}
        if self.chance(p['selectors'] * p['labels'] * 0.5):
            spec['affinity'] = {'nodeAffinity': self.affinity()}
        if p['taints'] and self.chance(0.4):
            spec['tolerations'] = [
                self.pick(
                    {'key': 'spot', 'operator': 'Equal', 'value': 'true', 'effect': 'NoSchedule'},
                    {'key': 'spot', 'operator': 'Exists'},
                    {'operator': 'Exists'},
                    {'key': 'spot', 'operator': 'Equal', 'value': 'false', 'effect': 'NoSchedule'},
                )
            ]
        return spec

    def odd_pod(self, spec):
        """What Kubernetes counts for a pod beyond its containers' requests."""
        if self.chance(0.3):
            spec['containers'].append(self.container('d'))
        if self.chance(0.3):
            spec['initContainers'] = [self.container('i')]
        if self.chance(0.2):
            spec.setdefault('initContainers', []).append(
                {**self.container('s'), 'restartPolicy': 'Always'}
            )
        if self.chance(0.2):
            spec['overhead'] = {'cpu': self.pick('1', '100m', '0')}
        if self.chance(0.2):
            c = spec['containers'][0]
            c['resources']['limits'] = dict(c['resources']['requests'])
            if self.chance(0.5):
                c['resources']['requests'] = {}
            elif self.chance(0.3):
                c['resources']['limits']['cpu'] = '500m'

    def affinity(self):
        def expression():
            op = self.pick('In', 'NotIn', 'Exists', 'DoesNotExist')
            e = {'key': self.pick('zone', 'disk', 'other'), 'operator': op}
            if op in ('In', 'NotIn'):
                e['values'] = self.rng.sample(['a', 'b', 'ssd', 'hdd'], self.rng.randint(1, 2))
            return e

        terms = [
            {'matchExpressions': [expression() for _ in range(self.rng.randint(1, 2))]}
            for _ in range(self.rng.randint(1, 2))
        ]
        return {'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': terms}}

    def pod_sets(self):
        sets, n = [], self.between(self.p['pod_sets'])
        partial = self.rng.randrange(n) if self.chance(self.p['partial']) else None
        for i in range(n):
            s = {'name': f'p{i}', 'count': self.rng.randint(1, 3), 'template': {'spec': self.pod()}}
            if i == partial:
                s['count'] = self.rng.randint(2, 8)
                s['minCount'] = self.rng.randint(1, s['count'])
            elif self.chance(0.02):
                s['count'] = 0
            sets.append(s)
        return sets

    def workload(self, at):
        self.made += 1
        name, r = f'w-{self.made:03d}', self.rng
        if not (self.chance(self.p['equal_times']) and self.made > 1):
            self.created = max(0, at - 900) + self.made * 10
        when = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=self.created)
        spec = {'queueName': r.choice(self.local_names), 'active': True,
                'podSets': self.pod_sets(), 'priority': 0}
        if not self.chance(self.p['equal_priorities']):
            spec['priority'] = self.pick(-5, 0, 50, 100, 100, 150, 200)
        w = manifest('Workload', name, spec, 'ns')
        w['metadata']['uid'] = f'uid-{r.randrange(10**6):06d}-{self.made:03d}'
        w['metadata']['creationTimestamp'] = when.strftime('%Y-%m-%dT%H:%M:%SZ')
        self.alive[name] = {'sets': spec['podSets'], 'reclaimed': {}, 'active': True}
        return w

"""The capacity of a random world: flavors, cohorts, ClusterQueues and LocalQueues."""

from manifests import manifest


class Capacity:
    """What a world draws before its clock starts, and again when an event changes it."""

    def build(self):
        r, p = self.rng, self.p
        self.fair = self.chance(p['fair'])
        more = min(len(self.possible) - 1, self.between(p['resources']) - 1)
        self.resources = ['cpu'] + r.sample(self.possible[1:], more)
        self.objects.append({'apiVersion': 'v1', 'kind': 'Namespace',
                             'metadata': {'name': 'ns', 'labels': {'team': 'a'}}})
        self.groups = []  # (resources, flavors)
        if self.chance(p['split']):
            cut = r.randint(1, len(self.resources))
            parts = [self.resources[:cut], self.resources[cut:]]
        else:
            parts = [self.resources]
        self.flavors = {}
        for part in filter(None, parts):
            names = []
            for _ in range(self.between(p['flavors'])):
                name = f'flavor-{len(self.flavors)}'
                self.flavors[name] = self.flavor()
                names.append(name)
            self.groups.append((part, names))
        for name, spec in self.flavors.items():
            self.objects.append(manifest('ResourceFlavor', name, spec))
        many = self.between(p['checks']) if any(p['checks']) else 0
        self.checks = [f'check-{i}' for i in range(many)]
        for name in self.checks:
            self.objects.append(
                manifest('AdmissionCheck', name, {'controllerName': 'example.com/outside'}))
        self.cohorts = {}  # name → parent
        for i in range(self.between(p['cohorts'])):
            fit = [c for c in self.cohorts if self.depth_of(c) < p['depth']]
            parent = r.choice(fit) if fit and self.chance(0.85) else None
            self.cohorts[f'cohort-{i}'] = parent
        self.cohort_specs = {c: self.cohort_spec(c) for c in self.cohorts}
        for c, spec in self.cohort_specs.items():
            self.objects.append(manifest('Cohort', c, spec))
        self.queue_specs, self.local_names = {}, []
        for i in range(self.between(p['queues'])):
            name = f'cq-{i}'
            self.queue_specs[name] = self.queue_spec()
            self.objects.append(manifest('ClusterQueue', name, self.queue_specs[name]))
            for j in range(r.randint(1, p['locals'])):
                local = f'lq-{i}' + ('' if j == 0 else f'-{j}')
                self.local_names.append(local)
                self.objects.append(manifest('LocalQueue', local, {'clusterQueue': name}, 'ns'))

    def depth_of(self, c):
        n = 1
        while self.cohorts.get(c):
            c, n = self.cohorts[c], n + 1
        return n

    def flavor(self):
        r, p, spec = self.rng, self.p, {}
        if self.chance(p['labels']):
            spec['nodeLabels'] = {'zone': self.pick('a', 'b')}
            if self.chance(0.3):
                spec['nodeLabels']['disk'] = self.pick('ssd', 'hdd')
        if self.chance(p['taints']):
            effect = self.pick('NoSchedule', 'NoSchedule', 'NoExecute', 'PreferNoSchedule')
            spec['nodeTaints'] = [{'key': 'spot', 'value': 'true', 'effect': effect}]
            if self.chance(0.2):
                spec['tolerations'] = [{'key': 'spot', 'operator': 'Exists'}]
        return spec

    def amount(self, resource, low, high):
        n = self.rng.randint(low, high)
        if self.chance(self.p['odd_amounts']):
            if resource == 'cpu':
                return self.pick(f'{n}', f'{n * 1000 + 1}m', f'{n * 100}m', '1m', f'{n}.5', '0',
                                 '3e3', *['9223372036854775'] * self.p['huge'])
            return self.pick(f'{n}Gi', f'{n * 1024}Mi', f'{n}G', '1', '0', f'{n}k', '1500m',
                             *['9223372036854775807', '7Ei'] * self.p['huge'])
        return f'{n}Gi' if resource == 'memory' else str(n)

    def quotas(self, groups, has_parent, low, high, limits=1.0):
        out = []
        for resources, flavors in groups:
            listed = []
            for f in flavors:
                items = []
                for res in resources:
                    scale = 3 if res == 'pods' else 1
                    item = {
                        'name': res,
                        'nominalQuota': self.amount(res, low * scale, high * scale),
                    }
                    if has_parent and self.chance(self.p['borrow'] * limits):
                        item['borrowingLimit'] = self.amount(res, 0, 6)
                    if has_parent and self.chance(self.p['lend'] * limits):
                        # A queue may not lend more than it has.
                        n = item['nominalQuota']
                        whole = n[:-2] if n.endswith('Gi') else n
                        if whole.isdigit() and len(whole) < 4:
                            lent = str(self.rng.randint(0, int(whole)))
                            item['lendingLimit'] = lent + ('Gi' if n.endswith('Gi') else '')
                    items.append(item)
                listed.append({'name': f, 'resources': items})
            out.append({'coveredResources': list(resources), 'flavors': listed})
        return out

    def seen_groups(self):
        """The groups as one queue has them: some flavors missing, in an order of its own."""
        groups = []
        for resources, flavors in self.groups:
            flavors = list(flavors)
            if self.chance(0.5):
                self.rng.shuffle(flavors)
            if len(flavors) > 1 and self.chance(self.p['hidden']):
                flavors.pop()
            if len(resources) > 1 and self.chance(self.p['uneven']):
                resources = resources[:-1]
            groups.append((resources, flavors))
        if len(groups) > 1 and self.chance(self.p['uneven']):
            groups.pop(self.rng.randrange(len(groups)))
        if len(groups) > 1 and self.chance(0.3):
            groups.reverse()
        return groups

    def weight(self):
        return self.pick('0', '500m', '1', '2', '3', '333m', '1500m', '100')

    def cohort_spec(self, name):
        spec = {}
        parent = self.cohorts.get(name)
        if parent:
            spec['parentName'] = parent
        if self.chance(self.p['cohort_quota']):
            spec['resourceGroups'] = self.quotas(self.seen_groups(), bool(parent), 0, 6)
        if self.fair and self.chance(self.p['weights']):
            spec['fairSharing'] = {'weight': self.weight()}
        return spec

    def queue_spec(self):
        r, p = self.rng, self.p
        spec = {
            'namespaceSelector': {},
            'queueingStrategy': 'StrictFIFO' if self.chance(p['strict']) else 'BestEffortFIFO',
        }
        if self.cohorts and not self.chance(p['alone']):
            spec['cohortName'] = r.choice(list(self.cohorts))
        elif self.chance(p['implicit']):
            spec['cohortName'] = self.pick('unmade-0', 'unmade-1')
        has = 'cohortName' in spec
        spec['resourceGroups'] = self.quotas(self.seen_groups(), has, 0 if has else 2, 8)
        if self.chance(p['preemption']):
            spec['preemption'] = self.preemption()
        if self.fair and self.chance(p['weights']):
            spec['fairSharing'] = {'weight': self.weight()}
        if self.checks and self.chance(p['checked']):
            self.check(spec)
        if self.chance(p['fungibility']):
            spec['flavorFungibility'] = self.fungibility()
            self.tags.add('fungibility')
        return spec

    def check(self, spec):
        """Which admission checks a queue has, some of them for some of its flavors."""
        r = self.rng
        flavors = [f['name'] for g in spec['resourceGroups'] for f in g['flavors']]
        rules = []
        for name in sorted(r.sample(self.checks, r.randint(1, len(self.checks)))):
            rules.append({'name': name})
            if self.chance(self.p['on_flavors']):
                rules[-1]['onFlavors'] = sorted(r.sample(flavors, r.randint(1, len(flavors))))
        spec['admissionChecksStrategy'] = {'admissionChecks': rules}

    def preemption(self):
        spec = {
            'withinClusterQueue': self.pick(
                'Never', 'LowerPriority', 'LowerPriority', 'LowerOrNewerEqualPriority'
            ),
            'reclaimWithinCohort': self.pick('Never', 'LowerPriority', 'Any', 'Any'),
        }
        if spec['reclaimWithinCohort'] != 'Never' and self.chance(0.5):
            spec['borrowWithinCohort'] = {'policy': 'LowerPriority'}
            if self.chance(0.5):
                spec['borrowWithinCohort']['maxPriorityThreshold'] = self.pick(-1, 0, 50, 100, 150)
        return spec

    def fungibility(self):
        spec = {
            'whenCanBorrow': self.pick('MayStopSearch', 'TryNextFlavor'),
            'whenCanPreempt': self.pick('MayStopSearch', 'TryNextFlavor'),
        }
        if spec['whenCanBorrow'] == spec['whenCanPreempt'] == 'TryNextFlavor' and self.chance(0.7):
            spec['preference'] = self.pick('BorrowingOverPreemption', 'PreemptionOverBorrowing')
        return spec

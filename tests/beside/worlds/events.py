"""What happens in a random world: workloads come, and up to three of the events below at a time,
by the weights of the shape. An event that has nobody to happen to is None."""

import copy
import datetime

from manifests import manifest

LOST_AFTER = 1  # second


def patch(name, merge, status=False):
    p = {'kind': 'Workload', 'namespace': 'ns', 'name': name, 'merge': merge}
    if status:
        p['subresource'] = 'status'
    return {'patch': p}


def apply(kind, name, spec, namespace=None):
    return {'apply': manifest(kind, name, copy.deepcopy(spec), namespace)}


def someone(w):
    return w.rng.choice(sorted(w.alive)) if w.alive else None


def finish(w):
    name = someone(w)
    return name and {'finish': {'namespace': 'ns', 'name': name}}


def delete(w):
    name = someone(w)
    if not name:
        return None
    del w.alive[name]
    return {'delete': {'kind': 'Workload', 'namespace': 'ns', 'name': name}}


def priority(w):
    name = someone(w)
    return name and patch(name, {'spec': {'priority': w.pick(-5, 0, 50, 100, 150, 200)}})


def reclaim(w):
    name = someone(w)
    if not name:
        return None
    info = w.alive[name]
    s = w.rng.choice(info['sets'])
    was = info['reclaimed'].get(s['name'], 0)
    if was >= s['count']:
        return None
    info['reclaimed'][s['name']] = w.rng.randint(was + 1, s['count'])
    pods = [{'name': n, 'count': c} for n, c in sorted(info['reclaimed'].items())]
    return patch(name, {'status': {'reclaimablePods': pods}}, status=True)


def active(w):
    name = someone(w)
    # Twice at one instant would depend on how fast a controller is.
    if not name or name in w.toggled:
        return None
    w.toggled.add(name)
    w.alive[name]['active'] = not w.alive[name]['active']
    return patch(name, {'spec': {'active': w.alive[name]['active']}})


def respec(w):
    """Other pods, which only a workload without quota may get."""
    name = someone(w)
    if not name or w.alive[name]['reclaimed']:
        return None
    return patch(name, {'spec': {'podSets': w.pod_sets()}})


def requeue(w):
    name = someone(w)
    return name and patch(name, {'spec': {'queueName': w.rng.choice(w.local_names)}})


def queue(w):
    return w.rng.choice(sorted(w.queue_specs))


def applied(w, name):
    return apply('ClusterQueue', name, w.queue_specs[name])


def quota(w):
    name = queue(w)
    spec = w.queue_specs[name]
    groups = [
        (g['coveredResources'], [f['name'] for f in g['flavors']]) for g in spec['resourceGroups']
    ]
    spec['resourceGroups'] = w.quotas(groups, 'cohortName' in spec, 0, w.pick(3, 8, 12))
    return applied(w, name)


def groups(w):
    name = queue(w)
    spec = w.queue_specs[name]
    spec['resourceGroups'] = w.quotas(w.seen_groups(), 'cohortName' in spec, 0, 8)
    return applied(w, name)


def policy(w):
    name = queue(w)
    w.queue_specs[name]['preemption'] = w.preemption()
    return applied(w, name)


def strategy(w):
    name = queue(w)
    w.queue_specs[name]['queueingStrategy'] = w.pick('StrictFIFO', 'BestEffortFIFO')
    return applied(w, name)


def stop(w, how):
    name = queue(w)
    spec = w.queue_specs[name]
    if spec.get('stopPolicy', 'None') == 'None':
        spec['stopPolicy'] = how
    else:
        spec['stopPolicy'] = 'None'
    return applied(w, name)


def hold(w):
    return stop(w, 'Hold')


def drain(w):
    return stop(w, 'HoldAndDrain')


def move(w):
    name = queue(w)
    spec = w.queue_specs[name]
    options = sorted(w.cohorts) + ['unmade-0', None]
    cohort = w.rng.choice(options)
    had = 'cohortName' in spec
    spec.pop('cohortName', None)
    if cohort:
        spec['cohortName'] = cohort
    if had and not cohort:
        for g in spec['resourceGroups']:
            for f in g['flavors']:
                for item in f['resources']:
                    item.pop('borrowingLimit', None)
                    item.pop('lendingLimit', None)
    return applied(w, name)


def cohort(w):
    if not w.cohorts:
        return None
    name = w.rng.choice(sorted(w.cohorts))
    if w.chance(0.5):
        above = [
            c for c in sorted(w.cohorts) if c != name and (w.chance(0.05) or not below(w, c, name))
        ]
        w.cohorts[name] = w.rng.choice(above + [None])
    w.cohort_specs[name] = w.cohort_spec(name)
    return apply('Cohort', name, w.cohort_specs[name])


def below(w, c, top):
    seen = set()
    while c and c not in seen:
        if c == top:
            return True
        seen.add(c)
        c = w.cohorts.get(c)
    return False


def uncohort(w):
    """A cohort is deleted, or one that was deleted or never made comes."""
    gone = [c for c in ('unmade-0', 'unmade-1') if c not in w.cohorts]
    if w.cohorts and (not gone or w.chance(0.6)):
        name = w.rng.choice(sorted(w.cohorts))
        if name in w.deleted:
            return None
        w.deleted.add(name)
        w.cohorts.pop(name)
        return {'delete': {'kind': 'Cohort', 'name': name}}
    if w.deleted:
        gone += sorted(w.deleted)
    name = w.rng.choice(gone)
    w.deleted.discard(name)
    w.cohorts[name] = w.rng.choice(sorted(w.cohorts) + [None])
    w.cohort_specs[name] = w.cohort_spec(name)
    return apply('Cohort', name, w.cohort_specs[name])


def flavor(w):
    name = w.rng.choice(sorted(w.flavors))
    w.flavors[name] = w.flavor()
    return apply('ResourceFlavor', name, w.flavors[name])


def local(w):
    """A LocalQueue stops or goes on."""
    name = w.rng.choice(w.local_names)
    stops = w.stopped.get(name, 'None') != 'None'
    w.stopped[name] = 'None' if stops else w.pick('Hold', 'HoldAndDrain')
    spec = {'clusterQueue': 'cq-' + name.split('-')[1], 'stopPolicy': w.stopped[name]}
    return apply('LocalQueue', name, spec, 'ns')


def late(w):
    """A ClusterQueue and its LocalQueue that come in the middle."""
    i = len(w.queue_specs)
    name = f'cq-{i}'
    w.queue_specs[name] = w.queue_spec()
    w.local_names.append(f'lq-{i}')
    return [applied(w, name), apply('LocalQueue', f'lq-{i}', {'clusterQueue': name}, 'ns')]


def activate(w):
    """Somebody whom a check or a limit may have turned off."""
    name = someone(w)
    if not name or name in w.toggled:
        return None
    w.toggled.add(name)
    w.alive[name]['active'] = True
    return patch(name, {'spec': {'active': True}})


def checks(w):
    """A queue gets other checks, or loses all."""
    if not w.checks:
        return None
    name = queue(w)
    w.queue_specs[name].pop('admissionChecksStrategy', None)
    if w.chance(0.8):
        w.check(w.queue_specs[name])
    return applied(w, name)


def time_of(at):
    when = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=at)
    return when.strftime('%Y-%m-%dT%H:%M:%SZ')


def answers(w, at):
    """What controllers say of workloads, whether they hold quota or not."""
    p, happen = w.p, []
    for name in sorted(w.alive):
        if not w.chance(p['answers']):
            continue
        for check in w.rng.sample(w.checks, w.rng.randint(1, len(w.checks))):
            state = w.rng.choices(('Ready', 'Retry', 'Rejected', 'Pending'),
                                  (7, p['retry'], p['rejected'], p['pending']))[0]
            said = {'name': check, 'state': state, 'message': 'so it is',
                    'lastTransitionTime': time_of(at)}
            if state == 'Retry' and w.chance(p['delay']):
                said['requeueAfterSeconds'] = w.pick(0, 45, 210, 1300)
            happen.append(patch(name, {'status': {'admissionChecks': [said]}}, status=True))
            if state in ('Retry', 'Rejected'):
                break
    return happen


def ready(name, at, yes, reason):
    condition = {'type': 'PodsReady', 'status': 'True' if yes else 'False', 'reason': reason,
                 'message': 'so it is', 'lastTransitionTime': time_of(at)}
    return {'at': f'{at}s', **patch(name, {'status': {'conditions': [condition]}}, status=True)}


def pods(w, at):
    """Pods become ready, and some are lost soon after: only of those who were ready any can be."""
    happen = []
    for name in sorted(w.alive):
        if w.chance(w.p['started']):
            happen.append(ready(name, at, True, w.pick('Started', 'Recovered')))
            if w.chance(w.p['lost']):
                happen.append(ready(name, at + LOST_AFTER, False, 'WaitForRecovery'))
    return happen


KINDS = {
    event.__name__: event
    for event in (finish, delete, priority, reclaim, active, respec, requeue, quota, groups, policy,
                  strategy, hold, drain, move, cohort, uncohort, flavor, local, late, activate,
                  checks)
}


def fill(w):
    p, r = w.p, w.rng
    w.deleted, w.stopped = set(), {}
    total, instants = w.between(p['workloads']), w.between(p['instants'])
    kinds, weights = zip(*p['events'].items())
    at = 0
    for i in range(instants):
        at += 1000 if i % 2 == 0 else 500
        happen, w.toggled = [], set()
        if i % 2 == 0 or w.chance(0.4):
            left = total - w.made
            if i:
                n = min(left, r.randint(0, max(1, int(2 * total / max(1, instants) * 1.5))))
            else:
                n = max(2, min(left, total // 3))
            happen += [{'apply': w.workload(at)} for _ in range(n)]
        if i:
            # Who has just come is rarely met by what happens at the same instant.
            fresh = {e['apply']['metadata']['name'] for e in happen}
            hidden = {n: w.alive.pop(n) for n in sorted(fresh) if w.chance(0.8)}
            for _ in range(r.randint(0, 3)):
                e = KINDS[r.choices(kinds, weights)[0]](w)
                happen += e if isinstance(e, list) else [e] if e else []
            w.alive.update(hidden)
        w.timeline += [{'at': f'{at}s', **e} for e in happen]
        for later in (70, 190, 330):
            if (w.checks or w.waits) and w.chance(0.6):
                said = answers(w, at + later) if w.checks else []
                w.timeline += [{'at': f'{at + later}s', **e} for e in said]
                w.timeline += pods(w, at + later) if w.waits else []

"""The shapes of random worlds: what each has much of. A shape changes the defaults below."""

DEFAULTS = dict(
    resources=(1, 2),  # how many kinds of resources
    split=0.3,  # resources stand in groups of their own
    flavors=(1, 3),  # of each group
    labels=0.25, taints=0.2,  # of a flavor
    cohorts=(1, 3), depth=2,  # cohorts, and how deep they stand
    implicit=0.1,  # a queue's cohort that nobody creates
    alone=0.1,  # a queue without cohort
    cohort_quota=0.5, borrow=0.35, lend=0.25,
    queues=(2, 4), locals=1,
    strict=0.3, preemption=0.85, fair=0.3, weights=0.6, fungibility=0.4,
    uneven=0.15,  # a queue covers fewer resources than there are
    hidden=0.15,  # a queue lacks a flavor
    workloads=(10, 22), instants=(5, 12),
    pod_sets=(1, 2), partial=0.15, zero=0.03, uncovered=0.03, odd_amounts=0.05,
    checks=(0, 0), checked=0.8, on_flavors=0.3,  # admission checks, and queues that have some
    answers=0.5,  # of the workloads, at each of the instants at which checks answer
    retry=2, rejected=1, pending=1, delay=0.0,  # beside 7 times Ready; a Retry names a delay
    pods_ready=0.0, started=0.5,  # waitForPodsReady; pods that become ready when they may
    lost=0.3,  # of these, pods that are lost soon after
    block=0.0,  # nobody starts meanwhile
    huge=0, pod_shapes=0.0, selectors=0.5, equal_times=0.2, equal_priorities=0.3,
    events=dict(finish=6, delete=2, priority=2, reclaim=1, quota=2, hold=1),
)

CHECKED = dict(finish=6, delete=2, priority=1, activate=2)

SHAPES = {
    'measured': {},
    'deep': dict(
        cohorts=(4, 8), depth=4, cohort_quota=0.7, borrow=0.5, lend=0.5, queues=(3, 6), alone=0.02,
        events=dict(finish=6, delete=1, priority=1, quota=2, cohort=3, hold=1)),
    'deep-fair': dict(
        cohorts=(3, 8), depth=4, cohort_quota=0.6, borrow=0.3, lend=0.3, queues=(3, 6), alone=0.02,
        fair=1.0, weights=0.8, events=dict(finish=6, delete=1, priority=1, quota=2, cohort=2)),
    'groups': dict(
        resources=(2, 4), split=0.9, flavors=(2, 4), pod_sets=(1, 3), labels=0.4, taints=0.4,
        uneven=0.3, hidden=0.3, uncovered=0.06),
    'fungible': dict(fungibility=1.0, flavors=(2, 4), pod_sets=(1, 3), workloads=(10, 26)),
    'partial': dict(
        partial=0.8, pod_sets=(1, 3), flavors=(1, 3),
        events=dict(finish=5, reclaim=5, delete=1, priority=2, quota=2)),
    'fair': dict(
        fair=1.0, weights=0.9, cohorts=(1, 4), depth=3, queues=(3, 6), workloads=(14, 30)),
    'reclaim': dict(
        preemption=1.0, queues=(3, 5), borrow=0.2, workloads=(14, 28), equal_priorities=0.5,
        equal_times=0.5),
    'edits': dict(
        instants=(8, 16), cohorts=(2, 6), depth=3,
        events=dict(finish=3, delete=1, priority=1, quota=3, hold=2, drain=1, cohort=3, move=3,
                    uncohort=2, policy=2, flavor=2, local=1, late=2, groups=1, strategy=1)),
    'lives': dict(
        instants=(8, 16),
        events=dict(finish=3, delete=3, priority=3, active=4, reclaim=3, respec=2, requeue=1,
                    quota=1)),
    'odd': dict(odd_amounts=0.5, zero=0.25, uncovered=0.1, pod_shapes=0.5, uneven=0.3),
    'pods': dict(
        pod_shapes=0.9, odd_amounts=0.1, selectors=0.8, labels=0.6, taints=0.5, flavors=(2, 4)),
    'huge': dict(huge=2, odd_amounts=0.5),
    'strict': dict(strict=1.0, equal_times=0.4, flavors=(1, 3)),
    'tight': dict(preemption=1.0, workloads=(16, 34), cohorts=(1, 3), flavors=(1, 2)),
    'checks': dict(checks=(1, 3), events=CHECKED),
    'checks-alone': dict(
        checks=(1, 2), checked=1.0, cohorts=(0, 0), implicit=0, queues=(1, 2), flavors=(1, 3),
        workloads=(6, 14), events=CHECKED),
    'checks-delay': dict(checks=(1, 2), checked=1.0, delay=0.6, retry=6, events=CHECKED),
    'checks-flavors': dict(
        checks=(2, 4), on_flavors=0.8, flavors=(2, 4), fungibility=0.7, events=CHECKED),
    'checks-fair': dict(checks=(1, 3), fair=1.0, weights=0.8, queues=(3, 5), events=CHECKED),
    'checks-edits': dict(
        checks=(2, 4), instants=(8, 14),
        events=dict(CHECKED, checks=4, hold=2, drain=1, local=2, active=2, priority=2, reclaim=2)),
    'ready': dict(pods_ready=1.0, events=CHECKED),
    'ready-tight': dict(
        pods_ready=1.0, started=0.25, preemption=1.0, workloads=(14, 26), cohorts=(1, 3),
        flavors=(1, 2), events=CHECKED),
    'ready-lives': dict(
        pods_ready=1.0, started=0.4, instants=(8, 14),
        events=dict(CHECKED, active=3, hold=1, drain=1, priority=3, reclaim=2, delete=3)),
    'ready-checks': dict(pods_ready=1.0, checks=(1, 2), started=0.4, lost=0.0, events=CHECKED),
    'ready-checks-lost': dict(pods_ready=1.0, checks=(1, 2), started=0.4, events=CHECKED),
    'ready-block': dict(
        pods_ready=1.0, block=1.0, started=0.7, lost=0.0, cohorts=(0, 0), implicit=0,
        queues=(1, 1), equal_priorities=1.0, events=CHECKED),
    'mixed': dict(
        resources=(1, 4), split=0.6, flavors=(1, 4), cohorts=(0, 7), depth=4, queues=(1, 6),
        locals=2, partial=0.3, pod_sets=(1, 3), fair=0.4, zero=0.08, odd_amounts=0.1,
        pod_shapes=0.1, workloads=(10, 30), instants=(6, 16),
        events=dict(finish=5, delete=2, priority=2, reclaim=2, quota=2, hold=1, drain=1, cohort=1,
                    move=1, active=1, policy=1, flavor=1, respec=1, local=1, late=1)),
}


def of(name):
    return {**DEFAULTS, **SHAPES[name]}

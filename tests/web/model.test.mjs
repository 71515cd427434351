// What the page works out by itself: quantities, times, the tree, a workload's life, metrics, rows.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lines } from '../../web/lib/api.js';
import { pluginsOf } from '../../web/lib/metrics.js';
import { formatQuantity, parseQuantity } from '../../web/lib/quantity.js';
import { formatDuration } from '../../web/lib/time.js';
import { buildTree, lentBounds, linesOf, slimCohort, slimQueue } from '../../web/lib/tree.js';
import { pagesOf, visibleRows } from '../../web/lib/window.js';
import {
  lifeOf,
  podsText,
  preemptorQueue,
  slimWorkload,
  stateOf,
  whyOf,
} from '../../web/lib/workload.js';

describe('quantities', () => {
  it('are read', () => {
    const cases = [
      ['1500m', 1.5],
      ['8', 8],
      [8, 8],
      ['36Gi', 36 * 2 ** 30],
      ['1e3', 1000],
      ['2k', 2000],
      ['.5', 0.5],
      ['250u', 0.00025],
      ['-1', -1],
    ];
    for (const [text, value] of cases) assert.equal(parseQuantity(text), value, text);
    for (const text of ['', 'x', '1X', '1 Gi', undefined])
      assert.ok(Number.isNaN(parseQuantity(text)), text);
  });

  it('are written', () => {
    const cases = [
      ['cpu', 1.5, '1.5'],
      ['cpu', 12345, '12,345'],
      ['memory', 36 * 2 ** 30, '36Gi'],
      ['memory', 1536, '1.5Ki'],
      ['memory', 0, '0'],
      ['nvidia.com/gpu', 4, '4'],
      ['cpu', NaN, '?'],
      ['cpu', 0.0015, '0.002'],
      ['ephemeral-storage', 1023, '1023'],
    ];
    for (const [resource, value, text] of cases)
      assert.equal(formatQuantity(resource, value), text);
  });
});

it('durations are short', () => {
  const cases = [
    [0, '0s'],
    [4200, '4s'],
    [90_000, '1m30s'],
    [600_000, '10m'],
    [8e6, '2h13m'],
    [3.6e6, '1h'],
    [3e8, '3d11h'],
    [-5, '0s'],
    [NaN, ''],
  ];
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text, String(ms));
});

function queue(name, cohort, nominal, used, more = {}) {
  return slimQueue({
    metadata: { name, resourceVersion: '1' },
    spec: {
      cohortName: cohort,
      resourceGroups: [
        {
          coveredResources: ['cpu'],
          flavors: [
            { name: 'f', resources: [{ name: 'cpu', nominalQuota: String(nominal), ...more }] },
          ],
        },
      ],
    },
    status: {
      pendingWorkloads: 1,
      reservingWorkloads: 2,
      admittedWorkloads: 2,
      flavorsReservation: [
        {
          name: 'f',
          resources: [
            { name: 'cpu', total: String(used), borrowed: String(Math.max(0, used - nominal)) },
          ],
        },
      ],
    },
  });
}

const cohort = (name, parentName) => slimCohort({ metadata: { name }, spec: { parentName } });

describe('tree', () => {
  it('adds up from below', () => {
    const tree = buildTree(
      [cohort('all'), cohort('team', 'all')],
      [
        queue('a', 'team', 8, 12),
        queue('b', 'team', 8, 2),
        queue('c', 'all', 4, 0),
        queue('d', '', 1, 1),
      ],
    );
    assert.deepEqual(
      tree.roots.map((one) => one.name),
      ['all'],
    );
    const [all] = tree.roots;
    assert.deepEqual(all.quotas, [
      { flavor: 'f', resource: 'cpu', nominal: 20, used: 14, borrowed: 4 },
    ]);
    assert.deepEqual([all.waiting, all.holding], [3, 6]);
    assert.equal(all.cohorts[0].quotas[0].nominal, 16);
    assert.deepEqual(
      tree.alone.map((one) => one.name),
      ['d'],
    );
    assert.deepEqual(
      linesOf(tree).map((one) => `${one.kind} ${one.of.name} ${one.depth}`),
      [
        'cohort all 0',
        'quota all 0',
        'cohort team 1',
        'quota team 1',
        'queue a 2',
        'quota a 2',
        'queue b 2',
        'quota b 2',
        'queue c 1',
        'quota c 1',
        'queue d 0',
        'quota d 0',
      ],
    );
  });

  it('a cohort that only queues name is there', () => {
    assert.deepEqual(
      buildTree([], [queue('a', 'x', 1, 0)]).roots.map((one) => one.name),
      ['x'],
    );
  });

  it('a cycle of cohorts is shown, once', () => {
    const tree = buildTree([cohort('a', 'b'), cohort('b', 'a')], [queue('q', 'a', 1, 0)]);
    assert.equal(linesOf(tree).filter((one) => one.kind === 'queue').length, 1);
  });

  it('names filter queues, and cohorts without any are left out', () => {
    const tree = buildTree(
      [cohort('x'), cohort('y')],
      [queue('a', 'x', 1, 0), queue('b', 'y', 1, 0)],
    );
    assert.deepEqual(
      linesOf(tree, (name) => name === 'b').map((one) => one.key),
      ['cohort y', 'quota y f cpu', 'queue b', 'quota b f cpu'].map((key) =>
        key.replace(/^quota (.) /, (_, name) => `${name === 'y' ? 'cohort' : 'queue'} ${name} `),
      ),
    );
  });

  it('who lends is known exactly where only one can', () => {
    // borrowed, unused of all, unused of this one → at least, at most
    const cases = [
      [4, 4, 4, 4, 4],
      [4, 10, 6, 0, 4],
      [4, 5, 4, 3, 4],
      [0, 5, 5, 0, 0],
      [4, 6, -2, 0, 0],
    ];
    for (const [borrowed, all, own, least, most] of cases) {
      assert.deepEqual(lentBounds(borrowed, all, own), { least, most });
    }
    const queues = [queue('a', 'x', 8, 12), queue('b', 'x', 8, 4)];
    buildTree([], queues);
    assert.deepEqual(queues[1].quotas[0].lent, { least: 4, most: 4 });
    assert.deepEqual(queues[0].quotas[0].lent, { least: 0, most: 0 });
  });

  it('a lending limit bounds it', () => {
    const queues = [
      queue('a', 'x', 8, 10),
      queue('b', 'x', 8, 0, { lendingLimit: '1' }),
      queue('c', 'x', 8, 0),
    ];
    buildTree([], queues);
    assert.deepEqual(queues[1].quotas[0].lent, { least: 0, most: 1 });
    assert.deepEqual(queues[2].quotas[0].lent, { least: 1, most: 2 });
  });
});

const at = (second) => `2026-01-01T09:00:${String(second).padStart(2, '0')}Z`;
const ms = (second) => Date.parse(at(second));
const is = (type, status, second, more = {}) => ({
  type,
  status,
  lastTransitionTime: at(second),
  ...more,
});

function workload(conditions, more = {}) {
  return {
    metadata: { namespace: 'n', name: 'w', creationTimestamp: at(0), resourceVersion: '7' },
    spec: { queueName: 'main', priority: 5 },
    status: { conditions, ...more },
  };
}

describe('workload', () => {
  const reserved = is('QuotaReserved', 'True', 2);
  const admitted = is('Admitted', 'True', 3);

  it('has one state', () => {
    const cases = [
      [[], 'pending'],
      [[is('QuotaReserved', 'False', 1)], 'pending'],
      [[reserved], 'reserved'],
      [[reserved, admitted], 'starting'],
      [[reserved, admitted, is('PodsReady', 'True', 4)], 'running'],
      [[is('QuotaReserved', 'False', 5), is('Evicted', 'True', 5)], 'evicted'],
      [[reserved, admitted, is('Finished', 'True', 9, { reason: 'Succeeded' })], 'finished'],
      [[is('Finished', 'True', 9, { reason: 'Failed' })], 'failed'],
    ];
    for (const [conditions, state] of cases) assert.equal(stateOf(workload(conditions)), state);
    assert.equal(stateOf({ ...workload([]), spec: { active: false } }), 'inactive');
  });

  it('says why', () => {
    assert.equal(
      whyOf(workload([is('QuotaReserved', 'False', 1, { message: 'no room' })])),
      'no room',
    );
    assert.equal(
      whyOf(
        workload([reserved], {
          admissionChecks: [
            { name: 'a', state: 'Ready' },
            { name: 'b', state: 'Pending', message: 'soon' },
          ],
        }),
      ),
      'b: Pending, soon',
    );
  });

  it('says its pods in words', () => {
    const podSets = [{ name: 'head' }, { name: 'worker', count: 4 }];
    assert.equal(podsText({ spec: { podSets } }), '1 head, 4 worker');
  });

  it('is kept in few fields', () => {
    const slim = slimWorkload(
      workload([reserved, admitted], {
        admission: {
          clusterQueue: 'q',
          podSetAssignments: [
            { flavors: { cpu: 'f' }, resourceUsage: { cpu: '1500m' } },
            { flavors: { cpu: 'f' }, resourceUsage: { cpu: '1' } },
          ],
        },
      }),
    );
    assert.deepEqual(slim.holdings, [{ flavor: 'f', resource: 'cpu', amount: 2.5 }]);
    assert.deepEqual([slim.clusterQueue, slim.since, slim.created], ['q', ms(3), ms(0)]);
  });

  it('has a life without gaps', () => {
    const by =
      'Preempted to accommodate a workload (UID: x); preemptor path: /r/team-b; preemptee path: x';
    const events = [
      { reason: 'QuotaReserved', firstTimestamp: at(1), lastTimestamp: at(8) },
      { reason: 'Admitted', firstTimestamp: at(1), lastTimestamp: at(8) },
      { reason: 'Preempted', firstTimestamp: at(5), lastTimestamp: at(5), message: by },
      { reason: 'EvictedDueToPreempted', firstTimestamp: at(5), lastTimestamp: at(5), message: by },
      { reason: 'WaitingForQuota', firstTimestamp: at(5), lastTimestamp: at(5) },
    ];
    const line = lifeOf(
      workload([
        is('QuotaReserved', 'True', 8),
        is('Admitted', 'True', 8),
        is('PodsReady', 'True', 9),
      ]),
      events,
      ms(20),
    );
    const states = line
      .filter((one) => one.to > one.from)
      .map((one) => `${one.state} ${(one.to - one.from) / 1000}`);
    assert.deepEqual(states, ['pending 1', 'starting 4', 'evicted 3', 'starting 1', 'running 11']);
    for (let i = 1; i < line.length; ++i) assert.equal(line[i].from, line[i - 1].to);
    assert.equal(preemptorQueue(line.find((one) => one.state === 'evicted').message), 'team-b');
  });

  it('ends once', () => {
    const line = lifeOf(
      workload([reserved, admitted, is('PodsReady', 'True', 4), is('Finished', 'True', 9)]),
      [{ reason: 'FinishedWorkload', firstTimestamp: at(9), lastTimestamp: at(9) }],
      ms(50),
    );
    assert.deepEqual(
      line.map((one) => one.state),
      ['pending', 'reserved', 'starting', 'running', 'finished'],
    );
    assert.equal(line.at(-1).to, ms(9));
  });
});

it('metrics of plugins are added up', () => {
  const text = [
    '# HELP sluice_plugin_calls_total x',
    'sluice_plugin_calls_total{plugin="b",hook="h"} 3',
    'sluice_plugin_calls_total{plugin="b",hook="g"} 4',
    'sluice_plugin_seconds_total{plugin="b",hook="h"} 1.5e-06',
    'sluice_plugin_quarantined{plugin="b"} 1',
    'sluice_plugin_quarantined{plugin="a\\"x"} 0',
    'sluice_plugin_lost_notifications_total 9',
    'other{plugin="c"} 1',
    '',
  ].join('\n');
  const [a, b] = pluginsOf(text);
  assert.deepEqual([a.name, a.quarantined, a.calls], ['a"x', false, 0]);
  assert.deepEqual([b.calls, b.seconds, b.quarantined], [7, 1.5e-6, true]);
  assert.deepEqual(
    b.hooks.map((one) => `${one.name} ${one.calls}`),
    ['g 4', 'h 3'],
  );
});

describe('rows', () => {
  it('that are before the eye', () => {
    // count, height, above, view → from, to; without spare rows
    const cases = [
      [100, 10, 0, 100, 0, 10],
      [100, 10, 55, 100, 5, 16],
      [100, 10, -500, 100, 0, 0],
      [5, 10, 0, 100, 0, 5],
      [100, 10, 5000, 100, 100, 100],
      [0, 10, 0, 100, 0, 0],
    ];
    for (const [count, height, above, view, from, to] of cases) {
      assert.deepEqual(visibleRows(count, height, above, view, 0), { from, to });
    }
    assert.deepEqual(visibleRows(1e5, 46, 46 * 5e4, 900), { from: 49_992, to: 50_028 });
  });

  it('are fetched by page', () => {
    assert.deepEqual(pagesOf(90, 210, 100), [0, 1, 2]);
    assert.deepEqual(pagesOf(100, 200, 100), [1]);
    assert.deepEqual(pagesOf(0, 0, 100), []);
  });
});

it('lines come out of pieces', () => {
  const lines = new Lines();
  assert.deepEqual(
    [...lines.push('{"a'), ...lines.push('":1}\n{}\n\n['), ...lines.push(']\n')],
    ['{"a":1}', '{}', '[]'],
  );
});

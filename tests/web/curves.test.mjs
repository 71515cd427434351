// The curves of a queue's history, out of the sums that a host makes of its runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  eventsOf,
  isEmpty,
  nominalsOf,
  questions,
  stepsOf,
  usesOf,
  WINDOWS,
} from '../../web/lib/curves.js';

const NOW = Date.parse('2026-03-02T10:20:30Z');
const iso = (time) => new Date(time).toISOString().replace('.000Z', 'Z');

describe('the steps of a window', () => {
  for (const [name, first, last] of [
    ['hour', '2026-03-02T09:21:00Z', '2026-03-02T10:20:00Z'],
    ['day', '2026-03-01T10:30:00Z', '2026-03-02T10:20:00Z'],
    ['week', '2026-02-23T11:00:00Z', '2026-03-02T10:00:00Z'],
  ])
    it(`${name}: from ${first}, the last not over yet`, () => {
      const steps = stepsOf(name, NOW);
      assert.deepEqual([iso(steps[0]), iso(steps.at(-1))], [first, last]);
      assert.equal(steps.length, WINDOWS[name].count);
    });

  it('are asked for by flavor and in all', () => {
    assert.deepEqual(questions('day', stepsOf('day', NOW), { queue: 'main' }), [
      { queue: 'main', from: '2026-03-01T10:30:00.000Z', groupBy: 'flavor,tenMinutes' },
      { queue: 'main', from: '2026-03-01T10:30:00.000Z', groupBy: 'tenMinutes' },
    ]);
  });
});

describe('use', () => {
  const times = stepsOf('hour', NOW);
  const group = (minute, flavor, heldHours) => ({ group: { minute, flavor }, heldHours });
  const always = (value) => times.map(() => value);
  const quotas = [
    { flavor: 'spot', resource: 'cpu', nominal: [null, ...always(4).slice(2), 3] },
    { flavor: 'spot', resource: 'memory', nominal: always(1024) },
  ];
  const summary = {
    groups: [
      group('2026-03-02T10:18:00Z', 'spot', { cpu: 2 / 60 }), // 2 cores all the minute long
      group('2026-03-02T10:19:00Z', 'spot', { cpu: 6 / 60 }),
      group('2026-03-02T10:20:00Z', 'spot', { cpu: 4 / 120 }), // half of it is over
      group('2026-03-02T10:19:00Z', 'firm', { gpu: 1 / 60 }),
      group('2026-03-01T10:19:00Z', 'spot', { cpu: 9 }), // not of this window
      { group: { minute: '2026-03-02T10:17:00Z', flavor: '' }, heldHours: {} },
    ],
  };
  const [cpu, memory, gpu] = usesOf(summary, 'hour', times, NOW, quotas);
  const near = (values, wanted) =>
    values.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) < 1e-9, `${values}`));

  it('is an average over each step, of the last as far as it is over', () => {
    near(cpu.used.slice(-4), [0, 2, 6, 4]);
    assert.equal(cpu.used.length, 60);
    assert.ok(cpu.used.slice(0, 56).every((value) => value === 0));
  });
  it('beyond the nominal quota is borrowed', () => {
    near(cpu.own.slice(-3), [2, 4, 3]);
    near(cpu.borrowed.slice(-3), [0, 2, 1]);
  });
  it('of quota that nobody used is none', () => assert.equal(Math.max(...memory.used), 0));
  it('of what is no quota any more is shown without one', () => {
    assert.deepEqual([gpu.flavor, gpu.resource, gpu.nominal], ['firm', 'gpu', undefined]);
    near(gpu.used.slice(-2), [1, 0]);
    near(gpu.own.slice(-2), [1, 0]);
    assert.equal(Math.max(...gpu.borrowed), 0);
  });
});

describe('the nominal quota', () => {
  const times = stepsOf('hour', NOW);
  const quota = (nominal) => [{ flavor: 'spot', resource: 'cpu', nominal }];
  const of = (...stretches) =>
    nominalsOf(
      stretches.map(([from, to, quotas]) => ({ from, to, quotas })),
      'hour',
      times,
      NOW,
    );

  it('is what it was then, on average over a step in which it changed', () => {
    const [line] = of(
      ['2026-03-01T00:00:00Z', '2026-03-02T10:18:15Z', quota(4)],
      ['2026-03-02T10:18:15Z', '2026-03-02T10:20:15Z', quota(8)],
      ['2026-03-02T10:20:15Z', undefined, quota(2)],
    );
    // 15 s of 4 and 45 s of 8; of the last minute 15 s of 8 and 15 s of 2 are over.
    assert.deepEqual(line.nominal.slice(-4), [4, 7, 8, 5]);
    assert.deepEqual([line.flavor, line.resource], ['spot', 'cpu']);
  });
  it('is not known before it was written down, and none while the queue was not there', () => {
    const [line] = of(
      ['2026-03-02T10:15:30Z', '2026-03-02T10:16:30Z', quota(4)],
      ['2026-03-02T10:19:00Z', undefined, quota(6)],
    );
    assert.deepEqual(line.nominal.slice(-7), [null, 4, 4, null, null, 6, 6]);
  });
  it('of a flavor that the queue has no more is 0 from then on', () => {
    const lines = of(
      ['2026-03-02T10:00:00Z', '2026-03-02T10:19:00Z', quota(4)],
      ['2026-03-02T10:19:00Z', undefined, [{ flavor: 'firm', resource: 'cpu', nominal: 3 }]],
    );
    assert.deepEqual(
      lines.map(({ flavor, nominal }) => [flavor, nominal.slice(-3)]),
      [
        ['spot', [4, 0, 0]],
        ['firm', [0, 3, 3]],
      ],
    );
  });
  it('of nothing that is known is no line', () => assert.deepEqual(of(), []));
});

describe('waits and evictions', () => {
  const times = stepsOf('week', NOW);
  const hour = '2026-03-02T09:00:00Z';
  const sums = { started: 4, evicted: 1, waitSeconds: 10, longestWaitSeconds: 8.5 };
  const events = eventsOf({ groups: [{ group: { hour }, ...sums }] }, 'week', times);

  it('the mean is over those that started', () => {
    assert.deepEqual(
      [events.wait, events.longest, events.started, events.evicted].map((list) => list.at(-2)),
      [2500, 8500, 4, 1],
    );
  });
  it('where nobody started there is no wait, not one of 0', () => {
    assert.deepEqual([events.wait.at(-1), events.started.at(-1)], [null, 0]);
  });
});

it('nothing held, started or evicted is nothing to draw', () => {
  assert.ok(isEmpty({ total: { started: 0, evicted: 0, heldHours: {} } }));
  assert.ok(isEmpty({}));
  assert.ok(!isEmpty({ total: { started: 0, evicted: 1, heldHours: {} } }));
  assert.ok(!isEmpty({ total: { started: 0, evicted: 0, heldHours: { cpu: 1 } } }));
});

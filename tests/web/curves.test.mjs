// The curves of a queue's history, out of the sums that a host makes of its runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf, isEmpty, questions, stepsOf, usesOf, WINDOWS } from '../../web/lib/curves.js';

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
  const quotas = [
    { flavor: 'spot', resource: 'cpu', nominal: 4 },
    { flavor: 'spot', resource: 'memory', nominal: 1024 },
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
    near(cpu.own.slice(-3), [2, 4, 4]);
    near(cpu.borrowed.slice(-3), [0, 2, 0]);
  });
  it('of quota that nobody used is none', () => assert.equal(Math.max(...memory.used), 0));
  it('of what is no quota any more is shown without one', () => {
    assert.deepEqual([gpu.flavor, gpu.resource, gpu.nominal], ['firm', 'gpu', undefined]);
    near(gpu.used.slice(-2), [1, 0]);
    near(gpu.own.slice(-2), [1, 0]);
    assert.equal(Math.max(...gpu.borrowed), 0);
  });
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

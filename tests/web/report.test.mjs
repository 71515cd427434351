// What a report of a simulation works out by itself: steps, bins, times, and a run from its columns.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { figuresOf } from '../../web/report/figures.js';
import {
  amountTicks,
  changeOfCount,
  changeOfSpan,
  percent,
  span,
  timeTicks,
} from '../../web/report/format.js';
import { Report } from '../../web/report/model.js';
import {
  amountAt,
  area,
  combine,
  histogram,
  means,
  quantile,
  readSteps,
  sumSteps,
  summary,
  waitEdges,
} from '../../web/report/stats.js';

const steps = (...pairs) => ({ at: pairs.map(([at]) => at), amount: pairs.map(([, n]) => n) });

describe('steps', () => {
  // 0 before 1; 2 from 1 to 3; 5 from 3 to 7; then 0.
  const use = steps([1, 2], [3, 5], [7, 0]);

  it('are read from differences', () => {
    assert.deepEqual(readSteps([1000, 2000, 2000, 5000, 4000, 0], 0.001, 1000), use);
  });

  it('have an amount at each time', () => {
    const cases = [
      [0, 0],
      [1, 2],
      [2.9, 2],
      [3, 5],
      [7, 0],
      [99, 0],
    ];
    for (const [time, amount] of cases) assert.equal(amountAt(use, time), amount, String(time));
  });

  it('have an area', () => {
    assert.equal(area(use, 0, 10), 2 * 2 + 5 * 4);
    assert.equal(area(use, 2, 4), 2 * 1 + 5 * 1);
    assert.equal(area(steps([1, 2]), 0, 5), 2 * 4); // the last holds on
  });

  it('are summed, also where they cancel out', () => {
    assert.deepEqual(sumSteps([use, steps([0, 1], [3, 0])]), steps([0, 1], [1, 3], [3, 5], [7, 0]));
    assert.deepEqual(sumSteps([steps([0, 0.1], [1, 0]), steps([0, 0.2], [2, 0])]).amount.at(-1), 0);
  });

  it('are combined', () => {
    const nominal = steps([0, 3]);
    assert.deepEqual(combine(use, nominal, Math.min), steps([1, 2], [3, 3], [7, 0]));
    assert.deepEqual(
      combine(use, nominal, (used, own) => Math.max(0, used - own)),
      steps([3, 2], [7, 0]),
    );
  });

  it('have means of equal parts', () => {
    // 0–2: 2 × 1/2; 2–4: (2 + 5) / 2; 4–6: 5; 6–8: 5 / 2.
    assert.deepEqual([...means(use, 0, 8, 4)], [1, 3.5, 5, 2.5]);
    assert.deepEqual([...means(use, 3, 7, 2)], [5, 5]);
  });
});

describe('waits', () => {
  it('have quantiles', () => {
    const { sorted, median, p95, longest, mean } = summary([3, 1, 2, 4]);
    assert.deepEqual([...sorted], [1, 2, 3, 4]);
    assert.deepEqual([median, p95, longest, mean], [2, 4, 4, 2.5]);
    assert.equal(quantile([], 0.5), NaN);
    assert.equal(summary([]).longest, NaN);
  });

  it('are counted in bins of round times', () => {
    const edges = waitEdges(400);
    assert.equal(edges[0], 0);
    assert.ok(edges.at(-1) === 600 && edges.includes(60) && edges.length <= 14, String(edges));
    assert.deepEqual(histogram([0, 0, 0.5, 1, 1.5, 9], [0, 1, 2, 10]), [2, 2, 1, 1]);
    assert.deepEqual(waitEdges(0), [0]);
  });
});

it('times, parts and changes read well', () => {
  const cases = [
    [0.15, '150ms'],
    [0, '0s'],
    [4.1, '4.1s'],
    [90, '1m30s'],
    [-5, '−5s'],
    [NaN, '–'],
  ];
  for (const [seconds, text] of cases) assert.equal(span(seconds), text);
  assert.equal(changeOfSpan(3, 5), '2s less');
  assert.equal(changeOfSpan(5, 3), '2s more');
  assert.equal(changeOfSpan(5, 5), 'the same');
  assert.equal(changeOfSpan(NaN, 5), '');
  assert.equal(changeOfCount(1, 2001), '2,000 fewer');
  assert.equal(percent(0.005), '0.5 %');
  assert.equal(percent(0.98), '98 %');
});

it('axes have round ticks', () => {
  assert.deepEqual(timeTicks(0, 4.1, 5), [0, 1, 2, 3, 4]);
  assert.deepEqual(timeTicks(0, 7200, 4), [0, 1800, 3600, 5400, 7200]);
  assert.deepEqual(timeTicks(0, 0.004, 4), [0, 0.001, 0.002, 0.003, 0.004]);
  assert.deepEqual(timeTicks(0, 10 * 86400, 5).slice(0, 2), [0, 2 * 86400]);
  assert.deepEqual(amountTicks(20, 4), [0, 5, 10, 15, 20]);
  assert.deepEqual(
    amountTicks(100 * 2 ** 30, 4, 'bytes'),
    [0, 1, 2, 3].map((n) => n * 32 * 2 ** 30),
  );
  assert.deepEqual(amountTicks(2, 4, 'count'), [0, 1, 2]);
  assert.deepEqual(amountTicks(0, 4), [0]);
});

/**
 * One queue of 2 CPUs in the cohort c, and one of 1. a (2 CPUs) comes at 0 and runs to 10; b (1)
 * comes at 1, borrows, is evicted for d at 3, and runs from 5 to 9; d comes at 3, runs to 5; e
 * comes at 4, and waits for ever. In the other run there is no e, and b waited to 4.
 */
function example() {
  const texts = ['', 'left', 'right', 'c', 'f', 'cpu', 'main', 'Preempted', 'Reclaim', 'No', 'why'];
  const types = { QuotaReserved: 0, Admitted: 1, Evicted: 2, Pending: 3, Finished: 4, Gone: 255 };
  const [R, A, E, P, F] = [0, 1, 2, 3, 4];
  const columns = (rows, by) => ({
    at: rows.map(([at], i) => at - (i ? rows[i - 1][0] : 0)),
    type: rows.map((row) => row[1]),
    workload: rows.map((row) => row[2]),
    what: rows.map((row) => row[3]),
    by,
  });
  return {
    unit: 1e9,
    inputs: ['x'],
    start: '2026-01-01T00:00:00Z',
    end: 10,
    endless: '',
    sluice: '0',
    types,
    texts,
    reasons: [7, 8, 9, 10], // Preempted: Reclaim; No: why
    places: [
      [1, 0, 6, 1, [5, 4]],
      [1, 1, 6, 1, [5, 4]],
      [2, 0, 6, 1, [5, 4]],
    ],
    shapes: [
      [6, 1, [5, 2000]],
      [6, 1, [5, 1000]],
    ],
    queues: [1, 3, 2, 3],
    cohorts: [3, 0],
    workloads: {
      namespace: [0, 0, 0, 0],
      namespaces: ['ns'],
      name: ['a', 'b', 'd', 'e'],
      queue: [1, 1, 2, 1],
      priority: [0, 0, 0, 0],
      shape: [0, 1, 1, 1],
      arrived: [0, 1, 2, 1],
      countsFor: [],
    },
    events: columns(
      [
        [0, R, 0, 0],
        [0, A, 0, 0],
        [1, R, 1, 1],
        [1, A, 1, 0],
        [3, E, 1, 0],
        [3, R, 2, 2],
        [3, A, 2, 0],
        [3, P, 1, 1],
        [4, P, 3, 1],
        [5, F, 2, 1],
        [5, R, 1, 1],
        [5, A, 1, 0],
        [9, F, 1, 1],
        [10, F, 0, 1],
      ],
      [4, 2],
    ),
    use: [
      [0, 1, 4, 5, [0, 2000, 1, 3000, 2, 2000, 2, 3000, 4, 2000, 1, 0], [0, 2000]],
      [0, 2, 4, 5, [3, 1000, 2, 0], [0, 1000]],
    ],
    other: {
      path: 'before.log',
      events: columns(
        [
          [0, R, 0, 0],
          [0, A, 0, 0],
          [4, R, 1, 1],
          [4, A, 1, 0],
        ],
        [],
      ),
      use: [],
    },
  };
}

describe('a report', () => {
  const report = new Report(example());
  const { now, before } = report;

  it('knows who held quota when, and how it ended', () => {
    const stays = now.stays.map(({ workload, from, to, ended }) => [workload, from, to, ended]);
    assert.deepEqual(stays, [
      [0, 0, 10, 'Finished'],
      [1, 1, 3, 'Evicted'],
      [2, 3, 5, 'Finished'],
      [1, 5, 9, 'Finished'],
    ]);
    assert.deepEqual(now.evictions, [{ at: 3, workload: 1, why: 0, by: 2, ran: 2, queue: 'left' }]);
    assert.equal(now.admissions, 4);
  });

  it('counts a wait up to the first start, or to the end', () => {
    assert.deepEqual(
      [0, 1, 2, 3].map((i) => now.wait(i)),
      [0, 0, 0, 6],
    );
    assert.deepEqual(
      [0, 1].map((i) => before.wait(i)),
      [0, 3],
    );
    assert.ok(Number.isNaN(before.wait(3))); // not in that run
    assert.ok(now.stillWaits(3) && now.neverStarted(3) && !now.stillWaits(1));
    const { workloads, never, evictions, lost } = figuresOf(now);
    assert.deepEqual([workloads, never, evictions, lost], [4, 1, 1, 2]);
  });

  it('knows how many wait, and why', () => {
    // b from 3 to 5, e from 4 on, up to the end.
    assert.deepEqual(now.waiting(), steps([3, 1], [4, 2], [5, 1], [10, 0]));
    const [[why, { seconds, workloads }]] = now.waitedFor;
    assert.deepEqual([why, seconds, [...workloads]], [1, 2 + 6, [1, 3]]);
  });

  it('splits use into own and borrowed, for a queue and for a cohort', () => {
    const [left] = now.quotas({ queue: 'left' });
    assert.deepEqual(left.own, steps([0, 2], [10, 0]));
    assert.deepEqual(left.over, steps([1, 1], [3, 0], [5, 1], [9, 0]));
    const [both] = now.quotas({ cohort: 'c' });
    assert.deepEqual(both.used, steps([0, 2], [1, 3], [9, 2], [10, 0]));
    assert.deepEqual(both.nominal, steps([0, 3]));
    assert.equal(area(both.over, 0, 10), 2 + 4);
  });

  it('knows the queues of a choice, and a life', () => {
    assert.deepEqual(report.queues({}), ['left', 'right']);
    assert.deepEqual(report.queues({ cohort: 'none' }), []);
    assert.deepEqual(report.cohorts(), ['c']);
    assert.deepEqual(
      now.life(1).map(({ at, type }) => `${at} ${type}`),
      [
        '1 QuotaReserved',
        '1 Admitted',
        '3 Evicted',
        '3 Pending',
        '5 QuotaReserved',
        '5 Admitted',
        '9 Finished',
      ],
    );
    assert.equal(now.life(1)[2].by, 2);
    assert.deepEqual(report.requests(0), [{ name: 'main', count: 1, requests: [['cpu', 2]] }]);
  });

  it('takes the start of what stands for another as that one’s', () => {
    const data = example();
    data.workloads.countsFor = [2, 3]; // d is a way to run e
    const { now: run } = new Report(data);
    assert.equal(run.wait(3), 0); // e came at 4, and d had started at 3
    assert.ok(Number.isNaN(run.wait(2)));
    assert.equal(figuresOf(run).workloads, 3);
  });

  it('says that whom others stand for waits again when none does', () => {
    const data = example();
    data.workloads.countsFor = [1, 3]; // b is a way to run e, which came at 4
    data.workloads.arrived = [0, 1, 2, -2]; // but now at 1
    const { now: run } = new Report(data);
    assert.deepEqual(run.waits[3], [[3, 5]]); // b was evicted at 3, and runs again from 5 on
    assert.equal(run.wait(3), 0);
  });
});

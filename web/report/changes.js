// What is other than in the run that this one is compared with.
import { h } from '../ui/dom.js';
import { empty, table } from '../ui/parts.js';
import { formatCount } from '../lib/quantity.js';
import { changeOfCount, changeOfSpan, span } from './format.js';
import { figuresOf } from './figures.js';

const FIRST = 8;
const SAME = 1e-9;

/** Less is better in all that is compared. */
const judged = (now, before, text) =>
  h(
    'span',
    { class: Math.abs(now - before) < SAME ? '' : now < before ? 'better' : 'worse' },
    text,
  );

export function measures(report) {
  const [now, before] = [report.now, report.before].map(figuresOf);
  const spans = [
    ['Median wait', (of) => of.waits.median],
    ['95 % wait at most', (of) => of.waits.p95],
    ['Longest wait', (of) => of.waits.longest],
    ['Mean wait', (of) => of.waits.mean],
    ['Mean time from coming to the end', (of) => of.lifetime],
    ['Last change', (of) => of.end],
    ['Work lost to evictions', (of) => of.lost],
  ].map(([name, of]) => [
    name,
    span(of(before)),
    span(of(now)),
    judged(of(now), of(before), changeOfSpan(of(now), of(before))),
  ]);
  const counts = [
    ['Evictions', (of) => of.evictions],
    ['Never started', (of) => of.never],
  ].map(([name, of]) => [
    name,
    formatCount(of(before)),
    formatCount(of(now)),
    judged(of(now), of(before), changeOfCount(of(now), of(before))),
  ]);
  return table(
    'This run against the other',
    ['', 'Other run', 'This run', 'Change'],
    [...spans, ...counts],
  );
}

/** Lists of workloads whose wait changed most, and how many are in one of the runs only. */
export function movers(report, onjob) {
  const { now, before } = report;
  const changed = [];
  let [onlyNow, onlyBefore] = [0, 0];
  for (let i = 0; i < report.count; ++i) {
    const [a, b] = [now.wait(i), before.wait(i)];
    if (Number.isNaN(a) && Number.isNaN(b)) continue;
    if (Number.isNaN(b)) ++onlyNow;
    else if (Number.isNaN(a)) ++onlyBefore;
    else if (Math.abs(a - b) > SAME) changed.push({ i, a, b });
  }
  changed.sort((x, y) => x.a - x.b - (y.a - y.b));
  const list = (title, of) =>
    h(
      'div',
      {},
      h('h3', {}, title),
      of.length === 0
        ? empty('None.')
        : table(
            title,
            ['Workload', 'Queue', 'Other run', 'This run'],
            of.map(({ i, a, b }) => [
              h('a', { href: '#jobs', onclick: () => onjob(i) }, report.key(i)),
              report.queueOf[i],
              span(b),
              judged(a, b, span(a)),
            ]),
          ),
    );
  const shorter = changed.filter(({ a, b }) => a < b);
  const longer = changed.filter(({ a, b }) => a > b).reverse();
  const strangers = [
    onlyNow && `${formatCount(onlyNow)} workloads are in this run only`,
    onlyBefore &&
      `${formatCount(onlyBefore)} are in the other run only: what they ask for is not known here, so they are missing in the pictures of its use`,
  ].filter(Boolean);
  return [
    h(
      'p',
      {},
      `${formatCount(longer.length)} wait longer than in the other run, ${formatCount(shorter.length)} less long.`,
    ),
    strangers.length > 0 && h('p', { class: 'faint' }, `${strangers.join('; ')}.`),
    h(
      'div',
      { class: 'two' },
      list('Wait longer now', longer.slice(0, FIRST)),
      list('Wait less now', shorter.slice(0, FIRST)),
    ),
  ];
}

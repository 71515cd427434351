// Which workloads were evicted by which, and why; and what that cost.
import { h } from '../ui/dom.js';
import { empty, table } from '../ui/parts.js';
import { formatCount } from '../lib/quantity.js';
import { span } from './format.js';

const FIRST = 12;
const MOST = 500;

export function evictionTables(report, onjob) {
  const { evictions } = report.now;
  if (evictions.length === 0) return empty('Nobody was evicted.');
  const pairs = new Map();
  for (const one of evictions) {
    const to = one.by === undefined ? '' : report.queueOf[one.by];
    const { reason, message } = report.reasons[one.why];
    // Of a preemption the message is its kind; of all others it is about the one workload.
    const kind = one.by === undefined ? reason : `${reason}: ${message}`;
    const key = `${one.queue}\n${to}\n${kind}`;
    const pair = pairs.get(key) ?? { from: one.queue, to, kind, count: 0, ran: 0 };
    ++pair.count;
    pair.ran += one.ran;
    pairs.set(key, pair);
  }
  const job = (i) => h('a', { href: '#jobs', onclick: () => onjob(i) }, report.key(i));
  const groups = [...pairs.values()].sort((a, b) => b.count - a.count);
  const groupRow = ({ from, to, kind, count, ran }) => [
    from,
    to || '–',
    kind,
    formatCount(count),
    span(ran),
  ];
  const heads = ['Evicted from', 'For one of', 'Why', 'How many', 'Work lost'];
  const oneRow = ({ at, workload, by, why, ran }) => [
    span(at),
    job(workload),
    by === undefined ? '–' : job(by),
    [report.reasons[why].reason, report.reasons[why].message].filter(Boolean).join(': '),
    span(ran),
  ];
  const costly = [...evictions].sort((a, b) => b.ran - a.ran);
  return [
    table('Evictions by queues', heads, groups.slice(0, FIRST).map(groupRow)),
    groups.length > FIRST &&
      h(
        'details',
        {},
        h('summary', {}, `${formatCount(groups.length - FIRST)} more pairs of queues`),
        table('More evictions by queues', heads, groups.slice(FIRST, MOST).map(groupRow)),
      ),
    h('h3', {}, 'Those that lost most'),
    table(
      'The evictions that lost most work',
      ['At', 'Evicted', 'For', 'Why', 'Had run'],
      costly.slice(0, FIRST).map(oneRow),
    ),
  ];
}

// How long they waited, and why.
import { h } from '../ui/dom.js';
import { empty, table } from '../ui/parts.js';
import { formatCount } from '../lib/quantity.js';
import { waitsOf } from './figures.js';
import { percent, span } from './format.js';
import { Picture } from './frame.js';
import { histogram, waitEdges } from './stats.js';

const HEIGHT = 190;
const REASONS = 8;

const binName = (edges, bin) =>
  bin === 0 ? 'none' : `${bin === 1 ? '0' : span(edges[bin - 1])} to ${span(edges[bin])}`;

/** Bars of how many waited how long, of both runs side by side. */
export function distribution(report, queues) {
  const runs = [report.now, report.before].filter(Boolean);
  const all = runs.map((run) => waitsOf(run, run.members(queues)));
  if (all.every((one) => one.count === 0)) return empty('No workload came.');
  const longest = Math.max(0, ...all.map((one) => one.longest || 0));
  const edges = trimmed(waitEdges(longest), all);
  const counts = all.map((one) => histogram(one.sorted, edges));
  const most = Math.max(1, ...counts.flat());
  const names = edges.map((_, bin) => binName(edges, bin));
  const words = all.map(
    (one, k) =>
      `${k ? 'the other run: ' : ''}${one.median === 0 ? 'half did not wait' : `half waited at most ${span(one.median)}`}, 95 % at most ${span(one.p95)}, the longest ${span(one.longest)}`,
  );
  const picture = new Picture({
    height: HEIGHT,
    label: `How many waited how long: ${words.join('; ')}`,
    paint: ({ pen, width, height, colour }) => {
      const bottom = height - 20;
      const wide = (width - 8) / edges.length;
      const each = Math.max(2, (wide - 8) / runs.length);
      edges.forEach((_, bin) => {
        const left = 4 + bin * wide;
        counts.forEach((of, k) => {
          const high = (of[bin] / most) * (bottom - 22);
          pen.fillStyle = colour(k ? 'other' : bin ? 'waiting' : 'running');
          pen.globalAlpha = k ? 0.75 : 0.85;
          pen.fillRect(left + 4 + k * each, bottom - high, each - 1, high);
          pen.globalAlpha = 1;
          if (of[bin] === 0 || each < 22) return;
          pen.fillStyle = colour('soft');
          pen.textAlign = 'center';
          pen.fillText(formatCount(of[bin]), left + 4 + (k + 0.5) * each, bottom - high - 9);
        });
        pen.fillStyle = colour('soft');
        pen.textAlign = 'center';
        const skip = Math.ceil(58 / wide);
        if (bin % skip === 0)
          pen.fillText(bin ? `≤ ${span(edges[bin])}` : 'none', left + wide / 2, height - 8);
      });
      pen.strokeStyle = colour('line');
      pen.beginPath();
      pen.moveTo(4, bottom + 0.5);
      pen.lineTo(width - 4, bottom + 0.5);
      pen.stroke();
    },
  });
  const rows = names
    .map((name, bin) => [name, ...counts.map((of) => formatCount(of[bin]))])
    .filter((_, bin) => counts.some((of) => of[bin] > 0));
  return h(
    'figure',
    {},
    h(
      'figcaption',
      {},
      h('strong', {}, 'How long they waited for their first start'),
      h('p', { class: 'readout' }, words.join('; ')),
    ),
    picture.canvas,
    h(
      'details',
      {},
      h('summary', {}, 'As a table'),
      table(
        'How many waited how long',
        ['Wait', ...(report.before ? ['This run', 'Other run'] : ['Workloads'])],
        rows,
      ),
    ),
  );
}

/** Without the bins before the first wait that there is. */
function trimmed(edges, all) {
  const shortest = Math.min(...all.map((one) => one.sorted.find((wait) => wait > 0) ?? Infinity));
  const first = edges.findIndex((edge) => edge >= shortest);
  return first > 1 ? [0, ...edges.slice(first)] : edges;
}

/** The same reason with other amounts is one line. */
const kindOf = (message) => message.replace(/\b\d+(\.\d+)?[A-Za-z]{0,2}\b(?= more| needed)/g, '…');

export function reasonTable(report) {
  const kinds = new Map();
  let total = 0;
  for (const [why, { seconds, workloads }] of report.now.waitedFor) {
    const { reason, message } = report.reasons[why];
    const key = `${reason}\n${kindOf(message)}`;
    const kind = kinds.get(key) ?? { reason, message: kindOf(message), seconds: 0, of: new Set() };
    kind.seconds += seconds;
    for (const one of workloads) kind.of.add(one);
    kinds.set(key, kind);
    total += seconds;
  }
  if (kinds.size === 0) return empty('Nobody waited for a reason that was told.');
  const sorted = [...kinds.values()].sort((a, b) => b.seconds - a.seconds);
  const row = ({ reason, message, seconds, of }) => [
    h(
      'span',
      { class: 'part' },
      h('i', { style: { width: `${(100 * seconds) / (sorted[0].seconds || 1)}%` } }),
      h('span', {}, percent(total ? seconds / total : 0)),
    ),
    span(seconds),
    formatCount(of.size),
    h('span', { class: 'stack' }, h('strong', {}, reason), h('span', { class: 'faint' }, message)),
  ];
  const heads = ['Of all waiting', 'Time', 'Workloads', 'Why'];
  const rest = sorted.slice(REASONS);
  return [
    table('Why they waited', heads, sorted.slice(0, REASONS).map(row)),
    rest.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, `${formatCount(rest.length)} more reasons`),
        table('More reasons', heads, rest.slice(0, 200).map(row)),
      ),
  ];
}

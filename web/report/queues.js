// Fairness: how much of its own each queue used over time, and how long its workloads waited.
import { h } from '../ui/dom.js';
import { table } from '../ui/parts.js';
import { formatCount, formatQuantity } from '../lib/quantity.js';
import { waitsOf } from './figures.js';
import { percent, span } from './format.js';
import { drawTimes, TimePicture } from './frame.js';
import { byName } from './model.js';
import { area, means } from './stats.js';

const TALL = 18;
const MOST = 420;
const FIRST = 15;

/** Of each queue: what is used of a resource, over all flavors, and what it owns. */
function sharesOf(run, resource) {
  const shares = new Map();
  for (const one of run.use) {
    if (one.cohort || one.resource !== resource) continue;
    const share = shares.get(one.node) ?? { parts: [] };
    share.parts.push(one);
    shares.set(one.node, share);
  }
  return shares;
}

export const resourcesOf = (report) =>
  [
    ...new Set(report.now.use.filter((one) => one.used.at.length).map((one) => one.resource)),
  ].sort();

const totals = (parts, what, from, to) =>
  parts.reduce((sum, part) => sum + area(part[what], from, to), 0) / (to - from || 1);

/** Queues as rows: the more of its own a queue uses the darker; beyond its own in another colour. */
export function heatMap(report, shown, resource, onpick) {
  const shares = sharesOf(report.now, resource);
  const above = (queue) => report.cohortsAbove(queue).reverse().join('/');
  const queues = [...shares.keys()].sort((a, b) => byName(above(a), above(b)) || byName(a, b));
  const tall = Math.max(1, Math.min(TALL, Math.floor(MOST / Math.max(1, queues.length))));
  const bundled = Math.ceil((queues.length * tall) / MOST); // queues per row, where there are many
  const rows = Math.ceil(queues.length / bundled);
  const readout = h('p', { class: 'readout', 'aria-hidden': 'true' });
  const rest = `${formatCount(queues.length)} queues, one above the other${
    bundled > 1 ? `, ${bundled} in a row of pixels` : ''
  }`;
  readout.textContent = rest;
  const queueAt = (y) => queues[Math.floor(y / tall) * bundled];
  const picture = new TimePicture(shown, {
    height: rows * tall + 20,
    label: `Use of ${resource} against nominal quota of ${rest}; the table below says it in numbers`,
    paint: (brush) => paintRows(brush, { queues, shares, tall, bundled, rows }),
    onclick: (x, y) => queueAt(y) && onpick(queueAt(y)),
    onhover: (x, y) => {
      const queue = Number.isFinite(y) && y < rows * tall ? queueAt(y) : undefined;
      if (!queue) {
        readout.textContent = rest;
        return;
      }
      const time = picture.timeAt(x);
      const { parts } = shares.get(queue);
      const least = (shown.to - shown.from) / 1e4;
      const used = totals(parts, 'used', time, time + least);
      const own = totals(parts, 'nominal', time, time + least);
      readout.textContent = `${queue} at ${span(time)}: ${formatQuantity(resource, used)} of ${formatQuantity(resource, own)}`;
    },
  });
  return h(
    'figure',
    {},
    h('figcaption', {}, h('strong', {}, `Use of ${resource} against nominal quota`), readout),
    picture.canvas,
    h(
      'p',
      { class: 'legend', 'aria-hidden': 'true' },
      [
        ['free', 'idle'],
        ['half', 'half of its own'],
        ['own', 'all of its own'],
        ['some', 'more than its own'],
        ['borrowed', 'twice its own or more'],
      ].map(([name, text]) => h('span', {}, h('i', { class: name }), text)),
    ),
  );
}

function paintRows(brush, { queues, shares, tall, bundled, rows }) {
  const { pen, colour, left, right, from, to } = brush;
  const wide = 2; // pixels
  const columns = Math.max(1, Math.floor((right - left) / wide));
  const own = colour('own');
  const over = colour('borrowed');
  pen.fillStyle = colour('track');
  pen.fillRect(left, 0, right - left, rows * tall);
  for (let row = 0; row < rows; ++row) {
    const of = queues.slice(row * bundled, (row + 1) * bundled);
    const used = new Float64Array(columns);
    const nominal = new Float64Array(columns);
    for (const queue of of)
      for (const part of shares.get(queue).parts) {
        const [a, b] = [part.used, part.nominal].map((steps) => means(steps, from, to, columns));
        for (let i = 0; i < columns; ++i) {
          used[i] += a[i];
          nominal[i] += b[i];
        }
      }
    for (let i = 0; i < columns; ++i) {
      if (used[i] <= 0) continue;
      const share = nominal[i] > 0 ? used[i] / nominal[i] : 2;
      pen.globalAlpha = share <= 1 ? 0.12 + 0.88 * share : Math.min(1, 0.5 + 0.5 * (share - 1));
      pen.fillStyle = share <= 1 ? own : over;
      pen.fillRect(left + i * wide, row * tall, wide, tall);
    }
    pen.globalAlpha = 1;
    if (tall < 11) continue;
    pen.fillStyle = colour('ink');
    pen.textAlign = 'left';
    pen.save();
    pen.beginPath();
    pen.rect(0, row * tall, left - 6, tall);
    pen.clip();
    pen.fillText(of[0], 8, row * tall + tall / 2);
    pen.restore();
    pen.fillStyle = colour('card');
    pen.fillRect(left, (row + 1) * tall - 1, right - left, 1);
  }
  drawTimes({ ...brush, height: rows * tall + 20 });
}

/** One line per queue, the one that waited longest first. */
export function queueTable(report, resource, onpick) {
  const { now, before } = report;
  const shares = sharesOf(now, resource);
  const end = now.end || 1;
  const evictedFor = new Map();
  for (const { by } of now.evictions)
    if (by !== undefined)
      evictedFor.set(report.queueOf[by], (evictedFor.get(report.queueOf[by]) ?? 0) + 1);
  const byQueue = (run) => {
    const out = new Map();
    for (const i of run.members()) {
      const list = out.get(report.queueOf[i]);
      if (list) list.push(i);
      else out.set(report.queueOf[i], [i]);
    }
    return out;
  };
  const members = byQueue(now);
  const earlier = before && byQueue(before);
  const lines = report.queues().map((queue) => {
    const of = members.get(queue) ?? [];
    const parts = shares.get(queue)?.parts ?? [];
    const used = totals(parts, 'used', 0, end);
    const own = totals(parts, 'nominal', 0, end);
    return {
      queue,
      count: of.length,
      waits: waitsOf(now, of),
      before: before && waitsOf(before, earlier.get(queue) ?? []),
      never: of.filter((i) => now.neverStarted(i)).length,
      evicted: of.reduce((sum, i) => sum + now.evicted[i], 0),
      used,
      own,
    };
  });
  const worst = (line) => line.waits.p95 || 0;
  lines.sort((a, b) => worst(b) - worst(a) || byName(a.queue, b.queue));
  const most = Math.max(1e-9, ...lines.map(worst));
  const row = (line) => [
    h(
      'span',
      { class: 'stack nowrap' },
      h('a', { href: '#use', onclick: () => onpick(line.queue) }, line.queue || '(no queue)'),
      h('small', {}, report.cohortsAbove(line.queue)[0] ?? ''),
    ),
    formatCount(line.count),
    span(line.waits.median),
    h(
      'span',
      { class: 'part' },
      h('i', { style: { width: `${(100 * worst(line)) / most}%` } }),
      h('span', {}, span(line.waits.p95)),
    ),
    span(line.waits.longest),
    ...(before ? [span(line.before.p95)] : []),
    formatCount(line.never),
    `${formatQuantity(resource, line.used)} of ${formatQuantity(resource, line.own)}`,
    line.own > 0 ? percent(line.used / line.own) : '–',
    formatCount(line.evicted),
    formatCount(evictedFor.get(line.queue) ?? 0),
  ];
  const heads = [
    'Queue',
    'Workloads',
    'Median wait',
    '95 % wait at most',
    'Longest',
    ...(before ? ['95 %, other run'] : []),
    'Never started',
    `${resource} on average`,
    'Of its own',
    'Evicted',
    'Evicted others',
  ];
  return [
    table('Queues, the longest waits first', heads, lines.slice(0, FIRST).map(row)),
    lines.length > FIRST &&
      laterTable(
        `${formatCount(lines.length - FIRST)} more queues`,
        heads,
        lines.slice(FIRST),
        row,
      ),
  ];
}

/** What is made only when the user opens it. */
function laterTable(text, heads, lines, row) {
  const more = h('details', {}, h('summary', {}, text));
  more.addEventListener('toggle', () => more.append(table(text, heads, lines.map(row))), {
    once: true,
  });
  return more;
}

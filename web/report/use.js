// Use of quota over time against nominal, and how many waited meanwhile.
import { h } from '../ui/dom.js';
import { formatQuantity, inBytes } from '../lib/quantity.js';
import { empty, table } from '../ui/parts.js';
import { amountTicks, span, timeTicks } from './format.js';
import { drawTimes, stepPath, TimePicture } from './frame.js';
import { amountAt, area } from './stats.js';

const HEIGHT = 170;

const highest = (...all) =>
  Math.max(...all.flatMap((steps) => (steps?.amount.length ? [Math.max(...maxima(steps))] : [0])));

/** In pieces: an argument list has an end. */
function maxima({ amount }) {
  const out = [];
  for (let i = 0; i < amount.length; i += 10_000)
    out.push(Math.max(...amount.slice(i, i + 10_000)));
  return out;
}

function drawAmounts({ pen, colour, left, right }, top, y, name, kind) {
  pen.textAlign = 'right';
  for (const tick of amountTicks(top, 4, kind)) {
    const at = Math.round(y(tick)) + 0.5;
    pen.strokeStyle = colour('line');
    pen.beginPath();
    pen.moveTo(left, at);
    pen.lineTo(right, at);
    pen.stroke();
    pen.fillStyle = colour('soft');
    pen.fillText(name(tick), left - 8, Math.max(8, at));
  }
}

function fillSteps(brush, steps, y, name, alpha) {
  stepPath(brush, steps, y, true);
  brush.pen.globalAlpha = alpha;
  brush.pen.fillStyle = brush.colour(name);
  brush.pen.fill();
  brush.pen.globalAlpha = 1;
}

function lineSteps(brush, steps, y, name, { dash = [], width = 1.5 } = {}) {
  stepPath(brush, steps, y, false);
  brush.pen.setLineDash(dash);
  brush.pen.lineWidth = width;
  brush.pen.strokeStyle = brush.colour(name);
  brush.pen.stroke();
  brush.pen.setLineDash([]);
}

function clipped(brush, bottom, draw) {
  brush.pen.save();
  brush.pen.beginPath();
  brush.pen.rect(brush.left, 0, brush.right - brush.left, bottom + 1);
  brush.pen.clip();
  draw();
  brush.pen.restore();
}

/** One flavor and resource of a choice. */
function quotaFigure(report, shown, quota, before) {
  const amount = (value) => formatQuantity(quota.resource, value);
  const top = highest(quota.used, quota.nominal, before?.used) * 1.08;
  const until = report.now.end || 1;
  const mean = area(quota.used, 0, until) / until;
  const borrowed = area(quota.over, 0, until) / until;
  const own = area(quota.nominal, 0, until) / until;
  const words = [
    `${amount(mean)} of ${amount(own)} used on average`,
    own > 0 && `${Math.round((100 * mean) / own)} %`,
    `at most ${amount(highest(quota.used))}`,
    borrowed > 0 && `${amount(borrowed)} beyond the nominal quota of their queues`,
    before &&
      `the other run: ${amount(area(before.used, 0, report.before.end) / (report.before.end || 1))}`,
  ].filter(Boolean);
  const readout = h('p', { class: 'readout', 'aria-hidden': 'true' }, words.join(', '));
  const picture = new TimePicture(shown, {
    height: HEIGHT,
    label: `${quota.flavor}, ${quota.resource} over time: ${words.join(', ')}`,
    paint: (brush) => {
      const bottom = drawTimes(brush);
      const y = (value) => bottom - (value / top) * (bottom - 6);
      drawAmounts(brush, top, y, amount, inBytes(quota.resource) ? 'bytes' : '');
      clipped(brush, bottom, () => {
        fillSteps(brush, quota.used, y, 'borrowed', 0.9);
        fillSteps(brush, quota.own, y, 'own', 1);
        lineSteps(brush, quota.nominal, y, 'ink', { dash: [6, 4] });
        if (before) lineSteps(brush, before.used, y, 'other', { width: 2 });
      });
    },
    onhover: (x) => {
      const time = picture.timeAt(x);
      readout.textContent =
        Number.isFinite(x) && x >= picture.left
          ? [
              `at ${span(time)}: ${amount(amountAt(quota.used, time))} of ${amount(amountAt(quota.nominal, time))} used`,
              amountAt(quota.over, time) > 0 && `${amount(amountAt(quota.over, time))} borrowed`,
              before && `the other run: ${amount(amountAt(before.used, time))}`,
            ]
              .filter(Boolean)
              .join(', ')
          : words.join(', ');
    },
  });
  return h(
    'figure',
    {},
    h('figcaption', {}, h('strong', {}, `${quota.flavor} · ${quota.resource}`), readout),
    picture.canvas,
    inNumbers(
      report,
      `${quota.flavor}, ${quota.resource} over time`,
      [
        ['Used', quota.used],
        ['Borrowed', quota.over],
        ['Nominal', quota.nominal],
        before && ['Used in the other run', before.used],
      ].filter(Boolean),
      amount,
    ),
  );
}

const ROWS = 16;

/** What a picture shows, at round times; made when the user opens it. */
function inNumbers(report, label, columns, name) {
  const more = h('details', {}, h('summary', {}, 'As a table'));
  const cells = (time) => [
    span(time),
    ...columns.map(([, steps]) => name(Math.max(0, amountAt(steps, time)))),
  ];
  const make = () =>
    more.append(
      table(
        label,
        ['At', ...columns.map(([head]) => head)],
        timeTicks(0, report.until, ROWS).map(cells),
      ),
    );
  more.addEventListener('toggle', make, { once: true });
  return more;
}

function waitingFigure(report, shown, queues) {
  const now = report.now.waiting(queues);
  const before = report.before?.waiting(queues);
  const most = highest(now, before);
  if (most === 0) return null;
  const words = `at most ${highest(now).toLocaleString('en')} waited at once${
    before ? `; in the other run ${highest(before).toLocaleString('en')}` : ''
  }`;
  const readout = h('p', { class: 'readout', 'aria-hidden': 'true' }, words);
  const picture = new TimePicture(shown, {
    height: 120,
    label: `How many wait, over time: ${words}`,
    paint: (brush) => {
      const bottom = drawTimes(brush);
      const y = (value) => bottom - (value / (most * 1.08)) * (bottom - 6);
      drawAmounts(brush, most, y, (tick) => tick.toLocaleString('en'), 'count');
      clipped(brush, bottom, () => {
        fillSteps(brush, now, y, 'waiting', 0.55);
        if (before) lineSteps(brush, before, y, 'other', { width: 2 });
      });
    },
    onhover: (x) => {
      const time = picture.timeAt(x);
      readout.textContent =
        Number.isFinite(x) && x >= picture.left
          ? `at ${span(time)}: ${amountAt(now, time).toLocaleString('en')} wait${
              before ? `; in the other run ${amountAt(before, time).toLocaleString('en')}` : ''
            }`
          : words;
    },
  });
  return h(
    'figure',
    {},
    h('figcaption', {}, h('strong', {}, 'Waiting workloads'), readout),
    picture.canvas,
    inNumbers(
      report,
      'Waiting workloads over time',
      [['Wait', now], before && ['Waited in the other run', before]].filter(Boolean),
      (many) => many.toLocaleString('en'),
    ),
  );
}

export const useLegend = (report) =>
  h(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    [
      ['own', 'used'],
      ['borrowed', 'borrowed, beyond the queue’s own'],
      ['dash', 'nominal quota'],
      report.before && ['other', 'use in the other run'],
    ]
      .filter(Boolean)
      .map(([name, text]) => h('span', {}, h('i', { class: name }), text)),
  );

/** The pictures of a choice of queues. */
export function useFigures(report, shown, choice) {
  const before = new Map(
    report.before?.quotas(choice).map((one) => [`${one.flavor} ${one.resource}`, one]),
  );
  const quotas = report.now
    .quotas(choice)
    .filter((one) => highest(one.used, one.nominal) > 0)
    .map((one) => quotaFigure(report, shown, one, before.get(`${one.flavor} ${one.resource}`)));
  if (quotas.length === 0) quotas.push(empty('Nobody has, or uses, quota here.'));
  return [...quotas, waitingFigure(report, shown, report.queues(choice))];
}

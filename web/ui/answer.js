// The answer to a question of what would be, drawn: what becomes of each that was asked about, and
// of all others.
import { h } from './dom.js';
import { explained } from './explained.js';
import { link, table, to, workloadLink } from './parts.js';
import {
  basisWords,
  CHANGES,
  nameOf,
  refusalWords,
  startLine,
  startSentence,
  verdict,
} from '../lib/whatif.js';
import { formatCount } from '../lib/quantity.js';
import { formatTime, parseTime } from '../lib/time.js';

/** Why a question was not answered. `causes`: what is wrong with what was asked, where that helps. */
export const refusal = (error, causes = [], more = {}) =>
  h(
    'div',
    { class: `notice ${error.kind}`, ...more },
    h('strong', {}, `${refusalWords(error)}.`),
    h('span', {}, error.text),
    causes.length > 1 &&
      h(
        'ul',
        {},
        causes.map((one) => h('li', {}, h('code', {}, one.field), ` ${one.message}`)),
      ),
  );

const queueLink = (name) => (name ? link(to.clusterQueue(name), name) : '');

/** The link of a flavor leads to the workloads of the queue that use it. */
const flavorLink = (queue, flavor) => (queue ? link(to.holders(queue, flavor), flavor) : flavor);

/** Pod sets with what they would get: rows of a table. */
function placeRows(admission, queue) {
  return admission.flatMap((pods) =>
    Object.entries(pods.usage ?? {}).map(([resource, amount], i) => [
      i === 0 ? pods.name : '',
      i === 0 ? formatCount(pods.count) : '',
      `${amount} ${resource}`,
      flavorLink(queue, pods.flavors?.[resource] ?? ''),
    ]),
  );
}

const places = ({ admission, queue }) =>
  admission?.length > 0 &&
  table(
    'What it would get',
    ['Pod set', 'Pods', 'Together', 'Flavor'],
    placeRows(admission, queue?.clusterQueue),
  );

/** The interval on a line that begins now. The sentence above says the same. */
function line(start, now) {
  const at = startLine(start, now);
  if (!at) return undefined;
  // A label stands on that side of its mark on which there is more room.
  const label = (percent, text) =>
    h('span', { class: percent > 50 ? 'before' : '', style: { left: `${percent}%` } }, text);
  return h(
    'div',
    { class: 'when', 'aria-hidden': 'true' },
    at.earliest > now &&
      at.from < at.to &&
      h('div', {}, label(at.from, formatTime(at.earliest, now))),
    h(
      'div',
      { class: 'track' },
      h('i', {
        class: at.open ? 'open' : '',
        style: { left: `min(${at.from}%, 100% - 4px)`, width: `${at.to - at.from}%` },
      }),
    ),
    h('div', {}, label(0, 'now'), label(at.to, at.open ? 'no latest' : formatTime(at.latest, now))),
  );
}

/** When it would start: a heading, a sentence, the interval as a line, and out of what. */
export function when(start, now) {
  if (!start) return [];
  const basis = basisWords(start.runTimes);
  return [
    h('h3', {}, 'When it would start'),
    h('p', { class: 'start' }, startSentence(start, now)),
    line(start, now),
    basis && h('p', { class: 'faint' }, `Of the jobs that run in the same cohorts: ${basis}.`),
  ];
}

/** The preemptor: a workload that was asked about, or an existing one. */
const preemptor = (by) =>
  by?.kind ? nameOf(by) : by?.workload ? workloadLink(by.workload) : 'somebody';

function asked(told, now) {
  const { text, badge } = verdict(told);
  const { object, queue } = told;
  const local = queue?.localQueue && object.namespace;
  return h(
    'section',
    { class: 'told' },
    h('h2', {}, nameOf(object), ' ', h('span', { class: `badge ${badge}` }, text)),
    (local || queue?.clusterQueue) &&
      h(
        'p',
        {},
        local && [
          'LocalQueue ',
          link(to.localQueue(object.namespace, queue.localQueue), queue.localQueue),
        ],
        local && queue.clusterQueue && ' of ',
        queue.clusterQueue && ['ClusterQueue ', queueLink(queue.clusterQueue)],
      ),
    told.evicted &&
      h(
        'p',
        { class: 'missing' },
        `It would be evicted (${told.evicted.reason})`,
        told.evicted.by && [', for ', preemptor(told.evicted.by)],
        '.',
      ),
    places(told),
    when(told.start, now),
    told.explanation
      ? explained(told.explanation)
      : (told.checks ?? []).map((one) => h('p', {}, `Check ${one.name}: ${one.state}`)),
  );
}

const afterwards = (entry) => {
  const uses = (entry.admission ?? []).flatMap((pods) =>
    Object.entries(pods.usage ?? {}).map(([resource, amount]) =>
      h(
        'span',
        {},
        `${formatCount(pods.count)} pods: ${amount} ${resource} of `,
        flavorLink(entry.clusterQueue, pods.flavors?.[resource] ?? ''),
      ),
    ),
  );
  return h('span', { class: 'stack' }, entry.goesOn && h('span', {}, 'starts again on'), uses);
};

const reasons = (entry) => [entry.reason, entry.preemption].filter(Boolean).join(', ');

/** [head, cell of an entry, whether an entry has it] */
const COLUMNS = [
  ['Workload', (entry) => workloadLink(entry.workload), () => true],
  ['Job', (entry) => entry.job ?? '', (entry) => entry.job],
  ['ClusterQueue', (entry) => queueLink(entry.clusterQueue), (entry) => entry.clusterQueue],
  ['Because', reasons, reasons],
  ['For', (entry) => (entry.by ? preemptor(entry.by) : ''), (entry) => entry.by],
  ['Then', afterwards, (entry) => entry.admission],
];

function others(changes, kind, title) {
  const list = changes[kind] ?? [];
  const hidden = changes.otherNamespaces?.[kind] ?? 0;
  if (list.length + hidden === 0) return [];
  // What is empty in all rows is no column.
  const columns = COLUMNS.filter(([, , has]) => list.some(has));
  return [
    h('h2', {}, `${title}: ${formatCount(list.length + hidden)}`),
    list.length > 0 &&
      table(
        title,
        columns.map(([head]) => head),
        list.map((entry) => columns.map(([, cell]) => cell(entry))),
      ),
    hidden > 0 &&
      h('p', {}, `${hidden} of namespaces whose workloads you may not see; nobody names them.`),
  ];
}

const sentences = (title, list = []) =>
  list.length > 0 && [
    h('h3', {}, title),
    h(
      'ul',
      {},
      list.map((text) => h('li', {}, text)),
    ),
  ];

/** The status of a WhatIf. */
export function answer(status) {
  const now = parseTime(status.time);
  const changes = status.changes ?? {};
  const drawn = CHANGES.map(([kind, title]) => others(changes, kind, title)).flat();
  return [
    (status.workloads ?? []).map((told) => asked(told, now)),
    drawn,
    drawn.length === 0 && h('p', {}, 'No other workload would start, or be evicted.'),
    sentences('What is not sure', status.uncertain),
    sentences('Warnings', status.warnings),
    h(
      'p',
      { class: 'faint' },
      `About the state at ${formatTime(now, now)} (resourceVersion ${status.resourceVersion}). `,
      'Nothing was written.',
    ),
  ];
}

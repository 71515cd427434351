// What an explanation of the host says, drawn: where a workload stands, who waits or runs in its
// place, what it lacks and which workloads hold that, what rejected it, what would help, its checks,
// what evicted it.
import { h } from './dom.js';
import { link, table, to, workloadLink } from './parts.js';
import { flavorsText } from '../lib/workload.js';

function queuePlace({ now, queue }) {
  if (!queue) return [now && h('p', { class: 'why-long' }, now)];
  const facts = [];
  if (queue.positionInClusterQueue) {
    facts.push(
      h(
        'p',
        {},
        'Position ',
        h('strong', {}, `${queue.positionInClusterQueue} of ${queue.pendingInClusterQueue}`),
        ' in ',
        link(to.clusterQueue(queue.clusterQueue, '?to=waiting'), queue.clusterQueue),
        queue.parked ? '; it is looked at again when something changes' : '',
        (queue.ahead ?? []).length > 0 && [
          ' — in front of it: ',
          queue.ahead.map((key) => [workloadLink(key), ' ']),
        ],
      ),
    );
  }
  return [now && h('p', { class: 'why-long' }, now), ...facts];
}

/** Workloads that wait or run for it, each on its own terms; the first to be admitted counts. */
function inItsPlace({ standIns = [] }) {
  return (
    standIns.length > 0 && [
      h('h3', {}, 'In its place'),
      table(
        'Workloads in its place',
        ['Workload', 'State', 'On', 'Message'],
        standIns.map((one) => [
          workloadLink(one.workload),
          one.parked ? `${one.state}, until something changes` : one.state,
          flavorsText(one.admission),
          one.message ?? '',
        ]),
      ),
    ]
  );
}

function replaced({ willReplace }) {
  return (
    willReplace &&
    h('p', {}, 'Its admission ends ', workloadLink(willReplace), ', whose quota counts as free.')
  );
}

function needs({ podSets = [] }) {
  const rows = podSets.flatMap((pods) =>
    pods.resources.flatMap((each) => {
      if (each.covered === false)
        return [
          [
            pods.name,
            each.resource,
            each.requested,
            h('em', {}, 'no quota of it here'),
            '',
            '',
            '',
            '',
          ],
        ];
      return each.flavors.map((one) => [
        pods.name,
        each.resource,
        each.requested,
        one.flavor,
        one.available,
        one.maximum,
        one.missing === '0' ? '' : h('strong', { class: 'missing' }, one.missing),
        heldBy(one),
      ]);
    }),
  );
  return (
    rows.length > 0 &&
    table(
      'What it asks for and what there is',
      ['Pod set', 'Resource', 'Asked', 'Flavor', 'Free', 'At most', 'Missing', 'Held by'],
      rows,
    )
  );
}

function heldBy(one) {
  const out = [];
  if (one.unsuitable) out.push(h('span', {}, one.unsuitable));
  if (one.never) out.push(h('span', {}, 'asks for more than there is at most'));
  for (const each of one.holders ?? [])
    out.push(h('span', {}, workloadLink(each.workload), ` ${each.amount}`));
  if (one.moreHolders)
    out.push(h('span', {}, `${one.moreHolders.workloads} more: ${one.moreHolders.amount}`));
  if (one.otherNamespaces)
    out.push(
      h(
        'span',
        {},
        `${one.otherNamespaces.workloads} of namespaces that you may not see: `,
        one.otherNamespaces.amount,
      ),
    );
  return h('span', { class: 'stack' }, out);
}

function saidNo({ refusals = [] }) {
  return (
    refusals.length > 0 && [
      h('h3', {}, 'Said no'),
      h(
        'ul',
        {},
        refusals.map((one) =>
          h('li', {}, `${one.plugin}${one.flavor ? ` (${one.flavor})` : ''}: ${one.message}`),
        ),
      ),
    ]
  );
}

function help({ wouldHelp = [] }) {
  return (
    wouldHelp.length > 0 && [
      h('h3', {}, 'What would have to happen'),
      h(
        'ul',
        {},
        wouldHelp.map((text) => h('li', {}, text)),
      ),
    ]
  );
}

function checkTable({ checks = [] }) {
  return (
    checks.length > 0 && [
      h('h3', {}, 'Checks'),
      table(
        'Checks',
        ['Check', 'State', 'Message'],
        checks.map((one) => [
          link('#/checks', one.name),
          one.state,
          h(
            'span',
            { class: 'stack' },
            h('span', {}, one.message ?? ''),
            (one.details ?? []).map((line) => h('small', {}, line)),
          ),
        ]),
      ),
    ]
  );
}

function evictions({ evicted, willEvict = [] }) {
  const by = evicted?.by;
  return [
    evicted &&
      evicted.message && [
        h('h3', {}, 'Evicted'),
        h('p', {}, `${evicted.reason}: ${evicted.message}`),
        by &&
          h(
            'p',
            {},
            'For: ',
            by.workload
              ? workloadLink(by.workload)
              : by.gone
                ? 'a workload that is gone'
                : 'a workload of another namespace',
            by.job ? ` (${by.job})` : '',
            by.clusterQueue
              ? [' of ', link(to.clusterQueue(by.clusterQueue), by.clusterQueue)]
              : '',
          ),
      ],
    willEvict.length > 0 && [
      h('h3', {}, 'Will evict'),
      h(
        'ul',
        {},
        willEvict.map((key) => h('li', {}, workloadLink(key))),
      ),
    ],
  ];
}

/** Of one that is admitted: which pods are not ready; of one that failed: how they ended. */
const podTrouble = ({ pods }) => [pods && h('p', {}, pods)];

/** The parts of a WorkloadExplanation that it has, in their order. */
export function explained(document) {
  return [queuePlace, podTrouble, replaced, inItsPlace, needs, saidNo, help, checkTable, evictions]
    .map((draw) => draw(document))
    .flat()
    .filter(Boolean);
}

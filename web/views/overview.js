// Overview: the tree of cohorts and ClusterQueues, and the LocalQueues through which jobs come.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import { bar, empty, legend, link, notice, quotaText, since, tile, to } from '../ui/parts.js';
import { rowsOf } from '../ui/rows.js';
import { kueue, pending } from '../lib/api.js';
import { Details } from '../lib/pages.js';
import { formatCount } from '../lib/quantity.js';
import { age, parseTime } from '../lib/time.js';
import { buildTree, linesOf, slimCohort, slimQueue } from '../lib/tree.js';

const LOOKED_AT = 200; // of those in line; the longest wait is found among them

function oldest(summary) {
  const items = summary.items ?? [];
  let found;
  for (const item of items) {
    const time = parseTime(item.metadata.creationTimestamp);
    if (!found || time < found.time)
      found = { time, ns: item.metadata.namespace, name: item.metadata.name };
  }
  return found && { ...found, all: items.length < LOOKED_AT };
}

function slimLocalQueue(object) {
  const status = object.status ?? {};
  const active = (status.conditions ?? []).find((one) => one.type === 'Active');
  return {
    ns: object.metadata.namespace,
    name: object.metadata.name,
    clusterQueue: object.spec?.clusterQueue ?? '',
    waiting: status.pendingWorkloads ?? 0,
    holding: status.reservingWorkloads ?? 0,
    inactive: active && active.status !== 'True' ? active.message : '',
  };
}

const LOCAL = [
  {
    name: 'LocalQueue',
    class: 'grow',
    cell: (q) => link(to.localQueue(q.ns, q.name), `${q.ns}/${q.name}`),
  },
  {
    name: 'ClusterQueue',
    class: 'wide',
    cell: (q) => link(to.clusterQueue(q.clusterQueue), q.clusterQueue),
  },
  {
    name: 'Hold quota',
    class: 'number',
    cell: (q) => link(`${to.localQueue(q.ns, q.name)}?to=holding`, formatCount(q.holding)),
  },
  {
    name: 'Wait',
    class: 'number',
    cell: (q) => link(`${to.localQueue(q.ns, q.name)}?to=waiting`, formatCount(q.waiting)),
  },
];

class Overview extends View {
  #filter = '';
  #tree = document.createElement('window-rows');
  #locals = document.createElement('window-rows');
  #input = h('input', {
    type: 'search',
    placeholder: 'Name contains …',
    'aria-label': 'Show only cohorts and queues whose name contains',
    oninput: (event) => {
      this.#filter = event.target.value.trim();
      this.soon();
    },
  });
  #lines = [];
  #made = '';
  #changes = 0;

  begin() {
    const changed = () => ++this.#changes;
    this.queues = this.follow(kueue('clusterqueues'), { slim: slimQueue, changed });
    this.cohorts = this.follow(kueue('cohorts'), { slim: slimCohort, changed });
    this.local = this.follow(kueue('localqueues', this.ctx.ns), { slim: slimLocalQueue });
    this.details = this.own(new Details(this.ctx.api, () => this.soon(), { freshMs: 15_000 }));
    this.#tree.className = 'tree';
    this.#tree.head('Cohorts and ClusterQueues', [
      { name: 'Quota', class: 'grow' },
      { name: 'Hold quota', class: 'number' },
      { name: 'Wait', class: 'number' },
      { name: 'Waits longest', class: 'wide' },
    ]);
    this.#locals.className = 'locals';
    this.#locals.head('LocalQueues', LOCAL);
    this.append(
      h('h1', {}, 'Overview'),
      this.part('tiles', '', () => []),
      h(
        'div',
        { class: 'bar-head' },
        h('h2', {}, 'Cohorts and ClusterQueues'),
        this.#input,
        legend(),
      ),
      this.part('queues', '', () => []),
      this.#tree,
      h('h2', {}, 'LocalQueues'),
      this.part('locals-note', '', () => []),
      this.#locals,
    );
  }

  draw(now) {
    this.#drawTiles();
    this.#drawTree(now);
    this.#drawLocals();
  }

  #drawTiles() {
    const sums = { queues: 0, waiting: 0, holding: 0, checks: 0, stopped: 0 };
    for (const queue of this.queues.items.values()) {
      ++sums.queues;
      sums.waiting += queue.waiting;
      sums.holding += queue.holding;
      sums.checks += Math.max(0, queue.holding - queue.admitted);
      if (queue.stopped || queue.inactive) ++sums.stopped;
    }
    const known = this.queues.complete;
    const shown = (number) => (known ? number : '…');
    this.part('tiles', [sums, known, this.queues.refused], () =>
      this.queues.refused
        ? []
        : [
            tile('wait for quota', shown(sums.waiting)),
            tile('hold quota', shown(sums.holding)),
            tile('of these wait for checks', shown(sums.checks), '#/checks'),
            tile(
              'ClusterQueues',
              shown(sums.queues),
              undefined,
              sums.stopped ? `${sums.stopped} of them serve nobody` : '',
            ),
          ],
    );
  }

  #drawTree(now) {
    const { queues, cohorts } = this;
    this.part(
      'queues',
      [queues.error?.text, cohorts.error?.text, queues.complete, queues.items.size],
      () => [
        queues.refused && notice(queues.error, 'the ClusterQueues of the host'),
        cohorts.refused &&
          !queues.refused &&
          notice(
            cohorts.error,
            'Cohorts; those that queues name are shown without their own quota',
          ),
        queues.complete &&
          queues.items.size === 0 &&
          empty('There is no ClusterQueue yet: examples/quickstart/1-capacity.yaml makes two.'),
      ],
    );
    const wish = `${this.#changes} ${this.#filter}`;
    if (wish !== this.#made) {
      this.#made = wish;
      this.#lines = this.#linesNow();
    }
    this.#tree.hidden = this.#lines.length === 0;
    this.#tree.show({ count: this.#lines.length, row: (i) => this.#row(this.#lines[i], now) });
  }

  #linesNow() {
    const tree = buildTree(
      this.cohorts.items.values(),
      [...this.queues.items.values()].map((queue) => ({
        ...queue,
        quotas: queue.quotas.map((quota) => ({ ...quota })),
      })),
    );
    const only = this.ctx.query.get('cohort');
    if (only) {
      const find = (nodes) =>
        nodes.flatMap((node) => (node.name === only ? [node] : find(node.cohorts)));
      tree.roots = find(tree.roots);
      tree.alone = [];
    }
    const filter = this.#filter.toLowerCase();
    return linesOf(tree, (name) => name.toLowerCase().includes(filter));
  }

  #row(line, now) {
    if (line.kind === 'quota') return this.#quotaRow(line);
    return line.kind === 'cohort' ? this.#cohortRow(line) : this.#queueRow(line, now);
  }

  #cohortRow({ of, key, depth }) {
    return {
      key,
      sig: `${of.holding} ${of.waiting} ${depth}`,
      class: `cohort depth-${Math.min(depth, 5)}`,
      cells: () => [
        h(
          'span',
          { role: 'cell', class: 'grow' },
          h('span', { class: 'kind' }, 'Cohort'),
          link(to.cohort(of.name), of.name),
        ),
        h('span', { role: 'cell', class: 'number' }, formatCount(of.holding)),
        h('span', { role: 'cell', class: 'number' }, formatCount(of.waiting)),
        h('span', { role: 'cell', class: 'wide' }),
      ],
    };
  }

  #queueRow({ of, key, depth }, now) {
    const known =
      of.waiting > 0 ? this.details.get(pending(of.name), { limit: LOOKED_AT }, oldest) : undefined;
    const longest = known?.value;
    return {
      key,
      class: `queue depth-${Math.min(depth, 5)}`,
      sig: JSON.stringify([
        [of.holding, of.waiting, depth, of.stopped, of.inactive, known?.error?.kind],
        longest && [longest.name, age(longest.time, now)],
      ]),
      cells: () => [
        h(
          'span',
          { role: 'cell', class: 'grow' },
          h('span', { class: 'kind' }, 'Queue'),
          link(to.clusterQueue(of.name), of.name),
          of.stopped && h('span', { class: 'badge off' }, `stopped: ${of.stopped}`),
          of.inactive && h('span', { class: 'badge off', title: of.inactive }, 'not active'),
          h(
            'a',
            {
              class: 'aside',
              href: to.clusterQueue(of.name, '?to=history'),
              'aria-label': `History of ${of.name}`,
            },
            'history',
          ),
        ),
        h(
          'span',
          { role: 'cell', class: 'number' },
          link(to.clusterQueue(of.name, '?to=holding'), formatCount(of.holding)),
        ),
        h(
          'span',
          { role: 'cell', class: 'number' },
          link(to.clusterQueue(of.name, '?to=waiting'), formatCount(of.waiting)),
        ),
        h('span', { role: 'cell', class: 'wide longest' }, this.#longest(known, now)),
      ],
    };
  }

  #longest(known, now) {
    if (known?.error?.kind === 'forbidden')
      return h('span', { class: 'faint', title: known.error.text }, 'you may not see who');
    if (!known?.value) return '';
    const { ns, name, time, all } = known.value;
    return [
      since(time, now),
      ' ',
      link(to.workload(ns, name), `${ns}/${name}`),
      !all && h('span', { class: 'faint' }, ` of the first ${LOOKED_AT}`),
    ];
  }

  #quotaRow({ of, quota, key, depth, owner }) {
    const whole = owner === 'cohort' ? { ...quota, sum: true } : quota;
    const name = `${quota.flavor} · ${quota.resource}`;
    return {
      key,
      sig: JSON.stringify(quota) + depth,
      class: `quota of-${owner} depth-${Math.min(depth, 5)}`,
      cells: () => [
        h(
          'span',
          { role: 'cell', class: 'grow name' },
          owner === 'queue'
            ? link(to.holders(of.name, quota.flavor), name)
            : link('#/flavors', name),
        ),
        h(
          'span',
          { role: 'cell', class: 'bars' },
          bar(whole),
          h('span', { class: 'text' }, quotaText(whole)),
        ),
      ],
    };
  }

  #drawLocals() {
    const { local } = this;
    this.part('locals-note', [local.error?.text, local.complete, local.items.size], () => [
      local.refused &&
        notice(
          local.error,
          this.ctx.ns
            ? `the LocalQueues of namespace ${this.ctx.ns}`
            : 'the LocalQueues of all namespaces; choose your namespace at the top',
        ),
      local.complete &&
        local.items.size === 0 &&
        empty('There is no LocalQueue here: jobs need one to come through.'),
    ]);
    const data = [...local.items.values()]
      .filter((one) => `${one.ns}/${one.name}`.includes(this.#filter))
      .sort((a, b) => (`${a.ns}/${a.name}` < `${b.ns}/${b.name}` ? -1 : 1));
    this.#locals.hidden = data.length === 0;
    this.#locals.show(
      rowsOf(
        LOCAL,
        data,
        (one) => `${one.ns}/${one.name}`,
        (one) => JSON.stringify(one),
      ),
    );
  }
}

customElements.define('view-overview', Overview);

// Queue: a ClusterQueue or a LocalQueue: its quota, the workloads that hold it, and those that
// wait, in order, and why.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import '../ui/curves.js';
import { Estimates } from '../ui/estimates.js';
import {
  badge,
  bar,
  empty,
  legend,
  link,
  notice,
  quotaText,
  since,
  table,
  tile,
  to,
} from '../ui/parts.js';
import { kueue, pending } from '../lib/api.js';
import { Details, OffsetPages } from '../lib/pages.js';
import { formatCount, formatQuantity, parseQuantity } from '../lib/quantity.js';
import { age, parseTime } from '../lib/time.js';
import { buildTree, inactiveBecause, slimCohort, slimQueue } from '../lib/tree.js';
import { slimWorkload } from '../lib/workload.js';

const HOLDING = ['Workload', 'State', 'Holds', 'Priority', 'Since'];
const WAITING = ['Position', 'Workload', 'Why', 'Starts', 'Priority', 'Waits'];
const CLASSES = {
  Workload: 'grow',
  Holds: 'wide',
  Why: 'why',
  Starts: 'starts wide',
  Priority: 'number wide',
  Since: 'number',
  Waits: 'number',
  Position: 'number',
};
const columns = (names) => names.map((name) => ({ name, class: CLASSES[name] }));
const cell = (name, ...content) => h('span', { role: 'cell', class: CLASSES[name] }, content);

const holds = (row) =>
  row.holdings
    .map((one) => `${formatQuantity(one.resource, one.amount)} ${one.resource} on ${one.flavor}`)
    .join(', ');

const AGAIN_MS = 2000;
const HISTORY = 'sluice.history'; // in the tab: whether it is open

const unfinished = (slim) =>
  slim.state === 'finished' || slim.state === 'failed' ? undefined : slim;

class Queue extends View {
  #holding = document.createElement('window-rows');
  #waiting = document.createElement('window-rows');
  #curves = document.createElement('history-curves');
  #history;
  #sorted = [];
  #made = -1;
  #changes = 0;
  #seen = '';
  #asked = 0;
  #scrolled = false;

  begin() {
    const { kind, ns, name } = this.ctx.params;
    const changed = () => ++this.#changes;
    this.local = kind === 'localqueues';
    this.flavor = this.ctx.query.get('flavor') ?? '';
    const self = { fieldSelector: `metadata.name=${name}` };
    this.self = this.follow(kueue(kind, ns), { query: self, slim: (object) => object });
    if (this.local) {
      this.holders = this.follow(kueue('workloads', ns), {
        changed,
        slim: (object) =>
          object.spec?.queueName === name && object.status?.admission
            ? unfinished(slimWorkload(object))
            : undefined,
      });
    } else {
      this.holders = this.follow(kueue('workloads'), {
        changed,
        query: { fieldSelector: `status.admission.clusterQueue=${name}` },
        slim: (object) => unfinished(slimWorkload(object)),
      });
      this.cohorts = this.follow(kueue('cohorts'), { slim: slimCohort });
      this.queues = this.follow(kueue('clusterqueues'), { slim: slimQueue });
      this.locals = this.follow(kueue('localqueues'), {
        slim: (object) => (object.spec?.clusterQueue === name ? object : undefined),
      });
    }
    this.details = this.own(new Details(this.ctx.api, () => this.soon()));
    this.estimates = this.own(new Estimates(this.ctx.api, () => this.soon()));
    this.pages = this.own(new OffsetPages(this.ctx.api, pending(name, ns), () => this.soon()));
    this.#curves.open(
      this.ctx.api,
      this.local ? { ns, queue: name } : { clusterQueue: name, inNamespace: this.ctx.ns },
    );
    this.every(5000, () => {
      this.#seen = '';
      this.soon();
    });
    this.#holding.className = 'holding';
    this.#waiting.className = 'waiting';
    this.#holding.head('Workloads that hold quota', columns(HOLDING));
    this.#waiting.head('Workloads that wait, in order', columns(WAITING));
    this.append(
      h('p', { class: 'crumb' }, this.local ? 'LocalQueue' : 'ClusterQueue'),
      h('h1', {}, this.local ? `${ns}/${name}` : name),
      this.part('head', '', () => []),
      this.part('quota', '', () => []),
      this.#makeHistory(),
      h('h2', { id: 'holding' }, 'Hold quota'),
      this.part('holding-note', '', () => []),
      this.#holding,
      h('h2', { id: 'waiting' }, 'Wait'),
      this.part('waiting-note', '', () => []),
      this.estimates.element,
      this.#waiting,
      this.part('more', '', () => []),
    );
  }

  /** Below the waiting workloads; closed until the user opens it, then open in this tab. */
  #makeHistory() {
    const note = 'use, borrowing, waits and evictions over time';
    this.#history = h(
      'details',
      { class: 'section', id: 'history' },
      h('summary', {}, h('h2', {}, 'History'), h('span', { class: 'faint' }, note)),
    );
    this.#history.addEventListener('toggle', () => {
      const { open } = this.#history;
      sessionStorage.setItem(HISTORY, open ? 'open' : '');
      if (open) this.#history.append(this.#curves);
      else this.#curves.remove();
    });
    this.#history.open =
      sessionStorage.getItem(HISTORY) === 'open' || this.ctx.query.get('to') === 'history';
    return this.#history;
  }

  draw(now) {
    const object = [...this.self.items.values()][0];
    this.#drawHead(object);
    this.#drawQuota(object);
    this.#drawHolding(now);
    this.#drawWaiting(object, now);
    if (!this.local) this.#drawLocals();
    this.#scrollOnce();
  }

  /** Links from numbers lead to the list that they count. */
  #scrollOnce() {
    const target = this.ctx.query.get('to');
    if (
      this.#scrolled ||
      !target ||
      !this.self.complete ||
      (this.#history.open && !this.#curves.ready) ||
      (!this.holders.complete && !this.holders.refused)
    )
      return;
    this.#scrolled = true;
    requestAnimationFrame(() => this.querySelector(`#${CSS.escape(target)}`)?.scrollIntoView());
  }

  #drawHead(object) {
    const { ns, name } = this.ctx.params;
    this.part(
      'head',
      [object?.metadata.resourceVersion, this.self.error?.text, this.self.complete],
      () => {
        if (this.self.refused) return notice(this.self.error, `the queue ${name}`);
        if (!object) return this.self.complete ? empty('There is no queue of this name.') : [];
        const status = object.status ?? {};
        const active = (status.conditions ?? []).find((one) => one.type === 'Active');
        const stop = object.spec.stopPolicy;
        const facts = this.local
          ? [
              [
                'ClusterQueue',
                link(to.clusterQueue(object.spec.clusterQueue), object.spec.clusterQueue),
              ],
            ]
          : [
              [
                'Cohort',
                object.spec.cohortName
                  ? link(to.cohort(object.spec.cohortName), object.spec.cohortName)
                  : 'none',
              ],
              ['Order', object.spec.queueingStrategy],
              ['Reclaims in the cohort', object.spec.preemption?.reclaimWithinCohort ?? 'Never'],
              ['Preempts in the queue', object.spec.preemption?.withinClusterQueue ?? 'Never'],
            ];
        return [
          active &&
            active.status !== 'True' &&
            h(
              'div',
              { class: 'notice off', role: 'note' },
              h('strong', {}, 'Serves nobody'),
              h('span', {}, active.message),
            ),
          stop &&
            stop !== 'None' &&
            h('div', { class: 'notice off', role: 'note' }, h('strong', {}, `Stopped: ${stop}`)),
          h(
            'div',
            { class: 'tiles' },
            tile('wait', status.pendingWorkloads ?? 0, this.#here('waiting')),
            tile('hold quota', status.reservingWorkloads ?? 0, this.#here('holding')),
            tile('admitted', status.admittedWorkloads ?? 0, this.#here('holding')),
          ),
          h(
            'dl',
            { class: 'facts' },
            facts.map(([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, value))),
          ),
          this.local && h('p', { class: 'faint' }, `namespace ${ns}`),
          this.local && h('p', {}, link(to.whatIf(ns, name), 'What if a job came here?')),
        ];
      },
    );
  }

  #here(target) {
    const { ns, name } = this.ctx.params;
    return `${this.local ? to.localQueue(ns, name) : to.clusterQueue(name)}?to=${target}`;
  }

  #drawQuota(object) {
    if (!object) return;
    if (this.local) {
      this.part('quota', object.metadata.resourceVersion, () => this.#localUse(object));
      return;
    }
    const queues = this.queues.refused ? [slimQueue(object)] : [...this.queues.items.values()];
    const versions = [
      object.metadata.resourceVersion,
      queues.map((one) => one.version).join(),
      this.cohorts.items.size,
      this.flavor,
    ];
    this.part('quota', versions, () => {
      const copies = queues.map((queue) => ({
        ...queue,
        quotas: queue.quotas.map((quota) => ({ ...quota })),
      }));
      buildTree(this.cohorts.items.values(), copies);
      const own = copies.find((queue) => queue.name === object.metadata.name) ?? slimQueue(object);
      return [
        h('div', { class: 'bar-head' }, h('h2', {}, 'Quota'), legend()),
        h(
          'div',
          { class: 'quotas' },
          own.quotas.map((quota) =>
            h(
              'div',
              { class: 'row quota' },
              h(
                'span',
                { class: 'name' },
                link(to.holders(own.name, quota.flavor), `${quota.flavor} · ${quota.resource}`),
              ),
              h(
                'span',
                { class: 'bars' },
                bar(quota),
                h('span', { class: 'text' }, quotaText(quota)),
              ),
            ),
          ),
        ),
      ];
    });
  }

  #localUse(object) {
    const rows = (object.status?.flavorsReservation ?? []).flatMap((flavor) =>
      (flavor.resources ?? []).map((each) => [
        flavor.name,
        each.name,
        formatQuantity(each.name, parseQuantity(each.total)),
      ]),
    );
    return [
      h('h2', {}, 'Uses'),
      rows.length
        ? table('What this queue uses', ['Flavor', 'Resource', 'Reserved'], rows)
        : empty('Nothing.'),
    ];
  }

  #drawHolding(now) {
    if (this.#made !== this.#changes) {
      this.#made = this.#changes;
      this.#sorted = [...this.holders.items.values()]
        .filter((row) => !this.flavor || row.holdings.some((one) => one.flavor === this.flavor))
        .sort((a, b) => b.since - a.since || (a.name < b.name ? -1 : 1));
    }
    const rows = this.#sorted;
    this.part(
      'holding-note',
      [
        this.holders.error?.text,
        this.holders.complete,
        rows.length === 0,
        this.flavor,
        this.holders.items.size,
      ],
      () => [
        this.holders.refused && notice(this.holders.error, 'the workloads that hold its quota'),
        this.flavor &&
          h(
            'p',
            { class: 'filter' },
            `Only those on flavor ${this.flavor}: ${formatCount(rows.length)} of `,
            `${formatCount(this.holders.items.size)}. `,
            link(to.clusterQueue(this.ctx.params.name, '?to=holding'), 'Show all'),
          ),
        this.holders.complete && rows.length === 0 && empty('Nobody.'),
      ],
    );
    this.#holding.hidden = rows.length === 0;
    this.#holding.show({ count: rows.length, row: (i) => this.#holdingRow(rows[i], now) });
  }

  #holdingRow(row, now) {
    return {
      key: `${row.ns}/${row.name}`,
      sig: `${row.version} ${age(row.since, now)}`,
      cells: () => [
        cell(
          'Workload',
          link(to.workload(row.ns, row.name), `${row.ns}/${row.name}`),
          h('small', {}, row.job),
        ),
        cell('State', badge(row.state)),
        cell('Holds', holds(row)),
        cell('Priority', String(row.priority)),
        cell('Since', since(row.since, now)),
      ],
    };
  }

  #drawWaiting(object, now) {
    const { pages } = this;
    const version = object?.metadata.resourceVersion ?? '';
    // The position of each is asked for anew at most every two seconds, however busy the queue is.
    if (object && version !== this.#seen && now - this.#asked >= AGAIN_MS) {
      this.#seen = version;
      this.#asked = now;
      pages.refresh(object.status?.pendingWorkloads ?? 0);
    }
    // A user that may not read the queue may still be allowed to see what waits in it, or gets a
    // notice.
    if (this.self.refused && pages.count === 0 && !pages.error) pages.refresh(1);
    const inactive = inactiveBecause(object);
    const sig = [pages.error?.text, pages.count === 0, this.self.complete, inactive];
    this.part('waiting-note', sig, () => [
      pages.error && notice(pages.error, 'who waits, in order'),
      !pages.error && this.self.complete && pages.count === 0 && this.#nobody(object),
    ]);
    const forbidden = pages.error?.kind === 'forbidden';
    this.#waiting.hidden = pages.count === 0 || forbidden;
    this.estimates.element.hidden = this.#waiting.hidden;
    this.#waiting.show({
      count: forbidden ? 0 : pages.count,
      want: (from, upto) => {
        pages.want(from, upto);
        const view = [];
        for (let i = from; i < upto; ++i) if (pages.row(i)) view.push(pages.row(i).metadata);
        this.estimates.look(view);
      },
      row: (i) => pages.row(i) && this.#waitingRow(pages.row(i), i, now),
    });
  }

  /** A LocalQueue that serves nobody counts nobody either; who names it waits all the same. */
  #nobody(object) {
    const why = this.ctx.params.kind === 'localqueues' && inactiveBecause(object);
    if (!why) return empty('Nobody.');
    return h(
      'p',
      { class: 'faint' },
      `${why}: nobody is counted as waiting here. Who names it is among the `,
      link('#/workloads', 'workloads'),
      '.',
    );
  }

  #waitingRow(item, i, now) {
    const { namespace: ns, name } = item.metadata;
    const created = parseTime(item.metadata.creationTimestamp);
    const known = this.details.get(
      `${kueue('workloads', ns)}/${encodeURIComponent(name)}`,
      undefined,
      slimWorkload,
    );
    const why =
      known.value?.why ??
      (known.error?.kind === 'forbidden'
        ? 'you may not read this workload'
        : (known.error?.text ?? '…'));
    const starts = this.estimates.words(item.metadata);
    return {
      key: `${ns}/${name}`,
      sig: `${i} ${why} ${starts} ${age(created, now)}`,
      cells: () => [
        cell('Position', String(i + 1)),
        cell(
          'Workload',
          link(to.workload(ns, name), `${ns}/${name}`),
          h('small', {}, known.value?.job ?? item.localQueueName ?? ''),
        ),
        h('span', { role: 'cell', class: 'why', title: why }, why),
        h('span', { role: 'cell', class: CLASSES.Starts, title: starts }, starts),
        cell('Priority', String(item.priority ?? 0)),
        cell('Waits', since(created, now)),
      ],
    };
  }

  #drawLocals() {
    const { locals } = this;
    const items = [...locals.items.values()];
    this.part(
      'more',
      [locals.error?.text, items.map((one) => one.metadata.resourceVersion)],
      () => [
        h('h2', {}, 'LocalQueues that lead here'),
        locals.refused
          ? notice(locals.error, 'LocalQueues of all namespaces')
          : items.length === 0
            ? locals.complete && empty('None: no job can reach this queue.')
            : table(
                'LocalQueues',
                ['LocalQueue', 'Hold quota', 'Wait'],
                items.slice(0, 200).map((one) => {
                  const { namespace, name } = one.metadata;
                  return [
                    link(to.localQueue(namespace, name), `${namespace}/${name}`),
                    formatCount(one.status?.reservingWorkloads),
                    formatCount(one.status?.pendingWorkloads),
                  ];
                }),
              ),
        items.length > 200 &&
          h('p', { class: 'faint' }, `The first 200 of ${formatCount(items.length)}.`),
      ],
    );
  }
}

customElements.define('view-queue', Queue);

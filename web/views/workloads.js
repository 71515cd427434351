// Workloads: all of a namespace, or of all, in the order of their names; read on as one scrolls.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import { badge, empty, link, notice, since, to } from '../ui/parts.js';
import { kueue } from '../lib/api.js';
import { ContinuePages, Details } from '../lib/pages.js';
import { formatCount } from '../lib/quantity.js';
import { age } from '../lib/time.js';
import { slimWorkload } from '../lib/workload.js';

const READ_AGAIN_MS = 5000;

const COLUMNS = [
  { name: 'Workload', class: 'grow' },
  { name: 'State' },
  { name: 'Queue', class: 'wide' },
  { name: 'Priority', class: 'number wide' },
  { name: 'Since', class: 'number' },
];

class Workloads extends View {
  #list = document.createElement('window-rows');

  begin() {
    this.pages = this.own(
      new ContinuePages(this.ctx.api, kueue('workloads', this.ctx.ns), slimWorkload, () => {
        this.ctx.live.changed();
        this.soon();
      }),
    );
    this.show(this.pages);
    this.every(READ_AGAIN_MS, () => {
      this.old = !this.pages.refresh();
    });
    this.details = this.own(new Details(this.ctx.api, () => this.soon()));
    this.#list.className = 'workloads';
    this.#list.head('Workloads', COLUMNS);
    this.append(
      h('h1', {}, 'Workloads'),
      this.part('note', '', () => []),
      this.#list,
    );
  }

  draw(now) {
    const { pages } = this;
    const where = this.ctx.ns ? `namespace ${this.ctx.ns}` : 'all namespaces';
    const isOld = this.old && pages.complete;
    const read = isOld ? `, as of ${new Date(pages.readAt).toLocaleTimeString()}` : '';
    this.part('note', [pages.error?.text, pages.count, pages.done, where, read], () => [
      pages.error
        ? notice(
            pages.error,
            `the workloads of ${where}${this.ctx.ns ? '' : '; choose your namespace at the top'}`,
          )
        : pages.done && pages.count === 0
          ? empty(`There is none in ${where}.`)
          : h('p', { class: 'faint' }, `${formatCount(pages.count)} in ${where}, by name${read}.`),
    ]);
    this.#list.hidden = pages.count === 0;
    this.#list.show({
      count: pages.count,
      want: (from, upto) => pages.want(from, upto),
      row: (i) => pages.row(i) && this.#row(pages.row(i), i, now),
    });
  }

  #row(listed, i, now) {
    // What is before the eye is asked for anew: the list itself is as old as its page.
    const known = this.details.get(
      `${kueue('workloads', listed.ns)}/${encodeURIComponent(listed.name)}`,
      undefined,
      slimWorkload,
    );
    const row = known.value ?? listed;
    return {
      key: `${row.ns}/${row.name}`,
      sig: `${row.version} ${age(row.since, now)} ${known.error?.kind}`,
      cells: () => [
        h(
          'span',
          { role: 'cell', class: 'grow' },
          link(to.workload(row.ns, row.name), `${row.ns}/${row.name}`),
          h('small', {}, row.job),
        ),
        h(
          'span',
          { role: 'cell' },
          known.error?.kind === 'missing'
            ? h('span', { class: 'faint' }, 'is gone')
            : badge(row.state),
        ),
        h(
          'span',
          { role: 'cell', class: 'wide' },
          row.queue && link(to.localQueue(row.ns, row.queue), row.queue),
        ),
        h('span', { role: 'cell', class: 'number wide' }, String(row.priority)),
        h('span', { role: 'cell', class: 'number' }, since(row.since, now)),
      ],
    };
  }
}

customElements.define('view-workloads', Workloads);

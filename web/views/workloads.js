// Workloads: all of a namespace, or of all; those that one looks for, in one's order. Read on as one
// scrolls, or until there are enough of those.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import { badge, empty, link, notice, since, to } from '../ui/parts.js';
import { kueue } from '../lib/api.js';
import { choiceOf, choosesRows, chosen, ORDERS, queryOf, STATES } from '../lib/choice.js';
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

const options = (names, now) =>
  Object.entries(names).map(([value, text]) =>
    h('option', { value, selected: value === now }, text),
  );

class Workloads extends View {
  #list = document.createElement('window-rows');
  #choice;
  #chosen = { rows: [] }; // of: the rows that were chosen from, by: the choice
  #upto = 0; // that many are before the eye

  begin() {
    this.#choice = choiceOf(this.ctx.query);
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
      this.#form(),
      this.part('note', '', () => []),
      this.#list,
    );
  }

  #form() {
    const field = (name, element) => {
      element.name = name;
      element.addEventListener('input', () => this.#choose(name, element.value.trim()));
      return element;
    };
    const { find, state, order } = this.#choice;
    return h(
      'form',
      { class: 'choose', role: 'search', onsubmit: (event) => event.preventDefault() },
      h('label', {}, h('span', {}, 'Find'), field('find', this.#finder(find))),
      h('label', {}, h('span', {}, 'State'), field('state', h('select', {}, options(STATES, state)))),
      h('label', {}, h('span', {}, 'Order'), field('order', h('select', {}, options(ORDERS, order)))),
    );
  }

  #finder(value) {
    return h('input', {
      type: 'search',
      placeholder: 'name, job or queue',
      spellcheck: 'false',
      value,
    });
  }

  /** Also in the address, without a step in the browser's history for each letter. */
  #choose(name, value) {
    this.#choice = { ...this.#choice, [name]: value };
    history.replaceState(null, '', `#/workloads${queryOf(this.#choice)}`);
    this.soon();
  }

  /** Those of what was read that are chosen. */
  get #rows() {
    const { rows: of } = this.pages;
    const by = this.#choice;
    if (this.#chosen.of !== of || this.#chosen.by !== by)
      this.#chosen = { of, by, rows: chosen(of, by) };
    return this.#chosen.rows;
  }

  /** Any order but that of the list itself needs all of it. */
  #readOn(upto) {
    this.#upto = upto;
    this.pages.readOn(() => this.#choice.order === '' && this.#upto < this.#rows.length);
  }

  draw(now) {
    const { pages } = this;
    const rows = this.#rows;
    const told = this.#told(rows.length);
    this.part('note', [pages.error?.text, pages.count, pages.done, told], () => [this.#note(told)]);
    const isPlain = !choosesRows(this.#choice);
    const count = isPlain ? pages.count : rows.length + (pages.done ? 0 : 1);
    this.#list.hidden = count === 0 || pages.count === 0;
    this.#list.show({
      count,
      want: (_, upto) => this.#readOn(upto),
      row: (i) => rows[i] && this.#row(rows[i], i, now),
    });
  }

  get #where() {
    return this.ctx.ns ? `namespace ${this.ctx.ns}` : 'all namespaces';
  }

  /** How many there are of what, and how much of it was read. */
  #told(found) {
    const { pages } = this;
    const counts = `${formatCount(pages.count)} in ${this.#where}`;
    const of = choosesRows(this.#choice) ? `${formatCount(found)} of ${counts}` : counts;
    const isPart = !pages.done && queryOf(this.#choice) !== '';
    const part = isPart ? `, ${formatCount(pages.loaded)} looked through so far` : '';
    const isOld = this.old && pages.complete;
    const read = isOld ? `, as of ${new Date(pages.readAt).toLocaleTimeString()}` : '';
    return `${of}, ${ORDERS[this.#choice.order]}${part}${read}.`;
  }

  #note(told) {
    const { pages } = this;
    const hint = this.ctx.ns ? '' : '; choose your namespace at the top';
    if (pages.error) return notice(pages.error, `the workloads of ${this.#where}${hint}`);
    if (pages.count > 0) return h('p', { class: 'faint', role: 'status' }, told);
    return pages.done && empty(`There is none in ${this.#where}.`);
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

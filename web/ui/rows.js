// <window-rows>: a table of any length of which only the rows before the eye are elements. The page
// scrolls, not the list. Rows have one height, which the style sheet says (--row).
import { h, replaceKeepingFocus } from './dom.js';
import { visibleRows } from '../lib/window.js';

export class WindowRows extends HTMLElement {
  #body = h('div', { class: 'rows', role: 'rowgroup' });
  #shown = new Map(); // key → {element, sig}
  #source = { count: 0 };
  #onScroll = () => this.#soon();
  #asked = false;

  /** columns: [{name, class}]; the names are the header */
  head(label, columns) {
    this.setAttribute('role', 'table');
    this.setAttribute('aria-label', label);
    const cells = columns.map((column) =>
      h('span', { role: 'columnheader', class: column.class }, column.name),
    );
    const top = h(
      'div',
      { role: 'rowgroup' },
      h('div', { role: 'row', class: 'row head', 'aria-rowindex': '1' }, cells),
    );
    this.replaceChildren(top, this.#body);
    return this;
  }

  connectedCallback() {
    addEventListener('scroll', this.#onScroll, { passive: true });
    addEventListener('resize', this.#onScroll, { passive: true });
  }

  disconnectedCallback() {
    removeEventListener('scroll', this.#onScroll);
    removeEventListener('resize', this.#onScroll);
  }

  /**
   * source: {count, row(i) → {key, sig, class?, cells() → nodes} , want?(from, to)}. A row is made
   * anew when its sig is another one.
   */
  show(source) {
    this.#source = source;
    this.#update();
  }

  #soon() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      if (this.isConnected) this.#update();
    });
  }

  #update() {
    const { count } = this.#source;
    const height = parseFloat(getComputedStyle(this).getPropertyValue('--row')) || 40;
    const total = `${count * height}px`;
    if (this.#body.style.height !== total) this.#body.style.height = total;
    this.setAttribute('aria-rowcount', String(count + 1));
    const above = -this.#body.getBoundingClientRect().top;
    const { from, to } = visibleRows(count, height, above, innerHeight);
    this.#source.want?.(from, to);
    const kept = new Set();
    for (let i = from; i < to; ++i) kept.add(this.#place(i, height));
    for (const [key, { element }] of this.#shown) {
      if (kept.has(key)) continue;
      element.remove();
      this.#shown.delete(key);
    }
  }

  #place(i, height) {
    const row = this.#source.row(i) ?? {
      key: `empty ${i}`,
      sig: '',
      cells: () => [h('span', { role: 'cell', class: 'faint' }, '…')],
    };
    let shown = this.#shown.get(row.key);
    if (!shown) {
      shown = { element: h('div', { role: 'row' }), sig: undefined, at: -1, height: 0 };
      this.#shown.set(row.key, shown);
      this.#body.append(shown.element);
    }
    if (shown.at !== i || shown.height !== height) {
      shown.element.style.transform = `translateY(${i * height}px)`;
      shown.element.setAttribute('aria-rowindex', String(i + 2));
      Object.assign(shown, { at: i, height });
    }
    if (shown.sig !== row.sig) {
      shown.element.className = `row ${row.class ?? ''}`;
      replaceKeepingFocus(shown.element, row.cells());
      shown.sig = row.sig;
    }
    return row.key;
  }
}

/** Rows for show() from data: columns [{name, class, cell(data)}], key(data) and sig(data). */
export function rowsOf(columns, data, key, sig) {
  return {
    count: data.length,
    row: (i) => ({
      key: key(data[i]),
      sig: sig(data[i]),
      cells: () =>
        columns.map((column) =>
          h('span', { role: 'cell', class: column.class }, column.cell(data[i])),
        ),
    }),
  };
}

customElements.define('window-rows', WindowRows);

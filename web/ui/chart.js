// One picture of values over time: drawn by uPlot (a script of index.html: ../vendor/uplot),
// described in words beside it, and as a table for users who do not see it.
import { h } from './dom.js';
import { table } from './parts.js';
import { timeLabels } from '../lib/curves.js';
import { formatTime } from '../lib/time.js';

const HEIGHT = 150;
const FONT = '12px system-ui, sans-serif';
const { uPlot } = globalThis;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
const finite = (values) => values.filter((value) => Number.isFinite(value));

/** How a line is drawn; `colour` is one of the style sheet's. */
function seriesOf({ kind, colour: name }) {
  const common = { points: { show: false }, stroke: () => colour(name), width: 1.5 };
  const stepped = uPlot.paths.stepped({ align: 1 });
  if (kind === 'area') return { ...common, paths: stepped, fill: () => colour(name), width: 0 };
  if (kind === 'bars')
    return {
      ...common,
      paths: uPlot.paths.bars({ size: [0.8], align: 1 }),
      fill: () => colour(name),
      width: 0,
    };
  return { ...common, paths: stepped, dash: kind === 'dash' ? [6, 4] : undefined };
}

export class Chart {
  #plot;
  #width = 0;
  #words = '';
  #shown;
  #readout = h('p', { class: 'readout', 'aria-hidden': 'true' });
  #picture = h('div', { class: 'chart', role: 'img' });
  #table = h('div', { class: 'numbers' });
  #details = h('details', {}, h('summary', {}, 'As a table'), this.#table);
  #resized = new ResizeObserver(() => this.#fit());
  #scheme = matchMedia('(prefers-color-scheme: dark)');
  #redraw = () => this.#plot?.redraw();

  /**
   * @param title what stands above it
   * @param lines [{name, kind: area|bars|line|dash, colour, hidden}], in the order of drawing; a
   *   hidden one is in words and table only
   * @param format a value as a person reads it
   * @param incrs the distances that marks of the axis may have; undefined: any round number
   */
  constructor({ title, lines, format, incrs }) {
    this.lines = lines;
    this.format = format;
    this.incrs = incrs;
    this.title = title;
    this.#details.addEventListener('toggle', () => this.#fillTable());
    this.element = h(
      'figure',
      {},
      h('figcaption', {}, h('strong', {}, title), this.#readout),
      this.#picture,
      this.#details,
    );
    this.#resized.observe(this.#picture);
    this.#scheme.addEventListener('change', this.#redraw);
  }

  /** `values`: by line, one per time (null: none); `now`: so much of the last step is over. */
  show({ times, step, now, values, words }) {
    this.#shown = { times, step, now, values };
    this.#words = words;
    this.#picture.setAttribute('aria-label', `${this.title}: ${words}`);
    this.#say();
    this.#fillTable();
    this.#draw();
  }

  stop() {
    this.#resized.disconnect();
    this.#scheme.removeEventListener('change', this.#redraw);
    // Pixels are no part of the heap, so the garbage collector has no hurry with them.
    for (const canvas of this.#picture.querySelectorAll('canvas')) canvas.width = canvas.height = 0;
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#shown = undefined;
  }

  /** Lines go on until now, so what was last stands a second time there. */
  #data() {
    const { times, now, values } = this.#shown;
    const drawn = values.filter((_, i) => !this.lines[i].hidden);
    if (this.lines[0].kind === 'bars') return [times.map((time) => time / 1000), ...drawn];
    const until = Math.max(now, times.at(-1) + 1);
    return [
      [...times, until].map((time) => time / 1000),
      ...drawn.map((list) => [...list, list.at(-1)]),
    ];
  }

  /** All pictures of a page show the same time, however much is in it. */
  #span() {
    const { times, step } = this.#shown;
    return [times[0] / 1000, (times.at(-1) + step) / 1000];
  }

  #draw() {
    if (!this.#shown || this.#picture.clientWidth === 0) return;
    if (this.#plot) this.#plot.setData(this.#data());
    else this.#plot = new uPlot(this.#options(), this.#data(), this.#picture);
    this.#fit();
  }

  #fit() {
    const width = Math.floor(this.#picture.clientWidth);
    if (width === 0) return;
    if (!this.#plot) {
      if (this.#shown) this.#draw();
      return;
    }
    if (width !== this.#width) this.#plot.setSize({ width, height: HEIGHT });
    this.#width = width;
  }

  #options() {
    const axis = {
      stroke: () => colour('soft'),
      grid: { stroke: () => colour('line'), width: 1 },
      ticks: { show: false },
      font: FONT,
    };
    return {
      width: Math.floor(this.#picture.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 20, 0, 0],
      cursor: {
        drag: { x: false, y: false },
        points: { show: false },
        y: false,
        sync: { key: 'history' },
      },
      scales: {
        x: { range: () => this.#span() },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 26,
          space: 70,
          values: (_, splits) => timeLabels(splits.map((s) => s * 1000)),
        },
        {
          ...axis,
          space: 32,
          incrs: this.incrs,
          size: 58,
          values: (_, splits) => splits.map((value) => this.format(value)),
        },
      ],
      series: [{}, ...this.lines.filter((line) => !line.hidden).map((line) => seriesOf(line))],
      hooks: { setCursor: [(plot) => this.#say(plot.cursor.left >= 0 ? plot.cursor.idx : null)] },
    };
  }

  #row(i) {
    return this.lines.map((_, line) => {
      const value = this.#shown.values[line][i];
      return value === null ? '–' : this.format(value);
    });
  }

  /** What is under the pointer, else what the whole says. */
  #say(at) {
    if (!this.#shown) return;
    const { times } = this.#shown;
    if (!Number.isInteger(at)) {
      this.#readout.textContent = this.#words;
      return;
    }
    const i = Math.min(at, times.length - 1);
    const told = this.#row(i).map((text, line) => `${this.lines[line].name} ${text}`);
    this.#readout.textContent = `${formatTime(times[i], Date.now()).slice(0, -3)}: ${told.join(', ')}`;
  }

  #fillTable() {
    if (!this.#details.open || !this.#shown) return;
    const { times } = this.#shown;
    const now = Date.now();
    const rows = times.map((time, i) => [formatTime(time, now).slice(0, -3), ...this.#row(i)]);
    const heads = ['From', ...this.lines.map(({ name }) => name[0].toUpperCase() + name.slice(1))];
    const made = table(this.title, heads, rows.reverse());
    made.tabIndex = 0; // it scrolls, so the keyboard has to get there
    made.setAttribute('role', 'region');
    made.setAttribute('aria-label', `${this.title}, as a table`);
    this.#table.replaceChildren(made);
  }
}

/** 'at most 12, on average 3.5', of what is there. */
export function inWords(values, format, what) {
  const known = finite(values);
  if (known.length === 0) return '';
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return `${what} ${format(mean)} on average, at most ${format(Math.max(...known))}`;
}

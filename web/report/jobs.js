// Jobs as bars: which waited, which ran where, on which flavor, and which was evicted by which.
import { h } from '../ui/dom.js';
import { formatQuantity } from '../lib/quantity.js';
import { span } from './format.js';
import { drawTimes, TimePicture } from './frame.js';

const ROW = 18;
const HEIGHT = 430;
export const FLAVOR_COLOURS = 6;

export const flavorColour = (flavors, flavor) =>
  `flavor-${Math.max(0, flavors.indexOf(flavor)) % FLAVOR_COLOURS}`;

const ORDERS = {
  arrival: ['as they came', (report) => (a, b) => report.arrived[a] - report.arrived[b] || a - b],
  wait: ['longest wait first', (report) => (a, b) => report.now.wait(b) - report.now.wait(a)],
  evicted: [
    'most evictions first',
    (report) => (a, b) =>
      report.now.evicted[b] - report.now.evicted[a] || report.arrived[a] - report.arrived[b],
  ],
  change: [
    'largest change of wait first',
    (report) => {
      const change = (i) => Math.abs(report.now.wait(i) - report.before.wait(i)) || 0;
      return (a, b) => change(b) - change(a);
    },
  ],
};

export class Jobs {
  #rows = [];
  #chosen = -1;
  #top = 0;
  #filter = '';
  #order = '';

  constructor(report, shown, place) {
    this.report = report;
    this.place = place; // where the chosen one is described
    this.flavors = [...new Set(report.places.map((one) => one.flavor))].filter(Boolean).sort();
    this.stays = new Map(); // by workload: those of this run
    for (const stay of report.now.stays) {
      const known = this.stays.get(stay.workload);
      if (known) known.push(stay);
      else this.stays.set(stay.workload, [stay]);
    }
    this.before = new Map(); // in the other run: from its first start to its end
    for (const stay of report.before?.stays ?? []) {
      const known = this.before.get(stay.workload);
      if (known) known[1] = stay.to;
      else this.before.set(stay.workload, [stay.from, stay.to]);
    }
    this.picture = new TimePicture(shown, {
      height: HEIGHT,
      label: 'Jobs as bars over time; the arrow keys up and down tell of one after the other',
      paint: (brush) => this.#paint(brush),
      onclick: (x, y) => this.choose(this.#rowAt(y)),
      onhover: (x, y) => {
        const i = this.#rows[this.#rowAt(y)];
        this.picture.canvas.title = i === undefined ? '' : this.#inShort(i);
      },
    });
    this.#order = report.count * ROW > HEIGHT ? 'wait' : 'arrival';
    this.picture.canvas.setAttribute('role', 'application'); // it has keys of its own
    this.picture.canvas.setAttribute('aria-describedby', 'job');
    this.inside = h('div', { class: 'jobs-inside' }, this.picture.canvas);
    this.scroll = h(
      'div',
      { class: 'jobs', tabindex: '-1', onscroll: () => this.picture.soon() },
      this.inside,
    );
    this.picture.canvas.addEventListener('keydown', (event) => this.#key(event));
    this.note = h('p', { class: 'faint', role: 'status' });
  }

  controls() {
    const orders = Object.entries(ORDERS).filter(
      ([name]) => name !== 'change' || this.report.before,
    );
    return [
      h('input', {
        type: 'search',
        placeholder: 'Name contains …',
        'aria-label': 'Show only jobs whose name contains',
        oninput: (event) => {
          this.#filter = event.target.value.trim().toLowerCase();
          this.#fill();
        },
      }),
      h(
        'select',
        {
          'aria-label': 'Order of the jobs',
          onchange: (event) => {
            this.#order = event.target.value;
            this.#fill();
          },
        },
        orders.map(([name, [text]]) =>
          h('option', { value: name, selected: name === this.#order }, text),
        ),
      ),
    ];
  }

  legend() {
    return h(
      'p',
      { class: 'legend', 'aria-hidden': 'true' },
      [
        ['waits', 'waits'],
        ['held', 'has quota, does not run yet'],
        ...this.flavors
          .slice(0, FLAVOR_COLOURS)
          .map((flavor) => [flavorColour(this.flavors, flavor), `runs on ${flavor}`]),
        ['stripe', 'borrows'],
        ['cross', 'evicted'],
        this.report.before && ['other', 'in the other run'],
      ]
        .filter(Boolean)
        .map(([name, text]) => h('span', {}, h('i', { class: name }), text)),
    );
  }

  show(queues) {
    this.queues = queues;
    this.#chosen = -1;
    this.#fill();
  }

  #fill() {
    const { report } = this;
    const wanted = new Set(this.queues);
    this.#rows = [];
    for (let i = 0; i < report.count; ++i) {
      if (!report.now.seen[i] || !wanted.has(report.queueOf[i])) continue;
      if (this.#filter && !report.key(i).toLowerCase().includes(this.#filter)) continue;
      this.#rows.push(i);
    }
    this.#rows.sort(ORDERS[this.#order][1](report));
    const count = this.#rows.length;
    this.note.textContent = `${count.toLocaleString('en')} ${count === 1 ? 'job' : 'jobs'}${
      count * ROW > HEIGHT ? ', scroll for more' : ''
    }`;
    const height = Math.min(HEIGHT, count * ROW + 20);
    this.picture.resize(height);
    this.scroll.style.setProperty('height', `${height + 2}px`);
    this.inside.style.setProperty('height', `${Math.max(height, count * ROW + 20)}px`);
    this.scroll.scrollTop = 0;
    this.picture.soon();
  }

  #rowAt(y) {
    const row = Math.floor((y + this.#top) / ROW);
    return row < this.#rows.length ? row : -1;
  }

  choose(row) {
    this.#chosen = this.#rows[row] ?? -1;
    this.place.replaceChildren(...(this.#chosen < 0 ? [] : [this.#about(this.#chosen)]));
    this.picture.soon();
  }

  /** From elsewhere: by its index. */
  chooseWorkload(i) {
    const row = this.#rows.indexOf(i);
    if (row >= 0) this.scroll.scrollTop = Math.max(0, row * ROW - HEIGHT / 2);
    this.#chosen = i;
    this.place.replaceChildren(this.#about(i));
    this.picture.soon();
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (!step || this.#rows.length === 0) return;
    event.preventDefault();
    const at = this.#rows.indexOf(this.#chosen);
    const row = Math.min(this.#rows.length - 1, Math.max(0, at < 0 ? 0 : at + step));
    const { scroll } = this;
    if (row * ROW < scroll.scrollTop) scroll.scrollTop = row * ROW;
    if ((row + 1) * ROW > scroll.scrollTop + scroll.clientHeight - 20)
      scroll.scrollTop = (row + 1) * ROW - scroll.clientHeight + 20;
    this.choose(row);
  }

  #paint(brush) {
    const { pen, width, height } = brush;
    this.#top = this.scroll.scrollTop;
    const bottom = drawTimes(brush);
    pen.save();
    pen.beginPath();
    pen.rect(0, 0, width, bottom);
    pen.clip();
    const first = Math.floor(this.#top / ROW);
    for (let row = first; row < this.#rows.length; ++row) {
      const y = row * ROW - this.#top;
      if (y > height) break;
      this.#paintRow(brush, this.#rows[row], y);
    }
    pen.restore();
  }

  #paintRow(brush, i, y) {
    const { pen, colour, left, right, x } = brush;
    const { report } = this;
    if (i === this.#chosen) {
      pen.fillStyle = colour('track');
      pen.fillRect(0, y, right + 20, ROW);
    }
    pen.fillStyle = colour('ink');
    pen.textAlign = 'left';
    pen.save();
    pen.beginPath();
    pen.rect(0, y, left - 6, ROW);
    pen.clip();
    pen.fillText(report.names[i], 8, y + ROW / 2);
    pen.restore();
    pen.save();
    pen.beginPath();
    pen.rect(left, y, right - left, ROW);
    pen.clip();
    const piece = (from, to, name, top, height) => {
      const begin = x(from);
      pen.fillStyle = colour(name);
      pen.fillRect(begin, y + top, Math.max(1, x(to) - begin), height);
    };
    for (const [from, to] of report.now.waits[i] ?? []) piece(from, to, 'waits', 7, 4);
    for (const stay of this.stays.get(i) ?? []) this.#paintStay(brush, stay, y, piece);
    const other = this.before.get(i);
    if (other) piece(other[0], other[1], 'other', ROW - 4, 2);
    pen.restore();
  }

  #paintStay({ pen, colour, x }, stay, y, piece) {
    const place = this.report.places[stay.place];
    const runs = Number.isNaN(stay.admitted) ? stay.to : Math.max(stay.from, stay.admitted);
    if (runs > stay.from) piece(stay.from, runs, 'held', 3, 11);
    if (!Number.isNaN(stay.admitted)) {
      piece(runs, stay.to, flavorColour(this.flavors, place.flavor), 2, 12);
      if (place.borrowing) piece(runs, stay.to, 'borrowed', 2, 3);
    }
    if (stay.ended !== 'Evicted') return;
    const at = x(stay.to);
    pen.strokeStyle = colour('bad');
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(at - 4, y + 4);
    pen.lineTo(at + 4, y + 12);
    pen.moveTo(at + 4, y + 4);
    pen.lineTo(at - 4, y + 12);
    pen.stroke();
  }

  #where(what) {
    const place = this.report.places[what];
    const pods = place.pods.map(({ name, count, flavors }) => {
      const on = [...new Set(flavors.map(([, flavor]) => flavor))].join(', ');
      return `${name} ×${count}${on ? ` on ${on}` : ''}`;
    });
    return `${place.queue ? `in ${place.queue}, ` : ''}${pods.join('; ')}${place.borrowing ? ', borrowing' : ''}`;
  }

  #sentence({ type, what, by }) {
    const { report } = this;
    const why = report.reasons[what] ?? { reason: '', message: '' };
    const said = [why.reason, why.message].filter(Boolean).join(': ');
    switch (type) {
      case 'QuotaReserved':
        return ['reserved', 'Gets quota', this.#where(what)];
      case 'Admitted':
        return ['running', 'Starts', ''];
      case 'Evicted':
        return ['evicted', by === undefined ? 'Evicted' : `Evicted for ${report.key(by)}`, said];
      case 'Pending':
        return ['pending', 'Waits', said];
      case 'Finished':
        return ['finished', 'Ends', said];
      case 'Lowered':
        return ['running', 'Goes on with fewer pods', this.#where(what)];
      case 'ReservationLost':
        return ['evicted', 'Loses its reservation', said];
      case 'WaitingForVictims':
        return ['pending', 'Waits for those that make room', ''];
      case 'CheckState':
        return ['reserved', 'Is told by a check', said];
      case 'Requeued':
        return ['pending', 'Is back in its queue', said];
      case 'Deactivated':
        return ['finished', 'Is deactivated', said];
      default:
        return ['finished', 'Is deleted', ''];
    }
  }

  /** 'ns/name, queue q: waited 5s; evicted at 7s for ns/other' */
  #inShort(i) {
    const { report } = this;
    const evictions = (this.stays.get(i) ?? [])
      .filter((stay) => stay.ended === 'Evicted')
      .map(
        ({ to, by }) => `evicted at ${span(to)}${by === undefined ? '' : ` for ${report.key(by)}`}`,
      );
    return [
      `${report.key(i)}, queue ${report.queueOf[i]}: waited ${span(report.now.wait(i))}`,
      ...evictions.slice(0, 5),
    ].join('; ');
  }

  #about(i) {
    const { report } = this;
    const fact = (name, text) => text && h('div', {}, h('dt', {}, name), h('dd', {}, text));
    const asks = report.requests(i).map(({ name, count, requests }) => {
      const each = requests.map(
        ([resource, amount]) => `${formatQuantity(resource, amount)} ${resource}`,
      );
      return `${name} ×${count}${each.length ? `: ${each.join(', ')}` : ''}`;
    });
    const wait = report.now.wait(i);
    const before = report.before?.wait(i);
    const steps = report.now.life(i).map((step) => {
      const [state, title, text] = this.#sentence(step);
      return h(
        'li',
        { class: state },
        h('time', {}, span(step.at)),
        h('strong', {}, title),
        text && h('span', { class: 'message' }, text),
      );
    });
    return h(
      'div',
      { class: 'card wide-card' },
      h('h3', {}, report.key(i)),
      h(
        'dl',
        { class: 'facts' },
        fact('queue', report.queueOf[i]),
        fact('priority', String(report.priorities[i])),
        fact('asks for', asks.join('; ')),
        fact('came at', span(report.arrived[i])),
        fact(report.now.stillWaits(i) ? 'waits, without an end, for' : 'waited', span(wait)),
        Number.isFinite(before) && fact('waited in the other run', span(before)),
        fact('counts for', report.countsFor.has(i) && report.key(report.countsFor.get(i))),
      ),
      h('ol', { class: 'steps' }, steps),
    );
  }
}

// A report of a simulation: one page over the data that stand in it.
import { h } from '../ui/dom.js';
import { tile } from '../ui/parts.js';
import { formatCount } from '../lib/quantity.js';
import { changeOfCount, changeOfSpan, percent, span } from './format.js';
import { measures, movers } from './changes.js';
import { evictionTables } from './evictions.js';
import { figuresOf } from './figures.js';
import { Shown } from './frame.js';
import { Jobs } from './jobs.js';
import { Report } from './model.js';
import { heatMap, queueTable, resourcesOf } from './queues.js';
import { area } from './stats.js';
import { useFigures, useLegend } from './use.js';
import { distribution, reasonTable } from './waits.js';

const section = (id, title, ...children) =>
  h(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title),
    children,
  );

/** Work that is not visible yet is done when the browser has time for it. */
function later(place, make) {
  setTimeout(() => place.append(...[make()].flat(3).filter(Boolean)), 0);
  return place;
}

class Page {
  constructor(report) {
    this.report = report;
    this.shown = new Shown(report.until);
    this.figures = h('div', {});
    this.spread = h('div', {});
    this.about = h('div', { id: 'job', 'aria-live': 'polite' });
    this.jobs = new Jobs(report, this.shown, this.about);
    this.choice = this.#select();
    this.range = h('span', { class: 'faint nowrap', role: 'status' });
    this.shown.listen(() => this.#tellRange());
  }

  begin() {
    const { report } = this;
    const parts = [
      ['use', 'Use'],
      ['jobs', 'Jobs'],
      ['waits', 'Waiting'],
      ['fairness', 'Fairness'],
      ['evictions', 'Evictions'],
    ];
    if (report.before) parts.unshift(['changes', 'Changes']);
    document.body.append(
      h('a', { class: 'skip', href: '#content' }, 'To the content'),
      h(
        'header',
        { class: 'top' },
        h('span', { class: 'brand' }, 'Sluice'),
        h(
          'nav',
          { 'aria-label': 'Parts' },
          parts.map(([id, text]) => h('a', { href: `#${id}` }, text)),
        ),
        h('span', { class: 'who' }, this.#controls()),
      ),
      h('main', { id: 'content', tabindex: '-1' }, this.#head(), this.#tiles(), this.#sections()),
    );
    this.#tellRange();
    this.#show({});
  }

  #controls() {
    const { shown } = this;
    const button = (label, text, does) =>
      h('button', { type: 'button', title: text, 'aria-label': text, onclick: does }, label);
    return [
      h('label', { class: 'ns' }, 'Queues', this.choice),
      this.range,
      button('+', 'Zoom in', () => shown.zoom(0.5)),
      button('−', 'Zoom out', () => shown.zoom(2)),
      button('Whole run', 'Show the whole run', () => shown.whole()),
    ];
  }

  #tellRange() {
    const { shown } = this;
    this.range.textContent = `${span(shown.from)} to ${span(shown.to)}`;
  }

  #select() {
    const { report } = this;
    const option = (value, text) => h('option', { value: JSON.stringify(value) }, text);
    const cohorts = report.cohorts();
    return h(
      'select',
      {
        'aria-label': 'Queues that are shown',
        onchange: () => this.#show(JSON.parse(this.choice.value)),
      },
      option({}, 'all queues'),
      cohorts.length > 0 &&
        h(
          'optgroup',
          { label: 'Cohorts' },
          cohorts.map((cohort) => option({ cohort }, cohort)),
        ),
      h(
        'optgroup',
        { label: 'Queues' },
        report.queues().map((queue) => option({ queue }, queue)),
      ),
    );
  }

  #head() {
    const { report } = this;
    const fact = (name, text) => text && h('div', {}, h('dt', {}, name), h('dd', {}, text));
    return [
      h('p', { class: 'crumb' }, 'Report of a simulation'),
      h('h1', {}, report.inputs.join(', ')),
      h(
        'dl',
        { class: 'facts' },
        fact('begins', new Date(report.start).toISOString().replace('.000Z', 'Z')),
        fact('lasts', span(report.end)),
        fact('compared with', report.data.other?.path),
        fact('made by', `sluice ${report.data.sluice}`),
      ),
      report.endless &&
        h(
          'div',
          { class: 'notice', role: 'note' },
          h('strong', {}, 'It would go on for ever, and was stopped'),
          h('span', {}, report.endless),
        ),
    ];
  }

  #tiles() {
    const { report } = this;
    const now = figuresOf(report.now);
    const before = report.before && figuresOf(report.before);
    const one = (label, value, href, of, change) => {
      const made = tile(label, value, href);
      if (!before || !of) return made;
      const [a, b] = [of(now), of(before)];
      const kind = a === b ? '' : a < b ? 'better' : 'worse';
      made.append(h('span', { class: `change ${kind}` }, change(a, b)));
      return made;
    };
    return h(
      'div',
      { class: 'tiles' },
      one('workloads', now.workloads, '#jobs'),
      one('never started', now.never, '#waits', (of) => of.never, changeOfCount),
      one('median wait', span(now.waits.median), '#waits', (of) => of.waits.median, changeOfSpan),
      one('95 % waited at most', span(now.waits.p95), '#waits', (of) => of.waits.p95, changeOfSpan),
      one(
        'longest wait',
        span(now.waits.longest),
        '#waits',
        (of) => of.waits.longest,
        changeOfSpan,
      ),
      one('evictions', now.evictions, '#evictions', (of) => of.evictions, changeOfCount),
      ...this.#useTiles(),
    );
  }

  /** Of the resource that was used most, against what there is. */
  #useTiles() {
    const until = this.report.now.end || 1;
    const parts = new Map();
    for (const { resource, used, nominal } of this.report.now.quotas({})) {
      const sum = parts.get(resource) ?? [0, 0];
      sum[0] += area(used, 0, until);
      sum[1] += area(nominal, 0, until);
      parts.set(resource, sum);
    }
    const [most] = [...parts]
      .filter(([, [, own]]) => own > 0)
      .sort((a, b) => b[1][0] / b[1][1] - a[1][0] / a[1][1]);
    return most
      ? [tile(`of ${most[0]} used on average`, percent(most[1][0] / most[1][1]), '#use')]
      : [];
  }

  #sections() {
    const { report } = this;
    const onjob = (i) => {
      this.#show({});
      this.jobs.chooseWorkload(i);
    };
    const resources = resourcesOf(report);
    return [
      report.before &&
        section(
          'changes',
          'What changed',
          measures(report),
          later(h('div', {}), () => movers(report, onjob)),
        ),
      section(
        'use',
        'Use of quota over time',
        h(
          'p',
          { class: 'faint' },
          'Drag over a picture, or press + and −, to look closer; all pictures show the same time.',
        ),
        useLegend(report),
        this.figures,
      ),
      section(
        'jobs',
        'Jobs',
        h(
          'figure',
          {},
          h('div', { class: 'bar-head' }, this.jobs.controls(), this.jobs.note, this.jobs.legend()),
          this.jobs.scroll,
        ),
        this.about,
      ),
      section('waits', 'Waiting', this.spread, h('h3', {}, 'Why they waited'), reasonTable(report)),
      section(
        'fairness',
        'Fairness between queues',
        later(h('div', {}), () => this.#fairness(resources)),
      ),
      later(section('evictions', 'Evictions'), () => evictionTables(report, onjob)),
    ];
  }

  #fairness(resources) {
    if (resources.length === 0) return [h('p', { class: 'empty' }, 'No quota was used.')];
    const place = h('div', {});
    const pick = (queue) => this.#show({ queue });
    const draw = (resource) =>
      place.replaceChildren(
        ...[
          heatMap(this.report, this.shown, resource, pick),
          queueTable(this.report, resource, pick),
        ]
          .flat()
          .filter(Boolean),
      );
    draw(resources.includes('cpu') ? 'cpu' : resources[0]);
    const choose = h(
      'select',
      { 'aria-label': 'Resource', onchange: (event) => draw(event.target.value) },
      resources.map((one) => h('option', { value: one, selected: one === 'cpu' }, one)),
    );
    return [resources.length > 1 && h('p', {}, choose), place];
  }

  #show(choice) {
    const { report } = this;
    this.choice.value = JSON.stringify(choice);
    const queues = report.queues(choice);
    this.figures.replaceChildren(...useFigures(report, this.shown, choice).filter(Boolean));
    this.spread.replaceChildren(distribution(report, queues));
    this.about.replaceChildren();
    this.jobs.show(queues);
  }
}

new Page(new Report(JSON.parse(document.getElementById('data').textContent))).begin();

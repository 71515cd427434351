// <history-curves>: what a queue was: use against the nominal quota of the time, waits, evictions, over an hour, a
// day or a week. It asks the host's history with the rights of the signed-in user, again and again
// while it stands in the document and is looked at.
import { h } from './dom.js';
import { Chart, inWords } from './chart.js';
import { empty, notice } from './parts.js';
import {
  eventsOf,
  isEmpty,
  nominalsOf,
  questions,
  stepsOf,
  usesOf,
  WINDOWS,
} from '../lib/curves.js';
import { formatCount, formatQuantity, inBytes } from '../lib/quantity.js';
import { formatDuration } from '../lib/time.js';

const OWN = 'apis/sluice.dev/v1alpha1';
const FIRST = 12; // pictures of quota; more on request
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600];
const TIMES = [...SECONDS, 43200, ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * 86400)];
const DURATIONS = TIMES.map((seconds) => seconds * 1000);
const BYTES = Array.from({ length: 60 }, (_, power) => 2 ** power);
const COUNTS = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat();

const duration = (ms) => (ms < 1000 && ms > 0 ? `${Math.round(ms)}ms` : formatDuration(ms));

function off() {
  return h(
    'div',
    { class: 'notice', role: 'note' },
    h('strong', {}, 'No history is kept here'),
    h(
      'span',
      {},
      'A host keeps one where its configuration says ',
      h('code', {}, 'history: {enabled: true}'),
      ', as it does unless told otherwise; who follows a cluster, where it also names a file: ',
      h('code', {}, 'history: {path: /var/lib/sluice/history.db}'),
      '.',
    ),
  );
}

const historyLegend = () =>
  h(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    [
      ['own', 'used'],
      ['borrowed', 'borrowed'],
      ['dash', 'nominal, as it was then'],
    ].map(([name, text]) => h('span', {}, h('i', { class: name }), text)),
  );

/** 'nominal 8'; where it changed, 'nominal 4, then 8', or from the least to the most of many. */
function nominalInWords(values, format) {
  const texts = values.filter((value) => value !== null).map(format);
  const turns = texts.filter((text, i) => text !== texts[i - 1]);
  if (turns.length <= 3) return `nominal ${turns.join(', then ')}`;
  const known = values.filter((value) => value !== null);
  return `nominal ${format(Math.min(...known))} to ${format(Math.max(...known))}`;
}

class HistoryCurves extends HTMLElement {
  #window = 'hour';
  /** Whether the host has answered: what is below stays where it is from then on. */
  ready = false;
  #all = false;
  #charts = new Map();
  #timer;
  #asking = new AbortController(); // of the last question: the one before it is given up
  #answer;
  #head = h('div', { class: 'bar-head' });
  #note = h('div', {});
  #grid = h('div', { class: 'curves' });
  #more = h('p', {});
  #shown = () => {
    if (!document.hidden) this.#ask();
  };

  /**
   * @param api  an Api with the user's credentials
   * @param source {clusterQueue} or {ns, queue}, and {inNamespace} to fall back to
   */
  open(api, source) {
    Object.assign(this, { api, source });
    return this;
  }

  connectedCallback() {
    document.addEventListener('visibilitychange', this.#shown);
    this.#head.replaceChildren(this.#chooser(), historyLegend());
    this.append(this.#head, this.#note, this.#grid, this.#more);
    this.#ask();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    this.#asking.abort();
    document.removeEventListener('visibilitychange', this.#shown);
    this.#drop(() => true);
    this.replaceChildren();
  }

  #chooser() {
    const choice = ([name, { text }]) =>
      h(
        'label',
        {},
        h('input', {
          type: 'radio',
          name: 'history-window',
          value: name,
          checked: name === this.#window,
          onchange: () => {
            this.#window = name;
            this.#ask();
          },
        }),
        h('span', {}, text),
      );
    return h(
      'fieldset',
      { class: 'choice' },
      h('legend', {}, 'Of the last'),
      Object.entries(WINDOWS).map(choice),
    );
  }

  async #ask() {
    clearTimeout(this.#timer);
    this.#asking.abort();
    const { signal } = (this.#asking = new AbortController());
    const { clusterQueue, ns, queue, inNamespace } = this.source;
    const path = ns ? `${OWN}/namespaces/${encodeURIComponent(ns)}/runs` : `${OWN}/runs`;
    let answer = await this.#read(path, ns ? { queue } : { clusterQueue }, signal);
    if (answer.error?.kind === 'forbidden' && inNamespace) {
      const only = `${OWN}/namespaces/${encodeURIComponent(inNamespace)}/runs`;
      const part = await this.#read(only, { clusterQueue }, signal);
      if (!part.error) answer = { ...part, only: inNamespace };
    }
    if (signal.aborted) return;
    this.#show(answer);
    if (document.hidden || answer.error?.kind === 'missing') return;
    const soonest = answer.error?.kind === 'forbidden' ? 60_000 : 0;
    this.#timer = setTimeout(
      () => this.#ask(),
      Math.max(WINDOWS[this.#window].everyMs, soonest, answer.error?.retryMs ?? 0),
    );
  }

  async #read(path, filter, signal) {
    const name = this.#window;
    const now = Date.now();
    const times = stepsOf(name, now);
    const [flavors, all, quotas] = await Promise.all([
      ...questions(name, times, filter).map((query) => this.api.get(path, query, signal)),
      this.#readQuotas(filter.clusterQueue, times, signal),
    ]);
    const error = flavors.error ?? all.error;
    if (error) return { error };
    return { name, now, times, flavors: flavors.value, all: all.value, quotas };
  }

  /** Of a ClusterQueue that the user may read, since the window began. */
  async #readQuotas(clusterQueue, times, signal) {
    if (!clusterQueue) return [];
    const query = { clusterQueue, from: new Date(times[0]).toISOString() };
    const { value } = await this.api.get(`${OWN}/quotas`, query, signal);
    return value?.items ?? [];
  }

  #show(answer) {
    this.ready = true;
    const { error } = answer;
    if (error?.kind === 'offline' && this.#answer) return; // said elsewhere; what is there stays
    this.#answer = error ? undefined : answer;
    this.#head.hidden = error?.kind === 'missing' || error?.kind === 'forbidden';
    this.#note.replaceChildren(...this.#notes(answer));
    if (error || isEmpty(answer.all)) {
      this.#drop(() => true);
      this.#more.replaceChildren();
      return;
    }
    this.#draw(answer);
  }

  #notes({ error, only, all }) {
    if (error)
      return [error.kind === 'missing' ? off() : notice(error, 'the history of the queue')];
    return [
      ...(only
        ? [h('p', { class: 'filter' }, `Only what ran in namespace ${only}: more you may not see.`)]
        : []),
      ...(isEmpty(all) ? [empty('Nobody held quota here in this time.')] : []),
    ];
  }

  #draw({ name, now, times, flavors, all, quotas }) {
    const any = (values) => values?.some((value) => value > 0);
    const nominals = nominalsOf(quotas, name, times, now);
    const uses = usesOf(flavors, name, times, now, nominals).filter(
      (one) => any(one.nominal) || any(one.used),
    );
    const kept = new Set();
    const show = (key, make, data) => {
      kept.add(key);
      if (!this.#charts.has(key)) this.#charts.set(key, new Chart(make()));
      const chart = this.#charts.get(key);
      const next = this.#grid.children[kept.size - 1];
      if (next !== chart.element) this.#grid.insertBefore(chart.element, next ?? null);
      chart.show({ times, now, step: WINDOWS[name].step, ...data });
    };
    for (const use of this.#all ? uses : uses.slice(0, FIRST)) this.#showUse(show, use);
    this.#showEvents(show, eventsOf(all, name, times));
    this.#drop((key) => !kept.has(key));
    const left = uses.length - FIRST;
    const button = h(
      'button',
      {
        type: 'button',
        onclick: () => {
          this.#all = true;
          if (this.#answer) this.#draw(this.#answer);
        },
      },
      `Show ${left} more of its quotas`,
    );
    this.#more.replaceChildren(...(left > 0 && !this.#all ? [button] : []));
  }

  #showUse(show, { flavor, resource, nominal, used, own, borrowed }) {
    const format = (value) => formatQuantity(resource, Number(value.toPrecision(3)));
    const known = nominal !== undefined;
    const lines = [
      { name: 'used', kind: 'area', colour: known ? 'borrowed' : 'own' },
      ...(known
        ? [
            { name: 'own', kind: 'area', colour: 'own' },
            { name: 'borrowed', hidden: true },
            { name: 'nominal', kind: 'dash', colour: 'ink' },
          ]
        : []),
    ];
    const values = known ? [used, own, borrowed, nominal] : [used];
    const words = [
      inWords(used, format, 'used'),
      known && nominalInWords(nominal, format),
      known && Math.max(...borrowed) > 0 && inWords(borrowed, format, 'borrowed'),
    ];
    show(
      `${flavor} ${resource} ${known}`,
      () => ({
        title: `${flavor} · ${resource}`,
        lines,
        format,
        incrs: inBytes(resource) ? BYTES : undefined,
      }),
      { values, words: words.filter(Boolean).join('; ') },
    );
  }

  #showEvents(show, { started, evicted, wait, longest }) {
    const sum = (values) => values.reduce((all, value) => all + value, 0);
    show(
      'waits',
      () => ({
        title: 'Waiting time of those that started',
        lines: [
          { name: 'longest', kind: 'bars', colour: 'waits' },
          { name: 'mean', kind: 'bars', colour: 'waiting' },
        ],
        format: duration,
        incrs: DURATIONS,
      }),
      {
        values: [longest, wait],
        words: sum(started) > 0 ? inWords(longest, duration, 'longest') : 'nobody started',
      },
    );
    show(
      'evictions',
      () => ({
        title: 'Starts and evictions',
        lines: [
          { name: 'started', kind: 'bars', colour: 'starts' },
          { name: 'evicted', kind: 'bars', colour: 'bad' },
        ],
        format: formatCount,
        incrs: COUNTS,
      }),
      {
        values: [started, evicted],
        words: `${formatCount(sum(started))} started, ${formatCount(sum(evicted))} evicted`,
      },
    );
  }

  #drop(which) {
    for (const [key, chart] of this.#charts)
      if (which(key)) {
        chart.stop();
        chart.element.remove();
        this.#charts.delete(key);
      }
  }
}

customElements.define('history-curves', HistoryCurves);

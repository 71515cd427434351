// When those of a list that are in view would start: asked once the user wants to know, all of them
// with one question, for the host plays its state on to find out. From then on those are asked
// about, too, that come into view and stay there.
import { h } from './dom.js';
import { MOST_WAITING, PATH, questionAboutWaiting, refusalWords, startWords } from '../lib/whatif.js';
import { formatTime, parseTime } from '../lib/time.js';

const DWELL_MS = 400; // what is longer in view is looked at
const RETRY_MS = 5000; // after an answer that was none

export class Estimates {
  #api;
  #changed;
  #abort = new AbortController();
  #told = new Map(); // namespace/name → the answer about it, {told, now}
  #view = []; // [{namespace, name}]
  #wanted = false;
  #timer;
  #asking = false;
  #said = h('span', { role: 'status', class: 'faint' });
  #button = h('button', { type: 'button', onclick: () => this.#begin() }, 'When would they start?');
  element = h('p', { class: 'estimates' }, this.#button, ' ', this.#said);

  /** changed(): something was answered. */
  constructor(api, changed) {
    this.#api = api;
    this.#changed = changed;
  }

  stop() {
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  /** What is in view now. */
  look(workloads) {
    this.#view = workloads;
    this.#soon(DWELL_MS);
  }

  /** '' as long as nobody asked. */
  words({ namespace, name }) {
    const known = this.#told.get(`${namespace}/${name}`);
    if (known) return startWords(known.told, known.now);
    return this.#wanted ? '…' : '';
  }

  #begin() {
    this.#told.clear();
    this.#wanted = true;
    this.#said.replaceChildren('Asking the host …');
    this.#changed();
    this.#soon(0);
  }

  #soon(after) {
    if (!this.#wanted || this.#asking || this.#abort.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), after);
  }

  #open() {
    return this.#view
      .filter(({ namespace, name }) => !this.#told.has(`${namespace}/${name}`))
      .slice(0, MOST_WAITING);
  }

  async #ask() {
    const open = this.#open();
    if (open.length === 0) return;
    this.#asking = true;
    this.#button.disabled = true;
    const { value, error } = await this.#api.post(
      PATH,
      questionAboutWaiting(open),
      this.#abort.signal,
    );
    this.#asking = false;
    this.#button.disabled = false;
    if (this.#abort.signal.aborted) return;
    if (error) this.#refused(error);
    else this.#take(open, value.status);
    this.#changed();
  }

  #refused(error) {
    this.#said.replaceChildren(`${refusalWords(error)}.`);
    if (error.kind === 'offline' || error.code === 429 || error.code >= 500) {
      this.#soon(RETRY_MS);
    } else {
      this.#wanted = false;
    }
  }

  #take(open, { time, workloads = [] }) {
    const now = parseTime(time);
    const told = new Map(workloads.map((one) => [`${one.object.namespace}/${one.object.name}`, one]));
    // Of what is gone meanwhile nothing is told: that is an answer, too.
    for (const { namespace, name } of open) {
      const key = `${namespace}/${name}`;
      this.#told.set(key, { told: told.get(key) ?? { decision: 'Finished' }, now });
    }
    this.#button.textContent = 'Ask again';
    this.#said.replaceChildren(
      `As of ${formatTime(now, now)}, if nothing else is submitted. What is not in view is asked when it is.`,
    );
    if (this.#open().length > 0) this.#soon(DWELL_MS);
  }
}

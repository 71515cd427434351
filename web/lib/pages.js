// Long collections of which only what is looked at is fetched: by offset (the workloads that wait
// in a queue), or one page after the other (all objects of a kind). Both have count, row(i) and
// want(from, to).
import { pagesOf } from './window.js';

const KEPT_PAGES = 12;
const RETRY_MS = 2000; // after an answer that was none
const DWELL_MS = 300; // what is longer in view is looked at
const FOLLOWED_ROWS = 2000; // so many that were read are read again
const GAP_MS = 1500; // longer than between two drawings of a view in which nothing happens

const isFinal = (error) => error?.kind === 'forbidden' || error?.kind === 'unauthorized';

/** The pending workloads of a queue, in order. refresh(): what is shown may be old. */
export class OffsetPages {
  #api;
  #path;
  #changed;
  #pages = new Map(); // number → {items, stale, loading}
  #abort = new AbortController();
  #size;
  #notBefore = 0;
  count = 0;
  error;

  constructor(api, path, changed, size = 100) {
    this.#api = api;
    this.#path = path;
    this.#changed = changed;
    this.#size = size;
  }

  stop() {
    this.#abort.abort();
  }

  row(i) {
    return this.#pages.get(Math.floor(i / this.#size))?.items?.[i % this.#size];
  }

  refresh(count) {
    this.count = count;
    for (const page of this.#pages.values()) page.stale = true;
  }

  want(from, to) {
    if (isFinal(this.error) || performance.now() < this.#notBefore) return;
    const wanted = pagesOf(from, to, this.#size);
    for (const number of wanted) this.#load(number);
    for (const number of this.#pages.keys()) {
      if (this.#pages.size <= KEPT_PAGES) break;
      if (!wanted.includes(number)) this.#pages.delete(number);
    }
  }

  async #load(number) {
    const page = this.#pages.get(number) ?? { stale: true };
    if (!page.stale || page.loading) return;
    page.loading = true;
    page.stale = false;
    this.#pages.set(number, page);
    const answer = await this.#api.get(
      this.#path,
      { offset: number * this.#size, limit: this.#size },
      this.#abort.signal,
    );
    page.loading = false;
    if (this.#abort.signal.aborted) return;
    this.error = answer.error;
    if (answer.value) {
      page.items = answer.value.items ?? [];
      // The count comes from the queue's status, which may be behind or ahead of this answer.
      const seen = number * this.#size + page.items.length;
      if (page.items.length < this.#size) this.count = Math.min(this.count, seen);
      this.count = Math.max(this.count, seen);
    } else {
      page.stale = true;
      this.#notBefore = performance.now() + RETRY_MS;
    }
    this.#changed();
  }
}

/**
 * A list in the order of namespace and name, read on as the user scrolls. refresh(): what is shown
 * may be old; it is read again, unless it is long. `cut`, `state` and `complete` are those of a
 * Follow, for <live-state>.
 */
export class ContinuePages {
  #api;
  #path;
  #slim;
  #changed;
  #abort = new AbortController();
  #rows = [];
  #next = '';
  #loading = false;
  #done = false;
  #rest = 0;
  #notBefore = 0;
  error;
  /** When the oldest of what is shown was read; undefined: nothing was. */
  readAt;

  constructor(api, path, slim, changed) {
    this.#api = api;
    this.#path = path;
    this.#slim = slim;
    this.#changed = changed;
  }

  stop() {
    this.#abort.abort();
  }
  get count() {
    return this.#rows.length + this.#rest;
  }
  get loaded() {
    return this.#rows.length;
  }
  get done() {
    return this.#done;
  }
  /** What was read so far: another array when anything was. */
  get rows() {
    return this.#rows;
  }
  row(i) {
    return this.#rows[i];
  }
  get cut() {
    return this.error !== undefined && !isFinal(this.error);
  }
  get complete() {
    return this.readAt !== undefined;
  }
  get state() {
    return { phase: this.#loading ? 'listing' : 'watching' };
  }

  want(_from, to) {
    return this.readOn(() => to < this.#rows.length);
  }

  /** Page after page until that is enough(), of which there is at least one. */
  async readOn(enough) {
    if (this.#done || this.#loading || (this.#rows.length > 0 && enough())) return;
    if (isFinal(this.error) || performance.now() < this.#notBefore) return;
    this.#loading = true;
    do {
      const answer = await this.#read(this.#next);
      if (this.#abort.signal.aborted) return;
      this.#loading = !this.#took(answer) || this.#done ? false : !enough();
      this.#changed();
    } while (this.#loading);
  }

  /** Whether the answer was a page. */
  #took(answer) {
    this.error = answer.error;
    if (answer.value) {
      this.readAt ??= Date.now();
      this.#take([...this.#rows], answer.value);
      return true;
    }
    if (answer.error.kind === 'gone') {
      // The pages belong to a state that is no longer kept: from the start.
      this.#rows = [];
      this.#next = '';
      this.readAt = undefined;
      this.error = undefined;
    } else {
      this.#notBefore = performance.now() + RETRY_MS;
    }
    return false;
  }

  /** False: it is too long to be read again. */
  refresh() {
    if (this.#rows.length > FOLLOWED_ROWS) return false;
    if (!this.#loading && this.readAt !== undefined) this.#readAgain();
    return true;
  }

  /** As much as there was, all of it before anything is shown. */
  async #readAgain() {
    this.#loading = true;
    const began = Date.now();
    const rows = [];
    let next = '';
    let answer;
    do {
      answer = await this.#read(next);
      if (this.#abort.signal.aborted) return;
      if (!answer.value) break;
      for (const item of answer.value.items ?? []) rows.push(this.#slim(item));
      next = answer.value.metadata?.continue ?? '';
    } while (next && rows.length < this.#rows.length);
    this.#loading = false;
    // Pages of a state that is no longer kept are read with the next refresh.
    if (answer.value || answer.error.kind !== 'gone') this.error = answer.error;
    if (answer.value) {
      this.readAt = began;
      this.#rows = [];
      this.#take(rows, { ...answer.value, items: [] });
    }
    this.#changed();
  }

  #read(next) {
    const query = { limit: 500 };
    if (next) query.continue = next;
    return this.#api.get(this.#path, query, this.#abort.signal);
  }

  #take(rows, page) {
    for (const item of page.items ?? []) rows.push(this.#slim(item));
    this.#rows = rows;
    this.#next = page.metadata?.continue ?? '';
    this.#rest = page.metadata?.remainingItemCount ?? 0;
    this.#done = !this.#next;
  }
}

/**
 * Objects that are asked for one by one while they are looked at; a few at a time, and none that
 * only scrolls by.
 */
export class Details {
  #api;
  #changed;
  #known = new Map(); // path → {value | error, at, loading, from, last: wished for without a gap}
  #timer;
  #queue = [];
  #running = 0;
  #abort = new AbortController();

  constructor(api, changed, { freshMs = 5000, most = 4, kept = 400, dwellMs = DWELL_MS } = {}) {
    Object.assign(this, { freshMs, most, kept, dwellMs });
    this.#api = api;
    this.#changed = changed;
  }

  stop() {
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  /**
   * What is known, at once; asks again when that is older than `freshMs` and it was wished for
   * again and again for `dwellMs`.
   */
  get(path, query, slim, now = performance.now()) {
    const key = path + JSON.stringify(query ?? {});
    let known = this.#known.get(key);
    if (!known) {
      if (this.#known.size >= this.kept) this.#known.delete(this.#known.keys().next().value);
      known = { at: -Infinity };
      this.#known.set(key, known);
    }
    if (!known.loading && now - known.at > this.freshMs && !isFinal(known.error)) {
      if (!this.#stays(known, now)) return known;
      known.loading = true;
      this.#queue.push({ path, query, slim, known, key });
      this.#next();
    }
    return known;
  }

  #stays(known, now) {
    if (!(now - known.last < GAP_MS)) known.from = now;
    known.last = now;
    if (now - known.from >= this.dwellMs) return true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#changed();
    }, this.dwellMs);
    return false;
  }

  async #next() {
    if (this.#running >= this.most || this.#queue.length === 0) return;
    // The latest wish first: what scrolled by is of no interest any more.
    const { path, query, slim, known } = this.#queue.pop();
    for (const old of this.#queue.splice(0, Math.max(0, this.#queue.length - 60)))
      old.known.loading = false;
    ++this.#running;
    const answer = await this.#api.get(path, query, this.#abort.signal);
    --this.#running;
    if (this.#abort.signal.aborted) return;
    known.loading = false;
    known.at = performance.now();
    known.error = answer.error;
    if (answer.value) known.value = slim(answer.value);
    this.#changed();
    this.#next();
  }
}

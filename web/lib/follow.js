// Following a collection: list it in pages, then watch it, and go on over everything that happens
// between: ends, cuts, a history that is gone. step() is the whole logic, pure; Follow does what it
// says.
//
// State: {phase: 'idle'|'listing'|'watching'|'waiting'|'refused', version, tries, error, next}
// What comes out of a step is at most one thing to do: {list: continue} , {watch: version} or
// {wait: ms}.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 20_000;

export const IDLE = Object.freeze({ phase: 'idle', version: '', tries: 0 });

/** The n-th wait (from 0): doubles up to 20 s; `chance` in [0, 1) spreads clients. */
export function waitMs(tries, chance, atLeast = 0) {
  const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
  return Math.max(atLeast, Math.round(ms * (0.75 + chance / 2)));
}

const relist = (state) => [{ ...state, phase: 'listing', version: '' }, { list: '' }];

function failed(state, error, chance) {
  if (error.kind === 'gone') return relist({ ...state, error: undefined });
  if (error.kind === 'forbidden' || error.kind === 'unauthorized' || error.kind === 'missing') {
    return [{ ...state, phase: 'refused', error }, {}];
  }
  // A list that broke off begins again; a watch goes on where it was.
  const next = state.phase === 'watching' ? 'watch' : 'list';
  const wait = waitMs(state.tries, chance, error.retryMs);
  return [{ ...state, phase: 'waiting', tries: state.tries + 1, error, next }, { wait }];
}

/**
 * Inputs: {start}, {page: {continue, version}}, {opened}, {event: {type, version}}, {ended},
 * {failed: error}, {woke}. Unknown or late ones change nothing.
 */
export function step(state, input, chance = 0.5) {
  if (input.start) return relist({ ...IDLE });
  if (input.failed && (state.phase === 'listing' || state.phase === 'watching')) {
    return failed(state, input.failed, chance);
  }
  if (input.woke && state.phase === 'waiting') {
    if (state.next === 'list') return relist(state);
    return [{ ...state, phase: 'watching' }, { watch: state.version }];
  }
  if (input.page && state.phase === 'listing') {
    if (input.page.continue) return [state, { list: input.page.continue }];
    const next = { phase: 'watching', version: input.page.version, tries: 0 };
    return [next, { watch: next.version }];
  }
  if (state.phase !== 'watching') return [state, {}];
  // Whatever arrives shows that the host is back.
  if (input.event) return [{ phase: 'watching', version: input.event.version, tries: 0 }, {}];
  if (input.opened) return [{ ...state, tries: 0, error: undefined }, {}];
  if (input.ended) return [state, { watch: state.version }];
  return [state, {}];
}

const keyOf = (object) => `${object.metadata.namespace ?? ''}/${object.metadata.name}`;

/**
 * Runs step() against an Api. `items` is a Map from namespace/name to what slim() made of the
 * object; undefined of slim(): not kept. Calls changed() after each change of items or state.
 */
export class Follow {
  #api;
  #path;
  #query;
  #slim;
  #changed;
  #abort = new AbortController();
  #timer;
  #fresh = new Map(); // of a list that is not complete
  state = IDLE;
  items = new Map();
  complete = false; // there was a whole list

  constructor(api, path, { query = {}, slim = (object) => object, changed = () => {} } = {}) {
    this.#api = api;
    this.#path = path;
    this.#query = query;
    this.#slim = slim;
    this.#changed = changed;
  }

  start() {
    this.#do({ start: true });
    return this;
  }

  stop() {
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  get error() {
    return this.state.error;
  }
  get refused() {
    return this.state.phase === 'refused';
  }
  get cut() {
    return this.state.phase === 'waiting';
  }

  #do(input) {
    if (this.#abort.signal.aborted) return;
    const [state, effect] = step(this.state, input, Math.random());
    const told = state.phase !== this.state.phase || state.error !== this.state.error;
    this.state = state;
    if (effect.list !== undefined) this.#list(effect.list);
    if (effect.watch !== undefined) this.#watch(effect.watch);
    if (effect.wait !== undefined)
      this.#timer = setTimeout(() => this.#do({ woke: true }), effect.wait);
    if (told) this.#changed();
  }

  async #list(next) {
    const query = { ...this.#query, limit: 500 };
    if (next) query.continue = next;
    else this.#fresh = new Map();
    const answer = await this.#api.get(this.#path, query, this.#abort.signal);
    if (this.#abort.signal.aborted) return;
    if (answer.error) return this.#do({ failed: answer.error });
    for (const object of answer.value.items ?? []) {
      const kept = this.#slim(object);
      if (kept !== undefined) this.#fresh.set(keyOf(object), kept);
    }
    const meta = answer.value.metadata ?? {};
    // What is there of a first list is shown while the rest comes.
    if (!meta.continue || !this.complete) this.items = this.#fresh;
    if (!meta.continue) this.complete = true;
    this.#do({ page: { continue: meta.continue, version: meta.resourceVersion } });
    this.#changed();
  }

  async #watch(version) {
    const query = { ...this.#query, watch: 1, allowWatchBookmarks: true, resourceVersion: version };
    const began = performance.now();
    const answer = await this.#api.lines(
      this.#path,
      query,
      this.#abort.signal,
      (event) => this.#take(event),
      () => this.#do({ opened: true }),
    );
    if (this.#abort.signal.aborted) return;
    if (answer.error) return this.#do({ failed: answer.error });
    // A watch ends in order after a long time, or when the host reloads; not again and again.
    if (performance.now() - began > 1000) return this.#do({ ended: true });
    this.#do({ failed: { kind: 'offline', text: 'the watch ended at once' } });
  }

  /** False ends the watch: the rest of it means nothing any more. */
  #take({ type, object }) {
    if (type === 'ERROR') {
      this.#do({
        failed: object.code === 410 ? { kind: 'gone' } : { kind: 'offline', text: object.message },
      });
      return false;
    }
    if (type !== 'BOOKMARK') {
      const kept = type === 'DELETED' ? undefined : this.#slim(object);
      if (kept === undefined) this.items.delete(keyOf(object));
      else this.items.set(keyOf(object), kept);
      this.#changed();
    }
    this.#do({ event: { type, version: object.metadata.resourceVersion } });
    return true;
  }
}

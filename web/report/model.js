// What a report holds, read from its columns: workloads, and per run the stays (quota that one held
// from … to), waits, evictions and use. docs/simulate.md describes the columns. Pure.
import { combine, readSteps, runningSum, sumSteps } from './stats.js';

const sums = (list) => {
  let at = 0;
  return list.map((step) => (at += step));
};

const pairs = (list) => {
  const out = [];
  for (let i = 0; i < list.length; i += 2) out.push([list[i], list[i + 1]]);
  return out;
};

/** The engine counts milli-CPUs. */
const scaleOf = (resource) => (resource === 'cpu' ? 1000 : 1);

export class Report {
  constructor(data) {
    this.data = data;
    this.texts = data.texts;
    this.tick = data.unit / 1e9;
    this.inputs = data.inputs;
    this.start = Date.parse(data.start);
    this.end = data.end * this.tick;
    this.endless = data.endless;
    this.reasons = pairs(data.reasons).map(([reason, message]) => ({
      reason: this.texts[reason],
      message: this.texts[message],
    }));
    this.places = data.places.map((place) => this.#placeOf(place));
    this.#readWorkloads(data.workloads);
    this.cohortOf = new Map(pairs(data.queues).map((pair) => pair.map((id) => this.texts[id])));
    this.parentOf = new Map(pairs(data.cohorts).map((pair) => pair.map((id) => this.texts[id])));
    const finish = Math.max(this.end, ...(data.other ? [this.#lastOf(data.other.events)] : []));
    /** Both runs are drawn up to here. */
    this.until = finish > 0 ? finish : 1;
    this.now = new Run(this, data.events, data.use, this.end);
    if (data.other)
      this.before = new Run(
        this,
        data.other.events,
        data.other.use,
        this.#lastOf(data.other.events),
      );
  }

  #lastOf(events) {
    return events.at.reduce((sum, step) => sum + step, 0) * this.tick;
  }

  #placeOf([queue, borrowing, ...rest]) {
    const pods = [];
    for (let i = 0; i < rest.length; i += 3)
      pods.push({
        name: this.texts[rest[i]],
        count: rest[i + 1],
        flavors: pairs(rest[i + 2]).map((pair) => pair.map((id) => this.texts[id])),
      });
    return {
      queue: this.texts[queue],
      borrowing: borrowing === 1,
      pods,
      flavor: pods[0]?.flavors[0]?.[1] ?? '',
    };
  }

  #readWorkloads(columns) {
    this.count = columns.name.length;
    this.namespaces = columns.namespaces;
    this.nsOf = columns.namespace;
    this.names = columns.name;
    this.queueOf = columns.queue.map((id) => this.texts[id]);
    this.priorities = columns.priority;
    this.shapeOf = columns.shape;
    this.arrived = sums(columns.arrived).map((at) => at * this.tick);
    this.countsFor = new Map(pairs(columns.countsFor));
  }

  key(i) {
    return `${this.namespaces[this.nsOf[i]]}/${this.names[i]}`;
  }

  /** 'main ×3: 2 cpu, 1Gi memory' as parts: [{name, count, requests: [[resource, amount]]}] */
  requests(i) {
    const shape = this.data.shapes[this.shapeOf[i]] ?? [];
    const out = [];
    for (let k = 0; k < shape.length; k += 3)
      out.push({
        name: this.texts[shape[k]],
        count: shape[k + 1],
        requests: pairs(shape[k + 2]).map(([resource, amount]) => {
          const name = this.texts[resource];
          return [name, amount / scaleOf(name)];
        }),
      });
    return out;
  }

  /** The cohorts above a queue, the nearest first. */
  cohortsAbove(queue) {
    const out = [];
    for (let at = this.cohortOf.get(queue); at && !out.includes(at); at = this.parentOf.get(at))
      out.push(at);
    return out;
  }

  cohorts() {
    return [
      ...new Set([...this.cohortOf.keys()].flatMap((queue) => this.cohortsAbove(queue))),
    ].sort();
  }

  /** The queues of a choice: {} is all, {cohort}, {queue}. */
  queues({ queue, cohort } = {}) {
    if (queue !== undefined) return [queue];
    const all = [...new Set([...this.cohortOf.keys(), ...this.queueOf.filter(Boolean)])];
    return all.filter((one) => !cohort || this.cohortsAbove(one).includes(cohort)).sort(byName);
  }
}

const collator = new Intl.Collator('en', { numeric: true });
export const byName = (a, b) => collator.compare(a, b);

/** One run of the scheduler: this one, or the one that it is compared with. */
export class Run {
  constructor(report, events, use, end) {
    this.report = report;
    this.end = end;
    this.#readEvents(events);
    this.#readUse(use);
  }

  /**
   * Columns `stays`: workload, from, admitted (NaN: never), to, place, queue, ended ('' still held,
   * 'Evicted', 'Finished', 'ReservationLost', 'Lowered', 'Gone'), why (index of reasons), by.
   */
  #readEvents(events) {
    const { report } = this;
    const { count } = report;
    this.types = Object.fromEntries(
      Object.entries(report.data.types).map(([name, code]) => [code, name]),
    );
    this.events = {
      at: sums(events.at).map((at) => at * report.tick),
      type: events.type,
      workload: events.workload,
      what: events.what,
      by: new Map(pairs(events.by)),
    };
    this.stays = [];
    this.started = new Float64Array(count).fill(NaN); // its first admission
    this.done = new Float64Array(count).fill(NaN);
    this.seen = new Uint8Array(count);
    this.evicted = new Uint16Array(count);
    this.admissions = 0;
    this.evictions = [];
    this.waitedFor = new Map(); // index of reasons → {seconds, workloads}
    new Reader(this).read();
  }

  #readUse(use) {
    const { texts, tick } = this.report;
    this.use = use.map(([cohort, node, flavor, resource, used, nominal]) => {
      const scale = scaleOf(texts[resource]);
      return {
        cohort: cohort === 1,
        node: texts[node],
        flavor: texts[flavor],
        resource: texts[resource],
        used: readSteps(used, tick, scale),
        nominal: readSteps(nominal, tick, scale),
      };
    });
  }

  /** How long one waited for its first start, up to the end if it still does; NaN: not counted. */
  wait(i) {
    if (!this.seen[i] || this.report.countsFor.has(i)) return NaN;
    const end = Number.isNaN(this.started[i])
      ? Number.isNaN(this.done[i])
        ? this.end
        : this.done[i]
      : this.started[i];
    return Math.max(0, end - this.report.arrived[i]);
  }

  /** Neither started nor ended. */
  stillWaits(i) {
    return this.seen[i] && Number.isNaN(this.started[i]) && Number.isNaN(this.done[i]);
  }

  /** Whether it ended or not, it never ran. */
  neverStarted(i) {
    return Number.isNaN(this.started[i]);
  }

  /** Indexes of workloads that count, of these queues. */
  members(queues) {
    const wanted = queues && new Set(queues);
    const out = [];
    const { report } = this;
    for (let i = 0; i < report.count; ++i)
      if (this.seen[i] && !report.countsFor.has(i) && (!wanted || wanted.has(report.queueOf[i])))
        out.push(i);
    return out;
  }

  /** What happened to one, in order: [{at, type, what, by}]. */
  life(i) {
    const { at, type, workload, what, by } = this.events;
    const out = [];
    for (let k = 0; k < at.length; ++k)
      if (workload[k] === i)
        out.push({ at: at[k], type: this.types[type[k]], what: what[k], by: by.get(k) });
    return out;
  }

  /**
   * Per flavor and resource of a choice: used within their nominal quota, borrowed beyond it, and
   * nominal, as steps. Quota of the cohorts themselves is theirs to lend.
   */
  quotas(choice) {
    const { report } = this;
    const queues = new Set(report.queues(choice));
    const groups = new Map();
    for (const one of this.use) {
      const inside = one.cohort
        ? choice.queue === undefined && this.#below(one.node, choice.cohort)
        : queues.has(one.node);
      if (!inside) continue;
      const key = `${one.flavor} ${one.resource}`;
      if (!groups.has(key))
        groups.set(key, {
          flavor: one.flavor,
          resource: one.resource,
          own: [],
          over: [],
          nominal: [],
        });
      const group = groups.get(key);
      group.nominal.push(one.nominal);
      if (one.cohort) continue;
      group.own.push(combine(one.used, one.nominal, Math.min));
      group.over.push(combine(one.used, one.nominal, (used, own) => Math.max(0, used - own)));
    }
    return [...groups.values()].map(({ flavor, resource, own, over, nominal }) => {
      const sum = { own: sumSteps(own), over: sumSteps(over), nominal: sumSteps(nominal) };
      return { flavor, resource, ...sum, used: sumSteps([sum.own, sum.over]) };
    });
  }

  #below(cohort, top) {
    for (let at = cohort, steps = 0; at && steps < 99; at = this.report.parentOf.get(at), ++steps)
      if (!top || at === top) return true;
    return false;
  }

  /** How many wait, as steps. */
  waiting(queues) {
    const changes = [];
    for (const i of this.members(queues)) {
      for (const [from, to] of this.waits[i] ?? []) changes.push([from, 1], [to, -1]);
    }
    return runningSum(changes);
  }
}

/** Goes through a run's events once. */
class Reader {
  constructor(run) {
    this.run = run;
    const { count } = run.report;
    this.open = new Int32Array(count).fill(-1); // the stay that has not ended
    this.since = new Float64Array(count).fill(NaN); // waits since; NaN: does not wait
    this.reasonSince = new Float64Array(count);
    this.reason = new Int32Array(count).fill(-1);
    this.standing = new Uint16Array(count); // how many that stand for it run
    run.waits = new Array(count);
  }

  read() {
    const { run } = this;
    const { at, type, workload, what, by } = run.events;
    // In this run all workloads are known that came, also those without any event.
    if (run.report.now === undefined)
      for (let i = 0; i < run.report.count; ++i) if (run.report.shapeOf[i] >= 0) this.#arrive(i);
    for (let k = 0; k < at.length; ++k) {
      const i = workload[k];
      this.#arrive(i);
      this[run.types[type[k]]]?.(i, at[k], what[k], by.get(k));
    }
    for (let i = 0; i < run.report.count; ++i) if (run.seen[i]) this.#stopWaiting(i, run.end);
    for (const stay of run.stays) stay.to ??= run.end;
  }

  #arrive(i) {
    if (this.run.seen[i]) return;
    this.run.seen[i] = 1;
    this.#startWaiting(i, this.run.report.arrived[i]);
  }

  #startWaiting(i, at) {
    this.since[i] = at;
    this.reasonSince[i] = at;
    this.reason[i] = -1;
  }

  #blame(i, at) {
    const why = this.reason[i];
    if (Number.isNaN(this.since[i]) || why < 0) return;
    const blamed = this.run.waitedFor.get(why) ?? { seconds: 0, workloads: new Set() };
    blamed.seconds += at - this.reasonSince[i];
    blamed.workloads.add(i);
    this.run.waitedFor.set(why, blamed);
  }

  #stopWaiting(i, at) {
    if (Number.isNaN(this.since[i])) return;
    this.#blame(i, at);
    if (at > this.since[i]) (this.run.waits[i] ??= []).push([this.since[i], at]);
    this.since[i] = NaN;
  }

  #close(i, at, ended, why, by) {
    const stay = this.run.stays[this.open[i]];
    this.open[i] = -1;
    if (!stay) return undefined;
    Object.assign(stay, { to: at, ended, why, by });
    const whom = this.run.report.countsFor.get(i);
    if (whom === undefined || Number.isNaN(stay.admitted) || ended === 'Lowered') return stay;
    // The workload that it stood for waits again, unless another stands for that one.
    if (--this.standing[whom] === 0 && ended === 'Evicted' && Number.isNaN(this.run.done[whom]))
      this.#startWaiting(whom, at);
    return stay;
  }

  QuotaReserved(i, at, what) {
    const { run } = this;
    this.#stopWaiting(i, at);
    this.open[i] = run.stays.length;
    const { queue } = run.report.places[what];
    run.stays.push({ workload: i, from: at, admitted: NaN, place: what, queue, ended: '' });
  }

  Admitted(i, at) {
    const { run } = this;
    const stay = run.stays[this.open[i]];
    if (stay) stay.admitted = at;
    ++run.admissions;
    if (Number.isNaN(run.started[i])) run.started[i] = at;
    const whom = run.report.countsFor.get(i);
    if (whom === undefined) return;
    this.#arrive(whom);
    ++this.standing[whom];
    if (Number.isNaN(run.started[whom])) run.started[whom] = at;
    this.#stopWaiting(whom, at);
  }

  Evicted(i, at, what, by) {
    const { run } = this;
    const stay = this.#close(i, at, 'Evicted', what, by);
    ++run.evicted[i];
    const ran = stay && !Number.isNaN(stay.admitted) ? at - stay.admitted : 0;
    run.evictions.push({ at, workload: i, why: what, by, ran, queue: stay?.queue ?? '' });
    this.#startWaiting(i, at);
  }

  ReservationLost(i, at, what) {
    this.#close(i, at, 'ReservationLost', what);
    this.#startWaiting(i, at);
  }

  Lowered(i, at, what) {
    const before = this.#close(i, at, 'Lowered');
    if (!before) return;
    this.open[i] = this.run.stays.length;
    this.run.stays.push({ ...before, from: at, to: undefined, place: what, ended: '' });
  }

  Pending(i, at, what) {
    if (Number.isNaN(this.since[i]) && this.open[i] < 0) {
      this.run.done[i] = NaN; // it was off, and is on again
      this.#startWaiting(i, at);
    }
    this.#blame(i, at);
    this.reason[i] = what;
    this.reasonSince[i] = at;
  }

  Finished(i, at, what) {
    this.#end(i, at, 'Finished', what);
  }

  Deactivated(i, at, what) {
    this.#end(i, at, 'Deactivated', what);
  }

  Gone(i, at, what) {
    this.#end(i, at, 'Gone', what);
  }

  #end(i, at, how, what) {
    this.#stopWaiting(i, at);
    this.#close(i, at, how, what);
    if (Number.isNaN(this.run.done[i])) this.run.done[i] = at;
  }
}

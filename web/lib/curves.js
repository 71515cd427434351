// The curves of a queue's history, from the sums that a host makes of its runs (docs/history.md).
// Pure: the present is passed in. Times are milliseconds since 1970.
import { parseTime } from './time.js';

const MINUTE = 60_000;

/** What may be chosen: how long a time, and in which steps the host sums it up. */
export const WINDOWS = {
  hour: { text: 'Hour', by: 'minute', step: MINUTE, count: 60, everyMs: 15_000 },
  day: { text: 'Day', by: 'tenMinutes', step: 10 * MINUTE, count: 144, everyMs: 60_000 },
  week: { text: 'Week', by: 'hour', step: 60 * MINUTE, count: 168, everyMs: 120_000 },
};

/** The steps of a window that ends now; the last one is not over yet. */
export function stepsOf(name, now) {
  const { step, count } = WINDOWS[name];
  const last = Math.floor(now / step) * step;
  return Array.from({ length: count }, (_, i) => last - (count - 1 - i) * step);
}

/** The questions about runs: by flavor, and over all of them (a run in two flavors started once). */
export function questions(name, times, filter) {
  const { by } = WINDOWS[name];
  const from = new Date(times[0]).toISOString();
  return [
    { ...filter, from, groupBy: `flavor,${by}` },
    { ...filter, from, groupBy: by },
  ];
}

/** What an average over the step `time` is made of: how much of it is over, in hours. */
const hoursOver = (time, step, now) => Math.max(1, Math.min(step, now - time)) / (60 * MINUTE);

/** How much of [begin, end) lies in a stretch; where that has no end, it goes on. */
const shared = (begin, end, from, to) =>
  Math.max(0, Math.min(end, to ? parseTime(to) : Infinity) - Math.max(begin, parseTime(from)));

/**
 * The nominal quota over time, as `stretches` of a ClusterQueue tell it ([{from, to, quotas}], as the
 * host has them): [{flavor, resource, nominal[]}], on average over what is known of each step; null
 * where nothing is known.
 */
export function nominalsOf(stretches, name, times, now) {
  const { step } = WINDOWS[name];
  const end = (i) => Math.min(now, times[i] + step);
  const known = times.map((time, i) =>
    stretches.reduce((sum, { from, to }) => sum + shared(time, end(i), from, to), 0),
  );
  const found = new Map();
  for (const { from, to, quotas } of stretches)
    for (const { flavor, resource, nominal } of quotas) {
      const key = `${flavor} ${resource}`;
      if (!found.has(key)) {
        const zero = known.map((part) => (part > 0 ? 0 : null));
        found.set(key, { flavor, resource, nominal: zero });
      }
      const line = found.get(key).nominal;
      times.forEach((time, i) => {
        if (known[i] > 0) line[i] += (nominal * shared(time, end(i), from, to)) / known[i];
      });
    }
  return [...found.values()];
}

/**
 * Use over time, of each flavor and resource of which there was quota or use: [{flavor, resource,
 * nominal[], used[], own[], borrowed[]}], on average over each step. `quotas`: as nominalsOf() has
 * them; `nominal` is undefined where nothing is known of it at any time.
 */
export function usesOf(summary, name, times, now, quotas) {
  const { by, step } = WINDOWS[name];
  const at = new Map(times.map((time, i) => [time, i]));
  const found = new Map();
  const key = (flavor, resource) => `${flavor} ${resource}`;
  const line = (flavor, resource, nominal) => {
    const used = new Array(times.length).fill(0);
    found.set(key(flavor, resource), { flavor, resource, nominal, used });
    return found.get(key(flavor, resource));
  };
  for (const { flavor, resource, nominal } of quotas) line(flavor, resource, nominal);
  for (const { group, heldHours } of summary.groups ?? []) {
    const i = at.get(parseTime(group[by]));
    if (i === undefined || !group.flavor) continue;
    for (const [resource, hours] of Object.entries(heldHours ?? {})) {
      const one = found.get(key(group.flavor, resource)) ?? line(group.flavor, resource, undefined);
      one.used[i] = hours / hoursOver(times[i], step, now);
    }
  }
  return [...found.values()].map((one) => {
    const limit = (i) => one.nominal?.[i] ?? Infinity;
    return {
      ...one,
      own: one.used.map((value, i) => Math.min(value, limit(i))),
      borrowed: one.used.map((value, i) => Math.max(0, value - limit(i))),
    };
  });
}

/** Starts and their waits (null where nothing started), and evictions, per step. */
export function eventsOf(summary, name, times) {
  const { by } = WINDOWS[name];
  const at = new Map(times.map((time, i) => [time, i]));
  const zero = () => new Array(times.length).fill(0);
  const none = () => new Array(times.length).fill(null);
  const out = { started: zero(), evicted: zero(), wait: none(), longest: none() };
  for (const sum of summary.groups ?? []) {
    const i = at.get(parseTime(sum.group[by]));
    if (i === undefined) continue;
    out.started[i] = sum.started;
    out.evicted[i] = sum.evicted;
    if (sum.started > 0) {
      out.wait[i] = (1000 * sum.waitSeconds) / sum.started;
      out.longest[i] = 1000 * sum.longestWaitSeconds;
    }
  }
  return out;
}

/** Whether anything is to be drawn. */
export const isEmpty = ({ total = {} }) =>
  !total.started && !total.evicted && Object.keys(total.heldHours ?? {}).length === 0;

/** '14:20', and the day where one begins: the labels of an axis of times. */
export function timeLabels(times) {
  const two = (n) => String(n).padStart(2, '0');
  return times.map((time) => {
    const date = new Date(time);
    if (date.getHours() === 0 && date.getMinutes() === 0)
      return date.toLocaleDateString('en', { day: 'numeric', month: 'short' });
    return `${two(date.getHours())}:${two(date.getMinutes())}`;
  });
}

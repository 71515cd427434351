// Numbers about many: quantiles, bins, and amounts that hold from one time to the next ("steps":
// {at: [seconds], amount: [number]}, 0 before the first). Pure.

/** The value below which `part` of the sorted values lie; NaN without any. */
export function quantile(sorted, part) {
  if (sorted.length === 0) return NaN;
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))];
}

export function summary(values) {
  const sorted = Float64Array.from(values).sort();
  const sum = sorted.reduce((a, b) => a + b, 0);
  return {
    sorted,
    count: sorted.length,
    mean: sorted.length ? sum / sorted.length : NaN,
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    longest: sorted.length ? sorted.at(-1) : NaN,
  };
}

const MINUTES = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400].concat(
  [2, 7, 14, 30, 90, 365, 3650, 36500].map((days) => days * 86400),
);
const SECONDS = [-6, -5, -4, -3, -2, -1, 0].flatMap((power) =>
  [1, 2, 5].map((digit) => Number((digit * 10 ** power).toPrecision(3))),
);
const EDGES = [...SECONDS, 10, 20, 30, ...MINUTES];
const BINS = 13;

/** Edges of bins for waits, at round times: each about twice the one before; the first is 0. */
export function waitEdges(longest) {
  if (!(longest > 0)) return [0];
  const last = EDGES.findIndex((edge) => edge >= longest);
  const end = last < 0 ? EDGES.length : last + 1;
  return [0, ...EDGES.slice(Math.max(0, end - BINS), end)];
}

/** How many values lie in (edges[i], edges[i+1]]; those at 0 in a bin of their own, the first. */
export function histogram(sorted, edges) {
  const counts = new Array(edges.length).fill(0);
  let bin = 0;
  for (const value of sorted) {
    while (bin < edges.length - 1 && value > edges[bin]) ++bin;
    ++counts[bin];
  }
  return counts;
}

/** [dt, amount, dt, amount …] in ticks → steps in seconds. */
export function readSteps(list, tick, scale) {
  const steps = { at: [], amount: [] };
  let at = 0;
  for (let i = 0; i < list.length; i += 2) {
    at += list[i];
    steps.at.push(at * tick);
    steps.amount.push(list[i + 1] / scale);
  }
  return steps;
}

/** What holds at a time. */
export function amountAt({ at, amount }, time) {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low ? amount[low - 1] : 0;
}

/** The sum of several. */
export function sumSteps(all) {
  const changes = [];
  for (const { at, amount } of all)
    for (let i = 0; i < at.length; ++i) changes.push([at[i], amount[i] - (i ? amount[i - 1] : 0)]);
  return runningSum(changes);
}

/** The sum of [time, change]s as steps. */
export function runningSum(changes) {
  changes.sort((a, b) => a[0] - b[0]);
  const sum = { at: [], amount: [] };
  let total = 0;
  for (let i = 0; i < changes.length; ++i) {
    total += changes[i][1];
    if (changes[i + 1]?.[0] === changes[i][0]) continue;
    // What cancels out in numbers with a point is nothing.
    const amount = Math.round(total * 1e6) / 1e6;
    if (amount === (sum.amount.at(-1) ?? 0)) continue;
    sum.at.push(changes[i][0]);
    sum.amount.push(amount);
  }
  return sum;
}

/** of(a, b) over time. */
export function combine(a, b, of) {
  const out = { at: [], amount: [] };
  let i = 0;
  let j = 0;
  while (i < a.at.length || j < b.at.length) {
    const time = Math.min(a.at[i] ?? Infinity, b.at[j] ?? Infinity);
    while (a.at[i] <= time) ++i;
    while (b.at[j] <= time) ++j;
    const value = of(i ? a.amount[i - 1] : 0, j ? b.amount[j - 1] : 0);
    if (out.amount.length === 0 ? value !== 0 : out.amount.at(-1) !== value) {
      out.at.push(time);
      out.amount.push(value);
    }
  }
  return out;
}

/** ∫ from … to. */
export function area({ at, amount }, from, to) {
  let sum = 0;
  for (let i = 0; i < at.length; ++i) {
    const begin = Math.max(from, at[i]);
    const end = Math.min(to, at[i + 1] ?? Infinity);
    if (end > begin) sum += amount[i] * (end - begin);
  }
  return sum;
}

/** The mean within each of `count` equal parts of from … to. O(steps + count). */
export function means(steps, from, to, count) {
  const out = new Float64Array(count);
  const wide = (to - from) / count;
  const { at, amount } = steps;
  for (let i = 0; i < at.length; ++i) {
    let begin = Math.max(from, at[i]);
    const end = Math.min(to, at[i + 1] ?? Infinity);
    if (amount[i] === 0 || !(end > begin)) continue;
    let part = Math.min(count - 1, Math.floor((begin - from) / wide));
    while (begin < end) {
      const stop = part === count - 1 ? end : Math.min(end, from + (part + 1) * wide);
      out[part] += (amount[i] * (stop - begin)) / wide;
      begin = stop;
      ++part;
      if (part >= count) break;
    }
  }
  return out;
}

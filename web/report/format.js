// How a report says times, parts and changes. Pure.
import { formatDuration } from '../lib/time.js';

/** Seconds: 0.15 → '150ms', 4.1 → '4.1s', 90 → '1m30s'. */
export function span(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 0) return `−${span(-seconds)}`;
  if (seconds === 0) return '0s';
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(3))}ms`;
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 2 : 1))}s`;
  return formatDuration(seconds * 1000);
}

export const percent = (part) =>
  Number.isFinite(part) ? `${Number((100 * part).toFixed(part < 0.1 ? 1 : 0))} %` : '–';

/** How a number of seconds changed against another: '3s less', 'the same'. */
export function changeOfSpan(now, before) {
  if (!Number.isFinite(now) || !Number.isFinite(before)) return '';
  const change = now - before;
  if (Math.abs(change) < 1e-9) return 'the same';
  return `${span(Math.abs(change))} ${change < 0 ? 'less' : 'more'}`;
}

export function changeOfCount(now, before) {
  const change = now - before;
  if (change === 0) return 'the same';
  return `${Math.abs(change).toLocaleString('en')} ${change < 0 ? 'fewer' : 'more'}`;
}

/** Ticks of a time axis: at most `most`, at round times. */
export function timeTicks(from, to, most) {
  const length = to - from;
  if (!(length > 0)) return [from];
  const least = length / Math.max(1, most);
  const round = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  let step = round.find((one) => one >= least);
  if (least <= 30 || step === undefined) {
    const unit = step === undefined ? 86400 : 1;
    const power = 10 ** Math.floor(Math.log10(least / unit));
    step = unit * power * ([1, 2, 5, 10].find((one) => one * power * unit >= least * 0.999) ?? 10);
  }
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; ++i)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** Ticks of an axis from 0, at round amounts of a kind: 'bytes', 'count', or any number. */
export function amountTicks(highest, most, kind = '') {
  if (!(highest > 0)) return [0];
  const least = highest / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const round = power * ([1, 2, 5, 10].find((one) => one * power >= least * 0.999) ?? 10);
  const step =
    {
      bytes: 2 ** Math.ceil(Math.log2(least)),
      count: Math.max(1, round),
    }[kind] ?? round;
  const ticks = [];
  for (let i = 0; i * step <= highest * 1.0001; ++i) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

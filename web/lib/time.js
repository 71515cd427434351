// Times and how long ago they are. Pure: the present is passed in.

export const parseTime = (text) => (text ? Date.parse(text) : NaN);

/** 4200 → '4s', 90000 → '1m30s', 8e6 → '2h13m', 3e8 → '3d11h'. */
export function formatDuration(ms) {
  if (!Number.isFinite(ms)) return '';
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const units = [
    ['d', 86400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ];
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at < 0) return '0s';
  const [name, size] = units[at];
  const first = Math.floor(seconds / size) + name;
  if (at + 1 >= units.length || seconds >= size * 10) return first;
  const rest = Math.floor((seconds % size) / units[at + 1][1]);
  return rest > 0 ? first + rest + units[at + 1][0] : first;
}

export const age = (time, now) => formatDuration(now - time);

/** '14:03:09' of today, with the date before it on other days. Local time. */
export function formatTime(time, now) {
  if (!Number.isFinite(time)) return '';
  const date = new Date(time);
  const two = (n) => String(n).padStart(2, '0');
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === new Date(now).toDateString()) return clock;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

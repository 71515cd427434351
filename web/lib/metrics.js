// The text format of Prometheus, and what it says of plugins. Pure.

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Calls `each(name, labels, value)` for the samples whose name begins with `prefix`. */
export function readMetrics(text, prefix, each) {
  let at = 0;
  while (at < text.length) {
    let end = text.indexOf('\n', at);
    if (end < 0) end = text.length;
    if (text.startsWith(prefix, at)) {
      const parts = LINE.exec(text.slice(at, end));
      if (parts) {
        const labels = {};
        for (const [, key, value] of (parts[2] ?? '').matchAll(LABEL)) {
          labels[key] = value.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
        }
        each(parts[1], labels, Number(parts[3]));
      }
    }
    at = end + 1;
  }
}

const none = () => ({ calls: 0, seconds: 0, faults: 0 });

/** By name: [{name, quarantined, calls, seconds, faults, hooks: [the same of each hook]}] */
export function pluginsOf(text) {
  const plugins = new Map();
  const plugin = (name) => {
    if (!plugins.has(name))
      plugins.set(name, { name, quarantined: false, ...none(), hooks: new Map() });
    return plugins.get(name);
  };
  const sums = {
    sluice_plugin_calls_total: 'calls',
    sluice_plugin_seconds_total: 'seconds',
    sluice_plugin_faults_total: 'faults',
  };
  readMetrics(text, 'sluice_plugin_', (name, labels, value) => {
    if (!labels.plugin) return;
    const one = plugin(labels.plugin);
    if (name === 'sluice_plugin_quarantined') one.quarantined = value === 1;
    const field = sums[name];
    if (!field) return;
    if (!one.hooks.has(labels.hook)) one.hooks.set(labels.hook, { name: labels.hook, ...none() });
    one[field] += value;
    one.hooks.get(labels.hook)[field] += value;
  });
  const byName = (a, b) => (a.name < b.name ? -1 : 1);
  return [...plugins.values()]
    .sort(byName)
    .map((one) => ({ ...one, hooks: [...one.hooks.values()].sort(byName) }));
}

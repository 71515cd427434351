// The small parts that all pages are made of.
import { h } from './dom.js';
import { formatCount, formatQuantity } from '../lib/quantity.js';
import { STATE_WORDS } from '../lib/workload.js';
import { age, formatTime } from '../lib/time.js';

export const ICON = new URL('../icon.svg', import.meta.url).pathname;

const part = encodeURIComponent;
export const to = {
  clusterQueue: (name, query = '') => `#/clusterqueues/${part(name)}${query}`,
  localQueue: (ns, name) => `#/localqueues/${part(ns)}/${part(name)}`,
  workload: (ns, name) => `#/workloads/${part(ns)}/${part(name)}`,
  cohort: (name) => `#/overview?cohort=${part(name)}`,
  node: (name) => `#/nodes/${part(name)}`,
  whatIf: (ns, queue) => `#/whatif?namespace=${part(ns)}&queue=${part(queue)}`,
  holders: (queue, flavor) => to.clusterQueue(queue, `?flavor=${part(flavor)}`),
};

export const link = (href, ...children) => h('a', { href }, ...children);

/** A workload's key `namespace/name` as a link. */
export function workloadLink(key) {
  const [ns, name] = key.split('/');
  return name ? link(to.workload(ns, name), key) : key;
}

const FORBIDDEN = 'You may not see this';

/** Why a part has no content: what is forbidden, missing or not reachable is said as such. */
export function notice(error, what) {
  const title =
    {
      forbidden: `${FORBIDDEN}: ${what}`,
      missing: `Not there: ${what}`,
      offline: `Not reachable at the moment: ${what}`,
    }[error.kind] ?? `Could not be read: ${what}`;
  return h(
    'div',
    { class: `notice ${error.kind}`, role: 'note' },
    h('strong', {}, title),
    h('span', {}, error.text),
  );
}

export const empty = (text) => h('p', { class: 'empty' }, text);

export const badge = (state) => h('span', { class: `badge ${state}` }, STATE_WORDS[state] ?? state);

export const since = (time, now) =>
  Number.isFinite(time)
    ? h(
        'time',
        { datetime: new Date(time).toISOString(), title: formatTime(time, now) },
        age(time, now),
      )
    : '';

export function tile(label, value, href, note) {
  const inside = [
    h('span', { class: 'value' }, typeof value === 'number' ? formatCount(value) : value),
    ' ', // for a screen reader: the parts stand below one another
    h('span', { class: 'label' }, label),
    note && [' ', h('span', { class: 'note' }, note)],
  ];
  return href ? h('a', { class: 'tile', href }, inside) : h('div', { class: 'tile' }, inside);
}

export function lentText(resource, { least, most }) {
  if (!(most > 0)) return '';
  const amount = (value) => formatQuantity(resource, value);
  if (least === most) return `${amount(most)} lent`;
  return least > 0 ? `${amount(least)} to ${amount(most)} lent` : `up to ${amount(most)} lent`;
}

/** What a quota's bar says, in words. */
export function quotaText({ resource, nominal, used, borrowed, lent, sum }) {
  const amount = (value) => formatQuantity(resource, value);
  const more = [];
  if (sum) {
    const outside = Math.max(0, used - nominal);
    if (outside > 0) more.push(`${amount(outside)} borrowed`);
    if (borrowed > outside) more.push(`${amount(borrowed - outside)} lent within`);
  } else if (borrowed > 0) more.push(`${amount(borrowed)} borrowed`);
  if (lent && lentText(resource, lent)) more.push(lentText(resource, lent));
  return `${amount(used)} of ${amount(nominal)}${more.length ? `, ${more.join(', ')}` : ''}`;
}

/**
 * A bar from 0 to the nominal quota, or to what is used where that is more: own use, what is
 * borrowed beyond the mark of the nominal quota, and what is lent to others at the other end.
 */
export function bar(quota) {
  const { nominal, used } = quota;
  const borrowed = Math.max(0, used - nominal);
  const whole = Math.max(nominal, used, 1e-9);
  const percent = (value) => `${((100 * value) / whole).toFixed(2)}%`;
  const lent = quota.lent?.least ?? 0;
  const maybe = Math.max(0, (quota.lent?.most ?? 0) - lent);
  const piece = (name, left, width) =>
    width > 0
      ? h('i', { class: name, style: { left: percent(left), width: percent(width) } })
      : null;
  return h(
    'span',
    { class: 'bar', role: 'img', 'aria-label': quotaText(quota) },
    piece('own', 0, Math.min(used, nominal)),
    piece('borrowed', nominal, borrowed),
    piece('lent', nominal - lent, lent),
    piece('maybe', nominal - lent - maybe, maybe),
    borrowed > 0 ? h('i', { class: 'mark', style: { left: percent(nominal) } }) : null,
  );
}

export const legend = () =>
  h(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    [
      ['own', 'used'],
      ['borrowed', 'borrowed'],
      ['lent', 'lent to others'],
      ['maybe', 'lent, at most'],
      ['free', 'free'],
    ].map(([name, text]) => h('span', {}, h('i', { class: name }), text)),
  );

/** A plain table: heads [text], rows of cells. */
export function table(label, heads, rows) {
  return h(
    'div',
    { class: 'scroll' },
    h(
      'table',
      { 'aria-label': label },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head) => h('th', { scope: 'col' }, head)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((cells) =>
          h(
            'tr',
            {},
            cells.map((cell) => h('td', {}, cell)),
          ),
        ),
      ),
    ),
  );
}

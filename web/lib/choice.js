// Which rows of a list of workloads are shown, and in which order: as its address says it, so that
// it can be kept and sent to others. Pure. A choice is {find, state, order}.
import { STATE_WORDS } from './workload.js';

export const STATES = { '': 'all states', open: 'not finished', ...STATE_WORDS };

export const ORDERS = {
  '': 'by name',
  newest: 'newest first',
  longest: 'longest in its state first',
  priority: 'highest priority first',
};

const COMPARE = {
  newest: (a, b) => b.created - a.created,
  longest: (a, b) => a.since - b.since,
  priority: (a, b) => b.priority - a.priority,
};

const known = (names, name) => (name && Object.hasOwn(names, name) ? name : '');

/** Of an address; what it does not know counts as not chosen. */
export const choiceOf = (query) => ({
  find: query.get('find')?.trim() ?? '',
  state: known(STATES, query.get('state')),
  order: known(ORDERS, query.get('order')),
});

/** The part of the address: '' or '?find=…'. */
export function queryOf(choice) {
  const out = new URLSearchParams(Object.entries(choice).filter(([, value]) => value !== ''));
  return out.size > 0 ? `?${out}` : '';
}

export const choosesRows = ({ find, state }) => find !== '' || state !== '';

/** Each word is in the name, the job's or the queue's, in whatever case. */
function finds(row, words) {
  const text = `${row.ns}/${row.name} ${row.job} ${row.queue}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

const hasState = (row, state) =>
  state === 'open' ? !['finished', 'failed'].includes(row.state) : row.state === state;

/** The rows that are chosen, in their order; those that are equal in it stay as they come. */
export function chosen(rows, { find, state, order }) {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const out = rows.filter(
    (row) => (state === '' || hasState(row, state)) && finds(row, words),
  );
  return order === '' ? out : out.sort(COMPARE[order]);
}

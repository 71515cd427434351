// Which workloads a list shows, and in which order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choiceOf, choosesRows, chosen, queryOf } from '../../web/lib/choice.js';

const ROWS = [
  { ns: 'ann', name: 'job-a', job: 'Job a', queue: 'main', state: 'running', priority: 0, created: 5, since: 9 },
  { ns: 'ann', name: 'job-b', job: 'Job b', queue: 'night', state: 'pending', priority: 5, created: 7, since: 7 },
  { ns: 'bob', name: 'pod-a', job: 'Pod a', queue: 'Main', state: 'finished', priority: 5, created: 6, since: 8 },
  { ns: 'bob', name: 'pod-c', job: '', queue: '', state: 'failed', priority: 0, created: 8, since: 6 },
];

const NONE = { find: '', state: '', order: '' };
const names = (choice) => chosen(ROWS, { ...NONE, ...choice }).map((row) => row.name.slice(-1));

describe('a choice', () => {
  for (const [what, choice, expected] of [
    ['nothing', {}, 'abac'],
    ['a part of the name', { find: 'job-' }, 'ab'],
    ['a namespace', { find: 'bob/' }, 'ac'],
    ['the queue, in any case', { find: 'MAIN' }, 'aa'],
    ['each of two words', { find: ' main  pod ' }, 'a'],
    ['what nobody has', { find: 'x' }, ''],
    ['a state', { state: 'pending' }, 'b'],
    ['all that has not ended', { state: 'open' }, 'ab'],
    ['a state and a word', { state: 'open', find: 'night' }, 'b'],
    ['newest first', { order: 'newest' }, 'cbaa'],
    ['longest in its state first', { order: 'longest' }, 'cbaa'],
    ['highest priority first, equals by name', { order: 'priority' }, 'baac'],
  ])
    it(what, () => assert.equal(names(choice).join(''), expected));

  it('leaves the rows as they are', () => {
    const rows = [...ROWS];
    chosen(rows, { ...NONE, order: 'newest' });
    assert.deepEqual(rows, ROWS);
  });
});

describe('its address', () => {
  it('has what is chosen, and nothing else', () => {
    assert.equal(queryOf(NONE), '');
    const choice = { find: 'a b/ü&', state: 'open', order: 'newest' };
    assert.deepEqual(choiceOf(new URLSearchParams(queryOf(choice))), choice);
  });

  it('with what there is not counts as without', () => {
    const query = new URLSearchParams('?state=toString&order=upwards&find=%20');
    assert.deepEqual(choiceOf(query), NONE);
  });

  it('an order alone leaves no row out', () => {
    assert.deepEqual(
      [{ order: 'newest' }, { find: 'x' }, { state: 'open' }].map((each) =>
        choosesRows({ ...NONE, ...each }),
      ),
      [false, true, true],
    );
  });
});

// The state machine behind everything live, and its runner against a host that misbehaves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Follow, IDLE, step, waitMs } from '../../web/lib/follow.js';

/** Feeds the inputs; the phases and the things to do. */
function play(inputs) {
  let state = IDLE;
  const out = [];
  for (const input of inputs) {
    const [next, effect] = step(state, input);
    state = next;
    out.push(`${state.phase} ${JSON.stringify(effect)}`);
  }
  return out;
}

const start = { start: true };
const page = (version, next) => ({ page: { version, continue: next } });
const failed = (kind, more) => ({ failed: { kind, ...more } });

describe('step', () => {
  it('lists in pages, then watches from there, and from where it was when a watch ends', () => {
    assert.deepEqual(
      play([start, page('5', 'c1'), page('5'), { event: { version: '9' } }, { ended: true }]),
      [
        'listing {"list":""}',
        'listing {"list":"c1"}',
        'watching {"watch":"5"}',
        'watching {}',
        'watching {"watch":"9"}',
      ],
    );
  });

  it('waits after a cut, longer each time, and goes on where it was', () => {
    assert.deepEqual(
      play([
        start,
        page('5'),
        failed('offline'),
        { woke: true },
        failed('offline'),
        { woke: true },
        { opened: true },
        failed('offline'),
      ]),
      [
        'listing {"list":""}',
        'watching {"watch":"5"}',
        'waiting {"wait":500}',
        'watching {"watch":"5"}',
        'waiting {"wait":1000}',
        'watching {"watch":"5"}',
        'watching {}',
        'waiting {"wait":500}',
      ],
    );
  });

  it('lists again when its history is gone, at once', () => {
    assert.deepEqual(play([start, page('5'), failed('gone')]).at(-1), 'listing {"list":""}');
    assert.deepEqual(play([start, page('5', 'c'), failed('gone')]).at(-1), 'listing {"list":""}');
  });

  it('a list that broke off begins again', () => {
    assert.deepEqual(
      play([start, page('5', 'c'), failed('offline'), { woke: true }]).at(-1),
      'listing {"list":""}',
    );
  });

  it('asks no more when it may not, and not sooner than it is told', () => {
    assert.deepEqual(play([start, failed('forbidden'), { woke: true }, { ended: true }]), [
      'listing {"list":""}',
      'refused {}',
      'refused {}',
      'refused {}',
    ]);
    assert.deepEqual(
      play([start, failed('busy', { retryMs: 7000 })]).at(-1),
      'waiting {"wait":7000}',
    );
  });

  it('what comes late changes nothing', () => {
    assert.deepEqual(
      play([page('5'), { event: { version: '1' } }, { woke: true }, failed('offline')]),
      ['idle {}', 'idle {}', 'idle {}', 'idle {}'],
    );
  });

  it('waits no longer than 20 s', () => {
    assert.equal(waitMs(0, 0), 375);
    assert.equal(waitMs(50, 0.5), 20_000);
  });
});

/** An api with prepared answers: each call takes the next. */
class Script {
  constructor(answers) {
    this.answers = answers;
    this.asked = [];
  }
  async #next(kind, query) {
    this.asked.push(kind + (query.continue ?? query.resourceVersion ?? ''));
    const answer = this.answers.shift();
    return answer ?? new Promise(() => {});
  }
  get(_path, query) {
    return this.#next('list ', query);
  }
  async lines(_path, query, _signal, take, opened) {
    const answer = await this.#next('watch ', query);
    if (answer.error) return answer;
    opened();
    for (const event of answer.events) if (take(event) === false) break;
    return new Promise(() => {});
  }
}

const object = (name, version) => ({ metadata: { name, resourceVersion: version } });
const list = (version, names, next) => ({
  value: {
    metadata: { resourceVersion: version, continue: next },
    items: names.map((name) => object(name, version)),
  },
});
const event = (type, name, version) => ({ type, object: object(name, version) });

/** Resolves when nothing is left to answer. */
async function settle(script) {
  while (script.answers.length > 0) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

async function follow(answers, options) {
  const script = new Script(answers);
  const follow = new Follow(script, 'x', options).start();
  await settle(script);
  follow.stop();
  return { names: [...follow.items.keys()].sort(), asked: script.asked, follow };
}

describe('Follow', () => {
  it('keeps what lists and events say', async () => {
    const { names, asked } = await follow([
      list('5', ['a', 'b'], 'c1'),
      list('5', ['d']),
      {
        events: [event('ADDED', 'e', '6'), event('DELETED', 'a', '7'), event('BOOKMARK', '', '8')],
      },
    ]);
    assert.deepEqual(names, ['/b', '/d', '/e']);
    assert.deepEqual(asked, ['list ', 'list c1', 'watch 5']);
  });

  it('after 410 what is gone meanwhile is gone here, too', async () => {
    const gone = { type: 'ERROR', object: { code: 410, metadata: {} } };
    const { names, asked } = await follow([
      list('5', ['a', 'b']),
      { events: [gone] },
      list('90', ['b']),
      { events: [] },
    ]);
    assert.deepEqual(names, ['/b']);
    assert.deepEqual(asked, ['list ', 'watch 5', 'list ', 'watch 90']);
  });

  it('shows what it has while it is cut off', async () => {
    const { names, follow: one } = await follow([list('5', ['a']), { error: { kind: 'offline' } }]);
    assert.deepEqual(names, ['/a']);
    assert.ok(one.cut);
  });

  it('drops what is not wanted any more', async () => {
    const { names } = await follow(
      [list('5', ['a', 'b']), { events: [event('MODIFIED', 'b', '6')] }],
      { slim: (one) => (one.metadata.resourceVersion === '6' ? undefined : one) },
    );
    assert.deepEqual(names, ['/a']);
  });

  it('says what is forbidden', async () => {
    const { follow: one } = await follow([{ error: { kind: 'forbidden', text: 'no' } }]);
    assert.ok(one.refused);
    assert.equal(one.error.text, 'no');
  });
});

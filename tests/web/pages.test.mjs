// Long collections of which only what is looked at is asked for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContinuePages, Details, OffsetPages } from '../../web/lib/pages.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Answers by a function; remembers what was asked. */
class Answers {
  asked = [];
  constructor(answer) {
    this.answer = answer;
  }
  async get(path, query) {
    this.asked.push(query?.offset ?? query?.continue ?? path);
    return this.answer(query, path);
  }
}

const items = (from, count) => Array.from({ length: count }, (_, i) => ({ n: from + i }));

describe('by offset', () => {
  const host = (total) =>
    new Answers(({ offset, limit }) => ({
      value: { items: items(offset, Math.max(0, Math.min(limit, total - offset))) },
    }));

  it('only the pages before the eye, once, until they may be old', async () => {
    const api = host(1000);
    const pages = new OffsetPages(api, 'x', () => {});
    pages.refresh(1000);
    pages.want(95, 130);
    pages.want(95, 130);
    await settled();
    assert.deepEqual(api.asked, [0, 100]);
    assert.deepEqual([pages.row(101).n, pages.row(500), pages.count], [101, undefined, 1000]);
    pages.refresh(1000);
    pages.want(110, 120);
    await settled();
    assert.deepEqual(api.asked, [0, 100, 100]);
    assert.equal(pages.row(5).n, 5, 'what is old is shown until it is known anew');
  });

  it('keeps few pages', async () => {
    const pages = new OffsetPages(host(10_000), 'x', () => {});
    pages.refresh(10_000);
    for (let at = 0; at < 10_000; at += 100) {
      pages.want(at, at + 10);
      await settled();
    }
    assert.equal(pages.row(0), undefined);
    assert.equal(pages.row(9905).n, 9905);
  });

  it('corrects a count that the status told too high', async () => {
    const pages = new OffsetPages(host(30), 'x', () => {});
    pages.refresh(50);
    pages.want(0, 20);
    await settled();
    assert.equal(pages.count, 30);
  });

  it('does not ask again and again what it may not see, nor at once what failed', async () => {
    for (const kind of ['forbidden', 'offline']) {
      const api = new Answers(() => ({ error: { kind } }));
      const pages = new OffsetPages(api, 'x', () => {});
      pages.refresh(5);
      for (let i = 0; i < 3; ++i) {
        pages.want(0, 5);
        await settled();
      }
      assert.equal(api.asked.length, 1, kind);
      assert.equal(pages.error.kind, kind);
    }
  });
});

describe('one after the other', () => {
  const page = (from, next, rest) => ({
    value: { items: items(from, 10), metadata: { continue: next, remainingItemCount: rest } },
  });

  it('as far as somebody scrolls', async () => {
    const api = new Answers((query) => (query.continue ? page(10, '', 0) : page(0, 'c', 10)));
    const pages = new ContinuePages(
      api,
      'x',
      (one) => one.n,
      () => {},
    );
    await pages.want(0, 5);
    assert.deepEqual([pages.count, pages.loaded, pages.row(9), pages.done], [20, 10, 9, false]);
    await pages.want(0, 5);
    assert.equal(api.asked.length, 1);
    await pages.want(5, 15);
    assert.deepEqual([pages.count, pages.row(19), pages.done], [20, 19, true]);
  });

  it('page after page until there is enough, or no more', async () => {
    for (const [enough, asked] of [
      [(pages) => pages.loaded >= 25, 3],
      [() => false, 4],
    ]) {
      const api = new Answers(({ continue: at = '0' }) =>
        page(Number(at), at === '30' ? '' : String(Number(at) + 10), 30 - Number(at)),
      );
      const pages = new ContinuePages(
        api,
        'x',
        (one) => one.n,
        () => {},
      );
      await pages.readOn(() => enough(pages));
      assert.deepEqual([api.asked.length, pages.rows.at(-1)], [asked, asked * 10 - 1]);
      await pages.readOn(() => enough(pages));
      assert.equal(api.asked.length, asked, 'and then rests');
    }
  });

  it('ends where it is refused, and tries later', async () => {
    const api = new Answers((query) =>
      query.continue ? { error: { kind: 'busy' } } : page(0, 'c', 10),
    );
    const pages = new ContinuePages(
      api,
      'x',
      (one) => one.n,
      () => {},
    );
    for (let i = 0; i < 3; ++i) await pages.readOn(() => false);
    assert.deepEqual([api.asked.length, pages.loaded, pages.error.kind], [2, 10, 'busy']);
  });

  it('from the start when the state of its pages is gone', async () => {
    const script = [page(0, 'c', 10), { error: { kind: 'gone' } }, page(5, '', 0)];
    const pages = new ContinuePages(
      new Answers(() => script.shift()),
      'x',
      (one) => one.n,
      () => {},
    );
    for (const to of [5, 15, 5]) await pages.want(0, to);
    assert.deepEqual([pages.row(0), pages.count, pages.error], [5, 10, undefined]);
  });
});

describe('one after the other, read again', () => {
  const page = (from, next, rest) => ({
    value: { items: items(from, 10), metadata: { continue: next, remainingItemCount: rest } },
  });
  const pagesOf = (script) =>
    new ContinuePages(
      new Answers(() => script.shift()),
      'x',
      (one) => one.n,
      () => {},
    );

  it('as much as there was, all at once', async () => {
    // Two pages; then there is one row less at the front, and a third page behind them.
    const pages = pagesOf([page(0, 'c', 10), page(10, '', 0), page(1, 'd', 20), page(11, 'e', 10)]);
    for (const to of [5, 15]) await pages.want(0, to);
    assert.equal(pages.refresh(), true);
    await settled();
    assert.deepEqual([pages.row(0), pages.loaded, pages.count, pages.done], [1, 20, 30, false]);
  });

  it('says that it is cut off, and keeps what there was', async () => {
    const pages = pagesOf([page(0, '', 0), { error: { kind: 'offline' } }, page(5, '', 0)]);
    assert.equal(pages.complete, false);
    await pages.want(0, 5);
    pages.refresh();
    await settled();
    assert.deepEqual([pages.cut, pages.complete, pages.row(0)], [true, true, 0]);
    pages.refresh();
    await settled();
    assert.deepEqual([pages.cut, pages.row(0)], [false, 5]);
  });

  it('unless it is long', async () => {
    const long = { value: { items: items(0, 2001), metadata: {} } };
    const pages = pagesOf([long]);
    await pages.want(0, 5);
    assert.equal(pages.refresh(), false);
  });
});

describe('one by one', () => {
  it('a few at a time, each once while it is fresh', async () => {
    let running = 0;
    let most = 0;
    const api = new Answers(async (_query, path) => {
      most = Math.max(most, ++running);
      await settled();
      --running;
      return { value: path };
    });
    const details = new Details(api, () => {}, { most: 3, dwellMs: 0 });
    for (let round = 0; round < 2; ++round) {
      for (let i = 0; i < 10; ++i) details.get(`p${i}`, undefined, (one) => one, 0);
    }
    while (api.asked.length < 10 || running > 0) await settled();
    assert.equal(most, 3);
    assert.equal(api.asked.length, 10);
    assert.equal(details.get('p7', undefined, (one) => one, 0).value, 'p7');
  });

  it('not what scrolls by; a drawing follows for what may have stayed', async () => {
    let drawings = 0;
    const api = new Answers(async (_query, path) => ({ value: path }));
    const details = new Details(api, () => ++drawings, { dwellMs: 20 });
    const wish = (path, now) => details.get(path, undefined, (one) => one, now);
    wish('scrolled-by', 0);
    wish('stayed', 0);
    wish('scrolled-by', 19); // not long enough
    wish('stayed', 20);
    wish('scrolled-by', 2000); // there again, after it was not
    await settled();
    assert.deepEqual(api.asked, ['stayed']);
    while (drawings < 2) await settled(); // the answer, and when scrolled-by may be asked for
    wish('scrolled-by', 2020);
    await settled();
    assert.deepEqual(api.asked, ['stayed', 'scrolled-by']);
    details.stop();
  });
});

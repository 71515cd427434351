// Reports of simulations, opened as the files that they are: the numbers, the comparison, the keys,
// and that no request is sent.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import path from 'node:path';
import { Browser } from './browser.mjs';

const summaries = {
  before: JSON.parse(process.env.WEB_BEFORE),
  now: JSON.parse(process.env.WEB_NOW),
};
const browser = new Browser();

before(() => browser.open());
after(() => browser.close());

async function open(name, size) {
  const tab = await browser.file(path.join(process.env.WEB_REPORTS, name), size);
  await tab.page.waitForSelector('#evictions table, #evictions .empty');
  return tab;
}

const clean = (tab) => {
  assert.deepEqual(tab.complaints, []);
  assert.deepEqual(tab.refusals, []);
  assert.deepEqual([...tab.strangers], []);
};

const go = (tab, id) => tab.page.evaluate((to) => document.getElementById(to).scrollIntoView(), id);

/** The cells of the row that begins with a text. */
const row = (tab, table, first) =>
  tab.page.evaluate(
    (label, text) =>
      [...document.querySelectorAll(`table[aria-label='${label}'] tr`)]
        .map((one) => [...one.cells].map((cell) => cell.innerText))
        .find((cells) => cells[0].startsWith(text)),
    table,
    first,
  );

const tiles = (tab) =>
  tab.page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll('.tile')].map((tile) => [
        tile.querySelector('.label').innerText,
        tile.querySelector('.value').innerText,
      ]),
    ),
  );

/** Is anything drawn on each canvas? */
const drawn = (tab) =>
  tab.page.evaluate(() =>
    [...document.querySelectorAll('canvas')].map((canvas) => {
      const pen = canvas.getContext('2d');
      const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 3;
    }),
  );

describe('a report', () => {
  let tab;
  before(async () => {
    tab = await open('one.html');
  });
  after(() => clean(tab));

  it('says what the Summary says', async () => {
    const { workloads, evictions } = summaries.before;
    const told = await tiles(tab);
    assert.equal(told.workloads, String(workloads));
    assert.equal(told.evictions, String(evictions));
    assert.equal(told['never started'], '1');
    await tab.shows('cluster.yaml, afternoon.json');
    assert.equal(await tab.count('#changes'), 0);
  });

  it('draws each quota, the jobs, the waits and the queues', async () => {
    // On-demand and spot, CPUs and memory; what waits; the jobs; the waits; the queues.
    assert.deepEqual(await drawn(tab), new Array(8).fill(true));
    const labels = await tab.page.evaluate(() =>
      [...document.querySelectorAll('canvas')].map((one) => one.getAttribute('aria-label')),
    );
    assert.match(labels[0], /^on-demand, cpu over time: [\d.]+ of 28 used on average/);
    await tab.picture('report');
    await go(tab, 'jobs');
    await tab.picture('report-jobs');
    await go(tab, 'waits');
    await tab.picture('report-waits');
    await go(tab, 'fairness');
    await tab.picture('report-fairness');
  });

  it('says in a table what a picture shows', async () => {
    await tab.page.click('#use details summary');
    await tab.shows(/Used\s+Borrowed\s+Nominal/);
    const at = await row(tab, 'on-demand, cpu over time', '1h');
    // Of 16 and 12 CPUs.
    assert.deepEqual([at[0], at[3]], ['1h', '28']);
    assert.ok(Number(at[1]) > 0 && Number(at[1]) <= 28, String(at));
    await tab.page.click('#use details summary');
  });

  it('says why they waited, and who evicted whom', async () => {
    await tab.shows('ExceedsMaxQuota');
    const hotfix = await row(tab, 'Evictions by queues', 'vision');
    assert.ok(hotfix, await tab.text());
    const queues = await tab.page.evaluate(
      () => document.querySelectorAll('table[aria-label^="Queues,"] tbody tr').length,
    );
    assert.equal(queues, 3);
  });

  it('shows one queue', async () => {
    await tab.page.select('select[aria-label="Queues that are shown"]', '{"queue":"nightly"}');
    await tab.shows('14 jobs');
    const label = await tab.page.$eval('#use canvas', (one) => one.getAttribute('aria-label'));
    assert.match(label, /^spot, cpu over time: [\d.]+ of 0 used on average/);
    await tab.page.select('select[aria-label="Queues that are shown"]', '{}');
  });

  it('is used with the keyboard', async () => {
    await tab.page.focus('.jobs canvas');
    await tab.page.keyboard.press('ArrowDown');
    await tab.shows('language/dream-1'); // it waited longest
    await tab.shows('waits, without an end, for');
    const range = () => tab.page.$eval('.who [role=status]', (one) => one.innerText);
    const whole = await range();
    await tab.page.keyboard.press('+');
    assert.notEqual(await range(), whole);
    await tab.page.keyboard.press('0');
    assert.equal(await range(), whole);
  });

  it('finds a job by its name', async () => {
    await tab.page.type('#jobs input', 'hotfix');
    await tab.shows('3 jobs');
  });
});

describe('a comparison', () => {
  let tab;
  before(async () => {
    tab = await open('compared.html');
  });
  after(() => clean(tab));

  it('says what changed', async () => {
    const change = summaries.before.evictions - summaries.now.evictions;
    assert.ok(change > 0);
    assert.deepEqual(await row(tab, 'This run against the other', 'Evictions'), [
      'Evictions',
      String(summaries.before.evictions),
      String(summaries.now.evictions),
      `${change} fewer`,
    ]);
    await tab.shows(/compared with\s+before\.log/);
    await tab.shows(/\d+ less long/);
    await tab.picture('report-compared');
    await go(tab, 'use');
    await tab.picture('report-use');
  });

  it('leads from a workload to its life', async () => {
    await tab.page.click('#changes table[aria-label="Wait less now"] a');
    await tab.shows('waited in the other run');
    await tab.picture('report-job-dark', { dark: true });
    await tab.picture('report-job');
  });

  it('is as wide as the window, also where that is narrow', async () => {
    await tab.page.setViewport({ width: 400, height: 1500 });
    assert.ok((await tab.overflow()) <= 0);
    await tab.picture('report-narrow');
  });
});

it('what things are called stays text', async () => {
  const tab = await open('hostile.html');
  await tab.shows('are in the other run only');
  assert.equal(await tab.count('#broke, b'), 0);
  assert.equal(await tab.count('body > header'), 1);
  clean(tab);
  const ran = await tab.page.evaluate(() => {
    try {
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.body.append(script);
    } catch {
      /* Trusted Types */
    }
    return window.ran;
  });
  assert.equal(ran, undefined);
});

// The history of a queue as curves: of real runs, over each window, by keyboard, as a table, dark and
// light; with less rights, and where no history is kept.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser, clean } from './browser.mjs';
import { eventually } from './host.mjs';

const { WEB_HOST: host, WEB_EMPTY: vacant } = process.env;
const tokens = JSON.parse(process.env.WEB_TOKENS);
const browser = new Browser();

before(() => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  return browser.open();
});
after(() => browser.close());

/** Pixels of a picture that are drawn at all. */
const drawn = (tab, title) =>
  tab.page.evaluate((wanted) => {
    const figure = [...document.querySelectorAll('.curves figure')].find(
      (one) => one.querySelector('strong').textContent === wanted,
    );
    const canvas = figure?.querySelector('canvas');
    if (!canvas) return 0;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
  }, title);

const label = (tab, title) =>
  tab.page.evaluate(
    (wanted) =>
      [...document.querySelectorAll('.curves [role=img]')]
        .map((one) => one.getAttribute('aria-label'))
        .find((text) => text.startsWith(`${wanted}:`)),
    title,
  );

describe('of a queue that was used', () => {
  let tab;
  before(async () => {
    tab = await (await browser.tab(host)).signIn(tokens.admin);
    await tab.page.setViewport({ width: 1280, height: 1100 });
  });
  after(() => clean(tab));

  it('the overview leads to them', async () => {
    await tab.see('#/overview', 'vision');
    await tab.press('a[aria-label="History of vision"]');
    await tab.shows('on-demand · cpu');
    await tab.shows(/used [\d.]+ on average, at most [\d.]+; nominal 8/);
  });

  it('draw use, waits and evictions', async () => {
    for (const title of ['on-demand · cpu', 'Starts and evictions'])
      await eventually(async () => (await drawn(tab, title)) > 500, `${title} is drawn`);
    assert.match(await label(tab, 'on-demand · cpu'), /used .* on average/);
    // Ann's jobs started and some were preempted: at least one of each.
    assert.match(await label(tab, 'Starts and evictions'), /[1-9]\d* started, [1-9]\d* evicted/);
    assert.match(await label(tab, 'Waiting time of those that started'), /longest .+ on average/);
  });

  it('the nominal quota is what it was then', async () => {
    const queue = `${host}/apis/kueue.x-k8s.io/v1beta2/clusterqueues/vision`;
    const path = '/spec/resourceGroups/0/flavors/0/resources/1/nominalQuota';
    const set = async (value) => {
      const answer = await fetch(queue, {
        method: 'PATCH',
        body: JSON.stringify([{ op: 'replace', path, value }]),
        headers: {
          Authorization: `Bearer ${tokens.admin}`,
          'Content-Type': 'application/json-patch+json',
        },
      });
      assert.ok(answer.ok, await answer.text());
    };
    // Of what is in place for two seconds of a minute no more is seen than 32.9Gi.
    await eventually(() => new Date().getSeconds() < 57, 'the minute has some seconds left');
    await set('64Gi'); // of memory, which nobody waits for
    await tab.see('#/overview', 'vision');
    await tab.see('#/clusterqueues/vision', /nominal (32Gi, then|3[3-9]|[456]\d)/);
    await set('32Gi');
  });

  it('tell the same as a table, by keyboard', async () => {
    const summary = '.curves figure details summary';
    await tab.page.focus(summary);
    await tab.page.keyboard.press('Enter');
    await tab.page.waitForSelector('.curves figure table');
    const heads = await tab.page.$$eval('.curves figure table th', (all) =>
      all.map((one) => one.textContent),
    );
    assert.deepEqual(heads, ['From', 'Used', 'Own', 'Borrowed', 'Nominal']);
    assert.equal(await tab.count('.curves figure tbody tr'), 60);
    await tab.page.keyboard.press('Tab');
    const region = () => tab.page.evaluate(() => document.activeElement.getAttribute('role'));
    assert.equal(await region(), 'region', 'what scrolls is reached');
    await tab.page.focus(summary);
    await tab.page.keyboard.press('Enter');
  });

  it('another window is chosen by keyboard', async () => {
    const asked = [];
    tab.page.on('request', (request) => {
      const by = new URL(request.url()).searchParams.get('groupBy');
      if (by && !by.includes('flavor')) asked.push(by);
    });
    await tab.page.focus('.choice input[value=hour]');
    for (const by of ['tenMinutes', 'hour']) {
      await tab.page.keyboard.press('ArrowRight');
      await eventually(async () => asked.at(-1) === by, `it asks by ${by}`);
    }
    await tab.shows(/Week/);
    await tab.page.keyboard.press('Home');
    await tab.press('.choice input[value=hour]');
  });

  it('a LocalQueue has those of its own, without a nominal quota', async () => {
    await tab.see('#/localqueues/ann/main', 'on-demand · cpu');
    assert.doesNotMatch(await label(tab, 'on-demand · cpu'), /nominal/);
  });

  it('a queue that nobody used says so', async () => {
    await tab.see('#/clusterqueues/nobody', 'Nobody held quota here in this time');
  });
});

describe('with the rights of one namespace', () => {
  let tab;
  before(async () => {
    tab = await (await browser.tab(host)).signIn(tokens.ann);
  });
  after(() => clean(tab, 1));

  it('those of a ClusterQueue are not his to see', async () => {
    await tab.see(
      '#/clusterqueues/vision?to=history',
      'You may not see this: the history of the queue',
    );
    await tab.see('#/localqueues/bob/main', 'You may not see this: the history of the queue');
    assert.equal(await tab.count('.curves figure'), 0);
  });

  it('but what his namespace had of it, and nothing of others', async () => {
    await tab.page.type('.ns input', 'ann');
    await tab.page.keyboard.press('Enter');
    await tab.see('#/clusterqueues/vision', 'Only what ran in namespace ann', 'on-demand · cpu');
    await tab.see(
      '#/clusterqueues/language', // bob's jobs run there
      'Only what ran in namespace ann',
      'Nobody held quota here in this time',
    );
    assert.equal(await tab.count('.curves figure'), 0);
    await tab.see('#/localqueues/ann/main', 'on-demand · cpu');
  });
});

it('where no history is kept it says so, and how to have one', async () => {
  const tab = await (await browser.tab(vacant)).signIn(tokens.admin);
  await tab.see(
    '#/clusterqueues/any?to=history',
    'No history is kept here',
    'history: {enabled: true}',
  );
  await tab.picture('history-off');
  assert.deepEqual(tab.complaints, []);
});

describe('of a busy day', () => {
  const GROUPS = 144;
  const step = 600_000;

  /** What a host would answer to a question by tens of minutes: a day with a rush at noon. */
  function answer(by) {
    const last = Math.floor(Date.now() / step) * step;
    const groups = [];
    for (let i = 0; i < GROUPS; ++i) {
      const tenMinutes = new Date(last - (GROUPS - 1 - i) * step).toISOString();
      const rush = Math.max(0, Math.sin(((i - 40) / 70) * Math.PI));
      const wave = 3 + Math.sin(i / 5) + 9 * rush;
      const sums = {
        started: Math.round(4 + 6 * rush),
        evicted: rush > 0.7 ? i % 3 : 0,
        waitSeconds: (4 + 6 * rush) * 400 * rush * rush,
        longestWaitSeconds: 60 + 2400 * rush * rush,
      };
      const over = i < GROUPS - 1 ? 1 : (Date.now() - last) / step; // the last is not over yet
      const hours = over / 6;
      const held = (cpu) => ({ cpu: cpu * hours, memory: cpu * hours * 4 * 2 ** 30 });
      if (by.startsWith('flavor'))
        for (const [flavor, part] of [
          ['on-demand', 1],
          ['spot', 0.35],
        ])
          groups.push({ ...sums, group: { flavor, tenMinutes }, heldHours: held(wave * part) });
      else groups.push({ ...sums, group: { tenMinutes }, heldHours: held(wave) });
    }
    return { groups, total: { started: 1, evicted: 1, heldHours: { cpu: 1 } } };
  }

  /** Its quota: half as much more since the evening. */
  function quotas() {
    const at = (steps) => new Date(Math.floor(Date.now() / step) * step - steps * step).toISOString();
    const of = (flavor, cpu) => [
      { flavor, resource: 'cpu', nominal: cpu },
      { flavor, resource: 'memory', nominal: cpu * 4 * 2 ** 30 },
    ];
    return {
      items: [
        { from: at(9999), to: at(36), quotas: [...of('on-demand', 8), ...of('spot', 4)] },
        { from: at(36), quotas: [...of('on-demand', 12), ...of('spot', 4)] },
      ],
    };
  }

  it('is a picture, dark and light, and on a narrow screen', async () => {
    const tab = await (await browser.tab(host)).signIn(tokens.admin);
    await tab.shows('olga');
    await tab.page.setRequestInterception(true);
    tab.page.on('request', (request) => {
      const url = new URL(request.url());
      const by = url.searchParams.get('groupBy');
      if (url.pathname.endsWith('/runs') && by?.endsWith('tenMinutes'))
        request.respond({ contentType: 'application/json', body: JSON.stringify(answer(by)) });
      else if (url.pathname.endsWith('/quotas'))
        request.respond({ contentType: 'application/json', body: JSON.stringify(quotas()) });
      else request.continue();
    });
    await tab.page.setViewport({ width: 1280, height: 1150 });
    await tab.see('#/clusterqueues/vision?to=history', 'on-demand · cpu');
    await tab.press('.choice input[value=day]');
    await tab.shows(/nominal 8, then 12; borrowed [\d.]+ on average/);
    for (const title of ['spot · memory', 'Waiting time of those that started'])
      await eventually(async () => (await drawn(tab, title)) > 2000, `${title} is drawn`);
    const at = await tab.page.$eval('.curves .u-over', (over) => {
      const { x, y, width, height } = over.getBoundingClientRect();
      return [x + width / 2, y + height / 2];
    });
    await tab.page.mouse.move(...at);
    await tab.shows(/\d\d:\d\d: used [\d.]+, own 8, borrowed [\d.]+, nominal 8/);
    await tab.page.mouse.move(5, 5);
    await tab.picture('history');
    await tab.picture('history-dark', { dark: true });
    await tab.page.setViewport({ width: 400, height: 900 });
    await tab.shows('spot · memory');
    assert.ok((await tab.overflow()) <= 0, `${await tab.overflow()} px too wide`);
    await tab.picture('history-narrow');
    clean(tab);
  });
});

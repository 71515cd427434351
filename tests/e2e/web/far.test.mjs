// The page over a long and bad line, 20 ms each way and 5 % of all packets lost: it comes up, is
// live, asks and answers, and never takes the line for cut.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser, clean } from './browser.mjs';
import { FarLine } from './far_line.mjs';

const { WEB_HOST: host, WEB_WAITING } = process.env;
const tokens = JSON.parse(process.env.WEB_TOKENS);
const browser = new Browser();
const QUEUE = '/apis/kueue.x-k8s.io/v1beta2/clusterqueues/crowded';

before(() => browser.open());
after(() => browser.close());

async function move(cohortName) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const answer = await fetch(host + QUEUE, {
    method: 'PATCH',
    body: JSON.stringify({ spec: { cohortName } }),
    headers: {
      Authorization: `Bearer ${tokens.admin}`,
      'Content-Type': 'application/merge-patch+json',
    },
  });
  assert.ok(answer.ok, `${answer.status}`);
}

/** From now on: was it ever said that the line is cut? */
const watchForCuts = (page) =>
  page.evaluate(() => {
    window.cuts = 0;
    new MutationObserver(() => {
      if (document.body.innerText.includes('disconnected')) window.cuts += 1;
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });

describe('far away', () => {
  const line = new FarLine();
  let tab;

  before(async () => {
    const port = await line.open(Number(new URL(host).port));
    tab = await (await browser.tab(`https://127.0.0.1:${port}`)).signIn(tokens.admin);
    await watchForCuts(tab.page);
  });
  after(async () => {
    await tab?.page.close();
    line.close();
  });

  it('the overview comes and is live', async () => {
    await tab.see('#/overview', 'research', 'vision', 'live');
    await move('far-away');
    await tab.shows('far-away');
    await move('company');
    await tab.shows('company');
  });

  it('a queue with many who wait', async () => {
    await tab.see('#/clusterqueues/crowded', /render-\d/);
    await tab.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await tab.shows(new RegExp(`\\n${WEB_WAITING}\\n`));
  });

  it('a question and its answer', async () => {
    await tab.see('#/whatif', 'What would become of a job');
    for (const [name, value] of Object.entries({ namespace: 'bob', queue: 'main' }))
      await tab.page.type(`input[name=${name}]`, value);
    await tab.press('.ask .primary');
    await tab.shows(/Job bob\/my-job would start now/);
  });

  it('packets were lost, and nothing else', async () => {
    assert.ok(line.lost > 0, `${line.packets} packets`);
    assert.equal(await tab.page.evaluate(() => window.cuts), 0);
    clean(tab);
  });
});

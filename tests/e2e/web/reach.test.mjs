// For users who do not see the page, or have no mouse: each page is checked by axe-core, dark and
// light, and is walked through with the Tab key.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { Browser, clean } from './browser.mjs';

const { WEB_HOST: host } = process.env;
const tokens = JSON.parse(process.env.WEB_TOKENS);
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const KUEUE = '/apis/kueue.x-k8s.io/v1beta2';
const browser = new Browser();

before(() => browser.open());
after(() => browser.close());

async function workloadsOf(ns) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const answer = await fetch(`${host}${KUEUE}/namespaces/${ns}/workloads`, {
    headers: { Authorization: `Bearer ${tokens.admin}` },
  });
  return (await answer.json()).items;
}

/** Serious and critical violations of WCAG 2.1 A and AA: `rule: element`. */
async function violations(tab) {
  await tab.page.evaluate(AXE);
  return tab.page.evaluate(async () => {
    const { violations: found } = await globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
    });
    return found
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 5).map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
      );
  });
}

/** What Tab reaches, one after the other, until it begins anew; what of it is not as it should be. */
async function walk(tab) {
  await tab.page.evaluate(() => {
    for (const one of document.querySelectorAll('[data-walked]')) delete one.dataset.walked;
    document.body.tabIndex = -1; // from the very beginning
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  const steps = [];
  const keys = [];
  const wrong = [];
  for (let i = 0; i < 600; ++i) {
    await tab.page.keyboard.press('Tab');
    const step = await tab.page.evaluate(
      (n) => {
        const one = document.activeElement;
        if (one === document.body || one.dataset.walked) return undefined;
        one.dataset.walked = n;
        const style = getComputedStyle(one);
        const beside = one.nextElementSibling && getComputedStyle(one.nextElementSibling);
        const outlined = (s) => s && s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0;
        const label = one.labels?.[0]?.innerText ?? '';
        const name = one.getAttribute('aria-label') || one.innerText || label || one.title || '';
        const { top, bottom } = one.getBoundingClientRect();
        return {
          key: one.getAttribute('href') ?? (one.name || one.innerText),
          what: `${one.tagName.toLowerCase()} ${name.trim() || one.outerHTML.slice(0, 120)}`,
          named: name.trim() !== '' || one.placeholder !== undefined,
          seen: outlined(style) || outlined(beside),
          inView: bottom > 0 && top < innerHeight,
        };
      },
      String(i + 1),
    );
    if (!step) break;
    steps.push(step.what);
    keys.push(step.key);
    if (!step.named) wrong.push(`no name: ${step.what}`);
    if (!step.seen) wrong.push(`no sign of the focus: ${step.what}`);
    if (!step.inView) wrong.push(`focused out of view: ${step.what}`);
  }
  return { steps, keys, wrong };
}

/** Of what is shown now, what can be used with a mouse and was not reached. Rows are made anew. */
const unreached = (tab, keys) =>
  tab.page.evaluate(
    (known) =>
      [...document.querySelectorAll('a[href],button,input,select,textarea,summary')]
        .filter((one) => !one.disabled && one.checkVisibility())
        .filter((one) => one.getBoundingClientRect().top < innerHeight)
        .filter((one) => !known.includes(one.getAttribute('href') ?? (one.name || one.innerText)))
        .map((one) => one.outerHTML.slice(0, 120)),
    keys,
  );

it('signing in', async () => {
  const tab = await browser.tab(host);
  await tab.shows('Who runs, who waits, and why');
  assert.deepEqual(await violations(tab), []);
  const { wrong } = await walk(tab);
  assert.deepEqual(wrong, []);
  await tab.page.close();
});

describe('each page', async () => {
  let tab;
  const ofAnn = await workloadsOf('ann');
  const evicted = ofAnn.find((one) => one.status?.conditions?.some((c) => c.type === 'Preempted'));
  const pages = {
    overview: ['#/overview', 'vision', 'on-demand · cpu'],
    queue: ['#/clusterqueues/language', 'evaluate-0', 'bob/main'],
    'history of a queue': [
      '#/clusterqueues/vision?to=history',
      'Starts and evictions',
      'As a table',
    ],
    LocalQueue: ['#/localqueues/bob/main', 'ClusterQueue', 'Hold quota'],
    workloads: ['#/workloads', 'ann/job-notebook'],
    workload: [`#/workloads/ann/${evicted.metadata.name}`, 'Life', 'Missing'],
    'what if': ['#/whatif', 'What would become of a job'],
    flavors: ['#/flavors', 'stable', 'spot=true:NoSchedule'],
    node: ['#/nodes/stable', 'Pods on it', 'bob/hotfix'],
    checks: ['#/checks', 'budget'],
    plugins: ['#/plugins', 'flavor-fungibility'],
  };
  before(async () => {
    tab = await (await browser.tab(host)).signIn(tokens.admin);
    await tab.shows('olga');
  });
  after(() => clean(tab));

  for (const [name, [hash, ...texts]] of Object.entries(pages)) {
    it(`${name}: no serious violation, dark or light`, async () => {
      await tab.see(hash, ...texts);
      for (const value of ['light', 'dark']) {
        await tab.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
        assert.deepEqual(await violations(tab), [], value);
      }
    });
    it(`${name}: with Tab alone`, async () => {
      await tab.see(hash, ...texts);
      // What comes while one walks is reached by the next walk.
      let [walked, missed] = [undefined, undefined];
      for (let tries = 0; tries < 10 && missed?.length !== 0; ++tries) {
        walked = await walk(tab);
        missed = await unreached(tab, walked.keys);
      }
      assert.deepEqual([walked.wrong, missed], [[], []]);
      assert.equal(walked.steps[0], 'a To the content');
      assert.ok(walked.steps.length >= 10, walked.steps.join('\n'));
    });
  }

  it('what if with an answer', async () => {
    await tab.see('#/whatif?namespace=ann&queue=main', 'What would become of a job');
    await tab.page.click('.ask .primary');
    await tab.shows('Nothing was written');
    assert.deepEqual(await violations(tab), []);
  });
});

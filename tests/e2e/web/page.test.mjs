// Each page with data, empty, forbidden, cut off and back; what it may not do; and that long lists
// are few elements.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser, clean } from './browser.mjs';
import { eventually, Gate } from './host.mjs';

const { WEB_HOST: host, WEB_EMPTY: vacant, WEB_WAITING } = process.env;
const tokens = JSON.parse(process.env.WEB_TOKENS);
const browser = new Browser();

before(() => browser.open());
after(() => browser.close());

/** Asks the API with the operator's token; what it says, as an object. */
async function ask(path, method = 'GET', body = undefined, type = 'application/json') {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const answer = await fetch(host + path, {
    method,
    body: body && JSON.stringify(body),
    headers: { Authorization: `Bearer ${tokens.admin}`, 'Content-Type': type },
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

const KUEUE = '/apis/kueue.x-k8s.io/v1beta2';

async function workloadOf(ns, job) {
  const { items } = await ask(`${KUEUE}/namespaces/${ns}/workloads`);
  return items.find((one) => one.metadata.ownerReferences?.[0].name === job).metadata.name;
}

describe('signing in', () => {
  it('says when a token is not known, and keeps a good one in the tab only', async () => {
    const tab = await browser.tab(host);
    await tab.shows('Who runs, who waits, and why');
    await tab.picture('sign-in');
    await tab.signIn('wrong-token-of-nobody');
    await tab.shows('The host does not know this token');
    await tab.page.$eval('input[name=token]', (input) => {
      input.value = '';
    });
    await tab.signIn(tokens.admin);
    await tab.shows('olga');
    const kept = () =>
      tab.page.evaluate(() => [
        localStorage.length,
        document.cookie,
        sessionStorage.length > 0,
        location.href.includes('token'),
      ]);
    assert.deepEqual(await kept(), [0, '', true, false]);
    await tab.page.reload();
    await tab.shows('olga');
    await tab.press('.who button');
    await tab.shows('Token');
    assert.equal(await tab.page.evaluate(() => sessionStorage.getItem('sluice.token')), null);
    assert.deepEqual(tab.complaints, []);
  });

  it('runs no code that is not a file of the page', async () => {
    const tab = await browser.tab(host);
    await tab.page.evaluate(() => {
      window.ran = 0;
      const place = document.createElement('div');
      document.body.append(place);
      const tries = [
        () => {
          place.innerHTML = '<img src=x onerror="window.ran=1">';
        },
        () => {
          place.setAttribute('onclick', 'window.ran=2');
          place.click();
        },
        () => {
          place.append(
            Object.assign(document.createElement('script'), { textContent: 'window.ran=3' }),
          );
        },
      ];
      for (const each of tries)
        try {
          each();
        } catch {
          /* Trusted Types */
        }
    });
    assert.equal(await tab.page.evaluate(() => window.ran), 0);
  });
});

/** Each waiting row in view says when it would start. */
const estimated = (tab) =>
  tab.page.waitForFunction(() => {
    const cells = [...document.querySelectorAll('.waiting .rows .starts')];
    return cells.length > 0 && cells.every((one) => !['', '…'].includes(one.textContent));
  });

describe('with data', () => {
  let tab;
  before(async () => {
    tab = await (await browser.tab(host)).signIn(tokens.admin);
  });
  after(() => clean(tab));

  it('overview', async () => {
    await tab.page.setViewport({ width: 1280, height: 1500 });
    await tab.see(
      '#/overview',
      'research',
      'vision',
      'spot · cpu',
      'bob/crowded',
      /\d borrowed/,
      /\d lent/,
    );
    await tab.shows(/(render-\d+|evaluate-\d)/); // the longest wait
    await tab.picture('overview');
    await tab.picture('overview-dark', { dark: true });
    await tab.page.setViewport({ width: 1280, height: 900 });
  });

  it('a number leads to who makes it up', async () => {
    await tab.see('#/overview', 'vision');
    await tab.press('a[href="#/clusterqueues/vision?flavor=spot"]');
    await tab.shows('Only those on flavor spot');
    const first = '.holding a[href^="#/workloads/ann/"]';
    await tab.press(first);
    await tab.shows('Life');
  });

  it('queue', async () => {
    await tab.see(
      '#/clusterqueues/language',
      'hotfix',
      'insufficient unused quota',
      'evaluate-0',
      'bob/main',
    );
    await tab.press('.estimates button');
    await tab.shows(/As of \d\d:\d\d:\d\d, if nothing else is submitted/);
    await estimated(tab);
    const starts = await tab.page.$$eval('.waiting .rows .starts', (cells) =>
      cells.map((one) => one.textContent),
    );
    assert.ok(starts.length > 0);
    for (const words of starts)
      assert.match(words, /^(not known|in |now|after |would |\d)/, starts.join('; '));
    await tab.picture('queue');
    await tab.see('#/localqueues/bob/main', 'ClusterQueue', 'evaluate-0');
  });

  it('asks with one question when those that come into view would start', async () => {
    await tab.see('#/clusterqueues/crowded', /render-\d/);
    let questions = 0;
    const count = (request) => (questions += request.url().endsWith('/whatifs') ? 1 : 0);
    tab.page.on('request', count);
    await tab.press('.estimates button');
    await estimated(tab);
    assert.equal(questions, 1);
    await tab.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await tab.shows(new RegExp(`\\n${WEB_WAITING}\\n`));
    await estimated(tab);
    assert.ok(questions <= 3, String(questions));
    tab.page.off('request', count);
  });

  it('a long queue is few elements, wherever one scrolls', async () => {
    await tab.see('#/clusterqueues/crowded', /render-\d/);
    const rows = () => tab.count('.waiting .rows .row');
    assert.ok((await rows()) < 60, String(await rows()));
    await tab.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await tab.shows(new RegExp(`\\n${WEB_WAITING}\\n`));
    assert.ok((await rows()) < 60, String(await rows()));
    assert.equal(
      await tab.page.$eval('.waiting', (list) => list.getAttribute('aria-rowcount')),
      String(Number(WEB_WAITING) + 1),
    );
  });

  it('workload that waits', async () => {
    const name = await workloadOf('bob', 'evaluate-0');
    await tab.see(
      `#/workloads/bob/${name}`,
      'Position',
      'What would have to happen',
      'Missing',
      'WaitingForQuota',
    );
    assert.ok(!(await tab.text()).includes('When it would start'));
    await tab.press('.estimate button');
    await tab.shows(/When it would start\s+perhaps at once; unknown: \d running jobs say no run time/);
    await tab.shows(/As of \d\d:\d\d:\d\d/);
    await tab.picture('workload');
  });

  it('workload that was evicted says for whom', async () => {
    const { items } = await ask(`${KUEUE}/namespaces/ann/workloads`);
    const evicted = items.find((one) => one.status.conditions.some((c) => c.type === 'Preempted'));
    await tab.see(`#/workloads/ann/${evicted.metadata.name}`, /for a workload of language/);
    await tab.picture('workload-evicted');
  });

  it('workload that others wait or run for', async () => {
    const name = await workloadOf('bob', 'explore');
    await tab.see(`#/workloads/bob/${name}`, 'In its place', /main: spot/, /until something changes/);
    await tab.picture('workload-race');
    await tab.press('td a[href*="-option-"]');
    await tab.shows('Stands for');
    await tab.shows(name);
  });

  it('workload that other clusters are asked for, and what they say', async () => {
    const name = await workloadOf('bob', 'far');
    await tab.see(
      `#/workloads/bob/${name}`,
      /Asked clusters\s+east/,
      'cannot be copied',
      /Cluster east refuses the workload: .*bob/,
    );
    await tab.picture('workload-abroad');
  });

  it('workloads of one job, of which one is to replace the other', async () => {
    const { items } = await ask(`${KUEUE}/namespaces/bob/workloads`);
    const mine = items.filter((one) => one.metadata.ownerReferences?.[0].name === 'crawl');
    const grown = mine.find((one) => one.spec.podSets[0].count === 5).metadata.name;
    await tab.see(
      `#/workloads/bob/${grown}`,
      'Workloads of the same job',
      'this one',
      '3 main',
      '5 main',
      /Its admission ends bob\/job-crawl/,
    );
    await tab.picture('workload-grows');
  });

  it('pods and what they write, as text', async () => {
    const name = await workloadOf('bob', 'hotfix');
    await tab.see(`#/workloads/bob/${name}`, 'stable', 'Log');
    await tab.press('td button');
    await tab.shows('epoch 1 <b>done</b>');
    await tab.picture('log');
  });

  it('workloads, flavors, nodes, checks, plugins', async () => {
    await tab.see('#/workloads', 'ann/job-notebook', 'Running', 'by name');
    await tab.picture('workloads');
    await tab.see('#/flavors', 'on-demand', 'spot=true:NoSchedule', 'stable', '40 cpu');
    await tab.picture('flavors');
    await tab.see('#/nodes/stable', 'Pods on it', 'bob/hotfix');
    await tab.see('#/checks', 'budget', 'example.com/budget', 'audited');
    await tab.shows(/east\s+yes\s+west\s+no: load client config failed/);
    await tab.picture('checks');
    await tab.see('#/plugins', 'flavor-fungibility', 'in service', /[1-9]\d* calls/);
    await tab.page.evaluate(() =>
      [...document.querySelectorAll('summary')]
        .find((one) => one.parentElement.textContent.includes('flavor-search.after_flavor'))
        .click(),
    );
    await tab.shows('flavor-search.after_flavor');
    await tab.picture('plugins');
  });

  it('the workloads that one looks for, and an address that says which', async () => {
    await tab.see('#/workloads', 'ann/job-notebook', /\d+ in all namespaces, by name\./);
    await tab.page.type('input[name=find]', 'EVALUATE main');
    await tab.shows(/\b4 of \d+ in all namespaces, by name\./);
    await tab.page.select('select[name=state]', 'pending');
    await tab.shows(/\b4 of \d+ in all namespaces, by name\./);
    await tab.picture('workloads-found');
    assert.match(await tab.page.url(), /#\/workloads\?find=EVALUATE\+main&state=pending$/);
    await tab.see('#/workloads?order=priority', /\d+ in all namespaces, highest priority first\./);
    const first = '.workloads .rows [aria-rowindex="2"]';
    assert.match(await tab.page.$eval(first, (row) => row.innerText), /bob\/job-hotfix/);
    await tab.see('#/workloads?state=running&find=ann/', /\b2 of \d+ in all/, 'ann/job-sweep');
    assert.doesNotMatch(await tab.text(), /notebook/);
    await tab.see('#/workloads?find=nothing-like-it', /\b0 of \d+ in all/);
  });

  it('what happens is seen without asking', async () => {
    await tab.see('#/clusterqueues/language', 'evaluate-3');
    const name = await workloadOf('bob', 'evaluate-3');
    const change = (active) =>
      ask(
        `${KUEUE}/namespaces/bob/workloads/${name}`,
        'PATCH',
        { spec: { active } },
        'application/merge-patch+json',
      );
    const shown = () =>
      tab.page.evaluate((key) => document.querySelector('.waiting').innerText.includes(key), name);
    await change(false);
    await eventually(async () => !(await shown()), 'it waits no more');
    await change(true);
    await eventually(shown, 'it waits again');
  });

  it('who comes is seen in the list of all', async () => {
    await tab.see('#/workloads', 'ann/job-notebook');
    const path = `${KUEUE}/namespaces/bob/workloads`;
    const containers = [{ name: 'c', image: 'none' }];
    await ask(path, 'POST', {
      apiVersion: 'kueue.x-k8s.io/v1beta2',
      kind: 'Workload',
      metadata: { name: 'comes-later', namespace: 'bob' },
      spec: {
        queueName: 'nowhere',
        podSets: [{ name: 'main', count: 1, template: { spec: { containers } } }],
      },
    });
    await tab.shows('bob/comes-later');
    await tab.see('#/checks', 'budget'); // a row that is gone is asked for once more
    await ask(`${path}/comes-later`, 'DELETE');
  });

  it('has landmarks, a heading, and a way past the navigation', async () => {
    for (const page of ['overview', 'workloads', 'whatif', 'flavors', 'checks', 'plugins']) {
      const hash = `#/${page}`;
      await tab.see(hash);
      await tab.page.waitForSelector(`view-${page}`);
      const counts = await Promise.all(
        [
          'h1',
          'main',
          'header',
          'nav[aria-label]',
          'nav a[aria-current]',
          'live-state[role=status]',
        ].map((selector) => tab.count(selector)),
      );
      assert.deepEqual(counts, [1, 1, 1, 1, 1, 1], hash);
    }
    // A page that opens takes the focus, and may do so between the two steps.
    await eventually(async () => {
      await tab.page.evaluate(() => document.activeElement.blur());
      await tab.page.keyboard.press('Tab');
      return tab.page.evaluate(() => document.activeElement.className === 'skip');
    }, 'the first Tab comes to the way past');
    await tab.page.keyboard.press('Enter');
    assert.equal(await tab.page.evaluate(() => document.activeElement.id), 'main');
  });

  it('fits 400 pixels', async () => {
    await tab.page.setViewport({ width: 400, height: 860 });
    const name = await workloadOf('bob', 'evaluate-0');
    const pages = {
      '#/overview': 'research',
      '#/clusterqueues/language': 'evaluate-0',
      [`#/workloads/bob/${name}`]: 'Missing',
      '#/flavors': 'stable',
      '#/workloads': 'ann/job',
      '#/checks': 'budget',
    };
    for (const [hash, text] of Object.entries(pages)) {
      await tab.see(hash, text);
      assert.ok((await tab.overflow()) <= 0, `${hash} is ${await tab.overflow()} px too wide`);
      await tab.picture(`narrow-${hash.split('/')[1]}${hash.includes('/bob/') ? '-one' : ''}`, {
        dark: hash.includes('clusterq'),
      });
    }
    await tab.page.setViewport({ width: 1280, height: 900 });
  });
});

it('without data each page says that there is none', async () => {
  const tab = await (await browser.tab(vacant)).signIn(tokens.admin);
  await tab.see('#/overview', 'There is no ClusterQueue yet', 'There is no LocalQueue here');
  await tab.picture('empty');
  await tab.see('#/workloads', 'There is none in all namespaces');
  await tab.see('#/flavors', /Flavors\s+There is none/);
  await tab.see('#/checks', 'what has quota starts');
  await tab.see('#/plugins', 'None is loaded');
  await tab.see('#/clusterqueues/nobody', 'There is no queue of this name');
  await tab.see('#/workloads/default/nobody', 'There is no workload of this name');
  await tab.see('#/nodes/nobody', 'There is no node of this name');
  assert.deepEqual(tab.complaints, []);
});

describe('with the rights of one namespace', () => {
  let tab;
  before(async () => {
    tab = await (await browser.tab(host)).signIn(tokens.ann);
  });
  after(() => clean(tab, 1));

  it('says what is forbidden, per part', async () => {
    await tab.see(
      '#/overview',
      'You may not see this: the ClusterQueues',
      'You may not see this: the LocalQueues of all namespaces',
    );
    await tab.picture('forbidden');
    await tab.see('#/plugins', 'You may not see this: plugins');
    await tab.see('#/checks', 'You may not see this: the admission checks');
    await tab.see(
      '#/flavors',
      'You may not see this: the flavors',
      'You may not see this: the nodes',
    );
    await tab.see(
      '#/clusterqueues/vision',
      'You may not see this: the queue vision',
      'You may not see this: the workloads',
      'You may not see this: who waits',
    );
  });

  it('shows what is allowed, and nothing of others', async () => {
    await tab.page.type('.ns input', 'ann');
    await tab.page.keyboard.press('Enter');
    await tab.see('#/overview', 'ann/main');
    await tab.see('#/workloads', 'ann/job-sweep');
    await tab.see('#/localqueues/ann/main', 'ann/job-notebook', 'When would they start?');
    await tab.press('.estimates button');
    await tab.shows(/As of \d\d:\d\d:\d\d, if nothing else is submitted/);
    assert.ok(!(await tab.text()).includes('bob/'));
    const own = await workloadOf('ann', 'train-resnet');
    await tab.see(`#/workloads/ann/${own}`, 'Life');
    const waits = await workloadOf('ann', 'notebook');
    await tab.see(`#/workloads/ann/${waits}`, /[Ww]aiting/, 'When would it start?');
    await tab.press('.estimate button');
    await tab.shows(/When it would start/);
    assert.ok(!(await tab.text()).includes('bob/'));
    const other = await workloadOf('bob', 'hotfix');
    await tab.see(`#/workloads/bob/${other}`, 'You may not see this: the workload');
  });
});

it('cut off it says so, keeps what it has, and comes back', async () => {
  const gate = new Gate();
  const port = await gate.open(Number(new URL(host).port));
  const tab = await (await browser.tab(`https://127.0.0.1:${port}`)).signIn(tokens.admin);
  await tab.see('#/overview', 'vision', 'live');
  await new Promise((resolve) => {
    gate.server.close(resolve);
    gate.cut();
  });
  await tab.shows('disconnected, trying again');
  await tab.shows('vision');
  await tab.picture('disconnected');
  const move = (cohortName) =>
    ask(
      `${KUEUE}/clusterqueues/crowded`,
      'PATCH',
      { spec: { cohortName } },
      'application/merge-patch+json',
    );
  await move('elsewhere');
  await new Promise((resolve) => gate.server.listen(port, '127.0.0.1', resolve));
  await tab.shows('live');
  await tab.shows('elsewhere');
  assert.ok(!(await tab.text()).includes('disconnected'));
  assert.deepEqual(tab.complaints, []);
  await tab.page.close();
  gate.close();
  await move('company');
});

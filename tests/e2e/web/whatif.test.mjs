// What if: asked with the form and with a text; what starts, evicts, waits, is wrong or forbidden.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Browser, clean } from './browser.mjs';

const { WEB_HOST: host, WEB_EMPTY: vacant, WEB_OBSERVER: observer } = process.env;
const tokens = JSON.parse(process.env.WEB_TOKENS);
const browser = new Browser();

before(() => browser.open());
after(() => browser.close());

const job = (name, queue, cpu, labels = '', annotations = '') => `
apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
  labels: {kueue.x-k8s.io/queue-name: ${queue}${labels}}
spec:
  template:
    metadata: {annotations: {${annotations}}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: none, resources: {requests: {cpu: ${cpu}, memory: 1Gi}}}]
`;

/** A queue of its own, so that what runs before a job is known. */
const lab = (cpu) => `# a small queue
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: lab}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: on-demand
      resources: [{name: cpu, nominalQuota: ${cpu}}, {name: memory, nominalQuota: 8Gi}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lab}
spec: {clusterQueue: lab}
`;

/** Puts these values into the form, as a user types them. */
async function fill(tab, fields) {
  for (const [name, value] of Object.entries(fields)) {
    await tab.page.click(`input[name=${name}]`, { count: 3 });
    await tab.page.keyboard.press('Backspace');
    if (value) await tab.page.type(`input[name=${name}]`, value);
  }
}

/** Puts a text where the YAML stands, as a user pastes it. */
async function paste(tab, text) {
  await tab.page.focus('textarea');
  await tab.page.evaluate((value) => {
    document.querySelector('textarea').select();
    document.execCommand('insertText', false, value);
  }, text);
}

const press = (tab) => tab.page.click('.ask .primary');
const valueOf = (tab, selector) => tab.page.$eval(selector, (one) => one.value);

async function ask(tab, ...texts) {
  await press(tab);
  for (const text of texts) await tab.shows(text);
}

/** The page afresh: nothing asked yet. */
async function fresh(token, address = host) {
  const tab = await (await browser.tab(address)).signIn(token);
  await tab.see('#/whatif', 'What would become of a job');
  return tab;
}

describe('as operator', () => {
  let tab;
  beforeEach(async () => {
    tab = await fresh(tokens.admin);
  });

  it('the form is a job that starts, at the cost of another', async () => {
    await fill(tab, { namespace: 'bob' });
    await fill(tab, { queue: 'main', name: 'urgent', pods: '2', cpu: '2', memory: '1Gi' });
    await fill(tab, { priority: 'production', time: '2h' });
    assert.match(await valueOf(tab, 'textarea'), /max-exec-time-seconds: "7200"/);
    await ask(
      tab,
      'Job bob/urgent would start now',
      'ClusterQueue language',
      /Would be evicted: \d/,
      'Job bob/urgent',
      'Nothing was written',
    );
    const link = '.answer td a[href^="#/workloads/"]';
    const href = await tab.page.$eval(link, (one) => one.getAttribute('href'));
    await tab.page.setViewport({ width: 1280, height: 1100 });
    await tab.picture('what-if-evicts');
    await tab.page.setViewport({ width: 1280, height: 900 });
    await tab.page.evaluate((to) => document.querySelector(to).click(), link);
    await tab.shows('Life');
    assert.ok(tab.page.url().endsWith(href));
    await tab.page.goBack();
    await tab.shows('Job bob/urgent would start now'); // what was asked is still there
    assert.equal(await valueOf(tab, 'input[name=name]'), 'urgent');
    clean(tab);
  });

  it('the keyboard alone asks; what was written by hand is left alone', async () => {
    await fill(tab, { namespace: 'bob', queue: 'main', name: 'small', priority: 'production' });
    await tab.page.keyboard.press('Enter');
    await tab.shows('Job bob/small would start now');
    await paste(tab, (await valueOf(tab, 'textarea')).replaceAll('small', 'mine'));
    await tab.shows('You changed the text');
    await fill(tab, { name: 'third' });
    await ask(tab, 'Job bob/mine would start now');
    await tab.page.click('.ask-text button');
    assert.match(await valueOf(tab, 'textarea'), /name: third/);
    assert.equal(await tab.page.evaluate(() => document.activeElement.name), 'text');
    assert.ok(!(await tab.text()).includes('You changed the text'));
    clean(tab);
  });

  it('a text of several documents: two start, one waits for an interval', async () => {
    const limit = ', kueue.x-k8s.io/max-exec-time-seconds: "7200"';
    const jobs = [
      job('a-known', 'lab', 2, '', 'sluice.dev/runtime: 1h'),
      job('b-limited', 'lab', 2, limit),
      job('c-whole', 'lab', 4),
    ];
    await fill(tab, { namespace: 'bob' });
    await paste(tab, [lab(4), ...jobs].join('---'));
    await ask(
      tab,
      'Job bob/a-known would start now',
      'Job bob/c-whole would wait',
      /between in (1h|59m59s) .* and in (2h|1h59m)/,
      'if nothing else is submitted',
      '1 with a run time that is said, 1 with a limit',
      'Missing',
    );
    assert.equal(await tab.count('.when i:not(.open)'), 1);
    await tab.page.setViewport({ width: 1280, height: 1900 });
    await tab.picture('what-if-waits');
    await tab.picture('what-if-waits-dark', { dark: true });
    await tab.page.setViewport({ width: 400, height: 2600 });
    assert.ok((await tab.overflow()) <= 0, `${await tab.overflow()} px too wide`);
    await tab.picture('narrow-whatif');
    clean(tab);
  });

  it('without a latest start the line is open, and it is said why', async () => {
    await fill(tab, { namespace: 'bob', queue: 'main', name: 'late', cpu: '4', memory: '1Gi' });
    await ask(tab, 'Job bob/late would wait', /unknown: \d running jobs? says? no run time/);
    assert.equal(await tab.count('.when i.open'), 1);
    clean(tab);
  });

  it('a change of quota tells who would start', async () => {
    await paste(
      tab,
      `apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: crowded}
spec:
  cohortName: company
  namespaceSelector: {}
  queueingStrategy: StrictFIFO
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: on-demand
      resources: [{name: cpu, nominalQuota: 30}, {name: memory, nominalQuota: 60Gi}]
`,
    );
    await ask(tab, /Would start: [1-9]/, 'bob/render-');
    await tab.picture('what-if-quota');
    clean(tab);
  });

  it('what is deleted makes room', async () => {
    await paste(tab, 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: hotfix, namespace: bob}\n');
    await tab.page.click('input[name=remove]');
    await ask(tab, /Would start: [1-9]/, 'bob/job-evaluate-');
    clean(tab);
  });

  it('a LocalQueue leads to the question', async () => {
    await tab.see('#/localqueues/bob/main', 'What if a job came here?');
    await tab.press('a[href="#/whatif?namespace=bob&queue=main"]');
    await tab.shows('What would become of a job');
    assert.equal(await valueOf(tab, 'input[name=queue]'), 'main');
    assert.match(await valueOf(tab, 'textarea'), /namespace: bob\n[^]*queue-name: main/);
    clean(tab);
  });

  it('a mistake is shown where it was made', async () => {
    await fill(tab, { namespace: 'bob', queue: 'main', name: 'x', pods: 'many' });
    await ask(tab, 'Not many: a number from 1 on', 'The form is not complete');
    assert.equal(await tab.page.evaluate(() => document.activeElement.name), 'pods');
    await fill(tab, { pods: '1', name: 'x'.repeat(300) });
    await ask(tab, 'The host would not take it');
    assert.equal(await tab.page.$eval('input[name=name]', (one) => one.ariaInvalid), 'true');
    await tab.picture('what-if-mistake');
    await fill(tab, { name: 'x' });
    await paste(tab, 'kind: Job\nmetadata: {name: x\nspec: 7\n');
    await ask(tab, 'The text cannot be read as objects', 'spec.manifests:');
    const selected = () =>
      tab.page.$eval('textarea', (one) => one.value.slice(one.selectionStart, one.selectionEnd));
    assert.match(await selected(), /^(metadata|spec)/);
    await paste(tab, job('x', 'main', 1));
    await fill(tab, { namespace: 'nowhere' });
    await ask(tab, 'Something that the text names is not there', 'namespaces "nowhere" not found');
    clean(tab, 3);
  });
});

it('limits of the host are said in words, and one may ask again', async () => {
  const tab = await fresh(tokens.admin);
  let limit; // [status, message]; else the host answers
  await tab.page.setRequestInterception(true);
  tab.page.on('request', (request) => {
    if (!limit || !request.url().endsWith('/whatifs')) return request.continue();
    const [status, message] = limit;
    const body = JSON.stringify({ kind: 'Status', message });
    return request.respond({ status, contentType: 'application/json', body });
  });
  await fill(tab, { namespace: 'bob', queue: 'main', priority: 'production' });
  limit = [429, 'too many questions are waiting; try again later'];
  await ask(tab, 'Too many questions wait', 'try again later');
  limit = [504, 'the question was not answered within 30 s'];
  await ask(tab, 'It took the host too long', 'not answered within 30 s');
  limit = undefined;
  await ask(tab, 'Job bob/my-job would start now');
  assert.equal(await tab.count('.answer .notice'), 0);
  clean(tab, 2);
});

it('with the rights of one namespace: his own is answered, others are counted or refused', async () => {
  const tab = await fresh(tokens.ann);
  await fill(tab, { namespace: 'ann', queue: 'main', name: 'more', cpu: '12', memory: '1Gi' });
  await ask(tab, 'Job ann/more would wait', 'of namespaces that you may not see');
  assert.ok(!(await tab.text()).includes('bob/'));
  await fill(tab, { namespace: 'bob' });
  await ask(tab, 'You may not ask this', 'cannot create resource "jobs"');
  await tab.picture('what-if-forbidden');
  clean(tab, 1);
});

it('a host without data: what is missing is said at the form', async () => {
  const tab = await fresh(tokens.admin, vacant);
  await ask(tab, 'Required: small letters');
  assert.equal(await tab.page.evaluate(() => document.activeElement.name), 'namespace');
  await fill(tab, { namespace: 'default', queue: 'main', cpu: '1' });
  await ask(tab, 'Job default/my-job');
  clean(tab);
});

it('of a cluster that is only looked at: what Sluice would do there', async () => {
  const tab = await fresh(process.env.WEB_OBSERVER_TOKEN, observer);
  await fill(tab, { namespace: 'bob', queue: 'main', name: 'watched', cpu: '1', memory: '1Gi' });
  await ask(
    tab,
    /Job bob\/watched would (start now|wait)/,
    'another program decides in this cluster',
  );
  await tab.page.setViewport({ width: 1280, height: 1100 });
  await tab.picture('what-if-observed');
  await tab.see('#/clusterqueues/language?to=history', 'No history is kept here');
  clean(tab, 1);
});

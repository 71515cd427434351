// What page_bench.py runs under node: fills a host, changes it, and looks at its page in a browser.
// Prints one JSON object with what it measured.
import fs from 'node:fs';
import https from 'node:https';
import puppeteer from 'puppeteer-core';

const { HOST, TOKEN, BROWSER, HOST_PID, SCALE } = process.env;
const scale = JSON.parse(SCALE);
const KUEUE = '/apis/kueue.x-k8s.io/v1beta2';
const CHANGES_A_SECOND = 500;
const TICKS_A_SECOND = 100; // of /proc/PID/stat
const agent = new https.Agent({ keepAlive: true, maxSockets: 32, rejectUnauthorized: false });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function send(method, path, body, type = 'application/json') {
  const text = JSON.stringify(body);
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type };
  return new Promise((resolve, reject) => {
    const request = https.request(HOST + path, { method, headers, agent }, (answer) => {
      answer.resume();
      answer.on('end', () =>
        answer.statusCode < 300 ? resolve() : reject(new Error(`${path}: ${answer.statusCode}`)),
      );
    });
    request.on('error', reject);
    request.end(text);
  });
}

async function inLanes(count, lanes, task) {
  let next = 0;
  const lane = async () => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const quota = (cpu) => [
  {
    coveredResources: ['cpu'],
    flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: cpu }] }],
  },
];
const queueOf = (i) => (i < scale.inOne ? 0 : i % scale.queues);

async function fill() {
  await send('POST', `${KUEUE}/resourceflavors`, { metadata: { name: 'default' } });
  await inLanes(scale.queues, 16, async (i) => {
    const name = `queue-${i}`;
    const spec = { namespaceSelector: {}, cohortName: `cohort-${i % scale.cohorts}` };
    spec.resourceGroups = quota(20);
    await send('POST', `${KUEUE}/clusterqueues`, { metadata: { name }, spec });
    await send('POST', `${KUEUE}/namespaces/default/localqueues`, {
      metadata: { name },
      spec: { clusterQueue: name },
    });
  });
  await inLanes(scale.workloads, 32, (i) => {
    const container = { name: 'c', image: 'none', resources: { requests: { cpu: '1' } } };
    return send('POST', `${KUEUE}/namespaces/default/workloads`, {
      metadata: { name: `work-${i}` },
      spec: {
        queueName: `queue-${queueOf(i)}`,
        podSets: [
          {
            name: 'main',
            count: 1,
            template: { spec: { restartPolicy: 'Never', containers: [container] } },
          },
        ],
      },
    });
  });
}

/** Changes so many workloads a second until it is stopped; how many it changed a second. */
function changing(limit = Infinity, perSecond = CHANGES_A_SECOND) {
  let stopped = false;
  let done = 0;
  const began = Date.now();
  const lane = async () => {
    while (!stopped && done < limit) {
      const due = ((Date.now() - began) * perSecond) / 1000;
      if (done >= due) {
        await sleep(2);
        continue;
      }
      const n = done++;
      const body = { metadata: { annotations: { 'example.com/round': String(n) } } };
      const path = `${KUEUE}/namespaces/default/workloads/work-${(n * 7919) % scale.workloads}`;
      await send('PATCH', path, body, 'application/merge-patch+json');
    }
  };
  const lanes = Promise.all(Array.from({ length: 16 }, lane));
  const stop = async () => {
    stopped = true;
    await lanes;
    return (1000 * done) / (Date.now() - began);
  };
  return Object.assign(stop, { all: lanes });
}

function hostSeconds() {
  const stat = fs.readFileSync(`/proc/${HOST_PID}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(stat[11]) + Number(stat[12])) / TICKS_A_SECOND;
}

/** Of a core, while `task` goes on. */
async function hostShare(task) {
  const [began, used] = [Date.now(), hostSeconds()];
  const value = await task();
  return { value, share: (1000 * (hostSeconds() - used)) / (Date.now() - began) };
}

/** Frames a second while it scrolls for `ms`, down and up again. */
const scrolls = (page, ms) =>
  page.evaluate(
    (time) =>
      new Promise((resolve) => {
        const began = performance.now();
        let frames = 0;
        let step = 60;
        const frame = (now) => {
          ++frames;
          const before = scrollY;
          scrollBy(0, step);
          if (scrollY === before) step = -step;
          if (now - began < time) requestAnimationFrame(frame);
          else resolve((1000 * frames) / (now - began));
        };
        requestAnimationFrame(frame);
      }),
    ms,
  );

/** MB of the tab's process: its own, and with its part of what it shares. */
async function tabMemory(browser) {
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => {
      const text = fs.readFileSync(`/proc/${id}/smaps_rollup`, 'utf8');
      const kb = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
      return { own: (kb('Private_Dirty') + kb('Private_Clean')) / 1024, pss: kb('Pss') / 1024 };
    });
  return sizes.sort((a, b) => b.pss - a.pss)[0];
}

/** Of the tab, after all that nothing refers to was let go. */
async function settledMemory(browser, page) {
  const session = await page.createCDPSession();
  await session.send('HeapProfiler.collectGarbage');
  const heap = (await page.metrics()).JSHeapUsedSize / 2 ** 20;
  await session.detach();
  return { heap, ...(await tabMemory(browser)) };
}

const turnTo = (page, hash) =>
  page.evaluate((to) => {
    location.hash = to;
  }, hash);

async function look() {
  const out = {};
  const browser = await puppeteer.launch({
    executablePath: BROWSER,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run'],
    headless: true,
    // Else the tab keeps up to 200 MB of what it received, for whoever debugs it.
    networkEnabled: false,
    acceptInsecureCerts: true,
  });
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${HOST}/ui/`);
  await page.waitForSelector('input[name=token]');
  await page.type('input[name=token]', TOKEN);
  await page.click('button.primary');
  for (const [name, hash] of Object.entries({
    overview: '#/overview',
    queue: '#/clusterqueues/queue-0?to=waiting',
    history: '#/clusterqueues/queue-0?to=history',
    workloads: '#/workloads',
  })) {
    await turnTo(page, hash);
    await page.waitForFunction(() =>
      /queue-0|work-/.test(document.querySelector('main').innerText),
    );
    await sleep(3000);
    const stop = changing();
    const { value: fps, share } = await hostShare(() => scrolls(page, scale.seconds * 1000));
    const changes = await stop();
    const memory = await tabMemory(browser);
    const heap = (await page.metrics()).JSHeapUsedSize / 2 ** 20;
    out[name] = { fps, changes, hostWithPage: share, heap, ...memory };
  }
  // Open for long: as many changes of page as of a day of looking, then the first page again.
  for (let i = 0; i < scale.turns; ++i)
    for (const hash of ['#/clusterqueues/queue-1?to=history', '#/overview', '#/workloads']) {
      await turnTo(page, hash);
      await page.waitForFunction(() =>
        /queue-|work-/.test(document.querySelector('main').innerText),
      );
    }
  out.afterTurns = await settledMemory(browser, page);
  if (scale.day > 0) {
    await turnTo(page, '#/overview');
    await changing(scale.day, Infinity).all;
    out.afterDay = await settledMemory(browser, page);
  }
  out.elements = await page.evaluate(() => document.querySelectorAll('*').length);
  await page.goto('about:blank');
  const stop = changing();
  const { share } = await hostShare(() => sleep(scale.seconds * 1000));
  out.hostWithoutPage = share;
  await stop();
  await browser.close();
  return out;
}

const began = Date.now();
await fill();
const filled = (Date.now() - began) / 1000;
process.stdout.write(JSON.stringify({ filled, ...(await look()) }));
process.exit(0);

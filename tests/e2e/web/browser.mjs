// A browser for these tests: tabs that remember what went wrong in them and which servers they
// asked.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import puppeteer from 'puppeteer-core';

// For a machine that is busy with other tests: a limit costs nothing where a test passes.
const PATIENCE = 180_000; // ms
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export class Browser {
  #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-web-'));

  async open() {
    this.browser = await puppeteer.launch({
      executablePath: process.env.WEB_BROWSER,
      args: FLAGS,
      headless: true,
      timeout: PATIENCE,
      protocolTimeout: 2 * PATIENCE,
      acceptInsecureCerts: true,
      userDataDir: this.#folder,
    });
    return this;
  }

  async close() {
    await this.browser?.close();
    fs.rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** A tab of its own (its own session), not signed in. */
  async tab(address, { width = 1280, height = 900 } = {}) {
    const tab = new Tab(await (await this.browser.createBrowserContext()).newPage(), address);
    await tab.start(width, height);
    await tab.page.goto(`${address}/ui/`);
    await tab.page.waitForSelector('input[name=token]');
    return tab;
  }

  /** A tab with a file. */
  async file(path, { width = 1280, height = 1000 } = {}) {
    const tab = new Tab(await (await this.browser.createBrowserContext()).newPage(), 'null');
    await tab.start(width, height);
    await tab.page.goto(`file://${path}`);
    return tab;
  }
}

export class Tab {
  /** What its console said, without the browser's own notes on answers that are no success. */
  complaints = [];
  /** Those notes: what was refused, with the status. */
  refusals = [];
  strangers = new Set();

  /** `address`: the origin that it may ask; that of files is 'null'. */
  constructor(page, address) {
    this.page = page;
    this.address = address;
  }

  async start(width, height) {
    const { page } = this;
    page.setDefaultTimeout(PATIENCE);
    page.on('console', (message) => {
      if (!['error', 'warn'].includes(message.type())) return;
      if (/^Failed to load resource/.test(message.text())) this.refusals.push(message.text());
      else this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error.stack)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && origin !== this.address) this.strangers.add(origin);
    });
    await page.setViewport({ width, height });
  }

  async signIn(token) {
    await this.page.type('input[name=token]', token);
    await this.page.click('button.primary');
    return this;
  }

  /** Goes to a view and waits for a text of it. */
  async see(hash, ...texts) {
    await this.page.evaluate((to) => {
      location.hash = to;
    }, hash);
    for (const text of texts) await this.shows(text);
  }

  /** Waits for text (a string, or a regular expression) in what is shown. */
  async shows(text) {
    const source =
      typeof text === 'string' ? text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : text.source;
    try {
      await this.page.waitForFunction(
        (s) => new RegExp(s).test(document.body.innerText),
        { timeout: PATIENCE, polling: 50 },
        source,
      );
    } catch {
      throw new Error(`not shown: ${source}; but\n${(await this.text()).slice(0, 2000)}`);
    }
  }

  /** Clicks at once: a mouse on its way there may miss what moves while lists come in. */
  async press(selector) {
    await this.page.waitForSelector(selector);
    await this.page.evaluate((to) => document.querySelector(to).click(), selector);
  }

  text() {
    return this.page.evaluate(() => document.body.innerText);
  }
  count(selector) {
    return this.page.evaluate((s) => document.querySelectorAll(s).length, selector);
  }
  /** Pixels by which the page is wider than the view. */
  overflow() {
    return this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  }

  async picture(name, { dark = false } = {}) {
    const { page } = this;
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ]);
    await page.screenshot({ path: path.join(process.env.WEB_PICTURES, `${name}.png`) });
  }
}

/** Its console was silent, and it asked only the host. `refusals`: 0 where none is expected. */
export function clean(tab, refusals = 0) {
  assert.deepEqual(tab.complaints, []);
  assert.deepEqual([...tab.strangers], []);
  if (refusals === 0) assert.deepEqual(tab.refusals, []);
}

// For users of a screen reader: what the browser's accessibility tree has of each page, which is
// what a reader speaks. They go by landmarks, headings and tables, and hear what changes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser, clean } from './browser.mjs';

const { WEB_HOST: host } = process.env;
const tokens = JSON.parse(process.env.WEB_TOKENS);
const browser = new Browser();

before(() => browser.open());
after(() => browser.close());

/** All of the tree that a reader gets, in its order: {role, name, level, live, of}. */
async function spoken(tab) {
  const client = await tab.page.createCDPSession();
  const { nodes } = await client.send('Accessibility.getFullAXTree');
  await client.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const property = (node, name) => node.properties?.find((p) => p.name === name)?.value.value;
  const out = new Map();
  for (const node of nodes)
    if (!node.ignored)
      out.set(node.nodeId, {
        role: node.role.value,
        name: (node.name?.value ?? '').trim(),
        level: property(node, 'level'),
        live: property(node, 'live'),
        above: node.parentId,
      });
  /** The nearest one above with this role. */
  const within = (one, role) => {
    for (let id = one.above; id; id = byId.get(id).parentId)
      if (out.get(id)?.role === role) return out.get(id);
    return undefined;
  };
  return { all: [...out.values()], within };
}

const withRole = ({ all }, ...roles) => all.filter(({ role }) => roles.includes(role));
const names = (list) => list.map(({ name }) => name);

/** Places where the order of headings skips one. */
function skips(headings) {
  const levels = headings.map(({ level }) => level);
  return levels.flatMap((level, i) =>
    i > 0 && level > levels[i - 1] + 1 ? [`${levels[i - 1]} to ${level}: ${headings[i].name}`] : [],
  );
}

/** Tables that say nothing of what they hold, or have columns without a name. */
function mute(tree) {
  const cells = withRole(tree, 'columnheader');
  return withRole(tree, 'table', 'grid', 'treegrid').flatMap((table) => {
    const own = cells.filter((cell) => tree.within(cell, table.role) === table);
    const wrong = [];
    if (!table.name) wrong.push(`a ${table.role} without a name`);
    if (own.length === 0) wrong.push(`${table.name}: no column has a header`);
    return wrong;
  });
}

describe('heard', () => {
  let tab;
  const pages = {
    overview: ['#/overview', 'vision', 'on-demand · cpu'],
    queue: ['#/clusterqueues/language', 'evaluate-0', 'bob/main'],
    LocalQueue: ['#/localqueues/bob/main', 'ClusterQueue', 'Hold quota'],
    workloads: ['#/workloads', 'ann/job-notebook'],
    'what if': ['#/whatif', 'What would become of a job'],
    flavors: ['#/flavors', 'stable', 'spot=true:NoSchedule'],
    node: ['#/nodes/stable', 'Pods on it'],
    checks: ['#/checks', 'budget'],
    plugins: ['#/plugins', 'flavor-fungibility'],
  };
  const lists = new Set(['overview', 'queue', 'LocalQueue', 'workloads', 'flavors', 'checks']);
  before(async () => {
    tab = await (await browser.tab(host)).signIn(tokens.admin);
    await tab.shows('olga');
  });
  after(() => clean(tab));

  for (const [name, [hash, ...texts]] of Object.entries(pages))
    it(`${name}: landmarks, headings, tables and controls have names`, async () => {
      await tab.see(hash, ...texts);
      const tree = await spoken(tab);
      assert.equal(withRole(tree, 'main').length, 1);
      assert.ok(names(withRole(tree, 'navigation')).every(Boolean), 'each navigation has a name');
      const headings = withRole(tree, 'heading');
      assert.equal(headings.filter(({ level }) => level === 1).length, 1, names(headings).join());
      assert.deepEqual(skips(headings), []);
      const tables = withRole(tree, 'table', 'grid', 'treegrid');
      assert.ok(tables.length > 0 || !lists.has(name), 'what is listed is a table');
      assert.deepEqual(mute(tree), []);
      const used = withRole(tree, 'link', 'button', 'textbox', 'combobox', 'checkbox', 'radio');
      assert.deepEqual(
        used.filter((one) => !one.name).map(({ role }) => role),
        [],
      );
    });

  it('the title is that of the page', async () => {
    const titles = new Set();
    for (const [hash, ...texts] of Object.values(pages)) {
      await tab.see(hash, ...texts);
      titles.add(await tab.page.title());
    }
    assert.equal(titles.size, Object.keys(pages).length, [...titles].join('\n'));
  });

  it('whether it is connected is spoken', async () => {
    await tab.see(...pages.overview);
    assert.ok((await spoken(tab)).all.some(({ live }) => live === 'polite'));
  });

  it('a bar says in words what it shows', async () => {
    await tab.see(...pages.overview);
    const bars = withRole(await spoken(tab), 'img', 'image', 'meter', 'progressbar');
    assert.ok(bars.length > 0);
    assert.deepEqual(
      bars.filter(({ name }) => !/\d/.test(name)),
      [],
    );
  });

  it('what if: the answer is spoken when it is there', async () => {
    await tab.see('#/whatif?namespace=ann&queue=main', 'What would become of a job');
    await tab.page.click('.ask .primary');
    await tab.shows('Nothing was written');
    const tree = await spoken(tab);
    const said = withRole(tree, 'status');
    const texts = withRole(tree, 'StaticText').filter((one) => tree.within(one, 'status'));
    assert.ok(said.length > 0);
    assert.ok(names(texts).join(' ').length > 0, 'the status says something');
  });
});

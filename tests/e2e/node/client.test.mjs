// What programs do with @kubernetes/client-node: typed and custom objects, watches, informers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as k8s from '@kubernetes/client-node';
import { eventually, Gate, Host } from './host.mjs';

const group = 'kueue.x-k8s.io';
const namespace = 'default';
const host = new Host();
const config = new k8s.KubeConfig();
let core, batch, custom, objects;

const rules = (kind) => k8s.setHeaderOptions('Content-Type', kind);
const refused = (code, promise) => assert.rejects(promise, (error) => {
  assert.equal(error.code ?? error.statusCode, code, String(error));
  return true;
});

function configMap(name, value, labels = {}) {
  return { metadata: { name, labels }, data: { key: value } };
}

function job(name, script) {
  return {
    metadata: { generateName: name, labels: { 'kueue.x-k8s.io/queue-name': 'user-queue' } },
    spec: {
      parallelism: 1, completions: 1, suspend: true,
      template: { spec: { restartPolicy: 'Never', containers: [{
        name: 'main', image: 'any', command: ['sh', '-c', script],
        resources: { requests: { cpu: '1', memory: '100Mi' } } }] } },
    },
  };
}

async function makeQueues() {
  const flavor = { apiVersion: `${group}/v1beta1`, kind: 'ResourceFlavor',
    metadata: { name: 'default-flavor' } };
  const queue = { apiVersion: `${group}/v1beta1`, kind: 'ClusterQueue',
    metadata: { name: 'cluster-queue' },
    spec: { cohort: 'all', namespaceSelector: {}, resourceGroups: [{
      coveredResources: ['cpu', 'memory'],
      flavors: [{ name: 'default-flavor', resources: [
        { name: 'cpu', nominalQuota: 9 }, { name: 'memory', nominalQuota: '36Gi' }] }] }] } };
  const local = { apiVersion: `${group}/v1beta1`, kind: 'LocalQueue',
    metadata: { name: 'user-queue', namespace }, spec: { clusterQueue: 'cluster-queue' } };
  for (const body of [flavor, queue, local]) await objects.create(body);
}

before(async () => {
  await host.start();
  config.loadFromDefault();
  core = config.makeApiClient(k8s.CoreV1Api);
  batch = config.makeApiClient(k8s.BatchV1Api);
  custom = config.makeApiClient(k8s.CustomObjectsApi);
  objects = k8s.KubernetesObjectApi.makeApiClient(config);
  await makeQueues();
});

after(() => host.stop());

describe('typed objects', () => {
  it('namespaces and config maps', async () => {
    await core.createNamespace({ body: { metadata: { name: 'typed' } } });
    assert.equal((await core.readNamespace({ name: 'typed' })).status.phase, 'Active');
    const where = { name: 'one', namespace: 'typed' };
    const made = await core.createNamespacedConfigMap(
      { namespace: 'typed', body: configMap('one', 'v') });
    assert.deepEqual(made.data, { key: 'v' });
    assert.ok(made.metadata.creationTimestamp instanceof Date);
    await refused(409, core.createNamespacedConfigMap(
      { namespace: 'typed', body: configMap('one', 'v') }));
    const merged = await core.patchNamespacedConfigMap(
      { ...where, body: { data: { key: 'w' } } }, rules('application/merge-patch+json'));
    assert.deepEqual(merged.data, { key: 'w' });
    const listed = await core.patchNamespacedConfigMap(
      { ...where, body: [{ op: 'add', path: '/data/more', value: '1' }] });
    assert.deepEqual(listed.data, { key: 'w', more: '1' });
    await refused(400, core.patchNamespacedConfigMap({ ...where, body: { data: {} } }));
    await refused(409, core.replaceNamespacedConfigMap({ ...where, body: made }));
    await core.deleteCollectionNamespacedConfigMap({ namespace: 'typed' });
    assert.equal((await core.listNamespacedConfigMap({ namespace: 'typed' })).items.length, 0);
    await core.deleteNamespace({ name: 'typed' });
    await refused(404, core.readNamespacedConfigMap(where));
  });

  it('server-side apply', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', ...configMap('applied', '1') };
    const apply = (data) => core.patchNamespacedConfigMap(
      { name: 'applied', namespace, fieldManager: 'node', body: { ...body, data } },
      rules('application/apply-patch+yaml'));
    await apply({ one: '1', two: '2' });
    assert.deepEqual((await apply({ one: '1' })).data, { one: '1' });
  });

  it('pages', async () => {
    for (let i = 0; i < 5; ++i) {
      await core.createNamespacedConfigMap(
        { namespace, body: configMap(`p${i}`, 'v', { page: 'y' }) });
    }
    const names = [];
    let _continue;
    do {
      const page = await core.listNamespacedConfigMap(
        { namespace, labelSelector: 'page=y', limit: 2, _continue });
      names.push(...page.items.map((item) => item.metadata.name));
      _continue = page.metadata._continue;
    } while (_continue);
    assert.deepEqual(names, ['p0', 'p1', 'p2', 'p3', 'p4']);
  });

  it('a job runs', async () => {
    const made = await batch.createNamespacedJob(
      { namespace, body: job('run-', 'echo one; echo two') });
    const name = made.metadata.name;
    const at = { name, namespace };
    await eventually(async () => (await batch.readNamespacedJob(at)).status?.succeeded === 1,
      'the job is done');
    const patched = await batch.patchNamespacedJob(
      { ...at, body: { metadata: { labels: { a: 'b' } } } },
      rules('application/strategic-merge-patch+json'));
    assert.equal(patched.metadata.labels.a, 'b');
    const pods = await core.listNamespacedPod({ namespace, labelSelector: `job-name=${name}` });
    assert.equal(pods.items.length, 1);
    const pod = { name: pods.items[0].metadata.name, namespace };
    assert.equal(await core.readNamespacedPodLog(pod), 'one\ntwo\n');
    assert.equal(await core.readNamespacedPodLog({ ...pod, tailLines: 1 }), 'two\n');
    await eventually(async () => {
      const events = await core.listNamespacedEvent(
        { namespace, fieldSelector: `involvedObject.name=${name}` });
      const reasons = events.items.map((event) => event.reason);
      return ['CreatedWorkload', 'Started'].every((reason) => reasons.includes(reason));
    }, 'events tell of it');
    await batch.deleteNamespacedJob({ ...at, propagationPolicy: 'Background' });
    await refused(404, batch.readNamespacedJob(at));
  });

  it('health and version', async () => {
    assert.match((await config.makeApiClient(k8s.VersionApi).getCode()).gitVersion, /^v1\.33\./);
    const health = new k8s.Health(config);
    assert.equal(await health.readyz({}), true);
    assert.equal(await health.livez({}), true);
  });
});

describe('custom objects', () => {
  const queue = { group, plural: 'clusterqueues', name: 'cluster-queue' };

  it('both versions', async () => {
    const old = await custom.getClusterCustomObject({ ...queue, version: 'v1beta1' });
    assert.equal(old.spec.cohort, 'all');
    const now = await custom.getClusterCustomObject({ ...queue, version: 'v1beta2' });
    assert.equal(now.spec.cohortName, 'all');
    now.spec.queueingStrategy = 'StrictFIFO';
    const done = await custom.replaceClusterCustomObject(
      { ...queue, version: 'v1beta2', body: now });
    assert.equal(done.spec.queueingStrategy, 'StrictFIFO');
    await refused(409, custom.replaceClusterCustomObject(
      { ...queue, version: 'v1beta2', body: now }));
    const list = await custom.listClusterCustomObject({ ...queue, version: 'v1beta1' });
    assert.deepEqual([list.kind, list.items.length], ['ClusterQueueList', 1]);
  });

  it('a workload', async () => {
    const at = { group, version: 'v1beta2', namespace, plural: 'workloads' };
    const made = await custom.createNamespacedCustomObject({ ...at, body: {
      metadata: { name: 'plain' },
      spec: { queueName: 'no-such-queue', podSets: [{ name: 'main', count: 1, template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'any' }] } } }] } } });
    assert.equal(made.kind, 'Workload');
    const one = { ...at, name: 'plain' };
    await eventually(async () => (await custom.getNamespacedCustomObject(one))
      .status?.conditions?.some((c) => c.type === 'QuotaReserved' && c.status === 'False'),
    'it is judged');
    const stopped = await custom.patchNamespacedCustomObject(
      { ...one, version: 'v1beta1', body: { spec: { active: false } } },
      rules('application/merge-patch+json'));
    assert.equal(stopped.spec.active, false);
    await refused(415, custom.patchNamespacedCustomObject(
      { ...one, body: { spec: {} } }, rules('application/strategic-merge-patch+json')));
    await custom.deleteNamespacedCustomObject(one);
    await refused(404, custom.getNamespacedCustomObject(one));
  });

  it('objects by kind', async () => {
    const body = { apiVersion: `${group}/v1beta2`, kind: 'ResourceFlavor',
      metadata: { name: 'by-kind' }, spec: { nodeLabels: { a: 'b' } } };
    await objects.create(body);
    const read = await objects.read(body);
    assert.deepEqual(read.spec.nodeLabels, { a: 'b' });
    await objects.delete(body);
    await refused(404, objects.read(body));
  });
});

describe('watch', () => {
  it('from a version, in order', async () => {
    const list = await core.listNamespacedConfigMap({ namespace });
    const seen = [];
    let ended;
    const request = await new k8s.Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { resourceVersion: list.metadata.resourceVersion, labelSelector: 'watched' },
      (type, object) => seen.push(`${type} ${object.metadata.name}`), (error) => { ended = error; });
    await core.createNamespacedConfigMap(
      { namespace, body: configMap('w', '1', { watched: 'y' }) });
    await core.patchNamespacedConfigMap({ name: 'w', namespace, body: { data: { key: '2' } } },
      rules('application/merge-patch+json'));
    await core.deleteNamespacedConfigMap({ name: 'w', namespace });
    await eventually(() => seen.length >= 3, 'three events');
    assert.deepEqual(seen, ['ADDED w', 'MODIFIED w', 'DELETED w']);
    assert.equal(ended, undefined);
    request.abort();
  });

  it('ends in time', async () => {
    const ended = new Promise((resolve) => new k8s.Watch(config).watch(
      '/api/v1/namespaces', { timeoutSeconds: 1 }, () => {}, resolve));
    assert.equal(await ended, null);
  });
});

// An informer that starts again after errors, as its users are told to write it. `history` holds
// everything that it told: name → values in order, `gone` for a deletion.
function follow(settings, label, history) {
  const api = settings.makeApiClient(k8s.CoreV1Api);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const state = { connects: 0, errors: 0, stopped: false };
  const informer = k8s.makeInformer(settings, path,
    () => api.listNamespacedConfigMap({ namespace, labelSelector: label }), label);
  const note = (object, value) => {
    const name = object.metadata.name;
    history.set(name, [...(history.get(name) ?? []), value]);
  };
  informer.on('add', (object) => note(object, object.data.key));
  informer.on('update', (object) => note(object, object.data.key));
  informer.on('delete', (object) => note(object, 'gone'));
  informer.on('connect', () => { ++state.connects; });
  informer.on('error', () => {
    ++state.errors;
    if (!state.stopped) setTimeout(() => informer.start(), 50);
  });
  state.stop = () => { state.stopped = true; return informer.stop(); };
  state.informer = informer;
  return state;
}

const write = (name, value, label) => core.createNamespacedConfigMap(
  { namespace, body: configMap(name, value, { [label]: 'y' }) });
const change = (name, value) => core.patchNamespacedConfigMap(
  { name, namespace, body: { data: { key: value } } }, rules('application/merge-patch+json'));

describe('informer', () => {
  it('goes on after its connection was cut: nothing missed, nothing twice', async () => {
    const gate = new Gate();
    const port = await gate.open(host.port);
    const through = new k8s.KubeConfig();
    through.loadFromDefault();
    through.clusters = through.clusters.map(
      (cluster) => ({ ...cluster, server: `https://127.0.0.1:${port}` }));
    const history = new Map();
    const state = follow(through, 'cut', history);
    await write('c0', '0', 'cut');
    await state.informer.start();
    const expected = new Map([['c0', ['0']]]);
    for (let round = 1; round <= 5; ++round) {
      const connects = state.connects;
      gate.cut();
      // While it is away, and while it comes back.
      await write(`c${round}`, '0', 'cut');
      await change('c0', String(round));
      expected.set(`c${round}`, ['0']);
      expected.get('c0').push(String(round));
      await eventually(() => state.connects > connects, 'it connects again');
      await eventually(() => history.get('c0').at(-1) === String(round), 'the change arrives');
    }
    await core.deleteNamespacedConfigMap({ name: 'c3', namespace });
    expected.get('c3').push('gone');
    await eventually(() => history.get('c3')?.at(-1) === 'gone', 'the deletion arrives');
    assert.deepEqual(history, expected);
    await state.stop();
    gate.close();
  });

  for (const signal of ['SIGTERM', 'SIGKILL']) {
    it(`goes on after the host ended (${signal}) and came back`, async () => {
      const label = `back-${signal.toLowerCase()}`;
      const history = new Map();
      const state = follow(config, label, history);
      await write(`${label}-0`, '0', label);
      await write(`${label}-1`, '0', label);
      await state.informer.start();
      await eventually(() => history.size === 2, 'both are known');
      await host.stop(signal);
      await host.start();
      await write(`${label}-2`, '0', label);
      await change(`${label}-1`, '1');
      await core.deleteNamespacedConfigMap({ name: `${label}-0`, namespace });
      await eventually(() => history.get(`${label}-0`).at(-1) === 'gone' &&
        history.get(`${label}-1`).at(-1) === '1' && history.has(`${label}-2`), 'all is known');
      await change(`${label}-2`, '1');
      await eventually(() => history.get(`${label}-2`).at(-1) === '1', 'the watch is alive');
      assert.deepEqual(history, new Map([[`${label}-0`, ['0', 'gone']],
        [`${label}-1`, ['0', '1']], [`${label}-2`, ['0', '1']]]));
      await state.stop();
    });
  }

  it('follows workloads of both versions', async () => {
    const seen = {};
    const informers = ['v1beta1', 'v1beta2'].map((version) => {
      const informer = k8s.makeInformer(config,
        `/apis/${group}/${version}/namespaces/${namespace}/workloads`,
        () => custom.listNamespacedCustomObject({ group, version, namespace, plural: 'workloads' }));
      informer.on('change', (object) => {
        seen[version] = object.status?.conditions?.some((c) => c.type === 'Finished');
      });
      return informer;
    });
    await Promise.all(informers.map((informer) => informer.start()));
    await batch.createNamespacedJob({ namespace, body: job('seen-', 'true') });
    await eventually(() => seen.v1beta1 && seen.v1beta2, 'both saw it finish');
    await Promise.all(informers.map((informer) => informer.stop()));
  });
});

// What would be: the Job of a form, the request, and what an answer says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  basisWords,
  fieldOf,
  jobText,
  lineOf,
  mistakes,
  parseRunTime,
  question,
  questionAbout,
  questionAboutWaiting,
  refusalWords,
  startLine,
  startSentence,
  startWords,
  summary,
  verdict,
} from '../../web/lib/whatif.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const at = (minutes) => new Date(NOW + minutes * 60_000).toISOString();
const FIELDS = { namespace: 'a', queue: 'main', name: 'train', pods: '4', cpu: '500m' };

it('about a workload that is there its job is asked, else itself', () => {
  const metadata = { namespace: 'a', name: 'job-train-1a2b3' };
  const controller = { apiVersion: 'ray.io/v1', kind: 'RayJob', name: 'train', controller: true };
  const asked = (object) => questionAbout(object).spec.objects;
  assert.deepEqual(asked({ metadata: { ...metadata, ownerReferences: [controller] } }), [
    { apiVersion: 'ray.io/v1', kind: 'RayJob', metadata: { namespace: 'a', name: 'train' } },
  ]);
  assert.deepEqual(asked({ metadata }), [
    { apiVersion: 'kueue.x-k8s.io/v1beta2', kind: 'Workload', metadata },
  ]);
});

it('run times are read', () => {
  const cases = [
    ['90m', 5400],
    ['1h30m', 5400],
    ['3600', 3600],
    ['1d', 86400],
    [' 5s ', 5],
  ];
  for (const [text, seconds] of cases) assert.equal(parseRunTime(text), seconds, text);
  for (const text of ['', 'h', '1x', '30m1h', '-5m', undefined])
    assert.ok(Number.isNaN(parseRunTime(text)), String(text));
});

describe('the form', () => {
  it('is a Job; what is empty is not in it', () => {
    assert.equal(
      jobText(FIELDS),
      `apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: a
  labels:
    kueue.x-k8s.io/queue-name: main
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: none
        resources:
          requests:
            cpu: "500m"
`,
    );
    const all = jobText({ ...FIELDS, memory: '8Gi', gpu: '2', priority: 'production', time: '2h' });
    assert.match(
      all,
      /priority-class: production\n {4}kueue.x-k8s.io\/max-exec-time-seconds: "7200"/,
    );
    assert.match(all, /limits:\n {12}nvidia.com\/gpu: "2"\n$/);
    assert.doesNotMatch(jobText({ ...FIELDS, gpu: '0' }), /gpu|limits/);
  });

  it('writes texts so that YAML reads texts', () => {
    for (const name of ['yes', 'No', 'null', '7', '1e3', 'a: b', 'x #y', 'on', '"', '- a', ''])
      assert.ok(
        name === '' || jobText({ ...FIELDS, name }).includes(`name: ${JSON.stringify(name)}\n`),
        name,
      );
    assert.ok(jobText({ ...FIELDS, name: 'a\nkind: Pod' }).includes(String.raw`"a\nkind: Pod"`));
  });

  it('says per field what is wrong', () => {
    assert.deepEqual(mistakes({ ...FIELDS, memory: '8Gi', gpu: '0', time: '90m' }), {});
    const wrong = mistakes({
      namespace: '',
      queue: 'Main',
      name: 'a_b',
      pods: '0',
      cpu: 'four',
      memory: '-1',
      gpu: '1.5',
      priority: ' ',
      time: 'long',
    });
    assert.deepEqual(Object.keys(wrong), [
      'namespace',
      'queue',
      'name',
      'pods',
      'cpu',
      'memory',
      'gpu',
      'time',
    ]);
    assert.match(wrong.namespace, /^Required/);
    assert.match(wrong.cpu, /^Not four: a quantity/);
  });
});

it('the request has the text as it is', () => {
  assert.deepEqual(question('a: b', 'team', false).spec, { manifests: 'a: b', namespace: 'team' });
  assert.deepEqual(question('a: b', '', true).spec, { deleteManifests: 'a: b' });
});

describe('those that wait in a queue', () => {
  it('are asked about with one question, and not with too many', () => {
    const many = Array.from({ length: 150 }, (_, i) => ({ namespace: 'a', name: `job-${i}` }));
    const { spec } = questionAboutWaiting(many);
    assert.deepEqual(spec.waiting.workloads[1], { namespace: 'a', name: 'job-1' });
    assert.equal(spec.waiting.workloads.length, 100);
    assert.equal(spec.objects, undefined);
  });

  it('are each told in a few words', () => {
    const waits = (start) => startWords({ decision: 'Waits', start }, NOW);
    assert.equal(waits({ earliest: at(120), latest: at(120), percent: 100 }), 'in 2h');
    assert.equal(waits({ earliest: at(60), latest: at(90), percent: 84 }), '1h to 1h30m, 84 % sure');
    assert.equal(waits({ earliest: at(0), latest: at(0), percent: 100 }), 'now');
    assert.equal(waits({ earliest: at(30), because: 'x' }), 'after 30m or later');
    assert.equal(waits({ earliest: at(0), because: 'unknown: 1 job' }), 'not known: 1 job');
    assert.equal(waits({ because: 'it does not start' }), 'not known: it does not start');
    assert.equal(waits(undefined), 'not known');
    assert.equal(startWords({ decision: 'Starts' }, NOW), 'would start now');
    assert.equal(startWords({ decision: 'Finished' }, NOW), 'would be finished');
  });
});

describe('a refusal', () => {
  it('leads to the field or the line', () => {
    const cases = [
      ['metadata.name', 'name'],
      ['spec.parallelism', 'pods'],
      ['metadata.labels[kueue.x-k8s.io/queue-name]', 'queue'],
      ['metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]', 'time'],
      ['spec.template.spec.containers[0].resources.requests[cpu]', 'cpu'],
      ['spec.template.spec.containers[0].resources.requests[memory]', 'memory'],
      ['spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]', 'gpu'],
      ['spec.other', undefined],
      [undefined, undefined],
    ];
    for (const [path, field] of cases) assert.equal(fieldOf(path), field, path);
    assert.equal(lineOf({ text: 'spec.manifests:7: not valid' }), 7);
    assert.equal(lineOf({ text: 'spec.deleteManifests:12:3: no' }), 12);
    assert.equal(lineOf({ text: 'spec.manifests[0]: Required' }), undefined);
  });

  it('is said in words', () => {
    const words = [400, 403, 404, 409, 413, 422, 429, 503, 504, 500].map((code) =>
      refusalWords({ kind: 'refused', code }),
    );
    assert.equal(new Set(words).size, words.length);
    assert.match(refusalWords({ kind: 'offline' }), /cannot be reached/);
  });
});

describe('when it would start', () => {
  it('is a sentence', () => {
    const cases = [
      [{ earliest: at(120), latest: at(120), percent: 100 }, /^in 2h \(.+\), if nothing else/],
      [
        { earliest: at(60), latest: at(90), percent: 86 },
        /^between in 1h .+ and in 1h30m .+, 86 % sure, if/,
      ],
      [{ earliest: at(0), latest: at(90), percent: 100 }, /^between at once and in 1h30m/],
      [{ earliest: at(5), because: 'unknown: 1' }, /^not before in 5m .+; unknown: 1$/],
      [{ earliest: at(0), because: 'unknown: 1' }, /^perhaps at once; unknown: 1$/],
      [{ because: 'never' }, /^never$/],
    ];
    for (const [start, text] of cases) assert.match(startSentence(start, NOW), text);
  });

  it('is an interval on a line', () => {
    const closed = startLine({ earliest: at(60), latest: at(120) }, NOW);
    assert.ok(closed.from > 40 && closed.to > 80 && closed.to < 100 && !closed.open);
    assert.ok(Math.abs(closed.to / closed.from - 2) < 1e-9);
    assert.deepEqual([closed.earliest, closed.latest], [NOW + 3_600_000, NOW + 7_200_000]);
    const point = startLine({ earliest: at(60), latest: at(60) }, NOW);
    assert.equal(point.from, point.to);
    const open = startLine({ earliest: at(60) }, NOW);
    assert.deepEqual([open.from, open.to, open.open], [50, 100, true]);
    assert.deepEqual(startLine({ earliest: at(-1), latest: at(-1) }, NOW).from, 0);
    assert.equal(startLine({ because: 'never' }, NOW), undefined);
  });

  it('comes from what running jobs say', () => {
    assert.equal(
      basisWords({ said: 0, past: 2, unknown: 1 }),
      '2 like past runs, 1 of which nothing is known',
    );
    assert.equal(basisWords(undefined), '');
  });
});

it('an answer is heard in a sentence', () => {
  const object = { kind: 'Job', namespace: 'a', name: 'train' };
  const status = {
    time: at(0),
    workloads: [{ object, decision: 'Starts' }],
    changes: { evicted: [{}, {}], otherNamespaces: { evicted: 1 } },
  };
  assert.equal(summary(status), 'Job a/train would start now. 3 others would be evicted.');
  assert.equal(summary({ time: at(0) }), 'Nothing would change for any workload.');
  const waits = { object, decision: 'Waits', start: { because: 'never' } };
  assert.equal(summary({ time: at(0), workloads: [waits] }), 'Job a/train would wait: never.');
  waits.start = { earliest: at(60), because: 'unknown: 4' };
  assert.match(
    summary({ time: at(0), workloads: [waits] }),
    /would wait: not before in 1h \([^;]+$/,
  );
  const many = Array.from({ length: 5 }, () => ({ object, decision: 'Runs' }));
  assert.match(summary({ time: at(0), workloads: many }), /And 2 more\.$/);
  assert.equal(verdict({ decision: 'New' }).text, 'New');
});

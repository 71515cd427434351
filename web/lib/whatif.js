// A question of what would be: the Job that a form means, the request, and what its answer says in
// words and as a line. Pure.
import { parseQuantity } from './quantity.js';
import { formatDuration, formatTime, parseTime } from './time.js';
import { ownerOf } from './workload.js';

export const PATH = 'apis/sluice.dev/v1alpha1/whatifs';

/** '90m' → 5400, '1h30m' → 5400, '3600' → 3600; NaN for what is no time. In seconds. */
export function parseRunTime(text) {
  const given = String(text ?? '').trim();
  if (/^\d+$/.test(given)) return Number(given);
  const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(given);
  if (!given || !parts) return NaN;
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const isName = (text) => NAME.test(text);
const isAmount = (text) => parseQuantity(text) >= 0;
const NAME_WORDS = 'small letters, digits, - and .; for example team-a';

// What a field may hold: required, and what is said when it does not.
const FIELDS = {
  namespace: [true, isName, NAME_WORDS],
  queue: [true, isName, NAME_WORDS],
  name: [true, isName, NAME_WORDS],
  pods: [true, (text) => /^[1-9]\d{0,8}$/.test(text), 'a number from 1 on'],
  cpu: [true, isAmount, 'a quantity, for example 4 or 500m'],
  memory: [false, isAmount, 'a quantity, for example 8Gi'],
  gpu: [false, (text) => /^\d{1,9}$/.test(text), 'a number, for example 1'],
  priority: [false, isName, NAME_WORDS],
  time: [false, (text) => parseRunTime(text) > 0, 'a time, for example 90m or 2h30m'],
};

/** What is wrong with the fields of the form: {field: sentence}; empty when nothing is. */
export function mistakes(fields) {
  const out = {};
  for (const [name, [required, good, words]] of Object.entries(FIELDS)) {
    const text = (fields[name] ?? '').trim();
    if (text === '' ? required : !good(text))
      out[name] = text === '' ? `Required: ${words}.` : `Not ${text}: ${words}.`;
  }
  return out;
}

const WORDS_OF_YAML = /^(y|n|yes|no|on|off|true|false|null)$/i;
/** A text as YAML reads it back: as a text. */
const scalar = (text) =>
  /^[A-Za-z][-A-Za-z0-9_./]*$/.test(text) && !WORDS_OF_YAML.test(text)
    ? text
    : JSON.stringify(text);

/** The Job that the fields mean, as YAML. What is not filled in yet is left out. */
export function jobText(fields) {
  const of = (name) => (fields[name] ?? '').trim();
  const lines = [];
  const line = (depth, key, value) => {
    if (value !== '') lines.push(`${'  '.repeat(depth)}${key}: ${scalar(value)}`);
  };
  const amounts = [
    ['cpu', of('cpu')],
    ['memory', of('memory')],
    ['nvidia.com/gpu', of('gpu') === '0' ? '' : of('gpu')],
  ].filter(([, amount]) => amount !== '');
  lines.push('apiVersion: batch/v1', 'kind: Job', 'metadata:');
  line(1, 'name', of('name'));
  line(1, 'namespace', of('namespace'));
  const seconds = parseRunTime(of('time'));
  const labels = [
    ['queue-name', of('queue')],
    ['priority-class', of('priority')],
    ['max-exec-time-seconds', seconds > 0 ? String(seconds) : ''],
  ].filter(([, value]) => value !== '');
  if (labels.length > 0) lines.push('  labels:');
  for (const [label, value] of labels) line(2, `kueue.x-k8s.io/${label}`, value);
  const pods = /^\d+$/.test(of('pods')) ? of('pods') : '1';
  lines.push('spec:', `  parallelism: ${pods}`, `  completions: ${pods}`);
  lines.push('  template:', '    spec:', '      restartPolicy: Never', '      containers:');
  lines.push('      - name: main', '        image: none');
  if (amounts.length > 0) lines.push('        resources:', '          requests:');
  for (const [resource, amount] of amounts) line(6, resource, amount);
  const devices = amounts.filter(([resource]) => resource.includes('/'));
  if (devices.length > 0) lines.push('          limits:');
  for (const [resource, amount] of devices) line(6, resource, amount);
  return `${lines.join('\n')}\n`;
}

/** The request. `text`: manifests as kubectl reads them. */
export function question(text, namespace, remove) {
  const spec = { [remove ? 'deleteManifests' : 'manifests']: text };
  if (namespace) spec.namespace = namespace;
  return { apiVersion: 'sluice.dev/v1alpha1', kind: 'WhatIf', spec };
}

/** The request about a workload that is there: about its job, which its user may change. */
export function questionAbout(workload) {
  const { namespace, name } = workload.metadata;
  const owner = ownerOf(workload) ?? { kind: 'Workload', name };
  const object = {
    apiVersion: owner.apiVersion ?? 'kueue.x-k8s.io/v1beta2',
    kind: owner.kind,
    metadata: { namespace, name: owner.name },
  };
  return { apiVersion: 'sluice.dev/v1alpha1', kind: 'WhatIf', spec: { objects: [object] } };
}

/** The most that one question may be about. */
export const MOST_WAITING = 100;

/** The request about workloads that wait already: [{namespace, name}]. */
export const questionAboutWaiting = (workloads) => ({
  apiVersion: 'sluice.dev/v1alpha1',
  kind: 'WhatIf',
  spec: { waiting: { workloads: workloads.slice(0, MOST_WAITING) } },
});

/** When one starts of whom was asked so, in a few words: 'in 2 min', '1 to 5 min, 84 % sure'. */
export function startWords({ decision, start }, now) {
  if (decision !== 'Waits' && decision !== 'WaitsForChecks') return verdict({ decision }).text;
  const earliest = parseTime(start?.earliest);
  const latest = parseTime(start?.latest);
  const words = (time) => (time - now < 1000 ? 'now' : formatDuration(time - now));
  const why = start?.because?.replace(/^unknown: /, '');
  const unknown = why ? `not known: ${why}` : 'not known';
  if (!Number.isFinite(earliest)) return unknown;
  if (!Number.isFinite(latest))
    return earliest - now < 1000 ? unknown : `after ${words(earliest)} or later`;
  const sure = start.percent > 0 && start.percent < 100 ? `, ${start.percent} % sure` : '';
  if (words(earliest) === words(latest)) return `in ${words(latest)}${sure}`.replace('in now', 'now');
  return `${words(earliest)} to ${words(latest)}${sure}`;
}

// Which field of the form an error of the API is about, by the path that it names.
const PLACES = [
  ['name', /^metadata\.name$/],
  ['namespace', /^metadata\.namespace$/],
  ['queue', /queue-name/],
  ['priority', /priority-class/],
  ['time', /max-exec-time-seconds|maximumExecutionTimeSeconds/],
  ['pods', /^spec\.(parallelism|completions)$/],
  ['gpu', /nvidia\.com\/gpu/],
  ['memory', /\[?memory\]?$/],
  ['cpu', /\[?cpu\]?$/],
];
export const fieldOf = (path) => PLACES.find(([, where]) => where.test(path ?? ''))?.[0];

/** The line of the text that an error names: 'spec.manifests:7: …' → 7. */
export function lineOf(error) {
  const found = /^spec\.(?:deleteManifests|manifests):(\d+)/.exec(error.text ?? '');
  return found ? Number(found[1]) : undefined;
}

/** What a refused question means for the user that asked. */
export function refusalWords(error) {
  const known = {
    400: 'The text cannot be read as objects',
    403: 'You may not ask this: whoever may create or change an object may ask about it',
    404: 'Something that the text names is not there',
    409: 'It is there already, and you may not change it',
    413: 'The text is too long',
    422: 'The host would not take it',
    429: 'Too many questions wait: the host works on one after the other. Ask again in a moment',
    503: 'The host cannot answer now. Ask again in a moment',
    504: 'It took the host too long, so it stopped. Ask for fewer objects, or later',
  };
  if (error.kind === 'offline') return 'The host cannot be reached. Ask again in a moment';
  return known[error.code] ?? 'The host gave no answer';
}

const VERDICTS = {
  Starts: ['would start now', 'running'],
  Runs: ['would run on', 'running'],
  Waits: ['would wait', 'pending'],
  WaitsForChecks: ['would get its quota now, and start when its checks are Ready', 'reserved'],
  Finished: ['would be finished', 'finished'],
  Inactive: ['would be off', 'off'],
  NotQueued: ['is in no queue: it would start as soon as it is created', 'running'],
};
/** {text, badge} of what becomes of one that was asked about. */
export function verdict({ decision }) {
  const [text, badge] = VERDICTS[decision] ?? [decision, 'finished'];
  return { text, badge };
}

/** 'Job team-a/train' */
export const nameOf = ({ kind, namespace, name }) =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`;

const moment = (time, now) =>
  time - now < 1000 ? 'at once' : `in ${formatDuration(time - now)} (${formatTime(time, now)})`;

/** When it would start, as a sentence; what makes that sure or not is in it. */
export function startSentence(start, now) {
  const earliest = parseTime(start.earliest);
  const latest = parseTime(start.latest);
  let out = '';
  if (Number.isFinite(latest))
    out =
      earliest === latest
        ? moment(earliest, now)
        : `between ${moment(earliest, now)} and ${moment(latest, now)}`;
  else if (Number.isFinite(earliest))
    out = earliest - now < 1000 ? 'perhaps at once' : `not before ${moment(earliest, now)}`;
  if (out && start.percent > 0)
    out += `${start.percent < 100 ? `, ${start.percent} % sure` : ''}, if nothing else is submitted`;
  return [out, start.because].filter(Boolean).join('; ');
}

/**
 * The interval on a line that begins now, in percent of it: {from, to, open, earliest, latest};
 * `open`: it has no latest. Nothing when it has no earliest either.
 */
export function startLine(start, now) {
  const earliest = parseTime(start.earliest);
  const latest = parseTime(start.latest);
  if (!Number.isFinite(earliest)) return undefined;
  const open = !Number.isFinite(latest);
  const length = Math.max(1000, open ? 2 * (earliest - now) : 1.15 * (latest - now));
  const percent = (time) => Math.min(100, Math.max(0, (100 * (time - now)) / length));
  return { from: percent(earliest), to: open ? 100 : percent(latest), open, earliest, latest };
}

/** What the running jobs before it say of their run times, from which the interval comes. */
export function basisWords({ said = 0, past = 0, limit = 0, unknown = 0 } = {}) {
  const parts = [
    [said, 'with a run time that is said'],
    [past, 'like past runs'],
    [limit, 'with a limit'],
    [unknown, 'of which nothing is known'],
  ].filter(([count]) => count > 0);
  return parts.map(([count, words]) => `${count} ${words}`).join(', ');
}

export const CHANGES = [
  ['evicted', 'Would be evicted'],
  ['starts', 'Would start'],
  ['reserves', 'Would get quota'],
  ['ends', 'Would end'],
  ['turnedOff', 'Would be turned off'],
];

/** All of an answer in a sentence or two, to be heard. */
export function summary(status) {
  const told = (status.workloads ?? []).slice(0, 3).map((one) => {
    const { earliest, latest, because } = one.start ?? {};
    const known = earliest ? { earliest, latest } : { because };
    const when = startSentence(known, parseTime(status.time));
    return `${nameOf(one.object)} ${verdict(one).text}${when ? `: ${when}` : ''}.`;
  });
  const more = (status.workloads ?? []).length - told.length;
  if (more > 0) told.push(`And ${more} more.`);
  const hidden = status.changes?.otherNamespaces ?? {};
  const others = (count) => (told.length === 0 ? '' : count === 1 ? 'other ' : 'others ');
  for (const [kind, words] of CHANGES) {
    const count = (status.changes?.[kind]?.length ?? 0) + (hidden[kind] ?? 0);
    if (count > 0) told.push(`${count} ${others(count)}${words.toLowerCase()}.`);
  }
  return told.length > 0 ? told.join(' ') : 'Nothing would change for any workload.';
}

// What the page says of a Workload. Pure.
import { parseQuantity } from './quantity.js';
import { parseTime } from './time.js';

export function condition(object, type) {
  return (object.status?.conditions ?? []).find((one) => one.type === type);
}

const isTrue = (object, type) => condition(object, type)?.status === 'True';

/** pending, reserved (waits for checks), starting, running, evicted, finished, failed, inactive */
export function stateOf(object) {
  const finished = condition(object, 'Finished');
  if (finished?.status === 'True') return finished.reason === 'Failed' ? 'failed' : 'finished';
  if (isTrue(object, 'Admitted')) return isTrue(object, 'PodsReady') ? 'running' : 'starting';
  if (isTrue(object, 'QuotaReserved')) return 'reserved';
  if (object.spec?.active === false) return 'inactive';
  return isTrue(object, 'Evicted') ? 'evicted' : 'pending';
}

export const STATE_WORDS = {
  pending: 'Waiting',
  reserved: 'Waiting for checks',
  starting: 'Starting',
  running: 'Running',
  evicted: 'Evicted, waiting',
  finished: 'Finished',
  failed: 'Failed',
  inactive: 'Off',
};

/** Why it is where it is, in the scheduler's words. */
export function whyOf(object) {
  switch (stateOf(object)) {
    case 'finished':
    case 'failed':
      return condition(object, 'Finished').message ?? '';
    case 'inactive':
      return condition(object, 'Evicted')?.message || 'spec.active is false';
    case 'reserved': {
      const open = (object.status?.admissionChecks ?? []).filter((one) => one.state !== 'Ready');
      return open
        .map((one) => `${one.name}: ${one.state}${one.message ? `, ${one.message}` : ''}`)
        .join('; ');
    }
    case 'starting':
      return condition(object, 'PodsReady')?.message || 'its pods start';
    case 'running':
      return '';
    default:
      return condition(object, 'QuotaReserved')?.message || 'its turn has not come yet';
  }
}

export function ownerOf(object) {
  return (object.metadata?.ownerReferences ?? []).find((one) => one.controller);
}

/** Per flavor and resource what it holds: [{flavor, resource, amount}]. */
export function holdingsOf(object) {
  const sums = new Map();
  for (const pods of object.status?.admission?.podSetAssignments ?? []) {
    for (const [resource, amount] of Object.entries(pods.resourceUsage ?? {})) {
      const flavor = pods.flavors?.[resource] ?? '';
      const key = `${flavor} ${resource}`;
      const sum = sums.get(key) ?? { flavor, resource, amount: 0 };
      sum.amount += parseQuantity(amount);
      sums.set(key, sum);
    }
  }
  return [...sums.values()];
}

/** Of the admission of an explanation: the flavors of each pod set, in words. */
export function flavorsText(admission = []) {
  return admission
    .map(({ name, flavors }) => `${name}: ${[...new Set(Object.values(flavors))].join(', ')}`)
    .join('; ');
}

export const podsText = (object) =>
  object.spec.podSets.map((one) => `${one.count ?? 1} ${one.name}`).join(', ');

/** The few fields that a list keeps of each. */
export function slimWorkload(object) {
  const owner = ownerOf(object);
  const state = stateOf(object);
  const told = {
    running: 'PodsReady',
    starting: 'Admitted',
    reserved: 'QuotaReserved',
    finished: 'Finished',
    failed: 'Finished',
  }[state];
  return {
    ns: object.metadata.namespace,
    name: object.metadata.name,
    version: object.metadata.resourceVersion,
    job: owner ? `${owner.kind} ${owner.name}` : '',
    queue: object.spec?.queueName ?? '',
    clusterQueue: object.status?.admission?.clusterQueue ?? '',
    priority: object.spec?.priority ?? 0,
    state,
    why: whyOf(object),
    created: parseTime(object.metadata.creationTimestamp),
    since: parseTime(
      condition(object, told ?? 'QuotaReserved')?.lastTransitionTime ??
        object.metadata.creationTimestamp,
    ),
    holdings: state === 'finished' || state === 'failed' ? [] : holdingsOf(object),
  };
}

// What an Event or a condition that became true tells of a workload's life: the state after it.
const STEPS = {
  QuotaReserved: 'reserved',
  Admitted: 'starting',
  PodsReady: 'running',
  Preempted: 'evicted',
  Evicted: 'evicted',
  Finished: 'finished',
  FinishedWorkload: 'finished',
};

const stepOf = (reason) => STEPS[reason] ?? (/^EvictedDueTo/.test(reason) ? 'evicted' : undefined);

/** '…; preemptor path: /research/team-b; …' → 'team-b' */
export function preemptorQueue(message) {
  const path = /preemptor path: ([^;\s]+)/.exec(message ?? '');
  return path ? path[1].split('/').pop() : '';
}

function pointsOf(object, events) {
  const points = [
    { time: parseTime(object.metadata.creationTimestamp), state: 'pending', text: 'Queued' },
  ];
  for (const event of events) {
    const state = stepOf(event.reason);
    if (!state) continue;
    const times = [event.firstTimestamp, event.lastTimestamp].map(parseTime);
    for (const time of new Set(times)) {
      if (Number.isFinite(time))
        points.push({ time, state, text: event.reason, message: event.message });
    }
  }
  for (const one of object.status?.conditions ?? []) {
    const state = stepOf(one.type);
    if (!state || one.status !== 'True') continue;
    points.push({
      time: parseTime(one.lastTransitionTime),
      state,
      text: one.type,
      message: one.message,
    });
  }
  return points;
}

const ORDER = ['evicted', 'pending', 'reserved', 'starting', 'running', 'finished'];
const SAME_MS = 1000; // Events are kept to the second, conditions are finer

/**
 * Its life as a line: [{state, from, to, message}] without gaps, from its creation to its end, or
 * to `now`. From conditions and Events; what is kept by neither is not there.
 */
export function lifeOf(object, events, now) {
  const points = pointsOf(object, events).sort(
    (a, b) => a.time - b.time || ORDER.indexOf(a.state) - ORDER.indexOf(b.state),
  );
  const line = [];
  for (const point of points) {
    const last = line.at(-1);
    if (last?.state === 'finished') continue;
    if (last && last.state === point.state) {
      last.message ??= point.message;
      continue;
    }
    // The same step, known from an Event (to the second) and from its condition.
    const twin = line.findLast((one) => one.state === point.state);
    if (twin && point.time - twin.from < SAME_MS) continue;
    line.push({ state: point.state, from: point.time, to: NaN, message: point.message });
  }
  const ended = line.at(-1)?.state === 'finished';
  for (let i = 0; i < line.length; ++i) {
    line[i].to =
      i + 1 < line.length ? line[i + 1].from : ended ? line[i].from : Math.max(now, line[i].from);
  }
  return line;
}

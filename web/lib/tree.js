// The tree of cohorts and ClusterQueues with what each has, uses, borrows and lends. Pure.
import { parseQuantity } from './quantity.js';

const by = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** What a ClusterQueue or Cohort has of its own: [{flavor, resource, nominal, lendingLimit}]. */
function quotasOf(spec) {
  const out = [];
  for (const group of spec.resourceGroups ?? []) {
    for (const flavor of group.flavors ?? []) {
      for (const each of flavor.resources ?? []) {
        out.push({
          flavor: flavor.name,
          resource: each.name,
          nominal: parseQuantity(each.nominalQuota ?? 0),
          lendingLimit:
            each.lendingLimit === undefined ? Infinity : parseQuantity(each.lendingLimit),
        });
      }
    }
  }
  return out;
}

/** Why a queue serves nobody; empty: it does, or has not said yet. */
export function inactiveBecause(object) {
  const active = object?.status?.conditions?.find((one) => one.type === 'Active');
  return active && active.status !== 'True' ? active.message || active.reason : '';
}

/** The few fields of a ClusterQueue that the page keeps of each. */
export function slimQueue(object) {
  const status = object.status ?? {};
  const used = new Map();
  for (const flavor of status.flavorsReservation ?? []) {
    for (const each of flavor.resources ?? []) {
      used.set(`${flavor.name} ${each.name}`, {
        total: parseQuantity(each.total),
        borrowed: parseQuantity(each.borrowed ?? 0),
      });
    }
  }
  const quotas = quotasOf(object.spec ?? {}).map((quota) => {
    const use = used.get(`${quota.flavor} ${quota.resource}`);
    return {
      ...quota,
      used: use?.total ?? 0,
      borrowed: use?.borrowed ?? 0,
      lent: { least: 0, most: 0 },
    };
  });
  return {
    name: object.metadata.name,
    version: object.metadata.resourceVersion,
    cohort: object.spec?.cohortName ?? '',
    checks: (object.spec?.admissionChecksStrategy?.admissionChecks ?? []).map((one) => one.name),
    strategy: object.spec?.queueingStrategy ?? '',
    stopped:
      object.spec?.stopPolicy && object.spec.stopPolicy !== 'None' ? object.spec.stopPolicy : '',
    inactive: inactiveBecause(object),
    waiting: status.pendingWorkloads ?? 0,
    holding: status.reservingWorkloads ?? 0,
    admitted: status.admittedWorkloads ?? 0,
    quotas,
  };
}

export function slimCohort(object) {
  return {
    name: object.metadata.name,
    version: object.metadata.resourceVersion,
    parent: object.spec?.parentName ?? '',
    quotas: quotasOf(object.spec ?? {}),
  };
}

/**
 * What each queue lends of a flavor and resource is known in sum only: what all borrow. Of one
 * queue it is at least what no other could have lent, and at most what it does not use itself.
 */
export function lentBounds(borrowed, unusedOfAll, unused) {
  const own = Math.max(0, unused);
  return { least: Math.max(0, borrowed - (unusedOfAll - own)), most: Math.min(own, borrowed) };
}

function setLent(queues, cohorts) {
  const pools = new Map(); // per flavor and resource of one tree
  const key = (quota) => `${quota.flavor} ${quota.resource}`;
  const unused = (quota) => Math.max(0, Math.min(quota.nominal - quota.used, quota.lendingLimit));
  const pool = (quota) => {
    if (!pools.has(key(quota))) pools.set(key(quota), { borrowed: 0, unused: 0 });
    return pools.get(key(quota));
  };
  for (const cohort of cohorts)
    for (const quota of cohort.quotas) pool(quota).unused += quota.nominal;
  for (const queue of queues) {
    for (const quota of queue.quotas) {
      const sum = pool(quota);
      sum.borrowed += quota.borrowed;
      sum.unused += unused(quota);
    }
  }
  for (const queue of queues) {
    for (const quota of queue.quotas) {
      const sum = pool(quota);
      quota.lent = lentBounds(sum.borrowed, sum.unused, unused(quota));
    }
  }
}

function addUp(node) {
  const sums = new Map();
  const add = (quota) => {
    const key = `${quota.flavor} ${quota.resource}`;
    const sum = sums.get(key) ?? {
      flavor: quota.flavor,
      resource: quota.resource,
      nominal: 0,
      used: 0,
      borrowed: 0,
    };
    sum.nominal += quota.nominal;
    sum.used += quota.used ?? 0;
    sum.borrowed += quota.borrowed ?? 0;
    sums.set(key, sum);
  };
  node.own.forEach(add);
  for (const child of node.cohorts) child.quotas.forEach(add);
  for (const queue of node.queues) queue.quotas.forEach(add);
  node.quotas = [...sums.values()];
  for (const field of ['waiting', 'holding', 'admitted']) {
    node[field] = 0;
    for (const child of [...node.cohorts, ...node.queues]) node[field] += child[field];
  }
}

/**
 * @param {Iterable} cohorts of slimCohort(), those that are objects; others are made from queues
 * @param {Iterable} queues of slimQueue(); their `lent` is set
 * @returns {{roots: object[], alone: object[]}} cohorts without a parent; queues without a cohort
 */
export function buildTree(cohorts, queues) {
  const nodes = new Map();
  const node = (name) => {
    if (!nodes.has(name)) nodes.set(name, { name, parent: '', own: [], cohorts: [], queues: [] });
    return nodes.get(name);
  };
  for (const cohort of cohorts)
    Object.assign(node(cohort.name), { parent: cohort.parent, own: cohort.quotas });
  for (const each of [...nodes.values()]) if (each.parent) node(each.parent);
  const alone = [];
  for (const queue of queues) (queue.cohort ? node(queue.cohort).queues : alone).push(queue);
  // A cycle of cohorts has no root; one of them is shown as if it were.
  const rooted = (start) => {
    const seen = new Set();
    for (let at = start; at.parent; at = nodes.get(at.parent)) {
      if (seen.has(at.name)) return false;
      seen.add(at.name);
    }
    return true;
  };
  for (const each of nodes.values()) if (!rooted(each)) each.parent = '';
  for (const each of nodes.values()) if (each.parent) nodes.get(each.parent).cohorts.push(each);
  const finish = (each, below) => {
    each.cohorts.sort((a, b) => by(a.name, b.name));
    each.queues.sort((a, b) => by(a.name, b.name));
    below.cohorts.push({ quotas: each.own });
    below.queues.push(...each.queues);
    for (const child of each.cohorts) finish(child, below);
    addUp(each);
  };
  const roots = [...nodes.values()]
    .filter((each) => !each.parent)
    .sort((a, b) => by(a.name, b.name));
  for (const root of roots) {
    const below = { cohorts: [], queues: [] };
    finish(root, below);
    setLent(below.queues, below.cohorts);
  }
  return { roots, alone: alone.sort((a, b) => by(a.name, b.name)) };
}

/** The tree as lines, top to bottom: {kind: 'cohort'|'queue'|'quota', depth, of, quota?, key} */
export function linesOf(tree, wanted = () => true) {
  const out = [];
  const quotas = (of, depth, kind) => {
    for (const quota of of.quotas) {
      out.push({
        kind: 'quota',
        depth,
        of,
        quota,
        owner: kind,
        key: `${kind} ${of.name} ${quota.flavor} ${quota.resource}`,
      });
    }
  };
  const queue = (each, depth) => {
    if (!wanted(each.name)) return;
    out.push({ kind: 'queue', depth, of: each, key: `queue ${each.name}` });
    quotas(each, depth, 'queue');
  };
  const cohort = (each, depth) => {
    const start = out.length;
    out.push({ kind: 'cohort', depth, of: each, key: `cohort ${each.name}` });
    quotas(each, depth, 'cohort');
    const empty = out.length;
    for (const child of each.cohorts) cohort(child, depth + 1);
    for (const child of each.queues) queue(child, depth + 1);
    if (out.length === empty && !wanted(each.name)) out.length = start;
  };
  for (const root of tree.roots) cohort(root, 0);
  for (const each of tree.alone) queue(each, 0);
  return out;
}

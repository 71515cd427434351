// Flavors and nodes: which kinds of capacity there are, which queues have quota of them, and where
// pods run.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import {
  bar,
  empty,
  link,
  notice,
  quotaText,
  since,
  table,
  to,
  workloadLink,
} from '../ui/parts.js';
import { core, kueue } from '../lib/api.js';
import { formatQuantity, parseQuantity } from '../lib/quantity.js';
import { parseTime } from '../lib/time.js';
import { slimCohort, slimQueue } from '../lib/tree.js';

const SHOWN = 12; // queues by name, of each flavor

const labelsText = (labels) =>
  Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
const taintText = (taint) => `${taint.key}${taint.value ? `=${taint.value}` : ''}:${taint.effect}`;

/** Per flavor: {resources: Map resource → sums, queues: Set of names}. */
export function sumsByFlavor(queues, cohorts) {
  const out = new Map();
  const add = (quota, queue) => {
    if (!out.has(quota.flavor)) out.set(quota.flavor, { resources: new Map(), queues: new Set() });
    const flavor = out.get(quota.flavor);
    const sum = flavor.resources.get(quota.resource) ?? {
      resource: quota.resource,
      nominal: 0,
      used: 0,
      borrowed: 0,
      sum: true,
    };
    sum.nominal += quota.nominal;
    sum.used += quota.used ?? 0;
    sum.borrowed += quota.borrowed ?? 0;
    flavor.resources.set(quota.resource, sum);
    if (queue) flavor.queues.add(queue);
  };
  for (const queue of queues) for (const quota of queue.quotas) add(quota, queue.name);
  for (const cohort of cohorts) for (const quota of cohort.quotas) add(quota, '');
  return out;
}

class Flavors extends View {
  begin() {
    this.flavors = this.follow(kueue('resourceflavors'));
    this.queues = this.follow(kueue('clusterqueues'), { slim: slimQueue });
    this.cohorts = this.follow(kueue('cohorts'), { slim: slimCohort });
    this.nodes = this.follow(core('nodes'));
    this.append(
      h('h1', {}, 'Flavors and nodes'),
      h('h2', {}, 'Flavors'),
      this.part('flavors', '', () => []),
      h('h2', {}, 'Nodes'),
      this.part('nodes', '', () => []),
    );
  }

  draw() {
    const sums = sumsByFlavor(this.queues.items.values(), this.cohorts.items.values());
    const flavors = [...this.flavors.items.values()];
    const shown = [...sums].map(([name, one]) => [
      name,
      [...one.resources.values()],
      [...one.queues],
    ]);
    this.part(
      'flavors',
      [
        this.flavors.error?.text,
        this.flavors.complete,
        flavors.map((one) => one.metadata.resourceVersion),
        shown,
        this.queues.error?.text,
      ],
      () => [
        this.flavors.refused && notice(this.flavors.error, 'the flavors'),
        this.queues.refused &&
          !this.flavors.refused &&
          notice(this.queues.error, 'who has quota of them'),
        this.flavors.complete && flavors.length === 0 && empty('There is none.'),
        h(
          'div',
          { class: 'cards' },
          flavors.map((one) => this.#card(one, sums.get(one.metadata.name))),
        ),
      ],
    );
    this.#drawNodes();
  }

  #card(flavor, sums) {
    const { spec = {} } = flavor;
    const facts = [
      ['Nodes with', labelsText(spec.nodeLabels)],
      ['Taints', (spec.nodeTaints ?? []).map(taintText).join(', ')],
      ['Tolerates', (spec.tolerations ?? []).map((one) => one.key ?? 'everything').join(', ')],
      ['Topology', spec.topologyName],
    ];
    const queues = [...(sums?.queues ?? [])].sort();
    return h(
      'section',
      { class: 'card' },
      h('h3', {}, flavor.metadata.name),
      h(
        'dl',
        { class: 'facts' },
        facts
          .filter(([, value]) => value)
          .map(([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, value))),
      ),
      [...(sums?.resources.values() ?? [])].map((sum) =>
        h(
          'div',
          { class: 'row quota' },
          h('span', { class: 'name' }, sum.resource),
          h('span', { class: 'bars' }, bar(sum), h('span', { class: 'text' }, quotaText(sum))),
        ),
      ),
      h(
        'p',
        { class: 'queues' },
        queues.length ? 'Held in: ' : 'No queue has quota of it.',
        queues
          .slice(0, SHOWN)
          .map((name) => [link(to.holders(name, flavor.metadata.name), name), ' ']),
        queues.length > SHOWN && link('#/overview', `and ${queues.length - SHOWN} more`),
      ),
    );
  }

  #drawNodes() {
    const nodes = [...this.nodes.items.values()];
    this.part(
      'nodes',
      [
        this.nodes.error?.text,
        this.nodes.complete,
        nodes.map((one) => one.metadata.resourceVersion),
      ],
      () => [
        this.nodes.refused && notice(this.nodes.error, 'the nodes'),
        this.nodes.complete && nodes.length === 0 && empty('There is none.'),
        nodes.length > 0 &&
          table(
            'Nodes',
            ['Node', 'Ready', 'Capacity for pods', 'Labels'],
            nodes.map((node) => [
              link(to.node(node.metadata.name), node.metadata.name),
              readyText(node),
              capacityText(node),
              labelsText(node.metadata.labels),
            ]),
          ),
      ],
    );
  }
}

const readyText = (node) => {
  const ready = (node.status?.conditions ?? []).find((one) => one.type === 'Ready');
  if (node.spec?.unschedulable) return 'closed to new pods';
  return ready?.status === 'True' ? 'yes' : `no: ${ready?.message || ready?.reason || 'unknown'}`;
};

const capacityText = (node) =>
  Object.entries(node.status?.allocatable ?? {})
    .filter(([name]) => name !== 'pods')
    .map(([name, amount]) => `${formatQuantity(name, parseQuantity(amount))} ${name}`)
    .join(', ');

class Node extends View {
  begin() {
    const { name } = this.ctx.params;
    this.node = this.follow(core('nodes'), { query: { fieldSelector: `metadata.name=${name}` } });
    this.pods = this.follow(core('pods', this.ctx.ns), {
      query: { fieldSelector: `spec.nodeName=${name}` },
      slim: (pod) =>
        ['Succeeded', 'Failed'].includes(pod.status?.phase)
          ? undefined
          : {
              key: `${pod.metadata.namespace}/${pod.metadata.name}`,
              phase: pod.status?.phase ?? '',
              ns: pod.metadata.namespace,
              workload: pod.metadata.annotations?.['kueue.x-k8s.io/workload'] ?? '',
              started: parseTime(pod.status?.startTime),
              asks: (pod.spec?.containers ?? [])
                .map((one) =>
                  Object.entries(one.resources?.requests ?? {})
                    .map(([key, value]) => `${value} ${key}`)
                    .join(', '),
                )
                .join('; '),
            },
    });
    this.append(
      h('p', { class: 'crumb' }, 'Node'),
      h('h1', {}, name),
      this.part('node', '', () => []),
      h('h2', {}, 'Pods on it'),
      this.part('pods', '', () => []),
    );
  }

  draw(now) {
    const node = [...this.node.items.values()][0];
    this.part(
      'node',
      [node?.metadata.resourceVersion, this.node.error?.text, this.node.complete],
      () =>
        this.node.refused
          ? notice(this.node.error, 'this node')
          : !node
            ? this.node.complete && empty('There is no node of this name.')
            : h(
                'dl',
                { class: 'facts' },
                [
                  ['Ready', readyText(node)],
                  ['Capacity', capacityText(node)],
                  ['Labels', labelsText(node.metadata.labels)],
                ].map(([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, value))),
              ),
    );
    const pods = [...this.pods.items.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    this.part('pods', [pods, this.pods.error?.text, this.pods.complete], () => [
      this.pods.refused &&
        notice(
          this.pods.error,
          this.ctx.ns ? `pods of namespace ${this.ctx.ns}` : 'pods of all namespaces',
        ),
      this.pods.complete && pods.length === 0 && empty('None runs.'),
      pods.length > 0 &&
        table(
          'Pods',
          ['Pod', 'Workload', 'Phase', 'Asks for', 'Since'],
          pods
            .slice(0, 500)
            .map((pod) => [
              pod.key,
              pod.workload && workloadLink(`${pod.ns}/${pod.workload}`),
              pod.phase,
              pod.asks,
              since(pod.started, now),
            ]),
        ),
      pods.length > 500 && h('p', { class: 'faint' }, `The first 500 of ${pods.length}.`),
    ]);
  }
}

customElements.define('view-flavors', Flavors);
customElements.define('view-node', Node);

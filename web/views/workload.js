// Workload: its life as a line, why it is where it is, its pods and what they write.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import { startEstimate } from '../ui/estimate.js';
import { explained } from '../ui/explained.js';
import { badge, empty, link, notice, since, table, to } from '../ui/parts.js';
import { core, explanation, kueue } from '../lib/api.js';
import { formatDuration, formatTime, parseTime } from '../lib/time.js';
import {
  lifeOf,
  ownerOf,
  podsText,
  preemptorQueue,
  slimWorkload,
  stateOf,
  STATE_WORDS,
  whyOf,
  holdingsOf,
} from '../lib/workload.js';
import { formatQuantity } from '../lib/quantity.js';
import { openLog } from './log.js';

const EXPLAIN_MS = 5000;
const JOB_UID = 'kueue.x-k8s.io/job-uid'; // a label of all workloads of one job

const known = (value) => value !== undefined;

/** Of a queue whose work goes to other clusters: the one that has it, or those that were asked. */
function clusters({ clusterName, nominatedClusterNames = [] } = {}) {
  if (clusterName) return ['Cluster', link('#/checks', clusterName)];
  return nominatedClusterNames.length > 0 && ['Asked clusters', nominatedClusterNames.join(', ')];
}

class Workload extends View {
  #explained;
  #log = h('div', {});
  #version = '';
  #podsOf = '';
  #estimate;

  begin() {
    const { ns, name } = this.ctx.params;
    this.self = this.follow(kueue('workloads', ns), {
      query: { fieldSelector: `metadata.name=${name}` },
    });
    this.events = this.follow(core('events', ns), {
      query: { fieldSelector: `involvedObject.name=${name},involvedObject.kind=Workload` },
    });
    this.every(EXPLAIN_MS, () => {
      if (this.object && stateOf(this.object) !== 'finished') this.#explain();
    });
    const gone = new AbortController();
    this.own({ stop: () => gone.abort() });
    this.#estimate = startEstimate(this.ctx.api, () => this.object, gone.signal);
    this.#estimate.hidden = true;
    const parts = (...names) => names.map((part) => this.part(part, '', () => []));
    this.append(
      h('p', { class: 'crumb' }, 'Workload'),
      h('h1', {}, `${ns}/${name}`),
      ...parts('head', 'life', 'explain'),
      this.#estimate,
      ...parts('kin', 'pods'),
      this.#log,
      this.part('events', '', () => []),
    );
  }

  get object() {
    return [...this.self.items.values()][0];
  }

  async #explain() {
    const { ns, name } = this.ctx.params;
    this.#explained = await this.ctx.api.get(explanation(ns, name));
    this.soon();
  }

  draw(now) {
    const { object } = this;
    if (object && object.metadata.resourceVersion !== this.#version) {
      this.#version = object.metadata.resourceVersion;
      this.#followPods(object);
      this.#followKin(object);
      this.#explain();
    }
    this.#drawHead(object, now);
    if (!object) return;
    this.#drawLife(object, now);
    this.#drawExplain(object);
    this.#estimate.hidden = !['pending', 'evicted'].includes(stateOf(object));
    this.#drawKin(object, now);
    this.#drawPods(now);
    this.#drawEvents(now);
  }

  /** Pods of a Job are found by its label; of others among those of the namespace. */
  #followPods(object) {
    const owner = ownerOf(object);
    const { ns, name } = this.ctx.params;
    const of = owner?.uid ?? object.metadata.uid;
    if (this.#podsOf === of) return;
    this.#podsOf = of;
    const query =
      owner?.kind === 'Job'
        ? { labelSelector: `batch.kubernetes.io/controller-uid=${owner.uid}` }
        : {};
    this.pods = this.follow(core('pods', ns), {
      query,
      slim: (pod) => {
        const mine = pod.metadata.annotations?.['kueue.x-k8s.io/workload'];
        if (mine ? mine !== name : owner?.kind !== 'Job') return undefined;
        return {
          name: pod.metadata.name,
          node: pod.spec?.nodeName ?? '',
          phase: pod.status?.phase ?? '',
          why: pod.status?.message || pod.status?.reason || '',
          version: pod.metadata.resourceVersion,
          started: parseTime(pod.status?.startTime),
        };
      },
    });
  }

  /** Its owner may have several workloads, one after another or side by side: this is one. */
  #followKin(object) {
    const uid = object.metadata.labels?.[JOB_UID];
    if (this.kin || !uid) return;
    const owner = ownerOf(object)?.uid;
    this.kin = this.follow(kueue('workloads', this.ctx.params.ns), {
      query: { labelSelector: `${JOB_UID}=${uid}` },
      slim: (one) =>
        ownerOf(one)?.uid === owner ? { ...slimWorkload(one), pods: podsText(one) } : undefined,
    });
  }

  #drawKin(object, now) {
    const all = [...(this.kin?.items.values() ?? [])];
    const told = all.length > 1 ? all.sort((a, b) => a.created - b.created) : [];
    this.part('kin', [told.map((one) => one.version)], () =>
      told.length === 0
        ? []
        : [
            h('h2', {}, 'Workloads of the same job'),
            table(
              'Workloads of the same job',
              ['Workload', 'State', 'Pods', 'On', 'Why', 'Since'],
              told.map((one) => [
                one.name === object.metadata.name
                  ? h('strong', {}, 'this one')
                  : link(to.workload(one.ns, one.name), one.name),
                badge(one.state),
                one.pods,
                [...new Set(one.holdings.map(({ flavor }) => flavor))].join(', '),
                one.why,
                since(one.since, now),
              ]),
            ),
          ],
    );
  }

  #drawHead(object, now) {
    const { ns, name } = this.ctx.params;
    const state = object && stateOf(object);
    this.part(
      'head',
      [object?.metadata.resourceVersion, this.self.error?.text, this.self.complete],
      () => {
        if (this.self.refused) return notice(this.self.error, `the workload ${ns}/${name}`);
        if (!object)
          return this.self.complete
            ? empty('There is no workload of this name: it ended and was removed, or never was.')
            : [];
        const owner = ownerOf(object);
        const queue = object.status?.admission?.clusterQueue;
        const holds = holdingsOf(object).map(
          (one) => `${formatQuantity(one.resource, one.amount)} ${one.resource} on ${one.flavor}`,
        );
        const facts = [
          owner?.kind === 'Workload'
            ? ['Stands for', link(to.workload(ns, owner.name), owner.name)]
            : ['Job', owner ? `${owner.kind} ${owner.name}` : 'none'],
          [
            'LocalQueue',
            object.spec.queueName
              ? link(to.localQueue(ns, object.spec.queueName), object.spec.queueName)
              : 'none',
          ],
          queue && ['ClusterQueue', link(to.clusterQueue(queue), queue)],
          clusters(object.status),
          [
            'Priority',
            [object.spec.priority ?? 0, object.spec.priorityClassRef?.name]
              .filter(known)
              .join(', '),
          ],
          ['Pods', podsText(object)],
          holds.length && state !== 'finished' && state !== 'failed' && ['Holds', holds.join(', ')],
          ['Queued', formatTime(parseTime(object.metadata.creationTimestamp), now)],
        ].filter(Boolean);
        return [
          h(
            'p',
            { class: 'state' },
            badge(state),
            ' ',
            h('span', { class: 'why-long' }, whyOf(object)),
          ),
          h(
            'dl',
            { class: 'facts' },
            facts.map(([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, value))),
          ),
        ];
      },
    );
  }

  #drawLife(object, now) {
    // Without checks there is a reservation, too, for no time.
    const line = lifeOf(object, [...this.events.items.values()], now).filter(
      (one) => one.state !== 'reserved' || one.to - one.from >= 1000,
    );
    const sig = [
      line.map((one) => [one.state, one.from, formatDuration(one.to - one.from)]),
      this.events.refused,
    ];
    this.part('life', sig, () => {
      const begin = line[0].from;
      const whole = Math.max(1, line.at(-1).to - begin);
      const pieces = line
        .filter((one) => one.to > one.from)
        .map((one) =>
          h('i', {
            class: one.state,
            title: `${STATE_WORDS[one.state]}: ${formatDuration(one.to - one.from)}`,
            style: {
              left: `${(100 * (one.from - begin)) / whole}%`,
              width: `${(100 * (one.to - one.from)) / whole}%`,
            },
          }),
        );
      return [
        h('h2', {}, 'Life'),
        h('div', { class: 'life', 'aria-hidden': 'true' }, pieces),
        h(
          'ol',
          { class: 'steps' },
          line.map((one) => this.#step(one, now)),
        ),
        this.events.refused &&
          notice(this.events.error, 'Events; the line is made of conditions alone'),
      ];
    });
  }

  #step(one, now) {
    const by = one.state === 'evicted' ? preemptorQueue(one.message) : '';
    const length = one.to > one.from ? formatDuration(one.to - one.from) : '';
    return h(
      'li',
      { class: one.state },
      h('time', {}, formatTime(one.from, now)),
      h('strong', {}, STATE_WORDS[one.state]),
      length && h('span', { class: 'length' }, length),
      by && h('span', {}, 'for a workload of ', link(to.clusterQueue(by), by)),
      one.message && one.state !== 'running' && h('span', { class: 'message' }, one.message),
    );
  }

  #drawExplain(object) {
    const answer = this.#explained;
    if (!answer || stateOf(object) === 'finished') {
      this.part('explain', '', () => []);
      return;
    }
    const { time: _, ...told } = answer.value ?? {};
    this.part('explain', [told, answer.error?.text], () => {
      if (answer.error) return notice(answer.error, 'why it waits');
      const said = explained(answer.value);
      return said.length > 0 ? [h('h2', {}, 'Why it is where it is'), said] : [];
    });
  }

  #drawPods(now) {
    const { pods } = this;
    if (!pods) return;
    const items = [...pods.items.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.part('pods', [items, pods.error?.text, pods.complete], () => [
      h('h2', {}, 'Pods'),
      pods.refused && notice(pods.error, 'its pods'),
      pods.complete && items.length === 0 && empty('None at the moment.'),
      items.length > 0 &&
        table(
          'Pods',
          ['Pod', 'Phase', 'Node', 'Since', ''],
          items
            .slice(0, 200)
            .map((pod) => [
              pod.name,
              h('span', { title: pod.why }, pod.phase),
              pod.node && link(to.node(pod.node), pod.node),
              since(pod.started, now),
              h('button', { type: 'button', onclick: () => this.#openLog(pod.name) }, 'Log'),
            ]),
        ),
      items.length > 200 && h('p', { class: 'faint' }, `The first 200 of ${items.length}.`),
    ]);
  }

  #openLog(pod) {
    this.stopLog?.stop();
    this.stopLog = this.own(openLog(this.ctx.api, this.ctx.params.ns, pod, this.#log));
  }

  #drawEvents(now) {
    const items = [...this.events.items.values()].sort((a, b) =>
      a.lastTimestamp < b.lastTimestamp ? 1 : -1,
    );
    this.part(
      'events',
      [items.map((one) => one.metadata.resourceVersion), this.events.refused],
      () => [
        h('h2', {}, 'Events'),
        this.events.refused
          ? notice(this.events.error, 'Events of this namespace')
          : items.length === 0
            ? empty('None is kept.')
            : table(
                'Events',
                ['When', 'What', 'Message'],
                items.map((one) => [
                  h(
                    'span',
                    { class: 'nowrap' },
                    formatTime(parseTime(one.lastTimestamp), now),
                    one.count > 1 && ` (${one.count}×)`,
                  ),
                  one.reason,
                  one.message,
                ]),
              ),
      ],
    );
  }
}

customElements.define('view-workload', Workload);

// Checks: what stands between a reservation and the start, their controllers, and the workloads
// that wait.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import { empty, link, notice, table, to } from '../ui/parts.js';
import { kueue } from '../lib/api.js';
import { formatCount } from '../lib/quantity.js';
import { slimQueue } from '../lib/tree.js';

const byName = (a, b) => (a.metadata.name < b.metadata.name ? -1 : 1);

function activeText({ status }) {
  const active = (status?.conditions ?? []).find((one) => one.type === 'Active');
  return active?.status === 'True'
    ? 'yes'
    : `no: ${active?.message || active?.reason || 'nobody speaks for it yet'}`;
}

class Checks extends View {
  begin() {
    this.checks = this.follow(kueue('admissionchecks'));
    this.queues = this.follow(kueue('clusterqueues'), { slim: slimQueue });
    this.clusters = this.follow(kueue('multikueueclusters')); // a host may not have the kind
    this.append(
      h('h1', {}, 'Checks'),
      h(
        'p',
        { class: 'faint' },
        'A workload that has quota starts when all checks of its queue say Ready.',
      ),
      this.part('checks', '', () => []),
      this.part('clusters', '', () => []),
    );
  }

  draw() {
    this.#drawClusters();
    const checks = [...this.checks.items.values()].sort(byName);
    const queues = [...this.queues.items.values()].filter((queue) => queue.checks.length > 0);
    this.part(
      'checks',
      [
        checks.map((one) => one.metadata.resourceVersion),
        this.checks.error?.text,
        this.checks.complete,
        this.queues.error?.text,
        queues.map((one) => [one.name, one.holding, one.admitted, one.checks]),
      ],
      () => [
        this.checks.refused && notice(this.checks.error, 'the admission checks'),
        this.queues.refused &&
          !this.checks.refused &&
          notice(this.queues.error, 'the queues that ask for them'),
        this.checks.complete &&
          checks.length === 0 &&
          empty('There is none: what has quota starts.'),
        checks.length > 0 &&
          table(
            'Admission checks',
            ['Check', 'Answered by', 'Active', 'Queues', 'Wait with quota'],
            checks.map((check) =>
              this.#row(
                check,
                queues.filter((queue) => queue.checks.includes(check.metadata.name)),
              ),
            ),
          ),
      ],
    );
  }

  #drawClusters() {
    const clusters = [...this.clusters.items.values()].sort(byName);
    this.part('clusters', [clusters.map((one) => one.metadata.resourceVersion)], () =>
      clusters.length === 0
        ? []
        : [
            h('h2', {}, 'Clusters'),
            table(
              'Clusters that work is sent to',
              ['Cluster', 'Active'],
              clusters.map((one) => [h('strong', {}, one.metadata.name), activeText(one)]),
            ),
          ],
    );
  }

  #row(check, queues) {
    const parameters = check.spec?.parameters;
    return [
      h(
        'span',
        { class: 'stack' },
        h('strong', {}, check.metadata.name),
        parameters && h('small', {}, `${parameters.kind} ${parameters.name}`),
      ),
      check.spec?.controllerName ?? '',
      activeText(check),
      h(
        'span',
        { class: 'stack' },
        queues.slice(0, 20).map((queue) => link(to.clusterQueue(queue.name), queue.name)),
        queues.length > 20 && h('span', {}, `and ${queues.length - 20} more`),
      ),
      h(
        'span',
        { class: 'stack' },
        queues
          .slice(0, 20)
          .map((queue) =>
            link(
              to.clusterQueue(queue.name, '?to=holding'),
              formatCount(Math.max(0, queue.holding - queue.admitted)),
            ),
          ),
      ),
    ];
  }
}

customElements.define('view-checks', Checks);

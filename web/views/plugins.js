// Plugins: which are loaded, what they are asked, what that costs, and what went wrong. From
// /metrics, which the host serves to users that RBAC allows that path.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import { empty, notice, tile } from '../ui/parts.js';
import { pluginsOf } from '../lib/metrics.js';
import { formatCount } from '../lib/quantity.js';

const EVERY_MS = 15_000; // a scrape costs the host time that grows with its workloads

const micro = (one) => (one.calls > 0 ? `${((1e6 * one.seconds) / one.calls).toFixed(1)} µs` : '');
const seconds = (value) =>
  value < 1 ? `${(1000 * value).toFixed(1)} ms` : `${value.toFixed(2)} s`;

class Plugins extends View {
  #open = new Set(); // cards whose questions are shown

  begin() {
    this.append(
      h('h1', {}, 'Plugins'),
      this.part('plugins', '', () => []),
    );
    this.every(EVERY_MS, () => this.#read());
  }

  async #read() {
    const answer = await this.ctx.api.text('metrics');
    this.plugins = answer.value === undefined ? undefined : pluginsOf(answer.value);
    this.error = answer.error;
    this.soon();
  }

  draw() {
    const { plugins, error } = this;
    this.part('plugins', [plugins, error?.text], () => {
      if (error)
        return notice(
          error,
          'plugins; they are read from /metrics, which needs a right of its own (docs/metrics.md)',
        );
      if (!plugins) return [];
      if (plugins.length === 0) return empty('None is loaded.');
      const sum = (field) => plugins.reduce((all, one) => all + one[field], 0);
      return [
        h(
          'div',
          { class: 'tiles' },
          tile('loaded', plugins.length),
          tile('out of service', plugins.filter((one) => one.quarantined).length),
          tile('calls', sum('calls')),
          tile('faults', sum('faults')),
        ),
        plugins.map((one) => this.#card(one)),
      ];
    });
  }

  #note(name, { target }) {
    if (target.open) this.#open.add(name);
    else this.#open.delete(name);
  }

  #card(one) {
    const head = ['Asked for', 'Calls', 'Time', 'Each', 'Faults'];
    return h(
      'section',
      { class: 'card wide-card' },
      h(
        'h2',
        {},
        one.name,
        ' ',
        one.quarantined
          ? h('span', { class: 'badge off' }, 'out of service')
          : h(
              'span',
              { class: 'badge running' },
              one.faults > 0 ? 'in service, with faults' : 'in service',
            ),
      ),
      h(
        'p',
        { class: 'faint' },
        `${formatCount(one.calls)} calls and ${seconds(one.seconds)} since the host started, `,
        `${formatCount(one.faults)} faults`,
      ),
      h(
        'details',
        { open: this.#open.has(one.name), ontoggle: (event) => this.#note(one.name, event) },
        h('summary', {}, 'By question'),
        h(
          'div',
          { class: 'scroll' },
          h(
            'table',
            { 'aria-label': `Calls of ${one.name}` },
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                head.map((text) => h('th', { scope: 'col' }, text)),
              ),
            ),
            h(
              'tbody',
              {},
              one.hooks.map((hook) =>
                h(
                  'tr',
                  {},
                  [
                    hook.name,
                    formatCount(hook.calls),
                    seconds(hook.seconds),
                    micro(hook),
                    formatCount(hook.faults),
                  ].map((text) => h('td', {}, text)),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
}

customElements.define('view-plugins', Plugins);

// <live-state>: whether what is shown is what is. It speaks up when that changes.
import { h } from './dom.js';

const WORDS = {
  live: 'live',
  loading: 'loading',
  cut: 'disconnected, trying again',
  busy: 'the host is busy, trying again',
};

class LiveState extends HTMLElement {
  #follows = new Set();
  #text = h('span', {});
  #asked = false;

  connectedCallback() {
    this.setAttribute('role', 'status');
    this.setAttribute('aria-live', 'polite');
    if (!this.firstChild) this.append(h('i', { 'aria-hidden': 'true' }), this.#text);
    this.changed();
  }

  enter(follow) {
    this.#follows.add(follow);
    this.changed();
  }
  leave(follows) {
    for (const one of follows) this.#follows.delete(one);
    this.changed();
  }

  changed() {
    if (this.#asked) return;
    this.#asked = true;
    queueMicrotask(() => {
      this.#asked = false;
      this.#show();
    });
  }

  #show() {
    const all = [...this.#follows];
    const cut = all.find((one) => one.cut);
    const state = cut
      ? cut.error?.kind === 'busy'
        ? 'busy'
        : 'cut'
      : all.some((one) => one.state.phase === 'listing' && !one.complete)
        ? 'loading'
        : 'live';
    if (this.dataset.state === state) return;
    this.dataset.state = state;
    this.#text.textContent = WORDS[state];
    this.title = cut?.error?.text ?? '';
  }
}

customElements.define('live-state', LiveState);

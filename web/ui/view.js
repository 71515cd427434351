// View: what all pages are: an element that follows collections while it stands in the document,
// and draws at most five times a second.
import { h, replaceKeepingFocus } from './dom.js';
import { Follow } from '../lib/follow.js';

const DRAW_MS = 200;
const TICK_MS = 1000;

export class View extends HTMLElement {
  #stops = [];
  #follows = [];
  #timer;
  #parts = new Map();

  /** ctx: {api, ns, params, query, live}; set by the router before it is put into the document. */
  connectedCallback() {
    this.begin();
    const tick = setInterval(() => this.soon(), TICK_MS);
    const shown = () => {
      if (!document.hidden) this.soon();
    };
    document.addEventListener('visibilitychange', shown);
    this.#stops.push(
      () => clearInterval(tick),
      () => document.removeEventListener('visibilitychange', shown),
    );
    this.#draw();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    for (const stop of this.#stops.splice(0)) stop();
    this.ctx.live.leave(this.#follows.splice(0));
  }

  /** Starts to follow; ends with the view. */
  follow(path, options = {}) {
    const follow = new Follow(this.ctx.api, path, {
      ...options,
      changed: () => {
        this.ctx.live.changed();
        options.changed?.();
        this.soon();
      },
    });
    this.#stops.push(() => follow.stop());
    return this.show(follow).start();
  }

  /** How far it is what there is, <live-state> tells: a Follow, or what says as much. */
  show(follow) {
    this.#follows.push(follow);
    this.ctx.live.enter(follow);
    return follow;
  }

  /** Something with stop(), which ends with the view. */
  own(thing) {
    this.#stops.push(() => thing.stop());
    return thing;
  }

  every(ms, task) {
    const timer = setInterval(() => {
      if (!document.hidden) task();
    }, ms);
    this.#stops.push(() => clearInterval(timer));
    task();
  }

  soon() {
    if (this.#timer !== undefined || document.hidden) return;
    this.#timer = setTimeout(() => requestAnimationFrame(() => this.#draw()), DRAW_MS);
  }

  #draw() {
    this.#timer = undefined;
    if (this.isConnected) this.draw(Date.now());
  }

  /** A part of the page, made anew only when `sig` is another one. */
  part(name, sig, make) {
    let part = this.#parts.get(name);
    if (!part) {
      part = { element: h('div', { class: `part part-${name}` }), sig: undefined };
      this.#parts.set(name, part);
    }
    const text = typeof sig === 'string' ? sig : JSON.stringify(sig);
    if (part.sig !== text) {
      part.sig = text;
      replaceKeepingFocus(part.element, make());
    }
    return part.element;
  }

  begin() {}
  draw() {}
}

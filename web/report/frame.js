// What all pictures over time share: which part of the run is shown, and a canvas that is drawn
// anew when that, its width or the colours change. Every canvas has a text that says the same.
import { h } from '../ui/dom.js';
import { span, timeTicks } from './format.js';

const LEAST = 1e-6; // seconds

/** The part of the run that all pictures show. */
export class Shown {
  #listeners = new Set();

  constructor(until) {
    this.until = until;
    this.from = 0;
    this.to = until;
  }

  listen(changed) {
    this.#listeners.add(changed);
  }

  set(from, to) {
    const length = Math.min(this.until, Math.max(LEAST, this.until / 1e5, to - from));
    this.from = Math.min(Math.max(0, from), this.until - length);
    this.to = this.from + length;
    for (const each of this.#listeners) each();
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  move(part) {
    const step = (this.to - this.from) * part;
    this.set(this.from + step, this.to + step);
  }

  whole() {
    this.set(0, this.until);
  }
}

/** The colours of the style sheets, for a canvas. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

const redraws = new Set();
const soon = new Set();
let asked = 0;

function drawSoon(picture) {
  soon.add(picture);
  asked ||= requestAnimationFrame(() => {
    asked = 0;
    const now = [...soon];
    soon.clear();
    for (const each of now) each.draw();
  });
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const each of redraws) drawSoon(each);
});

/** The room left of the time axis, the same in all pictures, so that times stand below each other. */
export const gutter = (width) => (width < 560 ? 84 : 150);
const RIGHT = 14;

/** A canvas of a height that paint(brush) fills. `label`: what it shows, for screen readers. */
export class Picture {
  constructor({ height, label, paint, seen = true }) {
    this.paint = paint;
    this.height = height;
    this.canvas = h('canvas', { class: 'picture', role: 'img', 'aria-label': label });
    this.canvas.style.setProperty('height', `${height}px`);
    redraws.add(this);
    if (seen) new ResizeObserver(() => this.soon()).observe(this.canvas);
  }

  soon() {
    drawSoon(this);
  }

  resize(height) {
    if (height === this.height) return;
    this.height = height;
    this.canvas.style.setProperty('height', `${height}px`);
  }

  draw() {
    const { canvas, height } = this;
    const width = canvas.clientWidth;
    if (width === 0) return;
    const density = Math.min(3, window.devicePixelRatio || 1);
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    const pen = canvas.getContext('2d');
    pen.scale(density, density);
    pen.font = '12px system-ui, "DejaVu Sans", sans-serif';
    pen.textBaseline = 'middle';
    this.paint({ pen, width, height, colour: colours() });
  }
}

/** A picture with a time axis: brush.x(time) beside what Picture gives. Drags and keys zoom. */
export class TimePicture extends Picture {
  constructor(shown, { height, label, paint, onhover, onclick }) {
    super({ height, label, paint: (brush) => this.#paint(brush, paint) });
    this.shown = shown;
    this.onhover = onhover;
    shown.listen(() => this.soon());
    this.#followPointer(onclick);
    this.canvas.tabIndex = 0;
    this.canvas.addEventListener('keydown', (event) => this.#key(event));
  }

  #paint(brush, paint) {
    const left = gutter(brush.width);
    const right = brush.width - RIGHT;
    const { from, to } = this.shown;
    this.scale = (right - left) / (to - from);
    this.left = left;
    this.right = right;
    const x = (time) => left + (time - from) * this.scale;
    paint({ ...brush, left, right, from, to, x });
    if (this.drag) {
      const { pen, colour, height } = brush;
      pen.fillStyle = colour('accent');
      pen.globalAlpha = 0.18;
      pen.fillRect(this.drag.from, 0, this.drag.to - this.drag.from, height);
      pen.globalAlpha = 1;
    }
  }

  timeAt(x) {
    return this.shown.from + (x - this.left) / this.scale;
  }

  #followPointer(onclick) {
    const { canvas } = this;
    const inside = (event) =>
      Math.min(
        this.right,
        Math.max(this.left, event.clientX - canvas.getBoundingClientRect().left),
      );
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.pointerType === 'touch') return;
      const x = inside(event);
      this.drag = { from: x, to: x };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.drag) {
        this.drag.to = inside(event);
        this.soon();
      }
      this.onhover?.(...place(event));
    });
    canvas.addEventListener('pointerleave', () => this.onhover?.(NaN, NaN));
    canvas.addEventListener('pointerup', (event) => {
      const { drag } = this;
      if (!drag) return;
      this.drag = undefined;
      const [from, to] = [drag.from, drag.to].sort((a, b) => a - b);
      if (to - from > 4) this.shown.set(this.timeAt(from), this.timeAt(to));
      else {
        onclick?.(...place(event));
        this.soon();
      }
    });
    canvas.addEventListener('dblclick', () => this.shown.whole());
  }

  #key(event) {
    const does = {
      '+': () => this.shown.zoom(0.5),
      '-': () => this.shown.zoom(2),
      0: () => this.shown.whole(),
      ArrowLeft: () => this.shown.move(-0.2),
      ArrowRight: () => this.shown.move(0.2),
    }[event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    does();
  }
}

export function drawTimes({ pen, colour, left, right, height, from, to, x }, labels = true) {
  const bottom = labels ? height - 18 : height;
  pen.strokeStyle = colour('line');
  pen.fillStyle = colour('soft');
  pen.lineWidth = 1;
  pen.textAlign = 'center';
  for (const time of timeTicks(from, to, Math.max(2, (right - left) / 110))) {
    const at = Math.round(x(time)) + 0.5;
    pen.beginPath();
    pen.moveTo(at, 0);
    pen.lineTo(at, bottom);
    pen.stroke();
    if (!labels) continue;
    const text = span(time);
    const half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(at, right + RIGHT - half - 1), height - 8);
  }
  return bottom;
}

/**
 * Steps as a path from the left to the right edge, at most a few points per pixel: y(amount).
 * `close`: down to y(0), to be filled.
 */
export function stepPath(brush, steps, y, close) {
  const { pen, x, from, to } = brush;
  const { at, amount } = steps;
  let i = 0;
  while (i < at.length && at[i] <= from) ++i;
  let value = i ? amount[i - 1] : 0;
  pen.beginPath();
  if (close) pen.moveTo(x(from), y(0));
  pen.lineTo(x(from), y(value));
  while (i < at.length && at[i] <= to) {
    const here = x(at[i]);
    pen.lineTo(here, y(value));
    let high = amount[i];
    while (i < at.length && at[i] <= to && x(at[i]) < here + 1) {
      value = amount[i++];
      high = Math.max(high, value);
    }
    pen.lineTo(here, y(high));
    if (high > value) pen.lineTo(here + 1, y(high)); // what is shorter than a pixel is seen, too
    pen.lineTo(high > value ? here + 1 : here, y(value));
  }
  pen.lineTo(x(to), y(value));
  if (close) pen.lineTo(x(to), y(0));
}

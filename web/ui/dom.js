// Elements without a template language. Nothing here makes elements from text, so nothing that an
// object says can become markup.

// What turns the direction of a text, so that one reads other than what is there.
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** h('a', {href: '#/x', class: 'y', onclick: f}, 'text', element, [more]) */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style')
      for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? '' : value);
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false || child === '') continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(typeof child === 'string' ? child.replace(TURNS, '\ufffd') : child);
  }
}

/** New children, with the focus where it was: on the element of the same place among the links. */
export function replaceKeepingFocus(element, nodes) {
  const active = element.contains(document.activeElement) ? document.activeElement : null;
  const focusable = () => [...element.querySelectorAll('a,button,input,select,summary')];
  const at = active ? focusable().indexOf(active) : -1;
  const fresh = document.createDocumentFragment();
  add(fresh, [nodes]);
  element.replaceChildren(fresh);
  if (at >= 0) focusable()[at]?.focus({ preventScroll: true });
}

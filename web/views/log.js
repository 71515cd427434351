// What a pod writes, as it writes it.
import { h } from '../ui/dom.js';
import { notice } from '../ui/parts.js';
import { core } from '../lib/api.js';

const MOST = 200_000; // characters that are kept

/** Shows the log of a pod in `place` and goes on; stop() ends it. */
export function openLog(api, ns, pod, place) {
  const abort = new AbortController();
  const text = document.createTextNode('');
  const state = h('span', { class: 'faint', role: 'status' }, 'reading');
  const pre = h('pre', { tabindex: '0', role: 'log', 'aria-label': `Log of ${pod}` });
  pre.append(text);
  const close = h(
    'button',
    {
      type: 'button',
      onclick: () => {
        abort.abort();
        place.replaceChildren();
      },
    },
    'Close',
  );
  place.replaceChildren(
    h(
      'div',
      { class: 'log' },
      h('div', { class: 'log-head' }, h('h3', {}, `Log of ${pod}`), state, close),
      pre,
    ),
  );
  let shown = '';
  const take = (piece) => {
    const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 8;
    shown = (shown + piece).slice(-MOST);
    text.data = shown;
    if (atEnd) pre.scrollTop = pre.scrollHeight;
    return true;
  };
  const path = `${core('pods', ns)}/${encodeURIComponent(pod)}/log`;
  api
    .stream(path, { follow: true, tailLines: 1000 }, abort.signal, take, () => {
      state.textContent = 'live';
    })
    .then((answer) => {
      if (abort.signal.aborted) return;
      if (answer.error) place.append(notice(answer.error, `the log of ${pod}`));
      state.textContent = answer.error ? '' : shown === '' ? 'it wrote nothing' : 'it ended';
    });
  pre.focus();
  return { stop: () => abort.abort() };
}

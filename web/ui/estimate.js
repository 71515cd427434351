// When a workload that waits would start: asked of the host when the user wants to know, for it plays
// the state on to find out. Nothing is written; whoever may change the job may ask.
import { h } from './dom.js';
import { refusal, when } from './answer.js';
import { PATH, questionAbout, verdict } from '../lib/whatif.js';
import { formatTime, parseTime } from '../lib/time.js';

/** An element that stays over redraws; `about()`: the workload as it is now. */
export function startEstimate(api, about, signal) {
  const said = h('div', { role: 'status' });
  const button = h('button', { type: 'button', onclick: () => ask() }, 'When would it start?');

  function show({ value, error }) {
    if (error) return said.replaceChildren(refusal(error));
    const { workloads = [], time } = value.status;
    const { name } = about().metadata;
    const told = workloads.find((one) => one.explanation?.metadata.name === name) ?? workloads[0];
    const now = parseTime(time);
    const drawn = told?.start
      ? when(told.start, now)
      : [h('p', { class: 'start' }, told ? `It ${verdict(told).text}.` : 'Nothing is known.')];
    return said.replaceChildren(
      ...h('div', {}, drawn, h('p', { class: 'faint' }, `As of ${formatTime(now, now)}.`)).childNodes,
    );
  }

  async function ask() {
    button.disabled = true;
    said.replaceChildren('Asking the host …');
    const got = await api.post(PATH, questionAbout(about()), signal);
    if (signal.aborted) return;
    button.disabled = false;
    button.textContent = 'Ask again';
    show(got);
  }

  return h('section', { class: 'estimate' }, said, h('p', {}, button));
}

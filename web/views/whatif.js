// What if: a form or a text asks what would become of objects if they were written, and the answer
// is drawn. Nothing is written.
import { h } from '../ui/dom.js';
import { View } from '../ui/view.js';
import { answer, refusal } from '../ui/answer.js';
import { kueue } from '../lib/api.js';
import {
  fieldOf,
  jobText,
  lineOf,
  mistakes,
  PATH,
  question,
  summary,
} from '../lib/whatif.js';

const FORM = [
  ['namespace', 'Namespace', {}],
  ['queue', 'LocalQueue', { list: 'ask-queues' }],
  ['name', 'Name of the job', {}],
  ['pods', 'Pods', { inputmode: 'numeric' }],
  ['cpu', 'CPU per pod', {}],
  ['memory', 'Memory per pod', { placeholder: 'none' }],
  ['gpu', 'GPUs per pod', { placeholder: 'none', inputmode: 'numeric' }],
  ['priority', 'Priority class', { list: 'ask-priorities', placeholder: 'none' }],
  ['time', 'Runs at most', { placeholder: 'no limit; 90m, 2h' }],
];

// The last question is there again after a look at another page; it goes when the user signs out.
const kept = new WeakMap();

class WhatIf extends View {
  #asking;
  #inputs = {};
  #errors = {};
  #status = h('p', { class: 'ask-status', role: 'status' });
  #result = h('div', { class: 'answer' });
  #own = h(
    'p',
    { class: 'faint', hidden: true },
    'You changed the text, so the form leaves it alone. ',
    h('button', { type: 'button', onclick: () => this.#fromForm() }, 'Write it from the form'),
  );

  begin() {
    const { api, ns, query } = this.ctx;
    if (!kept.has(api))
      kept.set(api, { fields: { namespace: ns, name: 'my-job', pods: '1', cpu: '1' }, own: false });
    this.kept = kept.get(api);
    this.#come(query);
    this.append(
      h('h1', {}, 'What if'),
      h(
        'p',
        { class: 'faint' },
        'What would become of a job, or of a change to queues and quotas, at this moment: would it ',
        'start, where, at whose cost, and else when? Nothing is written.',
      ),
      this.#form(),
      this.#status,
      this.#result,
    );
    this.own({ stop: () => this.#asking?.abort() });
    if (this.kept.own) this.#own.hidden = false;
    else this.#fromForm();
    if (this.kept.answer) this.#show(this.kept.answer);
    this.#nameQueues();
    this.#namePriorities();
  }

  /** From the page of a queue: a job for it, once. */
  #come(query) {
    if (!query.get('queue') || this.kept.from === String(query)) return;
    for (const name of ['namespace', 'queue']) this.kept.fields[name] = query.get(name) ?? '';
    Object.assign(this.kept, { from: String(query), own: false, answer: undefined });
  }

  #form() {
    this.text = h('textarea', {
      name: 'text',
      rows: '19',
      spellcheck: 'false',
      wrap: 'off',
      autocomplete: 'off',
      'aria-describedby': 'ask-text-help',
      oninput: () => this.#edited(),
    });
    this.text.value = this.kept.text ?? '';
    this.remove = h('input', { type: 'checkbox', name: 'remove' });
    this.remove.checked = this.kept.remove ?? false;
    return h(
      'form',
      {
        class: 'ask',
        novalidate: true,
        onsubmit: (event) => {
          event.preventDefault();
          this.#ask();
        },
      },
      h(
        'fieldset',
        {},
        h('legend', {}, 'A job'),
        FORM.map((one) => this.#field(...one)),
      ),
      h('datalist', { id: 'ask-queues' }),
      h('datalist', { id: 'ask-priorities' }),
      h(
        'div',
        { class: 'ask-text' },
        h('label', {}, h('span', {}, 'As YAML, to be changed; or paste your own'), this.text),
        h(
          'p',
          { class: 'faint', id: 'ask-text-help' },
          'YAML of one or several documents, or JSON: jobs of any kind, Workloads, ClusterQueues, …',
        ),
        this.#own,
      ),
      h(
        'div',
        { class: 'ask-go' },
        h('button', { type: 'submit', class: 'primary' }, 'What if?'),
        h('label', {}, this.remove, ' if these objects were deleted instead'),
      ),
    );
  }

  #field(name, label, more) {
    const error = h('small', { class: 'missing', id: `ask-${name}-error` });
    const input = h('input', {
      name,
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-describedby': error.id,
      ...more,
      oninput: () => {
        this.kept.fields[name] = input.value;
        this.#mark(name, '');
        if (!this.kept.own) this.#fromForm();
      },
      onchange: () => name === 'namespace' && this.#nameQueues(),
    });
    input.value = this.kept.fields[name] ?? '';
    this.#inputs[name] = input;
    this.#errors[name] = error;
    return h('label', {}, h('span', {}, label), input, error);
  }

  #edited() {
    this.kept.own = true;
    this.kept.text = this.text.value;
    this.#own.hidden = false;
  }

  #fromForm() {
    // The button is gone in a moment; the focus goes on in the text.
    if (this.#own.contains(document.activeElement)) this.text.focus();
    this.kept.own = false;
    this.#own.hidden = true;
    this.text.value = jobText(this.kept.fields);
    this.kept.text = this.text.value;
  }

  #mark(name, text) {
    this.#errors[name].textContent = text;
    if (text) this.#inputs[name].setAttribute('aria-invalid', 'true');
    else this.#inputs[name].removeAttribute('aria-invalid');
  }

  /** Marks the fields of {field: sentence}, all others as good; goes to the first. */
  #markAll(wrong) {
    for (const [name] of FORM) this.#mark(name, wrong[name] ?? '');
    const first = FORM.find(([name]) => wrong[name]);
    if (first) this.#inputs[first[0]].focus();
  }

  async #ask() {
    this.#asking?.abort();
    this.#markAll({});
    this.text.removeAttribute('aria-invalid');
    const wrong = this.kept.own ? {} : mistakes(this.kept.fields);
    if (Object.keys(wrong).length > 0) {
      this.#result.replaceChildren();
      this.#status.textContent = 'The form is not complete: see what stands under its fields.';
      return this.#markAll(wrong);
    }
    this.kept.remove = this.remove.checked;
    const body = question(
      this.text.value,
      this.#inputs.namespace.value.trim() || this.ctx.ns,
      this.remove.checked,
    );
    const asking = new AbortController();
    this.#asking = asking;
    this.#status.textContent = 'Asking the host …';
    this.#result.setAttribute('aria-busy', 'true');
    const got = await this.ctx.api.post(PATH, body, asking.signal);
    if (asking.signal.aborted) return;
    this.#result.removeAttribute('aria-busy');
    this.kept.answer = got.value?.status;
    if (got.error) return this.#refused(got.error);
    this.#show(got.value.status ?? {});
    this.#result.scrollIntoView({ block: 'nearest' });
  }

  #show(status) {
    this.#status.textContent = summary(status);
    const drawn = h('div', {}, answer(status));
    this.#result.replaceChildren(...drawn.childNodes);
  }

  /** At the fields that it is about, in the text where it names a line, and in words. */
  #refused(error) {
    const causes = error.causes ?? [];
    this.#status.textContent = '';
    this.#result.replaceChildren(refusal(error, causes, { role: 'alert' }));
    const line = lineOf(error);
    if (line) return this.#point(line);
    if (this.kept.own) return undefined;
    const wrong = {};
    for (const one of causes) wrong[fieldOf(one.field) ?? ''] ??= one.message;
    return this.#markAll(wrong);
  }

  #point(line) {
    const lines = this.text.value.split('\n');
    const from = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    this.text.setAttribute('aria-invalid', 'true');
    this.text.focus();
    this.text.setSelectionRange(from, from + (lines[line - 1] ?? '').length);
  }

  async #names(path, id) {
    const got = await this.ctx.api.get(path, { limit: 500 });
    const names = (got.value?.items ?? []).map((one) => one.metadata.name);
    this.querySelector(`#${id}`)?.replaceChildren(...names.map((value) => h('option', { value })));
    return names;
  }

  /** The queues of the namespace; the only one there is stands in the form at once. */
  async #nameQueues() {
    const ns = this.#inputs.namespace.value.trim();
    if (!ns) return;
    const names = await this.#names(kueue('localqueues', ns), 'ask-queues');
    const { queue } = this.#inputs;
    if (names.length !== 1 || queue.value) return;
    [queue.value] = names;
    this.kept.fields.queue = queue.value;
    if (document.activeElement === queue) queue.select(); // a user about to type replaces it
    if (!this.kept.own) this.#fromForm();
  }

  #namePriorities() {
    return this.#names(kueue('workloadpriorityclasses'), 'ask-priorities');
  }
}

customElements.define('view-whatif', WhatIf);

// Signing in: with a token, or with the certificate that the browser shows. The token stays in this
// tab: it is gone when the tab is closed.
import { h } from '../ui/dom.js';
import { ICON } from '../ui/parts.js';
import { Api } from '../lib/api.js';

class Login extends HTMLElement {
  /** Set by main.js: root, done(token, user), why: what went wrong before. */
  connectedCallback() {
    const input = h('input', {
      type: 'password',
      name: 'token',
      autocomplete: 'off',
      spellcheck: 'false',
      required: true,
      'aria-describedby': 'login-help',
    });
    const status = h('p', { class: 'status', role: 'alert' }, this.why ?? '');
    const enter = async (token) => {
      status.textContent = 'Asking the host …';
      const answer = await new Api(this.root, token).whoAmI();
      if (answer.value) return this.done(token, answer.value);
      status.textContent =
        answer.error.kind === 'unauthorized'
          ? token
            ? 'The host does not know this token.'
            : 'The host does not know you: your browser showed no certificate that it accepts.'
          : answer.error.text;
    };
    const form = h(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          enter(input.value.trim());
        },
      },
      h('label', {}, h('span', {}, 'Token'), input),
      h('button', { type: 'submit', class: 'primary' }, 'Sign in'),
      h('button', { type: 'button', onclick: () => enter('') }, 'Use my certificate'),
    );
    this.replaceChildren(
      h(
        'main',
        { id: 'main', class: 'login' },
        h('img', { src: ICON, alt: '', width: '56', height: '56' }),
        h('h1', {}, 'Sluice'),
        h('p', {}, 'Who runs, who waits, and why.'),
        form,
        status,
        h(
          'p',
          { id: 'login-help', class: 'faint' },
          'The token is the one in your kubeconfig (',
          h('code', {}, 'kubectl config view --raw'),
          '). This page shows what you may see and nothing else; the token stays in this tab.',
        ),
      ),
    );
    input.focus();
  }
}

customElements.define('sluice-login', Login);

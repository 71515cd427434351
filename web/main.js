// The page: the signed-in user, the present view, and what stands around it.
import { Api, core } from './lib/api.js';
import { h } from './ui/dom.js';
import { ICON } from './ui/parts.js';
import './ui/live.js';
import './ui/rows.js';
import './views/checks.js';
import './views/flavors.js';
import './views/login.js';
import './views/overview.js';
import './views/plugins.js';
import './views/queue.js';
import './views/whatif.js';
import './views/workload.js';
import './views/workloads.js';

const ROOT = new URL('..', import.meta.url).pathname;
const TOKEN = 'sluice.token';
const USER = 'sluice.user';
const NAMESPACE = 'sluice.namespace';

const NAV = [
  ['overview', 'Overview'],
  ['workloads', 'Workloads'],
  ['whatif', 'What if'],
  ['flavors', 'Flavors and nodes'],
  ['checks', 'Checks'],
  ['plugins', 'Plugins'],
];

/** As it stands where somebody typed what is no encoding. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** '#/clusterqueues/a?flavor=b' → which element, with what. */
function route(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decoded);
  const out = { query: new URLSearchParams(query), params: {}, nav: parts[0] };
  const [first, second, third] = parts;
  if (first === 'clusterqueues' && second)
    return {
      ...out,
      view: 'view-queue',
      nav: 'overview',
      title: second,
      params: { kind: first, name: second },
    };
  if (first === 'localqueues' && third)
    return {
      ...out,
      view: 'view-queue',
      nav: 'overview',
      title: third,
      params: { kind: first, ns: second, name: third },
    };
  if (first === 'workloads' && third)
    return { ...out, view: 'view-workload', title: third, params: { ns: second, name: third } };
  if (first === 'nodes' && second)
    return { ...out, view: 'view-node', nav: 'flavors', title: second, params: { name: second } };
  const known = NAV.find(([name]) => name === first);
  return known
    ? { ...out, view: `view-${first}`, title: known[1] }
    : { ...out, view: 'view-overview', nav: 'overview', title: 'Overview' };
}

class Page {
  #api;
  #main = h('main', { id: 'main', tabindex: '-1' });
  #live = document.createElement('live-state');
  #links = NAV.map(([name, text]) => h('a', { href: `#/${name}`, 'data-nav': name }, text));
  #onHash = () => this.#show(true);

  constructor(token, user) {
    this.#api = new Api(ROOT, token);
    this.#api.onUnauthorized = () => signOut('The host no longer knows you: sign in again.');
    const names = h('datalist', { id: 'namespaces' });
    this.ns = h('input', {
      list: 'namespaces',
      placeholder: 'all',
      'aria-label': 'Namespace; empty for all',
      spellcheck: 'false',
      value: sessionStorage.getItem(NAMESPACE) ?? '',
      onchange: () => this.#setNamespace(),
    });
    const skip = h(
      'a',
      {
        class: 'skip',
        href: '#main',
        onclick: (event) => {
          event.preventDefault();
          this.#main.focus();
        },
      },
      'To the content',
    );
    document.body.replaceChildren(
      skip,
      h(
        'header',
        { class: 'top' },
        h(
          'a',
          { class: 'brand', href: '#/overview' },
          h('img', { src: ICON, alt: '', width: '26', height: '26' }),
          'Sluice',
        ),
        h('nav', { 'aria-label': 'Pages' }, this.#links),
        h(
          'div',
          { class: 'who' },
          this.#live,
          h('label', { class: 'ns' }, h('span', {}, 'Namespace'), this.ns),
          names,
          h('span', { class: 'user', title: (user.groups ?? []).join(', ') }, user.username),
          h('button', { type: 'button', onclick: () => signOut('') }, 'Sign out'),
        ),
      ),
      this.#main,
    );
    addEventListener('hashchange', this.#onHash);
    this.#show(false);
    this.#nameNamespaces(names);
  }

  close() {
    removeEventListener('hashchange', this.#onHash);
  }

  #setNamespace() {
    sessionStorage.setItem(NAMESPACE, this.ns.value.trim());
    this.#show(false);
  }

  /** Users that may not list namespaces type theirs. */
  async #nameNamespaces(list) {
    const answer = await this.#api.post('apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'list', resource: 'namespaces' } },
    });
    if (!answer.value?.status?.allowed) return;
    const all = await this.#api.get(core('namespaces'), { limit: 500 });
    list.replaceChildren(
      ...(all.value?.items ?? []).map((one) => h('option', { value: one.metadata.name })),
    );
  }

  #show(byUser) {
    const { view, title, nav, params, query } = route(location.hash);
    const element = document.createElement(view);
    element.ctx = { api: this.#api, live: this.#live, ns: this.ns.value.trim(), params, query };
    for (const one of this.#links) {
      if (one.dataset.nav === nav) one.setAttribute('aria-current', 'page');
      else one.removeAttribute('aria-current');
    }
    document.title = `${title} · Sluice`;
    this.#main.replaceChildren(element);
    if (!byUser) return;
    scrollTo(0, 0);
    this.#main.focus({ preventScroll: true });
  }
}

let page;

function signIn(token, user) {
  sessionStorage.setItem(TOKEN, token);
  sessionStorage.setItem(USER, JSON.stringify(user));
  page = new Page(token, user);
}

function signOut(why) {
  page?.close();
  page = undefined;
  sessionStorage.removeItem(TOKEN);
  sessionStorage.removeItem(USER);
  const login = document.createElement('sluice-login');
  Object.assign(login, { root: ROOT, why, done: signIn });
  document.body.replaceChildren(login);
}

const user = sessionStorage.getItem(USER);
if (user) signIn(sessionStorage.getItem(TOKEN) ?? '', JSON.parse(user));
else signOut('');

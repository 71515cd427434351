// The API as this page uses it: reads, and questions that change nothing. It has the rights of the
// user that is signed in and no others. Errors are values: {kind, text, code, causes, retryMs};
// causes are those of a Status: [{field, message}].

const KINDS = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'missing',
  410: 'gone',
  429: 'busy',
  503: 'busy',
};
const SILENCE_MS = 150_000; // a watch says something (a bookmark) every minute

function offline(error) {
  return {
    error: { kind: 'offline', text: `the host cannot be reached (${error.message})`, retryMs: 0 },
  };
}

async function refusal(response) {
  let text = '';
  let causes = [];
  try {
    const status = await response.json();
    text = status.message ?? '';
    causes = status.details?.causes ?? [];
  } catch {
    text = response.statusText;
  }
  const retryMs = 1000 * Number(response.headers.get('Retry-After') ?? 0);
  return {
    error: {
      kind: KINDS[response.status] ?? 'refused',
      code: response.status,
      text,
      causes,
      retryMs,
    },
  };
}

/** Complete lines out of pieces of text; what is left over comes first next time. */
export class Lines {
  #rest = '';
  push(piece) {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop();
    return lines.filter((line) => line !== '');
  }
}

export class Api {
  #root;
  #token;
  /** Called when the host no longer accepts the credentials. */
  onUnauthorized = () => {};

  /** @param root path of the API, with / at its end; @param token '' for a certificate */
  constructor(root, token) {
    this.#root = root;
    this.#token = token;
  }

  #open(path, query, signal, more = {}) {
    const url = new URL(this.#root + path, location.origin);
    for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value);
    const headers = { Accept: 'application/json', ...more.headers };
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    return fetch(url, { signal, cache: 'no-store', redirect: 'error', ...more, headers });
  }

  async #read(path, query, signal, more, take) {
    try {
      const response = await this.#open(path, query, signal, more);
      if (response.ok) return { value: await take(response) };
      const answer = await refusal(response);
      if (answer.error.kind === 'unauthorized') this.onUnauthorized();
      return answer;
    } catch (error) {
      return offline(error);
    }
  }

  get(path, query, signal) {
    return this.#read(path, query, signal, {}, (response) => response.json());
  }

  text(path, query, signal) {
    return this.#read(path, query, signal, { headers: { Accept: '*/*' } }, (response) =>
      response.text(),
    );
  }

  post(path, body, signal) {
    const more = {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    };
    return this.#read(path, {}, signal, more, (response) => response.json());
  }

  /** Calls take(text) with the pieces of a stream until it ends, or take returns false. */
  stream(path, query, signal, take, opened = () => {}) {
    return this.#read(path, query, signal, { headers: { Accept: '*/*' } }, async (response) => {
      opened();
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      for (;;) {
        let timer;
        const silence = new Promise((_, reject) => {
          timer = setTimeout(() => reject(new Error('it says nothing any more')), SILENCE_MS);
        });
        let piece;
        try {
          piece = await Promise.race([
            reader.read(),
            query.watch ? silence : new Promise(() => {}),
          ]);
        } catch (error) {
          reader.cancel().catch(() => {});
          throw error;
        } finally {
          clearTimeout(timer);
        }
        if (piece.done) return true;
        if (take(decoder.decode(piece.value, { stream: true })) === false) {
          reader.cancel().catch(() => {});
          return true;
        }
      }
    });
  }

  /** A stream of JSON texts, one a line, each given to take(value). */
  lines(path, query, signal, take, opened) {
    const lines = new Lines();
    return this.stream(
      path,
      query,
      signal,
      (piece) => {
        for (const line of lines.push(piece)) if (take(JSON.parse(line)) === false) return false;
        return true;
      },
      opened,
    );
  }

  /** The user of these credentials. */
  async whoAmI() {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const answer = await this.post('apis/authentication.k8s.io/v1/selfsubjectreviews', body);
    if (answer.value) return { value: answer.value.status?.userInfo ?? {} };
    if (['unauthorized', 'offline', 'busy'].includes(answer.error.kind)) return answer;
    // An observer takes no questions of this kind, but knows its users.
    const known = await this.get('api');
    return known.error?.kind === 'unauthorized' ? known : { value: {} };
  }
}

export const KUEUE = 'apis/kueue.x-k8s.io/v1beta2';
export const VISIBILITY = 'apis/visibility.kueue.x-k8s.io/v1beta2';

const part = encodeURIComponent;
/** Path of a collection of Kueue's group: in a namespace, or in all of them when `ns` is empty. */
export const kueue = (plural, ns) => `${KUEUE}/${ns ? `namespaces/${part(ns)}/` : ''}${plural}`;
export const core = (plural, ns) => `api/v1/${ns ? `namespaces/${part(ns)}/` : ''}${plural}`;
export const pending = (queue, ns) =>
  ns
    ? `${VISIBILITY}/namespaces/${part(ns)}/localqueues/${part(queue)}/pendingworkloads`
    : `${VISIBILITY}/clusterqueues/${part(queue)}/pendingworkloads`;
export const explanation = (ns, name) =>
  `apis/sluice.dev/v1alpha1/namespaces/${part(ns)}/workloads/${part(name)}/explain`;

import { setTimeout as sleep } from 'node:timers/promises';
import { retryAfterMs } from '../retry-after.ts';
import { loadClusterAccess } from './kubeconfig.ts';
import { createCredentials } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { createDispatchers } from './dispatchers.ts';
import { KubernetesError, noAnswer, refusal } from './kubernetes-error.ts';
import { lineSplitter } from './line-splitter.ts';

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface KubernetesConnection {
  readonly server: string;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
  /** The parsed answer. Rejects with a `KubernetesError`, or with the signal's reason. */
  request<T>(method: Verb, path: string, options?: RequestOptions): Promise<T>;
  /** Hands each line of a streamed answer to `onLine`; resolves when the server ends the stream. Never repeats. */
  stream(path: string, options: StreamOptions): Promise<void>;
  /** Lets running requests end, cuts streams. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Path of a kubeconfig; otherwise found as kubectl does, or the pod's service account. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly userAgent?: string;
  /** Time the server has to begin an answer, and between two pieces of it. */
  readonly requestTimeoutMs?: number;
  /** Connections for requests; each stream has one of its own beside these. */
  readonly connectionsMax?: number;
}

export interface CallOptions {
  /** The call in words for errors, verb first: `get secrets default/key`. */
  readonly what?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** A user to act as, such as `system:serviceaccount:default:default`; the server adds its groups. */
  readonly impersonate?: string;
  readonly signal?: AbortSignal;
}

export interface RequestOptions extends CallOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  /** False for what must not be done twice: by default POST only. */
  readonly repeatable?: boolean;
  /** Attempts in all, at least 1. */
  readonly attemptsMax?: number;
}

export interface StreamOptions extends CallOptions {
  /** Silence after which the stream counts as dead. */
  readonly silenceMsMax: number;
  readonly onLine: (line: string) => void;
}

const attemptsMaxDefault = 4;
const firstWaitMs = 100;
/** A server that asks for more patience than this gets its request from the caller's own retry. */
const waitMsMax = 5_000;

/** A connection to the API server that keeps working: pooled sockets, fresh credentials, bounded retries. */
export function connectKubernetes(options: ConnectOptions = {}): KubernetesConnection {
  const access = loadClusterAccess(options);
  const credentials = createCredentials(access);
  const dispatchers = createDispatchers(access, {
    timeoutMs: options.requestTimeoutMs ?? 15_000,
    connectionsMax: options.connectionsMax ?? 32,
  });
  const { origin, pathname } = new URL(access.server);
  const prefix = pathname === '/' ? '' : pathname;
  const target = (path: string, query?: CallOptions['query']) => ({
    origin,
    path: prefix + path + search(query),
  });
  const userAgent = options.userAgent ?? 'arkwright';

  /** Runs `call` with the current credential; anything but an answer of 2xx is thrown as a `KubernetesError`. */
  async function attempt<T>(
    what: string,
    { impersonate, signal }: CallOptions,
    call: (headers: Record<string, string | string[]>, credential: Credential) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const credential = await credentials.current().catch((error: Error) => {
      const facts = { reason: 'NoCredentials', detail: error.message, retryable: true, sent: false };
      throw new KubernetesError(what, facts, { cause: error });
    });
    const headers: Record<string, string | string[]> = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...credential.headers,
    };
    if (impersonate) headers['impersonate-user'] = impersonate;
    try {
      return await call(headers, credential);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof KubernetesError)) throw noAnswer(what, error);
      if (error.status === 401) credentials.refuse(credential);
      throw error;
    }
  }

  return {
    server: access.server,
    namespace: access.namespace,

    async request<T>(method: Verb, path: string, call: RequestOptions = {}): Promise<T> {
      const { what = `${method.toLowerCase()} ${path}`, body, query, signal } = call;
      const repeatable = call.repeatable ?? method !== 'POST';
      const payload = body === undefined ? undefined : JSON.stringify(body);

      for (let count = 1; ; count++) {
        try {
          return await attempt(what, call, async (headers, credential) => {
            if (payload !== undefined) headers['content-type'] = call.contentType ?? 'application/json';
            const answer = await dispatchers
              .requests(credential)
              .request({ ...target(path, query), method, headers, body: payload, signal });
            const text = await answer.body.text();
            if (answer.statusCode >= 300) throw refused(what, answer.statusCode, text, answer.headers);
            return parse(what, text) as T;
          });
        } catch (error) {
          const waitMs = waitBeforeRepeating(error, count, repeatable);
          if (waitMs === undefined || count >= (call.attemptsMax ?? attemptsMaxDefault)) throw error;
          await sleep(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
        }
      }
    },

    async stream(path, call) {
      const { what = `watch ${path}`, query, signal, silenceMsMax, onLine } = call;
      await attempt(what, call, async (headers, credential) => {
        const answer = await dispatchers
          .streams(credential)
          .request({ ...target(path, query), method: 'GET', headers, signal, bodyTimeout: silenceMsMax });
        if (answer.statusCode !== 200)
          throw refused(what, answer.statusCode, await answer.body.text(), answer.headers);

        const split = lineSplitter(onLine);
        for await (const chunk of answer.body) split(chunk as Buffer);
      });
    },

    close: () => dispatchers.close(),
  };
}

function search(query: CallOptions['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') given.set(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function refused(what: string, status: number, text: string, headers: Headers): KubernetesError {
  const get = (name: string) => [headers[name]].flat()[0] ?? null;
  return refusal(what, status, text, retryAfterMs({ get }, Date.now()));
}

function parse(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = `the answer is not JSON: ${text.length} characters`;
    throw new KubernetesError(
      what,
      { status: 200, reason: 'Unreadable', detail, retryable: true },
      { cause: error },
    );
  }
}

/**
 * Undefined where repeating is useless, or could do something twice. What was refused by 429 or never sent was not
 * done; a rejected credential is worth one more attempt, because the next one may be a renewed one.
 */
function waitBeforeRepeating(error: unknown, count: number, repeatable: boolean): number | undefined {
  if (!(error instanceof KubernetesError)) return undefined;
  if (error.status === 401) return count === 1 ? 0 : undefined;
  if (!error.retryable) return undefined;
  if (!repeatable && error.sent && error.status !== 429) return undefined;

  const waitMs = Math.max(
    error.retryAfterMs ?? 0,
    firstWaitMs * 4 ** (count - 1) * (0.75 + Math.random() / 2),
  );
  return waitMs <= waitMsMax ? waitMs : undefined;
}

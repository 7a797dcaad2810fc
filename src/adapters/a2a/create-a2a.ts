import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { A2aPort, CallOptions, ResolvedEndpoint, Timed } from '../../activities/ports.ts';
import { createHttp, inWords, type Http } from '../http/create-http.ts';
import { postJson } from '../http/json.ts';
import { RemoteError } from '../remote-error.ts';
import { readCard, type AgentCard } from './agent-card.ts';
import { progressOf } from './results.ts';

const pollMsDefault = 1_000;
/** Polls in a row that may fail before the task is given up: asking anew would cost the whole task. */
const lostPollsMax = 3;
const pollTimeoutMs = 30_000;
const cancelTimeoutMs = 5_000;

export interface A2a extends A2aPort {
  /**
   * The agent's whole answer, sent once. A task is polled until it ends or until `timeoutMs` has passed, and is cancelled
   * when nobody waits for it any longer. The message's id comes from the idempotency key, so that a server can tell a
   * repeated message. Rejects with the signal's reason, or with a RemoteError in the words of contract section 4.13.
   */
  send(server: ResolvedEndpoint, text: string, options: SendOptions): Promise<string>;
  /** What the server says of its agent; at most 30 seconds for each of the two places where a card may be. */
  card(server: ResolvedEndpoint, signal: AbortSignal): Promise<AgentCard>;
  close(): Promise<void>;
}

export interface SendOptions extends CallOptions, Timed {
  /** Goes with the message; left out where there is none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

interface Pace {
  /** How long to wait before a task is asked for again; a second if nothing is said. */
  readonly pollMs: number;
}

/**
 * The client of A2A servers. JSON-RPC is written by hand: ARK's requests are byte for byte what its servers were tested
 * with, go to the configured address and not to the card's, and a library negotiates a protocol version that the
 * 0.2 servers in use do not speak.
 */
export function createA2a({ pollMs = pollMsDefault }: Partial<Pace> = {}): A2a {
  const http = createHttp();
  return {
    async send(server, text, options) {
      try {
        return await converse(http, server, text, { ...options, pollMs });
      } catch (error) {
        throw inWords(error, ({ message }) => `A2A agent execution failed: ${message}`);
      }
    },
    card: ({ address, headers }, signal) => readCard(http, bare(address), headers, signal),
    close: () => http.close(),
  };
}

async function converse(
  http: Http,
  server: ResolvedEndpoint,
  text: string,
  { signal, timeoutMs, pollMs, idempotencyKey, metadata }: SendOptions & Pace,
): Promise<string> {
  const endMs = performance.now() + timeoutMs;
  const call = callerOf(http, server, idempotencyKey);
  const message = {
    messageId: messageId(idempotencyKey),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...(metadata && { metadata }),
  };
  const first = progressOf(await call('message/send', { message }, { signal, timeoutMs }));
  if ('text' in first) return first.text;

  try {
    return await untilEnded(call, first.task, { signal, endMs, timeoutMs, pollMs });
  } catch (error) {
    if (signal.aborted || isTimeout(error)) cancel(call, first.task);
    throw error;
  }
}

interface Patience extends Timed, Pace {
  readonly signal: AbortSignal;
  readonly endMs: number;
}

async function untilEnded(
  call: Call,
  task: string,
  { signal, endMs, timeoutMs, pollMs }: Patience,
): Promise<string> {
  let lost = 0;
  for (;;) {
    const leftMs = endMs - performance.now() - pollMs;
    if (leftMs <= 0)
      throw new RemoteError('timeout', `A2A task did not end within ${timeoutMs / 1_000} s`, { sent: true });
    await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    try {
      const limits = { signal, timeoutMs: Math.min(leftMs, pollTimeoutMs) };
      const now = progressOf(await call('tasks/get', { id: task }, limits));
      if ('text' in now) return now.text;
      lost = 0;
    } catch (error) {
      lost += 1;
      if (!mayPass(error) || lost > lostPollsMax) throw asSent(error);
    }
  }
}

/** Tells the server to stop, and waits for nobody: the caller has left. */
function cancel(call: Call, task: string): void {
  const limits = { signal: new AbortController().signal, timeoutMs: cancelTimeoutMs };
  call('tasks/cancel', { id: task }, limits).catch(() => undefined);
}

type Call = (
  method: string,
  params: object,
  limits: { readonly signal: AbortSignal; readonly timeoutMs: number },
) => Promise<unknown>;

/** One JSON-RPC call, answered with its result. */
const callerOf =
  (http: Http, { address, headers }: ResolvedEndpoint, idempotencyKey: string): Call =>
  async (method, params, limits) => {
    const body = { jsonrpc: '2.0', method, params, id: 1 };
    const answer = await postJson(http, bare(address), body, {
      ...limits,
      headers: [{ name: 'idempotency-key', value: idempotencyKey }, ...headers],
      isAnswer: (status) => status === 200,
    }).catch((error: unknown) => {
      throw inWords(error, ({ status, message }) =>
        status === undefined ? message : `A2A server returned HTTP status ${status}`,
      );
    });
    const { error, result } = (answer ?? {}) as { readonly error?: RpcError; readonly result?: unknown };
    if (error)
      throw new RemoteError('refused', `A2A server returned error: ${error.message} (code ${error.code})`, {
        sent: true,
      });
    return result;
  };

interface RpcError {
  readonly message?: string;
  readonly code?: number;
}

/** The same for the same call, so that a server that remembers messages need not do its work twice. */
const messageId = (idempotencyKey: string): string =>
  `msg-${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 32)}`;

const bare = (address: string): string => address.replace(/\/$/, '');

const isTimeout = (error: unknown): boolean => error instanceof RemoteError && error.kind === 'timeout';

const mayPass = (error: unknown): boolean =>
  error instanceof RemoteError &&
  (error.kind === 'network' ||
    error.kind === 'timeout' ||
    error.status === 429 ||
    (error.status ?? 0) >= 500);

/** Whatever became of a poll, the message itself has arrived. */
const asSent = (error: unknown): unknown =>
  error instanceof RemoteError ? new RemoteError(error.kind, error.message, { ...error, sent: true }) : error;

import { AsyncLocalStorage } from 'node:async_hooks';
import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, fetch, Response, type RequestInit } from 'undici';
import { noting } from '../http/create-http.ts';
import { retryAfterMs } from '../retry-after.ts';
import { traceHeaders } from '../telemetry/trace-context.ts';

const connectTimeoutMs = 10_000;
const connectionsPerOrigin = 64;
/** How long a reply may be on its way through the library after the last byte. */
const digestionMs = 250;
const answerBytesMax = 16 * 1024 * 1024;

/** What became of the requests that one exchange with a server took: the client library tells it in prose only. */
export interface Journey {
  /** Ends the requests with the exchange they belong to. */
  readonly signal: AbortSignal;
  readonly idempotencyKey?: string;
  /** Called where an answer ended without the reply that was waited for. */
  readonly lost?: () => void;
  /** Runs while it is not known whether the last answer brought its reply; the next request tells that it did. */
  digestion?: NodeJS.Timeout;
  /** Whether a request may have reached the server. */
  sent: boolean;
  /** Whether a message was posted: the older transport opens its stream before. */
  posted?: boolean;
  /** Of the answer that refused. */
  status?: number;
  retryAfterMs?: number | undefined;
  /** What the network said. */
  cause?: unknown;
}

export interface Roads {
  readonly fetch: FetchLike;
  /** Runs an exchange; its requests write into the journey. */
  travel<R>(journey: Journey, exchange: () => Promise<R>): Promise<R>;
  close(): Promise<void>;
}

/** The network as the client library sees it, over connections that all servers share. */
export function createRoads(): Roads {
  const journeys = new AsyncLocalStorage<Journey>();
  // How long an answer may take is the caller's to say; a stream of events has no end at all.
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connections: connectionsPerOrigin,
    connect: { timeout: connectTimeoutMs },
    maxResponseSize: answerBytesMax,
  });

  async function travelling(url: string | URL, init: RequestInit): Promise<Response> {
    const journey = journeys.getStore();
    const body = typeof init.body === 'string' ? init.body : undefined;
    // A notice, such as that of a cancelled call, is sent whatever became of the exchange.
    if (!journey || (body !== undefined && !isRequest(body)))
      return fetch(url, { ...init, dispatcher: agent });

    const headers = new Headers({ ...traceHeaders(), ...Object.fromEntries(new Headers(init.headers)) });
    clearTimeout(journey.digestion);
    if (body !== undefined) journey.posted = true;
    if (body !== undefined && journey.idempotencyKey) headers.set('idempotency-key', journey.idempotencyKey);
    try {
      const answer = await fetch(url, {
        ...init,
        headers: [...headers],
        // The older transport's stream outlives the exchange that opened it.
        signal: body === undefined ? (init.signal ?? null) : either(init.signal, journey.signal),
        dispatcher: agent.compose(noting(journey)),
      });
      if (!answer.ok) {
        journey.status = answer.status;
        journey.retryAfterMs = retryAfterMs(answer.headers, Date.now());
      }
      return body === undefined ? answer : watched(answer, journey);
    } catch (error) {
      journey.cause = error;
      throw error;
    }
  }

  return {
    fetch: travelling as unknown as FetchLike,
    travel: (journey, exchange) => journeys.run(journey, exchange),
    close: () => agent.destroy(),
  };
}

const either = (one: AbortSignal | null | undefined, other: AbortSignal): AbortSignal =>
  one ? AbortSignal.any([one, other]) : other;

const isRequest = (body: string): boolean => (JSON.parse(body) as { id?: unknown }).id !== undefined;

/** The same answer. The library waits for ever where a stream of events ends, or is cut, before the reply came. */
function watched(answer: Response, journey: Journey): Response {
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream');
  if (!isStream || !answer.body || !journey.lost) return answer;
  const { status, statusText, headers } = answer;
  return new Response(ReadableStream.from(throughTheEnd(answer.body, journey)), {
    status,
    statusText,
    headers,
  });
}

async function* throughTheEnd(body: AsyncIterable<Uint8Array>, journey: Journey): AsyncGenerator<Uint8Array> {
  let isResumable = false;
  try {
    for await (const chunk of body) {
      isResumable ||= /^id:/m.test(Buffer.from(chunk).toString('latin1'));
      yield chunk;
    }
  } catch (error) {
    journey.cause = error;
    throw error;
  } finally {
    // Where events have ids the library asks for the rest of them.
    if (!isResumable) journey.digestion = setTimeout(() => journey.lost?.(), digestionMs).unref();
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { MemoryAddress, MemoryPort } from '../../activities/ports.ts';
import type { Message } from '../../api/transcript.ts';
import { createHttp, inWords, type Http, type HttpOptions } from '../http/create-http.ts';
import { getJson, jsonRequest } from '../http/json.ts';
import { readCapped } from '../http/read-capped.ts';
import type { RemoteError } from '../remote-error.ts';
import { queryEscape } from '../templates/go-escape.ts';
import { createServices, type Service } from './memory-dialect.ts';
import { memoryHeaders } from './memory-headers.ts';
import { readConversation, type Kept } from './read-conversation.ts';
import { recent } from './recent.ts';
import { wireMessage } from '../wire-message.ts';
import { fromWire } from './wire-messages.ts';

const timeoutMs = 30_000;
/** The most that is read of a session, which the older dialect can only give as a whole. */
const sessionBytesMax = 64 * 1024 * 1024;

/**
 * Memories, over pooled connections, in the dialect that each speaks. Every call is made once, in the words of contract
 * section 5.2; a history is cut to its newest part (`historyBytesMax`).
 */
export function createMemories(options: HttpOptions = {}): MemoryPort & { close(): Promise<void> } {
  const http = createHttp(options);
  const serviceAt = createServices(http);

  return {
    async read(memory, signal) {
      const address = trimmed(memory.address);
      const service = await serviceAt(address, signal);
      const { messages, held } = await read(http, service, { ...memory, address }, signal);
      return { messages: recent(messages), held };
    },
    async append(memory, messages, { signal, idempotencyKey, isRepeated, heldBefore }) {
      if (messages.length === 0) return;
      const at = { ...memory, address: trimmed(memory.address) };
      const service = await serviceAt(at.address, signal);
      if (isRepeated && !service.isIdempotent) {
        const since = await read(http, service, at, signal, heldBefore);
        if (holds(since.messages, messages)) return;
      }
      await append(http, service, at, { messages, signal, idempotencyKey });
    },
    close: () => http.close(),
  };
}

const trimmed = (address: string): string => address.replace(/\/$/, '');

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

async function read(
  http: Http,
  { dialect }: Service,
  memory: MemoryAddress,
  signal: AbortSignal,
  since = 0,
): Promise<{ readonly messages: readonly Message[]; readonly held: number }> {
  const limits = {
    headers: memoryHeaders,
    signal,
    timeoutMs,
    isAnswer: isSuccess,
    bytesMax: sessionBytesMax,
  };
  try {
    const readKept = dialect === 'conversations' ? readConversation : readSession;
    const { messages, held } = await readKept(http, memory, limits, since);
    return { messages: fromWire(messages), held };
  } catch (error) {
    throw inWords(error, words);
  }
}

/** The older dialect gives a session as a whole. */
async function readSession(
  http: Http,
  memory: MemoryAddress,
  limits: Parameters<typeof getJson>[2],
  since: number,
): Promise<Kept> {
  const { messages } = ((await getJson(http, sessionUrl(memory), limits)) ?? {}) as { messages?: unknown };
  const kept: readonly unknown[] = Array.isArray(messages) ? messages : [];
  return { messages: kept.slice(since), held: kept.length };
}

async function append(
  http: Http,
  { dialect }: Service,
  memory: MemoryAddress,
  { messages, signal, idempotencyKey }: Append,
): Promise<void> {
  const headers = [...memoryHeaders, { name: 'idempotency-key', value: idempotencyKey }];
  const wire = messages.map(wireMessage);
  const { address, session, query } = memory;
  const content = { conversation_id: session, query_id: query, messages: wire };
  const request = () =>
    dialect === 'conversations'
      ? jsonRequest('POST', `${address}/messages`, { headers, content })
      : jsonRequest('PUT', sessionUrl(memory), { headers, content: { messages: wire } });
  try {
    // Whatever the body says, the status says that the messages are kept.
    await http.send(request(), readCapped, { signal, timeoutMs, isAnswer: isSuccess });
  } catch (error) {
    throw inWords(error, words);
  }
}

interface Append {
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
}

const sessionUrl = ({ address, session }: MemoryAddress): string =>
  `${address}/messages/${queryEscape(session)}`;

/** Contract section 5.2; what a message's own error says stays as it is. */
function words({ kind, status, message }: RemoteError): string {
  if (message.startsWith('failed to unmarshal ')) return message;
  switch (kind) {
    case 'status':
      return `HTTP status ${status}`;
    case 'protocol':
    case 'too-large':
      return `failed to decode response: ${message}`;
    case 'network':
    case 'timeout':
    case 'template':
    case 'refused':
      return `HTTP request failed: ${message}`;
  }
}

/**
 * Whether the messages stand together somewhere, in any order: the service of contract section 5.3 does not keep that of
 * messages it was given together. What somebody else has added in the very same words cannot be told from them.
 */
function holds(kept: readonly Message[], messages: readonly Message[]): boolean {
  const texts = (some: readonly Message[]) => some.map((one) => JSON.stringify(wireMessage(one)));
  const wanted = texts(messages).toSorted();
  const there = texts(kept);
  return there.some((_, from) =>
    isDeepStrictEqual(there.slice(from, from + wanted.length).toSorted(), wanted),
  );
}

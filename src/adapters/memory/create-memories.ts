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
import { readConversation } from './read-conversation.ts';
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
      return recent(await read(http, service, { ...memory, address }, signal));
    },
    async append(memory, messages, { signal, idempotencyKey, isRepeated }) {
      if (messages.length === 0) return;
      const at = { ...memory, address: trimmed(memory.address) };
      const service = await serviceAt(at.address, signal);
      if (isRepeated && !service.isIdempotent) {
        if (endsWith(await read(http, service, at, signal), messages)) return;
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
): Promise<readonly Message[]> {
  const limits = {
    headers: memoryHeaders,
    signal,
    timeoutMs,
    isAnswer: isSuccess,
    bytesMax: sessionBytesMax,
  };
  try {
    if (dialect === 'conversations') return fromWire(await readConversation(http, memory, limits));

    const { messages } = ((await getJson(http, sessionUrl(memory), limits)) ?? {}) as { messages?: unknown };
    return fromWire(Array.isArray(messages) ? messages : []);
  } catch (error) {
    throw inWords(error, words);
  }
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

/** In any order: the service of contract section 5.3 does not keep that of messages it was given together. */
function endsWith(kept: readonly Message[], messages: readonly Message[]): boolean {
  const texts = (some: readonly Message[]) => some.map((one) => JSON.stringify(wireMessage(one))).toSorted();
  return isDeepStrictEqual(texts(kept.slice(-messages.length)), texts(messages));
}

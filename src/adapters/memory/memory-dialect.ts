import { LRUCache } from 'lru-cache';
import type { Http } from '../http/create-http.ts';
import { getJson } from '../http/json.ts';
import { memoryHeaders } from './memory-headers.ts';

export interface Service {
  /** `sessions` is that of ARK v0.1.31 (contract section 5.2), `conversations` the newer one (section 12). */
  readonly dialect: 'sessions' | 'conversations';
  /** Whether it says that it adds once for an `Idempotency-Key`, as Arkwright's broker does. */
  readonly isIdempotent: boolean;
}

const oldService: Service = { dialect: 'sessions', isIdempotent: false };

const addressesMax = 500;
/** A service may be replaced by another one behind the same address. */
const knownForMs = 10 * 60_000;
const probeTimeoutMs = 5_000;

/**
 * Finds out what a memory speaks, by asking it for its conversations. Whatever does not list them speaks the
 * older one; one that does not answer at all is asked again the next time.
 */
export function createServices(http: Http): (address: string, signal: AbortSignal) => Promise<Service> {
  const known = new LRUCache<string, Service>({ max: addressesMax, ttl: knownForMs });

  return async (address, signal) => {
    const before = known.get(address);
    if (before) return before;

    const found = await probe(http, address, signal);
    if (found) known.set(address, found);
    return found ?? oldService;
  };
}

/** Undefined where nobody could say. */
async function probe(http: Http, address: string, signal: AbortSignal): Promise<Service | undefined> {
  try {
    const listed = await getJson(http, `${address}/conversations?limit=1`, {
      headers: memoryHeaders,
      signal,
      timeoutMs: probeTimeoutMs,
      isAnswer: (status) => status < 300,
    });
    if (!isList(listed)) return oldService;
    return { dialect: 'conversations', isIdempotent: fieldOf(listed, 'idempotent') === true };
  } catch (error) {
    signal.throwIfAborted();
    const { kind, status = 0 } = error as { kind?: string; status?: number };
    const hasSpoken = kind === 'protocol' || kind === 'too-large' || (kind === 'status' && status < 500);
    return hasSpoken ? oldService : undefined;
  }
}

const isList = (listed: unknown): boolean =>
  Array.isArray(listed) || ['conversations', 'items'].some((name) => Array.isArray(fieldOf(listed, name)));

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

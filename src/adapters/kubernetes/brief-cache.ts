import { LRUCache } from 'lru-cache';

export interface BriefCache<V extends object> {
  /** What `load` says, or said at most `freshMs` ago; loaded once however many ask. Failures are not kept. */
  get(key: string, load: () => Promise<V>, signal?: AbortSignal): Promise<V>;
}

export interface BriefCacheBounds<V> {
  readonly freshMs: number;
  readonly entriesMax: number;
  readonly bytesMax: number;
  readonly bytesOf: (value: V) => number;
}

/**
 * Remembers answers for seconds, so that thousands of calls about the same object are one question. `load` is shared
 * and gets no signal: a caller that goes away leaves it to the others.
 */
export function createBriefCache<V extends object>(bounds: BriefCacheBounds<V>): BriefCache<V> {
  const known = new LRUCache<string, V>({
    max: bounds.entriesMax,
    ttl: bounds.freshMs,
    maxSize: bounds.bytesMax,
    sizeCalculation: (value) => Math.max(1, bounds.bytesOf(value)),
  });
  const loading = new Map<string, Promise<V>>();

  async function loadOnce(key: string, load: () => Promise<V>): Promise<V> {
    try {
      const value = await load();
      known.set(key, value);
      return value;
    } finally {
      loading.delete(key);
    }
  }

  return {
    async get(key, load, signal) {
      signal?.throwIfAborted();
      const value = known.get(key);
      if (value !== undefined) return value;

      let answer = loading.get(key);
      if (!answer) {
        answer = loadOnce(key, load);
        // Whoever asked may be gone by the time it fails.
        answer.catch(() => {});
        loading.set(key, answer);
      }
      return unlessAborted(answer, signal);
    },
  };
}

async function unlessAborted<V>(answer: Promise<V>, signal: AbortSignal | undefined): Promise<V> {
  if (!signal) return answer;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([answer, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

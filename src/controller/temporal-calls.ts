import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

/** No call to Temporal takes longer than this; the client's own retries happen within it. */
const callMsMax = 10_000;
/** How long nobody else tries after one call could not reach Temporal. */
const awayMs = 1_000;
/** A call that meets its deadline ends a little later. */
const endedMsMax = callMsMax + 2_000;

export interface TemporalCalls {
  /** Runs a call that must end within ten seconds. */
  readonly call: <T>(call: () => Promise<T>) => Promise<T>;
  /** Runs a call that lasts until there is an answer, or until the signal aborts. */
  readonly longCall: <T>(signal: AbortSignal, call: () => Promise<T>) => Promise<T>;
  /**
   * From now on every new call is refused. Resolves when none is under way, after twelve seconds at the latest: a
   * channel that is closed earlier makes the client's next retry throw where nobody can catch it (SDK 1.24).
   */
  readonly ended: () => Promise<void>;
}

/**
 * Gives every call a deadline. While Temporal is away, one call in a second finds out whether it is back and all
 * others fail at once, so that workers of a queue do not spend ten seconds each on the same news.
 */
export function temporalCalls(client: Client): TemporalCalls {
  const underWay = new Set<Promise<unknown>>();
  let awayUntilMs = 0;
  let reason: unknown;
  let isEnding = false;

  async function tracked<T>(start: () => Promise<T>): Promise<T> {
    if (isEnding) throw new Error('no more calls to Temporal: this process is about to end');
    const call = start();
    underWay.add(call);
    try {
      return await call;
    } finally {
      underWay.delete(call);
    }
  }

  return {
    async call(call) {
      if (Date.now() < awayUntilMs)
        throw new Error('Temporal could not be reached a moment ago', { cause: reason });
      try {
        return await tracked(() => client.withDeadline(Date.now() + callMsMax, call));
      } catch (error) {
        if (isUnreachable(error)) {
          awayUntilMs = Date.now() + awayMs;
          reason = error;
        }
        throw error;
      }
    },

    longCall: (signal, call) => tracked(() => client.withAbortSignal(signal, call)),

    async ended() {
      isEnding = true;
      const enough = new AbortController();
      const allEnded = Promise.allSettled(underWay);
      await Promise.race([allEnded, sleep(endedMsMax, undefined, { signal: enough.signal }).catch(() => {})]);
      enough.abort();
    },
  };
}

const grpc = { deadlineExceeded: 4, notFound: 5, unavailable: 14 } as const;

export const isUnreachable = (error: unknown): boolean =>
  [grpc.deadlineExceeded, grpc.unavailable].some((code) => code === grpcCodeOf(error));

export const isUnknownWorkflow = (error: unknown): boolean => grpcCodeOf(error) === grpc.notFound;

/** The client's own errors carry gRPC's as their cause. */
function grpcCodeOf(error: unknown): number | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'number') return code;
  return cause === undefined ? undefined : grpcCodeOf(cause);
}

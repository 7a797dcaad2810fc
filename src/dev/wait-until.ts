import { setTimeout as sleep } from 'node:timers/promises';

export type WaitOptions = {
  /** Completes the sentence "Waited 30 s for …". */
  readonly what: string;
  readonly timeoutMs: number;
  readonly everyMs?: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Returns what the condition returns, as soon as that is not false or undefined.
 *
 * A condition that throws ends the wait: only "not yet" is worth asking again. A signal ends it with its reason.
 */
export async function waitUntil<T>(
  condition: () => Promise<T | false | undefined> | T | false | undefined,
  { what, timeoutMs, everyMs = 50, signal }: WaitOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const result = await condition();
    if (result !== false && result !== undefined) return result;

    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs / 1000} s for ${what}`);
    await sleep(everyMs, undefined, { signal }).catch((error: unknown) => {
      throw signal?.reason ?? error;
    });
  }
}

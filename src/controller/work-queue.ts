import type { Next } from './ports.ts';

export interface WorkQueueOptions {
  /** Looks at one key; what it rejects with is reported, and the key comes again after a growing wait. */
  readonly work: (key: string) => Promise<Next>;
  /** Keys looked at simultaneously; one key never twice. */
  readonly workers: number;
  readonly waits?: { readonly firstMs: number; readonly maxMs: number };
  readonly onError?: (key: string, error: unknown, waitMs: number) => void;
  readonly clock?: Clock;
}

/** Time as the queue sees it; tests play their own. */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`; returns what takes that back. */
  after(ms: number, callback: () => void): () => void;
}

export interface WorkQueue {
  /** Look at this key soon: once, however often it is said before the look begins. */
  add(key: string): void;
  /** Look at this key in `ms` at the latest; of several wishes the earliest counts. */
  addAfter(key: string, ms: number): void;
  /** Takes no more keys, drops those that wait, and resolves when nobody works any more. */
  drain(): Promise<void>;
  state(): QueueState;
}

export interface QueueState {
  /** Keys that could be looked at now. */
  readonly waiting: number;
  readonly working: number;
  /** Keys with a time set for their next look. */
  readonly delayed: number;
  /** How long the key at the front has waited. */
  readonly oldestMs: number;
}

/** The longest a Node timer can wait; a key that is looked at too early says itself when to come again. */
const timerMsMax = 2 ** 31 - 1;

/**
 * A queue of keys, worked on by `workers` at a time, in the order of their coming. A key that is added while it is
 * being worked on is looked at once more afterwards, so the last look always begins after the last change. Its size
 * is bounded by the number of objects there are, because a key waits at most once.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const {
    work,
    workers,
    waits = { firstMs: 100, maxMs: 60_000 },
    onError = () => {},
    clock = systemClock,
  } = options;

  /** Keys to be looked at, with the time they came; a Map keeps the order. */
  const waiting = new Map<string, number>();
  const working = new Set<string>();
  /** Added while being worked on. */
  const again = new Set<string>();
  const timers = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>();
  const failures = new Map<string, number>();
  const drained = Promise.withResolvers<void>();
  let open = true;

  function add(key: string): void {
    if (!open) return;
    if (working.has(key)) again.add(key);
    else if (!waiting.has(key)) waiting.set(key, clock.now());
    begin();
  }

  function addAfter(key: string, ms: number): void {
    if (!open) return;
    if (ms <= 0) return add(key);

    const dueMs = clock.now() + Math.min(ms, timerMsMax);
    const planned = timers.get(key);
    if (planned && planned.dueMs <= dueMs) return;

    planned?.cancel();
    const cancel = clock.after(dueMs - clock.now(), () => {
      timers.delete(key);
      add(key);
    });
    timers.set(key, { dueMs, cancel });
  }

  function begin(): void {
    for (const key of waiting.keys()) {
      if (working.size >= workers) return;
      waiting.delete(key);
      working.add(key);
      void look(key);
    }
  }

  async function look(key: string): Promise<void> {
    try {
      const next = await work(key);
      failures.delete(key);
      if (next !== 'settled') addAfter(key, next.requeueAfterMs);
    } catch (error) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      const waitMs = Math.min(waits.firstMs * 2 ** (count - 1), waits.maxMs);
      onError(key, error, waitMs);
      addAfter(key, waitMs);
    } finally {
      working.delete(key);
      if (again.delete(key)) add(key);
      begin();
      if (!open && working.size === 0) drained.resolve();
    }
  }

  return {
    add,
    addAfter,

    drain() {
      open = false;
      for (const { cancel } of timers.values()) cancel();
      for (const keys of [timers, waiting, again, failures]) keys.clear();
      if (working.size === 0) drained.resolve();
      return drained.promise;
    },

    state() {
      const [oldest] = waiting.values();
      return {
        waiting: waiting.size,
        working: working.size,
        delayed: timers.size,
        oldestMs: oldest === undefined ? 0 : clock.now() - oldest,
      };
    },
  };
}

const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

import { isDeepStrictEqual } from 'node:util';
import type { ObjectKey, OpenRun, Run, RunOwner, Runs } from './ports.ts';
import type { TemporalRuns } from './temporal-runs.ts';
import { workflowIdOf } from './workflow-id.ts';

export interface RunWatcherSettings {
  /** Result long-polls at the same time; each is asked anew every 20 seconds. */
  readonly longPollsMax?: number;
  /** `describe` calls in a second, all runs together. */
  readonly looksPerSecond?: number;
  /** How long after a look the same run may be looked at again. */
  readonly lookAgainMs?: number;
  /** How often Temporal is asked which runs it has closed, while there are some without a long-poll. */
  readonly listAgainMs?: number;
}

const defaults = { longPollsMax: 100, looksPerSecond: 10, lookAgainMs: 3_000, listAgainMs: 1_000 } as const;
const ticksPerSecond = 5;
/** How far the first list reaches back, and each further one behind the last end seen: lists lag a little. */
const listBackMs = 60_000;
const listOverlapMs = 3_000;
/** Ends from a list that are fetched at the same time. */
const fetchesMax = 8;
const pollAgainMs = 1_000;

interface Followed {
  readonly owner: RunOwner;
  readonly ends: AbortController;
  seen: Run;
  lookAgainAtMs: number;
}

export interface RunWatcher extends Runs {
  /** How many runs are followed, and how many of them by a long-poll. */
  readonly counts: { readonly followed: number; readonly longPolled: number };
  stop(): void;
}

/**
 * The runs of unfinished Queries, followed until they are closed. `changed` is called with the Query's key whenever
 * there is something new to mirror; `look` then answers from what was seen, without a call.
 *
 * The oldest runs are held by a result long-poll, which tells of their end at once. The ends of all others are read
 * from a list of what was closed lately: one call a second, however many runs are open. Every run is described in
 * turn within a budget: that shows progress, and finds the ends that nothing else told of.
 */
export function watchRuns(
  runs: TemporalRuns,
  changed: (key: ObjectKey) => void,
  settings: RunWatcherSettings = {},
): RunWatcher {
  const { longPollsMax, looksPerSecond, lookAgainMs, listAgainMs } = { ...defaults, ...settings };
  /** In the order of `lookAgainAtMs`: whoever was looked at goes to the end. */
  const followed = new Map<string, Followed>();
  /** Followed without a long-poll, the oldest first. */
  const waiting = new Set<Followed>();
  /** Of those, the ones that a list says are closed. */
  const ended = new Set<Followed>();
  const longPolls = lanes(waiting, longPollsMax, longPoll);
  const fetches = lanes(ended, fetchesMax, fetchEnd);
  let looking = 0;
  /** Undefined while nobody waits, so that a list begins near the present. */
  let listedUntilMs: number | undefined;
  let listing = false;
  let timers: readonly NodeJS.Timeout[] = [];

  function follow(owner: RunOwner, run: Run): void {
    const id = workflowIdOf(owner);
    if (!isOpen(run) || followed.has(id)) return;

    const one = { owner, ends: new AbortController(), seen: run, lookAgainAtMs: Date.now() + lookAgainMs };
    followed.set(id, one);
    waiting.add(one);
    longPolls.fill();
    if (timers.length > 0) return;
    timers = [
      setInterval(lookAtNext, 1_000 / ticksPerSecond),
      setInterval(() => void listEnds(), listAgainMs),
    ];
  }

  /** Resolves when the run is closed or no longer followed. */
  async function longPoll(one: Followed): Promise<void> {
    while (isOpen(one.seen) && !one.ends.signal.aborted) {
      try {
        await seeEnd(one, one.seen);
        // A reset: the workflow goes on, and is polled under its new run id.
        if (isOpen(one.seen)) await pause(pollAgainMs, one.ends.signal);
      } catch {
        // Temporal is away, or has too many pollers: the looks go on meanwhile.
        await pause(pollAgainMs, one.ends.signal);
      }
    }
  }

  /** Resolves when this execution is closed, and what became of the run was told. */
  async function seeEnd(one: Followed, run: OpenRun): Promise<void> {
    const end = await runs.waitForClose(one.owner, run, one.ends.signal);
    observe(one, end === 'look again' ? await runs.look(one.owner) : end);
  }

  async function listEnds(): Promise<void> {
    if (waiting.size === 0) listedUntilMs = undefined;
    if (waiting.size === 0 || listing) return;

    listing = true;
    listedUntilMs ??= Date.now() - listBackMs;
    try {
      for (const { workflowId, runId, closedAt } of await runs.closedSince(new Date(listedUntilMs))) {
        listedUntilMs = Math.max(listedUntilMs, closedAt.getTime() - listOverlapMs);
        const one = followed.get(workflowId);
        if (one && waiting.has(one) && isOpen(one.seen) && one.seen.runId === runId) ended.add(one);
      }
      fetches.fill();
    } catch {
      // Asked again in a moment; the looks go on meanwhile.
    } finally {
      listing = false;
    }
  }

  async function fetchEnd(one: Followed): Promise<void> {
    // Otherwise it was given a long-poll meanwhile, or is over.
    if (!isOpen(one.seen) || !waiting.delete(one)) return;
    await seeEnd(one, one.seen).catch(() => undefined);
    if (!isOpen(one.seen) || one.ends.signal.aborted) return;
    // A reset, or Temporal was away.
    waiting.add(one);
    longPolls.fill();
  }

  function lookAtNext(): void {
    const now = Date.now();
    for (const [id, one] of followed) {
      if (one.lookAgainAtMs > now || looking >= looksPerSecond / ticksPerSecond) return;
      followed.delete(id);
      followed.set(id, one);
      one.lookAgainAtMs = now + lookAgainMs;
      if (isOpen(one.seen)) void lookAt(one);
    }
  }

  async function lookAt(one: Followed): Promise<void> {
    looking++;
    try {
      observe(one, await runs.look(one.owner));
    } catch {
      // Its turn comes again.
    } finally {
      looking--;
    }
  }

  function observe(one: Followed, run: Run): void {
    if (one.ends.signal.aborted || !isOpen(one.seen) || isDeepStrictEqual(one.seen, run)) return;
    one.seen = run;
    if (!isOpen(run)) {
      waiting.delete(one);
      one.ends.abort();
    }
    changed(one.owner);
  }

  function forget(owner: RunOwner): void {
    const id = workflowIdOf(owner);
    const one = followed.get(id);
    if (!one) return;
    followed.delete(id);
    waiting.delete(one);
    one.ends.abort();
    if (followed.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    timers = [];
  }

  return {
    async start(owner, snapshot, hash) {
      const run = await runs.start(owner, snapshot, hash);
      follow(owner, run);
      return run;
    },
    async look(owner) {
      const known = followed.get(workflowIdOf(owner));
      if (known) return known.seen;
      const run = await runs.look(owner);
      follow(owner, run);
      return run;
    },
    isFollowed: (owner) => followed.has(workflowIdOf(owner)),
    cancel: (owner) => runs.cancel(owner),
    terminate: (owner, reason) => runs.terminate(owner, reason),
    forget,

    get counts() {
      return { followed: followed.size, longPolled: longPolls.busy };
    },
    stop() {
      for (const { owner } of followed.values()) forget(owner);
    },
  };
}

/** Works through a set, the oldest first, `max` at a time; `fill` is called when something was added. */
function lanes<Item>(todo: Set<Item>, max: number, work: (item: Item) => Promise<void>) {
  let busy = 0;
  function fill(): void {
    for (const item of todo) {
      if (busy >= max) return;
      todo.delete(item);
      busy++;
      void work(item).finally(() => {
        busy--;
        fill();
      });
    }
  }
  return {
    fill,
    get busy() {
      return busy;
    },
  };
}

const isOpen = (run: Run): run is OpenRun => run.state === 'open';

/** Resolves early where the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });

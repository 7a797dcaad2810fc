import { isDeepStrictEqual } from 'node:util';
import type { ObjectKey, Run, RunOwner, Runs } from './ports.ts';
import type { TemporalRuns } from './temporal-runs.ts';
import { workflowIdOf } from './workflow-id.ts';

export interface RunWatcherSettings {
  /** Result long-polls at the same time; Temporal refuses more than some thousands. */
  readonly longPollsMax?: number;
  /** `describe` calls in a second, all runs together. */
  readonly looksPerSecond?: number;
  /** How long after a look the same run may be looked at again. */
  readonly lookAgainMs?: number;
}

const defaults = { longPollsMax: 1_000, looksPerSecond: 50, lookAgainMs: 3_000 } as const;
const ticksPerSecond = 5;
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
 * The oldest runs are held by a result long-poll, which tells of their end at once. Every run, held or not, is
 * described in turn within a budget: that shows progress, and finds the ends that no long-poll told of.
 */
export function watchRuns(
  runs: TemporalRuns,
  changed: (key: ObjectKey) => void,
  settings: RunWatcherSettings = {},
): RunWatcher {
  const { longPollsMax, looksPerSecond, lookAgainMs } = { ...defaults, ...settings };
  /** In the order of `lookAgainAtMs`: whoever was looked at goes to the end. */
  const followed = new Map<string, Followed>();
  /** Followed without a long-poll, the oldest first. */
  const waiting = new Set<Followed>();
  let longPolled = 0;
  let looking = 0;
  let timer: NodeJS.Timeout | undefined;

  function follow(owner: RunOwner, run: Run): void {
    const id = workflowIdOf(owner);
    if (run.state !== 'open' || followed.has(id)) return;

    const one = { owner, ends: new AbortController(), seen: run, lookAgainAtMs: Date.now() + lookAgainMs };
    followed.set(id, one);
    waiting.add(one);
    fillLongPolls();
    timer ??= setInterval(lookAtNext, 1_000 / ticksPerSecond);
  }

  function fillLongPolls(): void {
    for (const one of waiting) {
      if (longPolled >= longPollsMax) return;
      waiting.delete(one);
      longPolled++;
      void longPoll(one).finally(() => {
        longPolled--;
        fillLongPolls();
      });
    }
  }

  /** Resolves when the run is closed or no longer followed. */
  async function longPoll(one: Followed): Promise<void> {
    while (one.seen.state === 'open' && !one.ends.signal.aborted) {
      try {
        const end = await runs.waitForClose(one.owner, one.seen, one.ends.signal);
        observe(one, end === 'look again' ? await runs.look(one.owner) : end);
        // A reset: the workflow goes on, and is polled under its new run id.
        if (end === 'look again' && one.seen.state === 'open') await pause(pollAgainMs, one.ends.signal);
      } catch {
        // Temporal is away, or has too many pollers: the looks go on meanwhile.
        await pause(pollAgainMs, one.ends.signal);
      }
    }
  }

  function lookAtNext(): void {
    const now = Date.now();
    for (const [id, one] of followed) {
      if (one.lookAgainAtMs > now || looking >= looksPerSecond / ticksPerSecond) return;
      followed.delete(id);
      followed.set(id, one);
      one.lookAgainAtMs = now + lookAgainMs;
      if (one.seen.state === 'open') void lookAt(one);
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
    if (one.ends.signal.aborted || one.seen.state !== 'open' || isDeepStrictEqual(one.seen, run)) return;
    one.seen = run;
    if (run.state !== 'open') {
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
    if (followed.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
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
      return { followed: followed.size, longPolled };
    },
    stop() {
      for (const { owner } of followed.values()) forget(owner);
    },
  };
}

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

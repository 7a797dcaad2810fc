import { Worker } from 'node:worker_threads';
import type { FilterPort, KnownError } from '../../activities/ports.ts';
import type { JqJob, JqVerdict } from './jq-worker.ts';

const workersMax = 2;
const waitingMax = 1_000;
const runTimeoutMs = 5_000;
const heapMbMax = 128;

export interface FilterOptions {
  /** For all expressions of one call together; five seconds if absent. */
  readonly timeoutMs?: number;
}

/** A filter that gave no result: repeating it would not help. */
export class FilterError extends Error implements KnownError {
  override readonly name = 'FilterError';
  readonly type = 'ToolFilterFailed';

  constructor(problem: string) {
    super(`filter error: ${problem}`);
  }
}

interface Waiting {
  readonly job: JqJob;
  readonly signal: AbortSignal;
  settle(outcome: Outcome): void;
}

type Outcome = { readonly content: string } | { readonly error: Error };

/**
 * Runs jq beside the event loop, in up to two threads that are started when they are first needed. A filter that takes
 * longer than `timeoutMs`, is aborted or dies takes its thread with it; the next one gets a new thread.
 */
export function createFilters({ timeoutMs = runTimeoutMs }: FilterOptions = {}): FilterPort & {
  close(): Promise<void>;
} {
  const waiting: Waiting[] = [];
  const idle: Worker[] = [];
  const workers = new Set<Worker>();

  function start(): Worker {
    // In src/ the thread's file is TypeScript, in dist/ it is not.
    const file = import.meta.url.endsWith('.ts') ? './jq-worker.ts' : './jq-worker.js';
    const worker = new Worker(new URL(file, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
      stdout: true,
      stderr: true,
    });
    workers.add(worker);
    // Also one that dies while nobody waits for it; without this listener its error would end the process.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      workers.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    });
    return worker;
  }

  function end(worker: Worker): Promise<unknown> {
    workers.delete(worker);
    return worker.terminate();
  }

  async function next(): Promise<void> {
    if (waiting.length === 0 || (idle.length === 0 && workers.size >= workersMax)) return;
    const { job, signal, settle } = waiting.shift() as Waiting;
    const worker = idle.pop() ?? start();
    const outcome = await run(worker, job, { signal, timeoutMs });
    if ('error' in outcome) await end(worker);
    else if (workers.has(worker)) idle.push(worker);
    settle('problem' in outcome ? { error: new FilterError(outcome.problem) } : outcome);
    await next();
  }

  return {
    async apply(expressions, content, signal) {
      signal.throwIfAborted();
      if (expressions.every((expression) => expression === '')) return content;
      if (waiting.length >= waitingMax) throw new FilterError(`${waitingMax} filters are waiting already`);

      const outcome = await new Promise<Outcome>((settle) => {
        const entry: Waiting = { job: { expressions, content }, signal, settle };
        waiting.push(entry);
        signal.addEventListener('abort', () => forget(waiting, entry), { once: true });
        void next();
      });
      if ('error' in outcome) throw outcome.error;
      return outcome.content;
    },
    async close() {
      for (const { settle } of waiting.splice(0)) settle({ error: new Error('the filters are closed') });
      await Promise.all([...workers].map(end));
    },
  };
}

/** Whoever waits no longer gets no thread. One that has a thread already is ended by `run`. */
function forget(waiting: Waiting[], entry: Waiting): void {
  const at = waiting.indexOf(entry);
  if (at < 0) return;
  waiting.splice(at, 1);
  entry.settle({ error: entry.signal.reason as Error });
}

interface Limits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** An `error` means that the thread cannot be used again. While it works, it keeps the process alive. */
async function run(worker: Worker, job: JqJob, { signal, timeoutMs }: Limits): Promise<JqVerdict | Outcome> {
  const done = new AbortController();
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  worker.ref();
  try {
    return await new Promise<JqVerdict | Outcome>((resolve) => {
      const fail = (error: Error) => resolve({ error });
      on(worker, 'message', (verdict) => resolve(verdict as JqVerdict), done.signal);
      on(worker, 'error', (error) => fail(diedOf(error as NodeJS.ErrnoException)), done.signal);
      on(worker, 'exit', () => fail(new FilterError(`${problem} its thread was ended`)), done.signal);
      const giveUp = () =>
        fail(
          signal.aborted
            ? (signal.reason as Error)
            : new FilterError(`${problem} no result within ${timeoutMs / 1_000} s`),
        );
      deadline.addEventListener('abort', giveUp, { once: true, signal: done.signal });
      if (signal.aborted) giveUp();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(job);
    });
  } finally {
    done.abort();
    worker.unref();
  }
}

const problem = 'jq query execution error:';

function on(worker: Worker, event: string, heard: (fact: unknown) => void, until: AbortSignal): void {
  worker.on(event, heard);
  until.addEventListener('abort', () => worker.off(event, heard), { once: true });
}

const diedOf = (error: NodeJS.ErrnoException): Error =>
  error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new FilterError(`${problem} it needs more than ${heapMbMax} MiB of memory`)
    : error;

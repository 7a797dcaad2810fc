import { Context } from '@temporalio/activity';
import type { RunRef } from '../api/transcript.ts';
import { toFailure } from './failures.ts';
import type { RunReader } from './ports.ts';
import { createRunReader } from './run-reader.ts';

const heartbeatMs = 2_000;
/** What is left of an attempt's time for handing in the answer. */
const marginMs = 5_000;
const callTimeoutMinMs = 1_000;

/** One attempt at one activity, as far as the effects need to know. */
export interface Step {
  /** The run that wants the answer. */
  readonly run: RunRef;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /**
   * Idempotency keys, the same for every attempt. A tool's outlives a re-run of the turn, so that it does its work
   * once; a model's does not, because whoever re-runs a turn wants a new answer.
   */
  readonly keys: { readonly model: string; readonly tool: string };
  readonly reader: RunReader;
  /** Values of Secrets read on the way; none of them leaves the step in a failure. */
  readonly secrets: Set<string>;
  /** How long a call may take from now on, in whole milliseconds, so that its timeout is told by us and not by the server. */
  readonly timeLeftMs: () => number;
  /** True while the server cannot have given this attempt up for lost, with as much time to spare. */
  readonly isSurelyAwaited: () => boolean;
  /** What `note` left behind in an earlier attempt that failed. */
  readonly noted: unknown;
  readonly note: (fact: unknown) => void;
}

/**
 * Runs one effect as an activity: beats while it runs, so that a cancel or a dead worker is noticed, and turns every
 * error into one of our failures. A cancelled effect ends with the cancellation, whatever its port threw.
 */
export async function asStep<R>(effect: (step: Step) => Promise<R>): Promise<R> {
  // Timers run outside of the activity's async context: what they need is captured here.
  const context = Context.current();
  const step = stepOf(context);
  const heart = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await effect(step);
  } catch (error) {
    if (step.signal.aborted) throw step.signal.reason;
    throw toFailure(error, step.secrets);
  } finally {
    clearInterval(heart);
  }
}

function stepOf({ info, cancellationSignal, heartbeat, client }: Context): Step {
  const run = info.workflowExecution;
  if (!run) throw new TypeError(`activity ${info.activityId} was not started by a workflow`);

  const startedMs = performance.now();
  const tookMs = () => performance.now() - startedMs;
  const patienceMs = Math.min(info.heartbeatTimeoutMs ?? Infinity, info.startToCloseTimeoutMs);
  return {
    run,
    attempt: info.attempt,
    signal: cancellationSignal,
    keys: { model: `${run.runId}:${info.activityId}`, tool: `${run.workflowId}:${info.activityId}` },
    reader: createRunReader(client),
    secrets: new Set(),
    timeLeftMs: () => Math.ceil(Math.max(info.startToCloseTimeoutMs - marginMs - tookMs(), callTimeoutMinMs)),
    isSurelyAwaited: () => !cancellationSignal.aborted && tookMs() < patienceMs / 2,
    noted: info.heartbeatDetails,
    note: heartbeat,
  };
}

/** Waits for something others may wait for too: a cancel ends the wait, not the thing. */
export async function untilAborted<R>(promise: Promise<R>, signal: AbortSignal): Promise<R> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { FailureType } from '../api/failures.ts';
import type { Failure, RunOutcome, TeamOutcome } from '../api/run.ts';
import { clip } from './clip.ts';

const messageBytesMax = 2000;

/**
 * What a failed activity or nested team means for the run. A cancellation is a failure like any other here: the loops
 * end by themselves, holding what was answered, and whoever cancelled decides what to call it.
 *
 * Anything that is neither is a bug in workflow code, and is thrown on.
 */
export function failureOf(error: unknown): Failure {
  if (isCancellation(error)) return { type: 'RunCanceled', message: 'canceled' };
  if (!(error instanceof ActivityFailure || error instanceof ChildWorkflowFailure)) throw error;

  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    // Activities give every failure one of our names before it leaves them.
    return {
      type: (cause.type ?? 'InternalError') as FailureType,
      message: clip(cause.message, messageBytesMax),
    };
  }
  const what =
    error instanceof ActivityFailure
      ? `call ${error.activityId}`
      : `nested team ${error.execution.workflowId}`;
  if (cause instanceof TimeoutFailure) {
    return {
      type: 'CallTimeout',
      message: `${what} got no answer in time (${cause.timeoutType}), after all retries`,
    };
  }
  return {
    type: 'InternalError',
    message: clip(`${what} failed: ${cause?.message ?? error.message}`, messageBytesMax),
  };
}

/** Ends a run as Failed by the failure's own name; the outcome with all that was answered is its first detail. */
export function endOfRun({ type, message }: Failure, outcome: RunOutcome | TeamOutcome): ApplicationFailure {
  const failure = ApplicationFailure.create({ type, message, nonRetryable: true, details: [outcome] });
  // Nothing broke in our code; where the failure was written down would only puzzle a reader of the Web UI.
  failure.stack = undefined;
  return failure;
}

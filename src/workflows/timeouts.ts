import type { ActivityOptions, RetryPolicy } from '@temporalio/workflow';

/**
 * Every timeout and retry policy, with its reason. Nothing below 1 s: the server's timer queue looks that far ahead
 * and a shorter interval takes a second all the same.
 */

/** The time lost when a worker dies in mid-call; a cancellation reaches a hanging call with the next beat. */
const heartbeatTimeout = '10s';

/** Eight attempts span about two minutes, or as long as Retry-After asks; the target's deadline cuts it short. */
const patient: RetryPolicy = {
  initialInterval: '1s',
  backoffCoefficient: 2,
  maximumInterval: '30s',
  maximumAttempts: 8,
};

/** A tool may have side effects: ask again, but not for long. */
const careful: RetryPolicy = { ...patient, maximumAttempts: 5 };

/** A caller that cancels must not wait for a slow provider; the call itself is aborted at its next beat. */
const cancellationType = 'TRY_CANCEL';

export const modelCall: ActivityOptions = {
  startToCloseTimeout: '10m',
  heartbeatTimeout,
  cancellationType,
  retry: patient,
};

/** Nobody waits long for a reader of a stream. */
export const streamEnd: ActivityOptions = {
  startToCloseTimeout: '10s',
  heartbeatTimeout,
  retry: { ...patient, maximumAttempts: 2 },
};

export const toolCall: ActivityOptions = { ...modelCall, retry: careful };

/** Judging has time of its own, beside that of the targets (contract section 7.1): 30 s an answer, and as long again. */
export const judgement: ActivityOptions = {
  ...toolCall,
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '5m',
};

import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { EvaluationRunInput, EvaluationRunResult } from '../api/evaluation-run.ts';
import type { Failure } from '../api/run.ts';
import { failureOf } from './failures.ts';
import { modelCall } from './timeouts.ts';

/** What an attempt needs besides the evaluator's own time. */
const attemptExtraMs = 10_000;

/**
 * One Evaluation: asks its evaluator until there is a judgement, for at most `timeoutMs` in all. Ends `Completed` with
 * the judgement, `Failed` by the name of what went wrong, or `Canceled`.
 */
export async function evaluationWorkflow(input: EvaluationRunInput): Promise<EvaluationRunResult> {
  const { evaluate } = proxyActivities<Pick<Activities, 'evaluate'>>({
    ...modelCall,
    startToCloseTimeout: input.call.timeoutMs + attemptExtraMs,
    scheduleToCloseTimeout: input.timeoutMs,
    activityId: 'evaluate',
    summary: input.evaluator.slice(0, 200),
  });
  try {
    return await evaluate(input.call);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = isOutOfTime(error) ? timedOut(input) : failureOf(error);
    const failure = ApplicationFailure.create({ type, message, nonRetryable: true });
    // Nothing broke in our code; where the failure was written down would only puzzle a reader of the Web UI.
    failure.stack = undefined;
    throw failure;
  }
}

const isOutOfTime = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType === 'SCHEDULE_TO_CLOSE';

const timedOut = ({ evaluator, timeoutMs }: EvaluationRunInput): Failure => ({
  type: 'EvaluatorUnavailable',
  message: `evaluator ${evaluator} gave no judgement within ${timeoutMs / 1_000}s (spec.timeout): context deadline exceeded`,
});

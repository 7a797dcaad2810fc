import type { Client } from '@temporalio/client';
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowContinuedAsNewError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { failures } from '../api/failures.ts';
import type { FailureType } from '../api/failures.ts';
import type { Failure, RunInput, RunLimits, RunOutcome } from '../api/run.ts';
import type { Snapshot } from '../api/snapshot.ts';
import { describeRun } from './describe-run.ts';
import type { ClosedRun, OpenRun, Run, RunOwner } from './ports.ts';
import { dateOf, progressOf, snapshotHashOf } from './run-memo.ts';
import type { SearchAttributes } from './search-attributes.ts';
import { isUnknownWorkflow } from './temporal-calls.ts';
import type { TemporalCalls } from './temporal-calls.ts';
import { workflowIdOf } from './workflow-id.ts';

/** The type under which the worker registers the workflow of a Query. */
const workflowType = 'queryWorkflow';
/** Over the sum of all deadlines of the targets, so that only a run that is stuck for good ever meets it. */
const executionSpareMs = 24 * 3_600_000;
const messageCharsMax = 2_000;
/** Ends in one list; what does not fit is found by looking. */
const closedMax = 1_000;

export interface TemporalRunsSettings {
  readonly taskQueue: string;
  readonly limits: RunLimits;
  readonly searchAttributes: SearchAttributes;
  readonly calls: TemporalCalls;
  readonly now?: () => Date;
}

/** The runs of Queries, spoken to one call at a time; what was seen is kept elsewhere (run-watcher.ts). */
export interface TemporalRuns {
  start(query: RunOwner, snapshot: Snapshot, hash: string): Promise<OpenRun | ClosedRun>;
  look(query: RunOwner): Promise<Run>;
  cancel(query: RunOwner): Promise<void>;
  terminate(query: RunOwner, reason: string): Promise<void>;
  /**
   * Resolves when this execution is closed: with how, or with 'look again' where the workflow may go on under
   * another run id (a reset looks like a termination) or left its answers where only `look` reads them.
   */
  waitForClose(query: RunOwner, run: OpenRun, signal: AbortSignal): Promise<ClosedRun | 'look again'>;
  /** Executions that closed at `since` or later by Temporal's clock, the newest first, at most 1,000 of them. */
  closedSince(since: Date): Promise<readonly ClosedExecution[]>;
}

export interface ClosedExecution {
  readonly workflowId: string;
  readonly runId: string;
  readonly closedAt: Date;
}

export function temporalRuns(client: Client, settings: TemporalRunsSettings): TemporalRuns {
  const { taskQueue, limits, searchAttributes, calls, now = () => new Date() } = settings;
  const { call } = calls;

  async function start(query: RunOwner, snapshot: Snapshot, hash: string): Promise<OpenRun | ClosedRun> {
    const typed = await searchAttributes.of(query, snapshot);
    const input: RunInput = { snapshot, limits };
    try {
      const handle = await call(() =>
        client.workflow.start(workflowType, {
          workflowId: workflowIdOf(query),
          taskQueue,
          // FAIL rather than USE_EXISTING: both start a run once, this one also says that it was there before.
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowIdConflictPolicy: 'FAIL',
          args: [input],
          ...describeRun(query, snapshot, hash),
          typedSearchAttributes: typed,
          workflowExecutionTimeout:
            executionSpareMs + snapshot.timeoutMs * Math.max(1, snapshot.targets.length),
        }),
      );
      return { state: 'open', runId: handle.firstExecutionRunId, startedAt: now(), snapshotHash: hash };
    } catch (error) {
      if (isAboutSearchAttributes(error)) searchAttributes.avoid();
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    const run = await look(query);
    if (run.state !== 'absent') return run;
    throw new Error(
      `Temporal refused to start ${workflowIdOf(query)} as started before, and does not know it`,
    );
  }

  async function look(query: RunOwner): Promise<Run> {
    const handle = client.workflow.getHandle(workflowIdOf(query));
    const seen = await call(() => handle.describe()).catch(absentIfUnknown);
    if (!seen) return { state: 'absent' };

    const { runId, startTime: startedAt, memo, closeTime } = seen;
    const snapshotHash = snapshotHashOf(memo);
    const known = { runId, startedAt, ...(snapshotHash && { snapshotHash }) };
    if (!closeTime) {
      const progress = progressOf(memo, seen.raw.pendingActivities ?? []);
      return { state: 'open', ...known, ...(progress && { progress }) };
    }
    const end = await call(() => endOf(query, runId));
    const kept = end.outcome ?? (memo?.['outcome'] as RunOutcome | undefined);
    return { state: 'closed', ...known, closedAt: closeTime, ...ended(kept, end.failure) };
  }

  async function waitForClose(
    query: RunOwner,
    run: OpenRun,
    signal: AbortSignal,
  ): Promise<ClosedRun | 'look again'> {
    const end = await calls.longCall(signal, () => endOf(query, run.runId));
    if (!end.outcome && end.failure?.type !== 'InternalError') return 'look again';

    const { runId, startedAt, snapshotHash } = run;
    const known = { runId, startedAt, ...(snapshotHash && { snapshotHash }) };
    return { state: 'closed', ...known, closedAt: now(), ...ended(end.outcome, end.failure) };
  }

  /** How one execution ended; waits for its end if it is open. */
  async function endOf(query: RunOwner, runId: string): Promise<End> {
    const handle = client.workflow.getHandle(workflowIdOf(query), runId, { followRuns: false });
    try {
      return { outcome: (await handle.result()) as RunOutcome };
    } catch (error) {
      if (error instanceof WorkflowContinuedAsNewError) return {};
      if (error instanceof WorkflowFailedError) return endFrom(error.cause);
      throw error;
    }
  }

  async function closedSince(since: Date): Promise<readonly ClosedExecution[]> {
    const { executions } = await call(() =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        pageSize: closedMax,
        query: `WorkflowType = '${workflowType}' AND CloseTime >= '${since.toISOString()}'`,
      }),
    );
    return (executions ?? []).map(({ execution, closeTime }) => ({
      workflowId: execution?.workflowId ?? '',
      runId: execution?.runId ?? '',
      closedAt: dateOf(closeTime ?? {}),
    }));
  }

  return {
    start,
    look,
    waitForClose,
    closedSince,

    async cancel(query) {
      // The same request id every time: asking twice adds nothing to the history.
      await call(() =>
        client.workflowService.requestCancelWorkflowExecution({
          namespace: client.options.namespace,
          identity: client.options.identity,
          workflowExecution: { workflowId: workflowIdOf(query) },
          requestId: `cancel:${query.uid}`,
          reason: 'its Query was canceled or deleted',
        }),
      ).catch((error: unknown) => {
        if (!isUnknownWorkflow(error)) throw error;
      });
    },

    async terminate(query, reason) {
      const handle = client.workflow.getHandle(workflowIdOf(query));
      await call(() => handle.terminate(reason)).catch(absentIfUnknown);
    },
  };
}

interface End {
  readonly outcome?: RunOutcome;
  readonly failure?: Failure;
}

/** How a run ended that did not complete. */
export function endFrom(cause: Error | undefined): End {
  if (cause instanceof ApplicationFailure) {
    const outcome = cause.details?.[0] as RunOutcome | undefined;
    return { ...(outcome?.responses && { outcome }), failure: failureFrom(cause) };
  }
  if (cause instanceof CancelledFailure)
    return { failure: { type: 'RunCanceled', message: 'the run was canceled' } };
  if (cause instanceof TerminatedFailure) {
    return {
      failure: { type: 'RunTerminated', message: clipped(`the run was terminated: ${cause.message}`) },
    };
  }
  if (cause instanceof TimeoutFailure) {
    return { failure: { type: 'RunTimedOut', message: 'the run met its workflow execution timeout' } };
  }
  return {
    failure: { type: 'InternalError', message: clipped(cause?.message ?? 'the run failed without a reason') },
  };
}

function failureFrom({ type, message }: ApplicationFailure): Failure {
  if (isFailureType(type)) return { type, message: clipped(message) };
  // A bug: workflow code threw an error that is none of ours, under its class name.
  return { type: 'InternalError', message: clipped(`${type ?? 'Error'}: ${message}`) };
}

/** A closed run always has an outcome, if only that nothing is known. */
function ended(
  outcome: RunOutcome | undefined,
  failure: Failure | undefined,
): Pick<ClosedRun, 'outcome' | 'failure'> {
  const phase = failure?.type === 'RunCanceled' ? 'canceled' : 'error';
  return {
    outcome: outcome ?? { phase, responses: [], usage: nothingSpent },
    ...(failure && { failure }),
  };
}

const nothingSpent = {
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
} as const;

const isFailureType = (type: string | null | undefined): type is FailureType =>
  typeof type === 'string' && Object.hasOwn(failures, type);

const clipped = (text: string): string => text.slice(0, messageCharsMax);

const isAboutSearchAttributes = (error: unknown): boolean =>
  /search attribute/i.test(String((error as { cause?: { message?: unknown } }).cause?.message));

/** Only the workflow: where the namespace is unknown, the error stays one. */
export function absentIfUnknown(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

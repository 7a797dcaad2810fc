import { formatDuration } from '../api/durations.ts';
import type { QueryStatus } from '../api/query.ts';
import type { EvaluationOutcome, Failure, TargetOutcome } from '../api/run.ts';
import type { Condition } from '../api/values.ts';
import { fitTexts } from './fit-texts.ts';
import type { ClosedRun, ControllerPorts, OpenRun, Run, RunProgress, SeenQuery } from './ports.ts';
import { workflowIdOf } from './workflow-id.ts';

/** Of 256 KiB; the rest is for messages, counters and links. */
const responseBytesMax = 208 * 1024;
/** Where thousands of names leave nothing, each text still gets its few characters. */
const textBytesMin = 32 * 1024;
const messageCharsMax = 2_000;

/** How a Query stands: its run, or what came before there could be one. */
export type Standing =
  Run | { readonly state: 'refused'; readonly failure: Failure } | { readonly state: 'canceled' };

type Context = Pick<ControllerPorts, 'now' | 'temporalUi'>;

/**
 * The status of a Query, at most 256 KiB (contract sections 1.2 and 9, rows 4-9 and 13). Phases and condition
 * reasons are ARK's; the type of a failure opens the condition's message. What a former status says of times that
 * do not change is kept, so that the same standing always gives the same status.
 */
export function statusOf(query: SeenQuery, standing: Standing, context: Context): QueryStatus {
  switch (standing.state) {
    case 'open':
      return runningStatus(query, standing, context);
    case 'closed':
      return endedStatus(query, standing, context);
    case 'canceled':
      return unstartedStatus(
        query,
        'canceled',
        { type: 'RunCanceled', message: 'canceled before it was started' },
        context,
      );
    case 'refused':
      return unstartedStatus(query, 'error', standing.failure, context);
    case 'absent':
      return lostStatus(query, context);
  }
}

function runningStatus(query: SeenQuery, run: OpenRun, context: Context): QueryStatus {
  return {
    phase: run.progress?.isEvaluating ? 'evaluating' : 'running',
    startTime: query.status.startTime ?? run.startedAt.toISOString(),
    conversationId: conversationIdOf(query),
    temporal: linkTo(query, run.runId, context),
    ...(run.snapshotHash && { snapshotHash: run.snapshotHash }),
    ...(run.progress && { progress: progressOf(run.progress) }),
    conditions: completed(query, 'QueryRunning', 'the run is open', context),
  };
}

function endedStatus(query: SeenQuery, run: ClosedRun, context: Context): QueryStatus {
  const { phase, responses, usage, evaluations } = run.outcome;
  const failure = run.failure ?? responses.find((response) => response.failure)?.failure;
  const startTime = query.status.startTime ?? (run.startedAt ?? run.closedAt).toISOString();
  const hash = run.snapshotHash ?? query.status.snapshotHash;
  const spentMs = Math.max(0, run.closedAt.getTime() - Date.parse(startTime));

  return {
    phase,
    ...(phase === 'done' ? messageField(responses[0]?.content ?? '') : errorFields(failure ?? unexplained)),
    responses: responsesOf(responses),
    ...(evaluations && { evaluations: evaluations.map(evaluationOf) }),
    tokenUsage: usage,
    startTime,
    completionTime: run.closedAt.toISOString(),
    duration: formatDuration(spentMs),
    conversationId: conversationIdOf(query),
    temporal: linkTo(query, run.runId, context),
    ...(hash && { snapshotHash: hash }),
    conditions:
      phase === 'done'
        ? completed(query, 'QuerySucceeded', 'every target answered', context)
        : completed(
            query,
            phase === 'canceled' ? 'QueryCanceled' : 'QueryErrored',
            told(failure ?? unexplained),
            context,
          ),
  };
}

const unexplained: Failure = { type: 'InternalError', message: 'the run failed without giving a reason' };

/** Nothing was started, so there is no run to link to and no time to count. */
function unstartedStatus(
  query: SeenQuery,
  phase: 'error' | 'canceled',
  failure: Failure,
  context: Context,
): QueryStatus {
  return {
    phase,
    ...errorFields(failure),
    completionTime: context.now().toISOString(),
    conditions: completed(
      query,
      phase === 'canceled' ? 'QueryCanceled' : 'QueryErrored',
      told(failure),
      context,
    ),
  };
}

function lostStatus(query: SeenQuery, context: Context): QueryStatus {
  const failure: Failure = {
    type: 'RunLost',
    message: `Temporal does not know the run ${workflowIdOf(query)}: it was deleted, or it closed longer ago than the namespace's retention period; create the Query again`,
  };
  const { startTime, temporal, snapshotHash } = query.status;
  return {
    ...unstartedStatus(query, 'error', failure, context),
    ...(startTime && { startTime }),
    ...(temporal && { temporal }),
    ...(snapshotHash && { snapshotHash }),
  };
}

function responsesOf(outcomes: readonly TargetOutcome[]): QueryStatus['responses'] {
  const responses = outcomes.map(({ target, phase, failure }) => ({
    target: { type: target.type, name: target.name },
    content: '',
    phase,
    ...(failure && { error: '' }),
  }));
  const texts = fitTexts(
    outcomes.flatMap(({ content, failure }) => [content, failure?.message ?? '']),
    Math.max(textBytesMin, responseBytesMax - Buffer.byteLength(JSON.stringify(responses))),
  );
  return responses.map((response, i) => ({
    ...response,
    content: texts[2 * i] ?? '',
    ...('error' in response && { error: texts[2 * i + 1] ?? '' }),
  }));
}

/** Contract section 7.1; false and empty fields are left out, as ARK does it. */
const evaluationOf = ({ evaluator, score, passed, metadata }: EvaluationOutcome) => ({
  evaluatorName: evaluator,
  score,
  ...(passed && { passed }),
  ...(Object.keys(metadata).length > 0 && { metadata }),
});

function progressOf({ turn, speaker, tokens, pending }: RunProgress): QueryStatus['progress'] {
  return {
    ...(turn !== undefined && { turn }),
    ...(speaker !== undefined && { speaker }),
    ...(tokens !== undefined && { tokens }),
    ...(pending && {
      attempt: pending.attempt,
      ...(pending.lastFailure && { lastFailure: clipped(pending.lastFailure) }),
      ...(pending.nextRetryAt && { nextRetryTime: pending.nextRetryAt.toISOString() }),
    }),
  };
}

type Reason = 'QueryRunning' | 'QuerySucceeded' | 'QueryErrored' | 'QueryCanceled';

function completed(query: SeenQuery, reason: Reason, message: string, { now }: Context): Condition[] {
  const status = reason === 'QueryRunning' ? 'False' : 'True';
  const before = query.status.conditions?.find(({ type }) => type === 'Completed');
  return [
    {
      type: 'Completed',
      status,
      reason,
      message: clipped(message),
      observedGeneration: query.generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : wholeSeconds(now()),
    },
  ];
}

function linkTo(query: SeenQuery, runId: string, { temporalUi }: Context): QueryStatus['temporal'] {
  const workflowId = workflowIdOf(query);
  if (!temporalUi) return { workflowId, runId };

  const path = ['namespaces', temporalUi.namespace, 'workflows', workflowId, runId, 'history'];
  return {
    workflowId,
    runId,
    url: [temporalUi.address.replace(/\/+$/, ''), ...path.map(encodeURIComponent)].join('/'),
  };
}

/** The key under which the Query's messages are remembered (contract section 9, row 13). */
const conversationIdOf = ({ spec, uid }: SeenQuery): string => spec.sessionId ?? spec.conversationId ?? uid;

const messageField = (message: string): Pick<QueryStatus, 'message'> =>
  message ? { message: clipped(message) } : {};

const errorFields = ({ message }: Failure): Pick<QueryStatus, 'message' | 'error'> => ({
  message: clipped(message),
  error: clipped(message),
});

const told = ({ type, message }: Failure): string => `${type}: ${message}`;

const clipped = (text: string): string =>
  text.length <= messageCharsMax ? text : `${text.slice(0, messageCharsMax - 1)}…`;

const wholeSeconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');

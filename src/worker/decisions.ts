import { defaultPayloadConverter, fromPayloadsAtIndex } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import type { ChosenSpeaker, EvaluatorReply, ModelReply, Remembered } from '../api/run.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

/** Something a run decided to do, and what came of it: a line of a replay. */
export interface Decision {
  /** The id people know from the Web UI: `t003.critic.model.1`, or the id of a nested team's run. */
  readonly id: string;
  readonly kind: 'call' | 'nested team' | 'continued as new';
  /** What the Web UI shows beside it: `turn 3 · critic · gpt-4o`. */
  readonly summary: string;
  readonly outcome: 'answered' | 'failed' | 'canceled' | 'open';
  /** The beginning of the answer, or the failure with its name. */
  readonly detail: string;
  readonly tokens: number;
  /** From scheduled to answered, retries included. */
  readonly tookMs?: number;
}

const detailCharactersMax = 160;

/** What the run of this history decided, in the order in which it decided it. Reads only; nothing is run. */
export function decisionsOf(events: readonly Event[]): Decision[] {
  const begun = new Map<string, { readonly index: number; readonly ms: number }>();
  const decisions: Decision[] = [];

  const begin = (event: Event, decision: Pick<Decision, 'id' | 'kind'>): void => {
    begun.set(String(event.eventId), { index: decisions.length, ms: millisecondsOf(event) });
    const summary = textOf(event.userMetadata?.summary);
    decisions.push({ ...decision, summary, outcome: 'open', detail: '', tokens: 0 });
  };
  const end = (
    event: Event,
    scheduledId: unknown,
    outcome: Decision['outcome'],
    more: Partial<Decision>,
  ): void => {
    const start = begun.get(String(scheduledId));
    const decision = start && decisions[start.index];
    if (!decision) return;
    decisions[start.index] = { ...decision, outcome, ...more, tookMs: millisecondsOf(event) - start.ms };
  };

  for (const event of events) {
    const call = event.activityTaskScheduledEventAttributes;
    const team = event.startChildWorkflowExecutionInitiatedEventAttributes;
    if (call) begin(event, { id: call.activityId ?? '', kind: 'call' });
    if (team) begin(event, { id: team.workflowId ?? '', kind: 'nested team' });

    const answered = event.activityTaskCompletedEventAttributes;
    if (answered) end(event, answered.scheduledEventId, 'answered', answerOf(answered.result?.payloads));
    const teamDone = event.childWorkflowExecutionCompletedEventAttributes;
    if (teamDone) end(event, teamDone.initiatedEventId, 'answered', {});

    const failed = event.activityTaskFailedEventAttributes;
    if (failed) end(event, failed.scheduledEventId, 'failed', { detail: failureText(failed.failure) });
    const timedOut = event.activityTaskTimedOutEventAttributes;
    if (timedOut) end(event, timedOut.scheduledEventId, 'failed', { detail: failureText(timedOut.failure) });
    const teamFailed = event.childWorkflowExecutionFailedEventAttributes;
    if (teamFailed)
      end(event, teamFailed.initiatedEventId, 'failed', { detail: failureText(teamFailed.failure) });

    const canceled = event.activityTaskCanceledEventAttributes;
    if (canceled) end(event, canceled.scheduledEventId, 'canceled', {});
    const cancelAsked = event.activityTaskCancelRequestedEventAttributes;
    if (cancelAsked) end(event, cancelAsked.scheduledEventId, 'canceled', {});

    const next = event.workflowExecutionContinuedAsNewEventAttributes;
    if (next) {
      const id = next.newExecutionRunId ?? '';
      decisions.push({
        id,
        kind: 'continued as new',
        summary: 'the history had grown long',
        outcome: 'answered',
        detail: '',
        tokens: 0,
      });
    }
  }
  return decisions;
}

type Payloads = temporal.api.common.v1.IPayload[] | null | undefined;

/** Whatever calls answer: one message or several, the name of a speaker, a score. A memory that was written says nothing. */
type Answer = Partial<ModelReply & ChosenSpeaker & Remembered & Pick<EvaluatorReply, 'score'>>;

function answerOf(payloads: Payloads): Pick<Decision, 'detail' | 'tokens'> {
  const said = fromPayloadsAtIndex<Answer | undefined>(defaultPayloadConverter, 0, payloads);
  const { message, messages, answer, score, problem, usage } = said ?? {};
  const wishes = message?.toolCalls?.map(({ name, arguments: args }) => `${name}(${args})`) ?? [];
  const words = answer ?? score ?? (message ?? messages?.at(-1))?.content;
  return {
    detail: short([words, ...wishes, problem].filter(Boolean).join(' · ')),
    tokens: usage?.totalTokens ?? 0,
  };
}

const failureText = (failure: temporal.api.failure.v1.IFailure | null | undefined): string =>
  short(`${failure?.applicationFailureInfo?.type ?? 'timeout'}: ${failure?.message ?? ''}`);

const textOf = (payload: temporal.api.common.v1.IPayload | null | undefined): string =>
  payload ? defaultPayloadConverter.fromPayload<string>(payload) : '';

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > detailCharactersMax ? `${line.slice(0, detailCharactersMax)}…` : line;
};

const millisecondsOf = ({ eventTime }: Event): number =>
  Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;

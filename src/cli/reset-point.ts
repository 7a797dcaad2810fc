import type { History } from '../worker/replay.ts';
import { UsageError } from './settings.ts';

/** Where a run can go on from: the call, or the nested team, that is made again first. */
export interface ResetPoint {
  /** As people know it from the Web UI: `t003.critic.model.1`, or the id of a nested team's run. */
  readonly id: string;
  /** The end of the workflow task that asked for it. */
  readonly workflowTaskEventId: EventId;
}

type EventId = NonNullable<NonNullable<History['events']>[number]['eventId']>;

interface Step extends ResetPoint {
  readonly failed: boolean;
}

/**
 * The step that failed last, or the one that `from` names: by its id, by the beginning of it, or by its turn (`3` is
 * the first call of turn 3). Throws a `UsageError` that lists the steps where there is none.
 */
export function resetPoint(history: History, from?: string): ResetPoint {
  const steps = stepsOf(history);
  const found =
    from === undefined ? steps.findLast(({ failed }) => failed) : steps.find(({ id }) => isNamed(id, from));
  if (found) return found;

  const known = steps.map(({ id }) => id).slice(-stepsShownMax);
  const what = from === undefined ? 'No step of this run failed' : `No step of this run is ${from}`;
  throw new UsageError(`${what}; give --from with a turn or one of these: ${known.join(', ') || 'none'}.`);
}

const stepsShownMax = 50;

const isNamed = (id: string, from: string): boolean =>
  id === from ||
  id.startsWith(`${from}.`) ||
  (/^\d+$/.test(from) && id.startsWith(`t${from.padStart(3, '0')}.`)) ||
  (/^\d+$/.test(from) && id.includes(`:t${from.padStart(3, '0')}.`));

function stepsOf({ events }: History): Step[] {
  const steps = new Map<string, Step>();
  for (const event of events ?? []) {
    const asked =
      event.activityTaskScheduledEventAttributes ?? event.startChildWorkflowExecutionInitiatedEventAttributes;
    const workflowTaskEventId = asked?.workflowTaskCompletedEventId;
    if (asked && workflowTaskEventId) {
      const id = 'activityId' in asked ? asked.activityId : 'workflowId' in asked ? asked.workflowId : '';
      steps.set(String(event.eventId), { id: id ?? '', workflowTaskEventId, failed: false });
    }
    const failed =
      event.activityTaskFailedEventAttributes?.scheduledEventId ??
      event.activityTaskTimedOutEventAttributes?.scheduledEventId ??
      event.childWorkflowExecutionFailedEventAttributes?.initiatedEventId;
    const step = failed && steps.get(String(failed));
    if (step) steps.set(String(failed), { ...step, failed: true });
  }
  return [...steps.values()];
}

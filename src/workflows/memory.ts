import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { Failure, History } from '../api/run.ts';
import type { View } from '../api/transcript.ts';
import { memoryCall, told } from './events.ts';
import { failureOf } from './failures.ts';
import type { TurnTaken } from './run-team.ts';
import { question } from './speakers.ts';
import type { Stage } from './stage.ts';
import * as timeouts from './timeouts.ts';

const { readMemory, writeMemory } = proxyActivities<Activities>(timeouts.toolCall);

/** Reads the conversation's memory, once for all targets (contract section 5.1); empty where there is none. */
export async function remembered(stage: Stage): Promise<History> {
  const { snapshot, log } = stage;
  const { memory, targets, timeoutMs } = snapshot;
  if (memory === undefined || targets.every(({ type }) => type === 'tool')) return [];

  const slot = log.allot();
  const read = async (): Promise<
    { readonly view: View; readonly count: number } | { readonly failure: Failure }
  > => {
    try {
      const { messages } = await readMemory.executeWithOptions(
        {
          activityId: 'memory.read',
          summary: 'what was said before, in this session',
          scheduleToCloseTimeout: Math.max(timeoutMs, 1),
        },
        [{ definition: memory, slot }],
      );
      return { view: messages.length > 0 ? [log.keep(slot, ...messages)] : [], count: messages.length };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  };
  const history = await told(stage, memoryCall(stage, 'MemoryGetMessages'), read, (end) =>
    'count' in end ? { facts: { messages: String(end.count) } } : {},
  );
  return 'failure' in history ? history : history.view;
}

/**
 * Adds the question and what a target said to the conversation's memory, where it answered (contract sections 4.2
 * and 4.3); a Tool has no conversation. A failure to write is the target's, which keeps its answer.
 */
export async function memorised(stage: Stage, index: number, turn: TurnTaken): Promise<TurnTaken> {
  const { memory, targets } = stage.snapshot;
  if (memory === undefined || turn.failure || targets[index]?.type === 'tool') return turn;

  const write = async (): Promise<TurnTaken> => {
    try {
      await writeMemory.executeWithOptions(
        {
          activityId: `memory.write.${index + 1}`,
          summary: `what ${targets[index]?.name} said, to be remembered`,
        },
        [
          {
            definition: memory,
            question: question({ ...stage, target: index || undefined }),
            said: turn.said,
          },
        ],
      );
      return turn;
    } catch (error) {
      return { ...turn, failure: failureOf(error) };
    }
  };
  const slots = turn.said.reduce((sum, { from, to }) => sum + to - from, 0);
  // The question is one more.
  return told(stage, memoryCall(stage, 'MemoryAddMessages', { messages: String(slots + 1) }), write);
}

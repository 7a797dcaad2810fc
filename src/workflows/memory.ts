import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { History } from '../api/run.ts';
import { failureOf } from './failures.ts';
import type { TurnTaken } from './run-team.ts';
import { question } from './speakers.ts';
import type { Stage } from './stage.ts';
import * as timeouts from './timeouts.ts';

const { readMemory, writeMemory } = proxyActivities<Activities>(timeouts.toolCall);

/** Reads the conversation's memory, once for all targets (contract section 5.1); empty where there is none. */
export async function remembered({ snapshot, log }: Stage): Promise<History> {
  const { memory, targets, timeoutMs } = snapshot;
  if (memory === undefined || targets.every(({ type }) => type === 'tool')) return [];

  const slot = log.allot();
  try {
    const { messages } = await readMemory.executeWithOptions(
      {
        activityId: 'memory.read',
        summary: 'what was said before, in this session',
        scheduleToCloseTimeout: Math.max(timeoutMs, 1),
      },
      [{ definition: memory, slot }],
    );
    return messages.length > 0 ? [log.keep(slot, ...messages)] : [];
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/**
 * Adds the question and what a target said to the conversation's memory, where it answered (contract sections 4.2
 * and 4.3); a Tool has no conversation. A failure to write is the target's, which keeps its answer.
 */
export async function memorised(stage: Stage, index: number, turn: TurnTaken): Promise<TurnTaken> {
  const { memory, targets } = stage.snapshot;
  if (memory === undefined || turn.failure || targets[index]?.type === 'tool') return turn;

  try {
    await writeMemory.executeWithOptions(
      {
        activityId: `memory.write.${index + 1}`,
        summary: `what ${targets[index]?.name} said, to be remembered`,
      },
      [{ definition: memory, question: question(stage), said: turn.said }],
    );
    return turn;
  } catch (error) {
    return { ...turn, failure: failureOf(error) };
  }
}

import { CancellationScope, patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { Failure, History, Remembered } from '../api/run.ts';
import type { Hash, TargetPlan } from '../api/snapshot.ts';
import { memoryCall, told } from './events.ts';
import { failureOf } from './failures.ts';
import type { TurnTaken } from './run-team.ts';
import { question } from './speakers.ts';
import type { Stage } from './stage.ts';
import * as timeouts from './timeouts.ts';

const { readMemory, writeMemory } = proxyActivities<Activities>(timeouts.toolCall);

/** What was said before. `held` as in MemoryWrite. */
export interface Recalled {
  readonly history: History;
  readonly held?: number | undefined;
}

export interface Reading {
  readonly reading: Promise<Recalled>;
  /** Gives up where nobody waits any more. */
  readonly end: () => Promise<unknown>;
}

/**
 * Reads the conversation's memory, once for all targets (contract section 5.1), in the time of those who wait for it
 * (sections 3.1 and 4.2); empty where there is none.
 */
export async function remembered(stage: Stage): Promise<Recalled | Reading> {
  const { memory, targets } = stage.snapshot;
  if (memory === undefined || targets.every(({ type }) => type === 'tool')) return { history: [] };

  const scope = new CancellationScope();
  const reading = scope.run(() => read(stage, memory));
  const end = () => {
    scope.cancel();
    return reading;
  };
  // Runs that began without this read it before their targets' time did.
  return patched('memory-in-targets-time') ? { reading, end } : reading;
}

/** What a target is reminded of; it waits no longer than it has time. A Tool has no conversation, and does not wait. */
export async function recalled({ reading }: Reading, { type }: TargetPlan): Promise<Recalled> {
  if (type === 'tool') return { history: [] };
  try {
    return await Promise.race([reading, CancellationScope.current().cancelRequested]);
  } catch (error) {
    return { history: { failure: failureOf(error) } };
  }
}

async function read(stage: Stage, memory: Hash): Promise<Recalled> {
  const { log } = stage;
  const slot = log.allot();
  const asked = async (): Promise<Remembered | { readonly failure: Failure }> => {
    try {
      return await readMemory.executeWithOptions(
        { activityId: 'memory.read', summary: 'what was said before, in this session' },
        [{ definition: memory, slot }],
      );
    } catch (error) {
      return { failure: failureOf(error) };
    }
  };
  const answer = await told(stage, memoryCall(stage, 'MemoryGetMessages'), asked, (end) =>
    'messages' in end ? { facts: { messages: String(end.messages.length) } } : {},
  );
  if ('failure' in answer) return { history: answer };

  const { messages, held } = answer;
  return { history: messages.length > 0 ? [log.keep(slot, ...messages)] : [], held };
}

/**
 * Adds the question and what a target said to the conversation's memory, where it answered (contract sections 4.2
 * and 4.3); a Tool has no conversation. A failure to write is the target's, which keeps its answer.
 */
export async function memorised(
  stage: Stage,
  index: number,
  { held }: Recalled,
  turn: TurnTaken,
): Promise<TurnTaken> {
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
            ...(held !== undefined && { held }),
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

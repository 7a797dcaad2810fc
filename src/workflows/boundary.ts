import { CancellationScope, condition, isCancellation, workflowInfo } from '@temporalio/workflow';
import type { TeamState } from '../api/run.ts';

/**
 * Where the conversations of a run meet before it continues as new. A conversation that is between two turns when
 * the history has grown long waits here; when all that have begun and not ended wait, the run can be continued.
 */
export interface Boundary {
  begun(): void;
  /** Returns at once while the history is short; else waits for the run's end, or for a cancellation. */
  between(conversation: number, state: TeamState): Promise<void>;
  ended(): void;
  everyoneWaits(): Promise<void>;
  readonly waiting: ReadonlyMap<number, TeamState>;
}

export function createBoundary(): Boundary {
  const waiting = new Map<number, TeamState>();
  let open = 0;

  return {
    waiting,
    begun: () => void open++,
    async between(conversation, state) {
      if (waiting.size === 0 && !workflowInfo().continueAsNewSuggested) return;
      waiting.set(conversation, state);
      try {
        await condition(() => false);
      } catch (error) {
        // A deadline or a cancel met it here: the conversation goes on, and its next call ends it by name.
        if (!isCancellation(error)) throw error;
        waiting.delete(conversation);
      }
    },
    ended: () => void open--,
    // A cancel must reach the conversations, not this watch over them: they end holding what was answered.
    everyoneWaits: () =>
      CancellationScope.nonCancellable(() => condition(() => waiting.size > 0 && waiting.size === open)),
  };
}

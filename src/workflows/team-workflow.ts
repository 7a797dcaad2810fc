import { continueAsNew } from '@temporalio/workflow';
import type { TeamOutcome, TeamRunInput, TeamState } from '../api/run.ts';
import type { RunRef } from '../api/transcript.ts';
import { createBoundary } from './boundary.ts';
import { clip } from './clip.ts';
import { endOfRun } from './failures.ts';
import { openStage, thisRun } from './stage.ts';
import { teamTurns } from './team-turns.ts';
import { seenFromOutside } from './view.ts';

const lastBytesMax = 128 * 1024;

/**
 * A nested team: a run of its own, with its own history, page in the Web UI and re-run. Returns what its members
 * said, as segments of its log; when it fails, the same is the first detail of the failure.
 */
export async function teamWorkflow(input: TeamRunInput): Promise<TeamOutcome> {
  const stage = openStage(input);
  const boundary = createBoundary();
  boundary.begun();

  const conversation = teamTurns(
    stage,
    input.team,
    input.before,
    (state) => boundary.between(0, state),
    input.carried?.state,
  );
  const ended = await Promise.race([conversation, boundary.everyoneWaits()]);
  const here = thisRun();
  if (!ended) {
    const state = carriedState(boundary.waiting.get(0) as TeamState, here);
    const carried = { nextTurn: stage.ledger.nextTurn(), usage: stage.ledger.usage(), state };
    return continueAsNew<typeof teamWorkflow>({ ...input, carried });
  }

  const { said, last } = carriedState(ended.state, here);
  const outcome: TeamOutcome = { said, last, usage: stage.ledger.usage(), failure: ended.failure };
  if (ended.failure) throw endOfRun(ended.failure, outcome);
  return outcome;
}

/** What a team has said, as another run may hold it: its segments name this run, its last message is bounded. */
export const carriedState = (state: TeamState, here: RunRef): TeamState => ({
  ...state,
  said: seenFromOutside(state.said, here),
  last: state.last && { ...state.last, content: clip(state.last.content, lastBytesMax) },
});

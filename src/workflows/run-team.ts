import type { Failure, TeamState, Turn } from '../api/run.ts';
import type { MemberPlan, TeamPlan } from '../api/snapshot.ts';
import type { Message, View } from '../api/transcript.ts';
import { inOrder } from './in-order.ts';
import { nextSpeakers } from './strategies/index.ts';
import type { Next } from './strategies/next.ts';
import type { Choice } from './strategies/selector.ts';
import { join } from './view.ts';

/** What a member said when it had the floor. A failure is a value: what was said before it stays said. */
export interface TurnTaken {
  readonly said: View;
  readonly last?: Message;
  readonly ends: boolean;
  readonly failure?: Failure;
}

/** What a team does besides deciding. */
export interface TeamSteps {
  /** Told what the strategy says, before anybody speaks. */
  decided(turns: readonly Turn[], next: Next): void;
  /** Lets a member speak who has heard `said` in this team. `place` is as people are told it. */
  takeTurn(member: MemberPlan, said: View, place: number): Promise<TurnTaken>;
  /** Asks who has the turn after those taken. */
  chooseSpeaker(said: View, turns: readonly Turn[]): Promise<Choice>;
  /** Called between two turns, when `state` is all there is to know; may never return (continue-as-new). */
  betweenTurns(state: TeamState): Promise<void>;
  readonly concurrency: number;
}

export interface TeamEnd {
  readonly state: TeamState;
  readonly failure?: Failure;
}

const nothingSaid: TeamState = { turns: [], said: [] };

/**
 * Gives the floor to one speaker after another (in a parallel team: to all at once) until nobody is next, someone ends
 * the conversation, or a turn fails.
 *
 * The turns taken are the only state. A strategy reads them and names the next speakers, so a retry, a replay, a reset
 * and a continue-as-new all go on from the same place: the last turn.
 */
export async function runTeam(team: TeamPlan, steps: TeamSteps, soFar = nothingSaid): Promise<TeamEnd> {
  let state = soFar;

  while (!state.turns.at(-1)?.ends) {
    const { said, turns: before } = state;
    const next = await nextSpeakers(team, before, () => steps.chooseSpeaker(said, before));
    steps.decided(before, next);
    if ('failure' in next) return { state, failure: next.failure };
    if (next.speakers.length === 0) return { state };

    const taken = await inOrder(next.speakers, steps.concurrency, (member) =>
      steps.takeTurn(
        team.members[member] as MemberPlan,
        said,
        team.strategy === 'graph' ? before.length : member,
      ),
    );
    state = {
      turns: [
        ...state.turns,
        ...taken.map(({ ends }, index) => ({ member: next.speakers[index] as number, ends })),
      ],
      said: join(said, ...taken.map((turn) => turn.said)),
      last: taken.findLast((turn) => turn.last)?.last ?? state.last,
    };

    const failure = taken.find((turn) => turn.failure)?.failure;
    if (failure) return { state, failure };
    await steps.betweenTurns(state);
  }

  return { state };
}

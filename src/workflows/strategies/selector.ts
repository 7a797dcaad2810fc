import type { Failure, Turn } from '../../api/run.ts';
import type { TeamOf } from '../../api/snapshot.ts';
import { turnLimit, type Next } from './next.ts';

export type Choice = { readonly answer: string } | { readonly failure: Failure };

/**
 * A model names the next speaker; it advises, it does not decide. A name that is not a member's gives the floor to
 * the first member, or to the second where the first has just spoken (contract section 4.12).
 */
export async function selector(
  team: TeamOf<'selector'>,
  turns: readonly Turn[],
  choose: () => Promise<Choice>,
): Promise<Next> {
  // Before the model is asked: a choice nobody may act on would be paid for in vain.
  if (turns.length >= team.maxTurns) return turnLimit(`team selector MaxTurns reached ${team.name}`);

  const choice = await choose();
  if ('failure' in choice) return choice;

  const named = team.members.findIndex(({ name }) => name === choice.answer);
  return { speakers: [named >= 0 ? named : fallback(team, turns)] };
}

const fallback = (team: TeamOf<'selector'>, turns: readonly Turn[]): number =>
  turns.at(-1)?.member === 0 && team.members.length > 1 ? 1 : 0;

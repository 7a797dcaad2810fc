import type { Turn } from '../../api/run.ts';
import type { TeamPlan } from '../../api/snapshot.ts';
import { graph } from './graph.ts';
import type { Next } from './next.ts';
import { parallel } from './parallel.ts';
import { roundRobin } from './round-robin.ts';
import { selector, type Choice } from './selector.ts';
import { sequential } from './sequential.ts';

/** Who speaks next in this team, read off the turns so far; `choose` asks the selector's model. */
export async function nextSpeakers(
  team: TeamPlan,
  turns: readonly Turn[],
  choose: () => Promise<Choice>,
): Promise<Next> {
  switch (team.strategy) {
    case 'sequential':
      return sequential(team, turns);
    case 'parallel':
      return parallel(team, turns);
    case 'round-robin':
      return roundRobin(team, turns);
    case 'graph':
      return graph(team, turns);
    case 'selector':
      return selector(team, turns, choose);
  }
}

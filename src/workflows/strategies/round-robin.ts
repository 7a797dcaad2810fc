import type { Turn } from '../../api/run.ts';
import type { TeamOf } from '../../api/snapshot.ts';
import { turnLimit, type Next } from './next.ts';

/** The floor goes round the table until someone ends the conversation. One of its turns is a full pass. */
export const roundRobin = (team: TeamOf<'round-robin'>, turns: readonly Turn[]): Next =>
  turns.length < team.maxTurns * team.members.length
    ? { speakers: [turns.length % team.members.length] }
    : turnLimit(`team round-robin MaxTurns reached ${team.name}`);

import type { Turn } from '../../api/run.ts';
import type { TeamOf } from '../../api/snapshot.ts';
import { finished, type Next } from './next.ts';

/** Every member once, in the order written. */
export const sequential = (team: TeamOf<'sequential'>, turns: readonly Turn[]): Next =>
  turns.length < team.members.length ? { speakers: [turns.length] } : finished;

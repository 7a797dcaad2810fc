import type { Turn } from '../../api/run.ts';
import type { TeamOf } from '../../api/snapshot.ts';
import { finished, type Next } from './next.ts';

/** All members at once; none hears another (contract section 9, row 21). */
export const parallel = (team: TeamOf<'parallel'>, turns: readonly Turn[]): Next =>
  turns.length === 0 ? { speakers: team.members.map((_, member) => member) } : finished;

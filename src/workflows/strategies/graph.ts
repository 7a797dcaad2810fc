import type { Turn } from '../../api/run.ts';
import type { TeamOf } from '../../api/snapshot.ts';
import { finished, turnLimit, type Next } from './next.ts';

/**
 * The first member opens; after that each speaker's edge names the next. A member without an edge ends the
 * conversation, also when it spoke the last turn allowed.
 */
export function graph({ name, members, edges, maxTurns }: TeamOf<'graph'>, turns: readonly Turn[]): Next {
  const last = turns.at(-1);
  if (!last) return { speakers: [0] };

  const speaker = members[last.member]?.name ?? '';
  const next = edges[speaker];
  if (next === undefined) return finished;
  if (turns.length >= maxTurns) return turnLimit(`team graph MaxTurns ${maxTurns} reached for team ${name}`);

  // Where a name stands twice in the list, the last one counts (contract section 4.12).
  const member = members.findLastIndex((candidate) => candidate.name === next);
  return member < 0
    ? { failure: { type: 'MemberNotFound', message: `member ${next} not found in team ${name}` } }
    : { speakers: [member] };
}

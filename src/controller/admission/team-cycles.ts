import { isInvalid, readSpec } from '../../api/problems.ts';
import { TeamSpec } from '../../api/team.ts';
import { trouble } from './absence.ts';
import type { Reader } from './ports.ts';

/** Teams looked at for one review; who nests more is let pass, and is told by the run's own bounds. */
const teamsMax = 500;

/**
 * The names from `team` over its nested teams back to `team`, or undefined if no way leads back. Reads every Team as it
 * is now: two changes, each harmless by what it saw, could otherwise close a circle together.
 */
export async function cycleThrough(
  team: string,
  nested: readonly string[],
  namespace: string,
  read: Reader,
): Promise<readonly string[] | undefined> {
  const seen = new Set<string>();
  const ways = nested.map((name) => [team, name]);

  for (let way = ways.shift(); way && seen.size < teamsMax; way = ways.shift()) {
    const last = way.at(-1) as string;
    if (last === team) return way;
    if (seen.has(last)) continue;
    seen.add(last);

    const key = { namespace, name: last };
    await trouble('team', key, async () => {
      const spec = readSpec(TeamSpec, (await read.getLatest('teams', key)).spec);
      const members = isInvalid(spec) ? [] : spec.members;
      for (const { type, name } of members) if (type === 'team') ways.push([...way, name]);
    });
  }
  return undefined;
}

import { AgentSpec } from '../../api/agent.ts';
import { memberProblem, strategyProblems } from '../../api/canonical-team.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { TeamSpec } from '../../api/team.ts';
import { absence, trouble } from './absence.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';
import { cycleThrough } from './team-cycles.ts';

/** Contract 2.4, and, which ARK does not look at, that no Team contains itself by way of others. */
export async function* admitTeam(
  { namespace, name: team, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(TeamSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('Team', spec, written);

  yield* strategyProblems(spec);
  yield* admitSelector(spec, namespace, read);
  for (const [index, member] of spec.members.entries()) {
    yield* memberProblem(member, index, team);
    const absent = await absence(read, member.type === 'team' ? 'teams' : 'agents', {
      namespace,
      name: member.name,
    });
    if (absent) yield `team member ${index} references ${member.type}: ${absent}`;
  }
  yield* admitEngines(spec, namespace, read);

  const nested = spec.members.flatMap(({ type, name }) => (type === 'team' ? [name] : []));
  const cycle = await cycleThrough(team, nested, namespace, read);
  if (cycle) {
    const index = spec.members.findIndex(({ type, name }) => type === 'team' && name === cycle[1]);
    yield `team member ${index}: team '${team}' contains itself: ${cycle.join(' → ')}`;
  }
}

async function* admitSelector(
  { strategy, selector }: TeamSpec,
  namespace: string,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  if (strategy !== 'selector') return;
  const key = { namespace, name: selector?.model || 'default' };
  const why = await trouble('model', key, () => read.get('models', key));
  if (why) yield `selector model ${key.name} not found in namespace ${namespace}: ${why}`;
}

/** Agents that an engine runs do not mix with those run here; teams among the members are not looked into, as in ARK. */
async function* admitEngines(
  { members }: TeamSpec,
  namespace: string,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  let external: { readonly index: number; readonly name: string; readonly engine: string } | undefined;
  let hasInternal = false;
  for (const [index, { type, name }] of members.entries()) {
    if (type !== 'agent') continue;
    const engine = await engineOf(name, namespace, read);
    if (engine) external ??= { index, name, engine };
    else hasInternal = true;

    if (!external || !hasInternal) continue;
    yield `mixed teams are not allowed: team contains both internal and external agents. Team member ${external.index}: agent '${external.name}' uses external execution engine '${external.engine}'`;
    return;
  }
}

/** Undefined where the agent is run here, or is not there. */
async function engineOf(name: string, namespace: string, read: Reader): Promise<string | undefined> {
  let engine: string | undefined;
  const key = { namespace, name };
  await trouble('agent', key, async () => {
    const spec = readSpec(AgentSpec, (await read.get('agents', key)).spec);
    engine = isInvalid(spec) ? undefined : spec.executionEngine?.name;
  });
  return engine === 'a2a' ? undefined : engine;
}

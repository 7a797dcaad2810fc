import { canonicalAgent } from '../../api/canonical-agent.ts';
import { canonicalTeam } from '../../api/canonical-team.ts';
import type { CanonicalTeam } from '../../api/canonical-team.ts';
import { isInvalid } from '../../api/problems.ts';
import type { MemberPlan, TeamPlan } from '../../api/snapshot.ts';
import { shown } from './definitions.ts';
import type { Definition } from './definitions.ts';
import { defineAgent } from './define-agent.ts';
import { defineModel } from './define-model.ts';
import { define } from './draft.ts';
import type { Draft } from './draft.ts';
import { Unbuildable, valid, within } from './unbuildable.ts';

/**
 * Puts a Team, its members and their members into the draft, each once, however many teams share it. `above` are the
 * names of the teams it was reached through: a Team that contains itself would never end.
 */
export async function planTeam(
  found: Definition,
  draft: Draft,
  above: readonly string[] = [],
): Promise<TeamPlan> {
  const { namespace, name } = found;
  if (above.includes(name)) {
    const path = [...above.slice(above.indexOf(name)), name].join(' → ');
    throw new Unbuildable('TeamCycle', `team ${shown(found)} contains itself: ${path}`);
  }
  const known = draft.teams[name];
  if (known) return known;

  const spec = valid(`team ${shown(found)}`, canonicalTeam(found.spec, name));
  if (spec.members.length === 0) {
    throw new Unbuildable('TeamEmpty', `team ${shown(found)} has no members configured`);
  }

  const members: Member[] = [];
  for (const member of spec.members) {
    members.push(await planMember(member, found, draft, [...above, name]));
  }
  return (draft.teams[name] = await planned(spec, members, namespace, name, draft));
}

interface Member extends MemberPlan {
  readonly description?: string;
}

async function planMember(
  { type, name }: MemberPlan,
  team: Definition,
  draft: Draft,
  path: readonly string[],
): Promise<Member> {
  const found = await within(
    `unable to make team ${shown(team)}, error:failed to get ${type} ${name} for team ${team.name}: `,
    () => draft.read.get(type === 'agent' ? 'agents' : 'teams', { namespace: team.namespace, name }),
  );
  if (type === 'agent') {
    await within(`unable to make team ${shown(team)}, error:`, () => defineAgent(found, draft));
  } else {
    await planTeam(found, draft, path);
  }
  const description = descriptionOf(type, found);
  return { type, name, ...(description && { description }) };
}

/** What a selector is told about a member. */
function descriptionOf(type: MemberPlan['type'], { spec, name }: Definition): string | undefined {
  const described = type === 'agent' ? canonicalAgent(spec) : canonicalTeam(spec, name);
  return isInvalid(described) ? undefined : described.description;
}

async function planned(
  spec: CanonicalTeam,
  told: readonly Member[],
  namespace: string,
  name: string,
  draft: Draft,
): Promise<TeamPlan> {
  const members = told.map((member): MemberPlan => ({ type: member.type, name: member.name }));
  const team = { type: 'team', name, members } as const;
  switch (spec.strategy) {
    case 'sequential':
    case 'parallel':
      return { ...team, strategy: spec.strategy };
    case 'round-robin':
      return { ...team, strategy: spec.strategy, maxTurns: spec.maxTurns ?? draft.limits.turns };
    case 'graph':
      return {
        ...team,
        strategy: spec.strategy,
        edges: spec.edges,
        maxTurns: spec.maxTurns ?? draft.limits.turns,
      };
    case 'selector': {
      const model = await within(`unable to make team ${namespace}/${name}, error:`, () =>
        defineModel({ name: spec.model, namespace }, draft.read),
      );
      const definition = define(draft, {
        kind: 'selector',
        namespace,
        team: name,
        model,
        ...(spec.prompt !== undefined && { prompt: spec.prompt }),
        members: told.map(({ name: member, description }) => ({
          name: member,
          ...(description && { description }),
        })),
        access: draft.access,
      });
      const maxTurns = spec.maxTurns ?? draft.limits.turns;
      return { ...team, strategy: spec.strategy, definition, model: model.name, maxTurns };
    }
  }
}

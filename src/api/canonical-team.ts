import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';
import type { MemberPlan } from './snapshot.ts';
import { strategies, TeamSpec, type Strategy } from './team.ts';

interface Bounded {
  /** At least 1; absent: the bound every run obeys. */
  readonly maxTurns?: number | undefined;
}

export type CanonicalTeam = {
  readonly description?: string | undefined;
  readonly members: readonly MemberPlan[];
} & (
  | { readonly strategy: 'sequential' | 'parallel' }
  | ({ readonly strategy: 'round-robin' } & Bounded)
  | ({
      readonly strategy: 'selector';
      /** Absent: the Model named `default`. */
      readonly model?: string | undefined;
      /** Absent: the default prompt (contract 4.12). */
      readonly prompt?: string | undefined;
    } & Bounded)
  | ({ readonly strategy: 'graph'; readonly edges: Readonly<Record<string, string>> } & Bounded)
);

/** A Team's spec in one shape for every spelling of contract 9, or what is wrong with it. `name` is the Team's own. */
export function canonicalTeam(written: unknown, name: string): CanonicalTeam | Invalid {
  const spec = readSpec(TeamSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = teamProblems(spec, name);
  const strategy = strategyOf(spec);
  if (problems.length > 0 || !strategy) return { problems };

  const team = { description: spec.description, members: spec.members.map(canonicalMember) };
  // Contract 4.12: a bound of 0 or less acts like 1.
  const bounded = { ...team, maxTurns: spec.maxTurns === undefined ? undefined : Math.max(1, spec.maxTurns) };
  switch (strategy) {
    case 'sequential':
    case 'parallel':
      return { ...team, strategy };
    case 'round-robin':
      return { ...bounded, strategy };
    case 'selector':
      return {
        ...bounded,
        strategy,
        model: spec.selector?.model || undefined,
        prompt: spec.selector?.selectorPrompt || undefined,
      };
    case 'graph':
      return {
        ...bounded,
        strategy,
        edges: Object.fromEntries(edgesOf(spec).map(({ from, to }) => [from, to])),
      };
  }
}

/** What one Team can tell about itself (contract 2.4, rules 1 and 2). */
export const teamProblems = (spec: TeamSpec, name: string): readonly string[] => [
  ...strategyProblems(spec),
  ...spec.members.flatMap((member, index) => memberProblem(member, index, name)),
];

/** As `teamProblems`, of the strategy. */
export const strategyProblems = (spec: TeamSpec): readonly string[] => [
  ...problemsAmong(
    // ARK's words: its list is of its own strategies, ours has `parallel` too.
    !strategyOf(spec) &&
      `unsupported strategy '${spec.strategy}': must be 'sequential', 'round-robin', 'selector', or 'graph'`,
  ),
  ...(spec.strategy === 'graph' ? graphProblems(spec) : []),
];

/** As `teamProblems`, of the member at this index; `team` is the Team's own name. */
export const memberProblem = (
  { name, type }: TeamSpec['members'][number],
  index: number,
  team: string,
): readonly string[] =>
  problemsAmong(
    name === team && `team member ${index}: team '${team}' cannot reference itself`,
    !['agent', 'team'].includes(type) &&
      `team member ${index} has invalid type '${type}': must be 'agent' or 'team'`,
  );

function graphProblems(spec: TeamSpec): readonly string[] {
  if (!spec.graph) return ['graph strategy requires graph configuration'];
  if (spec.graph.edges.length === 0) return ['graph strategy requires at least one edge'];

  const members = new Set(spec.members.map(({ name }) => name));
  const seen = new Set<string>();
  return spec.graph.edges.flatMap(({ from, to }, index) => {
    const isSecond = seen.has(from);
    seen.add(from);
    return problemsAmong(
      !members.has(from) && `graph edge ${index}: 'from' member '${from}' not found in team members`,
      !members.has(to) && `graph edge ${index}: 'to' member '${to}' not found in team members`,
      isSecond && `member '${from}' has more than one outgoing edge`,
    );
  });
}

/** Newer pages write a round-robin team as a sequential one that loops (contract 12). */
function strategyOf({ strategy, loops }: TeamSpec): Strategy | undefined {
  return strategy === 'sequential' && loops ? 'round-robin' : strategies.find((known) => known === strategy);
}

const canonicalMember = ({ name, type }: TeamSpec['members'][number]): MemberPlan => ({
  type: type === 'team' ? 'team' : 'agent',
  name,
});

const edgesOf = ({ graph }: TeamSpec) => graph?.edges ?? [];

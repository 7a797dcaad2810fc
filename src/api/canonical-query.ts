import { canonicalParameters, parameterProblems, type NamedSource } from './canonical-values.ts';
import { parseDuration } from './durations.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';
import { QuerySpec } from './query.ts';
import type { Target } from './run.ts';
import type { LabelSelector, Ref } from './values.ts';

export interface CanonicalQuery {
  readonly input: string;
  readonly parameters: readonly NamedSource[];
  /** Those named in the spec, in its order; what `selector` matches comes after them. */
  readonly targets: readonly Target[];
  readonly selector?: LabelSelector | undefined;
  /** Absent: the Memory named `default`, if there is one. */
  readonly memory?: Ref | undefined;
  readonly evaluators: readonly Ref[];
  readonly evaluatorSelector?: LabelSelector | undefined;
  readonly serviceAccount: string;
  /** Of `sessionId` and `conversationId`, the first that is given; absent: the Query's uid (contract 9, row 13). */
  readonly sessionId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** From each target's start; 0 lets no target begin. */
  readonly timeoutMs: number;
  /** From the Query's creation. */
  readonly ttlMs: number;
  readonly cancel: boolean;
}

/** A Query's spec in one shape for every spelling of contract 9, or what is wrong with it. */
export function canonicalQuery(written: unknown): CanonicalQuery | Invalid {
  const spec = readSpec(QuerySpec, written);
  if (isInvalid(spec)) return spec;

  const problems = queryProblems(spec);
  if (problems.length > 0) return { problems };

  return {
    input: spec.input,
    parameters: canonicalParameters(spec.parameters),
    targets: targetsOf(spec),
    selector: spec.selector,
    memory: spec.memory,
    evaluators: spec.evaluators ?? [],
    evaluatorSelector: spec.evaluatorSelector,
    serviceAccount: spec.serviceAccount ?? 'default',
    sessionId: spec.sessionId ?? spec.conversationId,
    conversationId: spec.conversationId,
    timeoutMs: milliseconds(spec.timeout),
    ttlMs: milliseconds(spec.ttl),
    cancel: spec.cancel ?? false,
  };
}

/** What one Query can tell about itself (contract 2.2, rules 1, 3 and 4). */
export const queryProblems = (spec: QuerySpec): readonly string[] => [
  ...targetProblems(spec),
  ...parameterProblems(spec.parameters),
  ...judgeProblems(spec),
];

/** As `queryProblems`, of who is asked. */
export const targetProblems = (spec: QuerySpec): readonly string[] =>
  problemsAmong(
    targetsOf(spec).length === 0 && !spec.selector && 'at least one target or selector must be specified',
  );

/** As `queryProblems`, of who judges. */
export const judgeProblems = ({ evaluators = [], evaluatorSelector }: QuerySpec): readonly string[] =>
  problemsAmong(
    evaluators.length > 0 && evaluatorSelector && 'cannot specify both evaluators and evaluatorSelector',
  );

/** Every spelling's targets, in the order of the fields. */
export function targetsOf({ target, targets = [], team }: QuerySpec): readonly Target[] {
  return [
    ...(target ? [target] : []),
    ...targets,
    ...(team ? [{ type: 'team' as const, name: team.name }] : []),
  ];
}

/** The schema has seen to it that this is a duration; a negative one is as good as none left. */
const milliseconds = (duration: string) => Math.max(0, parseDuration(duration) ?? 0);

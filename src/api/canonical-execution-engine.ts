import { addressProblem, sourceOf, type Source } from './canonical-values.ts';
import { ExecutionEngineSpec } from './execution-engine.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';

export interface CanonicalExecutionEngine {
  readonly type: string;
  readonly address: Source;
  /** `execute`: POST to `<address>/execute` (contract 4.14). `a2a`: an A2A message to the address (contract 4.13). */
  readonly protocol: 'execute' | 'a2a';
}

/** Lets an engine of any type be spoken to over A2A. */
export const engineProtocolAnnotation = 'ark.mckinsey.com/engine-protocol';

/** An ExecutionEngine's spec and how it is spoken to (contract 9, row 30), or what is wrong with it. */
export function canonicalExecutionEngine(
  written: unknown,
  {
    name,
    annotations = {},
  }: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> | undefined },
): CanonicalExecutionEngine | Invalid {
  const spec = readSpec(ExecutionEngineSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = executionEngineProblems(spec, name);
  if (problems.length > 0) return { problems };

  const isA2a = spec.type === 'a2a' || annotations[engineProtocolAnnotation] === 'a2a';
  return { type: spec.type, address: sourceOf(spec.address), protocol: isA2a ? 'a2a' : 'execute' };
}

/** What one ExecutionEngine can tell about itself (contract 2.8). */
const executionEngineProblems = ({ address }: ExecutionEngineSpec, name: string): readonly string[] => [
  ...engineNameProblem(name),
  ...problemsAmong(addressProblem(address)),
];

/** As `executionEngineProblems`, of its own name. */
export const engineNameProblem = (name: string): readonly string[] =>
  problemsAmong(name === 'a2a' && "execution engine name 'a2a' is reserved for A2A servers");

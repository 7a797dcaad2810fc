import {
  addressProblem,
  canonicalParameters,
  sourceOf,
  type NamedSource,
  type Source,
} from './canonical-values.ts';
import { EvaluatorSpec } from './evaluator.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';

export interface CanonicalEvaluator {
  readonly address: Source;
  readonly description?: string | undefined;
  /** Absent: it judges only what names it. */
  readonly selector?: EvaluatorSpec['selector'];
  readonly parameters: readonly NamedSource[];
}

/** An Evaluator's spec with every value traced to its source, or what is wrong with it. */
export function canonicalEvaluator(written: unknown): CanonicalEvaluator | Invalid {
  const spec = readSpec(EvaluatorSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = evaluatorProblems(spec);
  if (problems.length > 0) return { problems };

  return {
    address: sourceOf(spec.address),
    description: spec.description,
    selector: spec.selector,
    parameters: canonicalParameters(spec.parameters),
  };
}

/** What one Evaluator can tell about itself (contract 2.8). */
const evaluatorProblems = ({ address }: EvaluatorSpec): readonly string[] =>
  problemsAmong(addressProblem(address));

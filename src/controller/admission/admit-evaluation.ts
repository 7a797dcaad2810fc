import { evaluationProblems } from '../../api/canonical-evaluation.ts';
import { EvaluationSpec } from '../../api/evaluation.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { absence } from './absence.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/**
 * Contract 2.9, which ARK means to check and does not: the evaluator exists, and what the type needs is there. Fields
 * that the type does not use are let pass, since Evaluations have long been written with them.
 */
export async function* admitEvaluation(
  { namespace, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(EvaluationSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('Evaluation', spec, written);

  const { evaluator } = spec;
  const absent = evaluator
    ? await absence(read, 'evaluators', { namespace: evaluator.namespace || namespace, name: evaluator.name })
    : 'evaluator name is required';
  if (absent) yield `evaluator reference validation failed: ${absent}`;
  yield* evaluationProblems(spec);
}

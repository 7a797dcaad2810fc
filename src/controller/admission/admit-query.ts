import { judgeProblems, targetProblems, targetsOf } from '../../api/canonical-query.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { QuerySpec } from '../../api/query.ts';
import { absence } from './absence.ts';
import { admitParameters } from './admit-parameters.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.2. All spellings of a target count (contract 9, rows 1 and 2). */
export async function* admitQuery(
  { namespace, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(QuerySpec, written);
  if (isInvalid(spec)) return yield* inArkWords('Query', spec, written);

  yield* targetProblems(spec);
  for (const [index, { type, name }] of targetsOf(spec).entries()) {
    const absent = await absence(read, `${type}s`, { namespace, name });
    if (absent) yield `target[${index}] references ${absent}`;
  }
  yield* admitParameters(spec.parameters, namespace, read);

  yield* judgeProblems(spec);
  for (const { name, namespace: elsewhere } of spec.evaluators ?? []) {
    const absent = await absence(read, 'evaluators', { namespace: elsewhere || namespace, name });
    if (absent) yield `evaluator reference ${name}: ${absent}`;
  }
}

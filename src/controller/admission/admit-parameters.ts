import { parameterProblem, parameterSource } from '../../api/canonical-values.ts';
import type { Parameter } from '../../api/values.ts';
import { keyAbsence } from './absence.ts';
import type { Reader } from './ports.ts';

/** Contract 2.1: the parameters of a Query or an Agent. Whether a key is `optional` makes no difference, as in ARK. */
export async function* admitParameters(
  parameters: readonly Parameter[] = [],
  namespace: string,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  for (const [index, parameter] of parameters.entries()) {
    yield* parameterProblem(parameter, index);
    const absent = await keyAbsence(read, parameterSource(parameter), namespace);
    if (absent) yield `parameter[${index}] '${parameter.name}': ${absent}`;
  }
}

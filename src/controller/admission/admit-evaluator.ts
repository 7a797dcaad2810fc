import { EvaluatorSpec } from '../../api/evaluator.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { absence } from './absence.ts';
import { admitAddress } from './admit-address.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.8. */
export async function* admitEvaluator(
  { namespace, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(EvaluatorSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('Evaluator', spec, written);
  yield* admitAddress(spec.address, namespace, read);

  const literal = (name: string) => spec.parameters?.find((parameter) => parameter.name === name)?.value;
  const model = literal('model.name');
  const absent =
    model &&
    (await absence(read, 'models', { namespace: literal('model.namespace') || namespace, name: model }));
  if (absent) yield `failed to validate model '${model}': ${absent}`;
}

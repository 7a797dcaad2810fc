import { engineNameProblem } from '../../api/canonical-execution-engine.ts';
import { ExecutionEngineSpec } from '../../api/execution-engine.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { admitAddress } from './admit-address.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.8. */
export async function* admitExecutionEngine(
  { namespace, name, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(ExecutionEngineSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('ExecutionEngine', spec, written);
  yield* engineNameProblem(name);
  yield* admitAddress(spec.address, namespace, read);
}

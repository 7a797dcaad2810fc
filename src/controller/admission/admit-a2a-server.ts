import { A2aServerSpec } from '../../api/a2a-server.ts';
import { a2aServerProblems } from '../../api/canonical-a2a-server.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import type { Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.8: all that is wrong, in one sentence. References are not resolved, as in ARK. */
export async function* admitA2aServer({ spec: written }: Reviewed): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(A2aServerSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('A2AServer', spec, written);
  yield* a2aServerProblems(spec);
}

import { sourceOf, sourceProblem } from '../../api/canonical-values.ts';
import type { ValueSource } from '../../api/values.ts';
import { unresolved } from './absence.ts';
import type { Reader } from './ports.ts';

/** Contract 2.7 and 2.8: the address of something far away has a value. */
export async function* admitAddress(
  address: ValueSource,
  namespace: string,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const why = sourceProblem(address) ?? (await unresolved(read, sourceOf(address), namespace));
  if (why) yield `failed to resolve Address: ${why}`;
}

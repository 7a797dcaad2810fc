import type { NamedSource } from '../../api/canonical-values.ts';
import type { Value } from '../../api/snapshot.ts';
import type { Draft } from './draft.ts';
import { resolveParameter } from './resolve-values.ts';
import { within } from './unbuildable.ts';

/** The headers of a tool or a server, whose values lie in `namespace` (contract section 3.10). */
export const resolveHeaders = (
  headers: readonly NamedSource[],
  namespace: string,
  { read, queryParameters }: Draft,
): Promise<{ readonly name: string; readonly value: Value }[]> =>
  Promise.all(
    headers.map(async ({ name, source }) => ({
      name,
      value: await within<Value>(`failed to resolve header ${name}: `, () =>
        resolveParameter(source, namespace, read, queryParameters),
      ),
    })),
  );

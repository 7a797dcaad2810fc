import type { CanonicalQuery } from '../../api/canonical-query.ts';
import { canonicalMemory } from '../../api/canonical-memory.ts';
import type { Hash } from '../../api/snapshot.ts';
import type { SeenQuery } from '../ports.ts';
import { shown } from './definitions.ts';
import type { Definition } from './definitions.ts';
import { define } from './draft.ts';
import type { Draft } from './draft.ts';
import { resolveValue } from './resolve-values.ts';
import { unlessUnreadable, valid, within } from './unbuildable.ts';

const memoryNameDefault = 'default';

/**
 * Where the Query's conversation is kept (contract section 5.1): in the Memory it names, else in the one named
 * `default` beside it, if it can be read; else nowhere.
 */
export async function defineMemory(
  query: SeenQuery,
  spec: CanonicalQuery,
  draft: Draft,
): Promise<{ readonly memory: Hash; readonly memoryName: string } | undefined> {
  const found = spec.memory
    ? await named(spec.memory, query.namespace, draft)
    : await unlessUnreadable(
        draft.read.get('memories', { namespace: query.namespace, name: memoryNameDefault }),
      );
  if (!found) return undefined;

  const { namespace, name } = found;
  const memory = valid(`memory ${shown(found)}`, canonicalMemory(found.spec));
  const address = await within(`failed to resolve address of memory ${shown(found)}: `, () =>
    resolveValue(memory.address, namespace, draft.read),
  );
  const session = spec.sessionId ?? query.uid;
  const definition = define(draft, {
    kind: 'memory',
    namespace,
    name,
    address,
    session,
    query: query.name,
    access: draft.access,
  });
  return { memory: definition, memoryName: name };
}

function named(
  { name, namespace = '' }: NonNullable<CanonicalQuery['memory']>,
  own: string,
  draft: Draft,
): Promise<Definition> {
  const key = { namespace: namespace || own, name };
  return within(`memory not found: ${shown(key)}: `, () => draft.read.get('memories', key));
}

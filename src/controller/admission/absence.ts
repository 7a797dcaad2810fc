/** Contract section 2: how ARK says that something another object needs is not there. Undefined where it is. */
import { KubernetesError } from '../../adapters/kubernetes/kubernetes-error.ts';
import type { ParameterSource, Source } from '../../api/canonical-values.ts';
import type { NamespacedName } from '../snapshot/definitions.ts';
import { resolveValue } from '../snapshot/resolve-values.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import type { Reader, Referred } from './ports.ts';

/** It cannot be told whether an object is there. Says which one, and why. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** `agent 'x' does not exist in namespace 'ns': agents.ark.mckinsey.com "x" not found`; of tools ARK says less. */
export async function absence(
  read: Reader,
  resource: Referred,
  key: NamespacedName,
): Promise<string | undefined> {
  const kind = resource.slice(0, -1);
  const why = await trouble(kind, key, () => read.get(resource, key));
  return why && (kind === 'tool' ? doesNotExist(kind, key) : `${doesNotExist(kind, key)}: ${why}`);
}

/** As `absence`, of a key of a Secret or ConfigMap. A reference without a name or key passes: others speak of that. */
export async function keyAbsence(
  read: Reader,
  source: Source | ParameterSource,
  namespace: string,
): Promise<string | undefined> {
  if (source.from !== 'secret' && source.from !== 'configMap') return undefined;
  if (!source.name || !source.key) return undefined;

  const { from: kind, key } = source;
  const at = { namespace, name: source.name };
  let keys: ReadonlySet<string> = new Set();
  const why = await trouble(kind, at, async () => {
    keys = kind === 'secret' ? await read.secretKeys(at) : new Set(Object.keys(await read.configMap(at)));
  });
  if (why) return `${doesNotExist(kind, at)}: ${why}`;
  return keys.has(key) ? undefined : `key '${key}' not found in ${quoted(kind, at)}`;
}

/** Why a value cannot be resolved, in the words of contract section 3.10. */
export async function unresolved(
  read: Reader,
  source: Source,
  namespace: string,
): Promise<string | undefined> {
  if (source.from === 'literal') return undefined;
  const at = { namespace, name: source.name };
  if (source.from !== 'secret') {
    return trouble(source.from, at, () => resolveValue(source, namespace, read));
  }
  if (!source.name) return 'secret name is required';
  let keys: ReadonlySet<string> = new Set();
  const why = await trouble('secret', at, async () => {
    keys = await read.secretKeys(at);
  });
  if (why) return `failed to get secret ${namespace}/${source.name}: ${why}`;
  return keys.has(source.key)
    ? undefined
    : `key ${source.key} not found in secret ${namespace}/${source.name}`;
}

/** The words of what is missing or unusable; rejects with `Unreadable` where that cannot be told. */
export async function trouble(
  kind: string,
  key: NamespacedName,
  step: () => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await step();
    return undefined;
  } catch (error) {
    if (error instanceof Unbuildable) return error.message;
    throw new Unreadable(`failed to get ${quoted(kind, key)}: ${wordsOf(error)}`, { cause: error });
  }
}

const wordsOf = (error: unknown): string =>
  error instanceof KubernetesError ? error.detail : error instanceof Error ? error.message : String(error);

const quoted = (kind: string, { namespace, name }: NamespacedName): string =>
  `${kind} '${name}' in namespace '${namespace}'`;

const doesNotExist = (kind: string, { namespace, name }: NamespacedName): string =>
  `${kind} '${name}' does not exist in namespace '${namespace}'`;

import type { NamedSource, Source } from '../../api/canonical-values.ts';
import type { Value } from '../../api/snapshot.ts';
import { resolveParameter, resolveValue } from '../snapshot/resolve-values.ts';
import { Unbuildable, within } from '../snapshot/unbuildable.ts';
import type { ServerAddress, Values } from './ports.ts';

/** A value in clear, and what can be told of it. */
export interface Clear {
  readonly value: string;
  /** Another one where the value is another one; holds nothing secret. */
  readonly print: string;
  /** It comes from a Secret: it may not be shown. */
  readonly isSecret: boolean;
}

export const emptyAddress = 'address cannot be empty';

/** The address of something far away, read now (contract 3.10); an empty one is none. */
export async function resolveAddress(source: Source, namespace: string, values: Values): Promise<Clear> {
  const address = await inClear(await resolveValue(source, namespace, values), values);
  if (address.value === '') throw new Unbuildable('ValueInvalid', emptyAddress);
  return address;
}

/** What may be shown of a value. */
export const shownValue = ({ value, isSecret }: Clear): string => (isSecret ? '[in a Secret]' : value);

export interface ResolvedHeaders {
  readonly headers: ServerAddress['headers'];
  readonly prints: readonly string[];
}

/** The headers of a server; their Secrets lie in the server's namespace (contract 3.4). */
export async function resolveHeaders(
  headers: readonly NamedSource[],
  namespace: string,
  values: Values,
): Promise<ResolvedHeaders> {
  const resolved = await Promise.all(
    headers.map(({ name, source }) =>
      within(`failed to resolve header ${name}: `, async () => ({
        name,
        ...(await inClear(await resolveParameter(source, namespace, values, {}), values)),
      })),
    ),
  );
  return {
    headers: resolved.map(({ name, value }) => ({ name, value })),
    prints: resolved.map(({ name, print }) => `${name}: ${print}`),
  };
}

/** What no message about a server may hold: a header that stands in the spec is a secret nonetheless. */
export const secretsAmong = (address: Clear, headers: ServerAddress['headers']): readonly string[] => [
  ...(address.isSecret ? [address.value] : []),
  ...headers.map(({ value }) => value),
];

/** A Secret is read now, and known again by its version. */
export async function inClear(value: Value, { secret }: Values): Promise<Clear> {
  if ('value' in value) return { value: value.value, print: value.value, isSecret: false };

  const { namespace, name, key } = value.secret;
  const found = await secret(value.secret);
  return { value: found.value, print: `${namespace}/${name}/${key} ${found.version}`, isSecret: true };
}

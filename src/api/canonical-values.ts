/** Where a value comes from, in one shape for every spelling (contract 1.1, 2.1, 3.10). */
import { problemsAmong } from './problems.ts';
import type { Header, Headers, Parameter, ValueSource } from './values.ts';

type Literal = { readonly from: 'literal'; readonly value: string };
type Key = { readonly from: 'secret' | 'configMap'; readonly name: string; readonly key: string };
type Service = {
  readonly from: 'service';
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly port?: string | undefined;
  readonly path?: string | undefined;
};
type QueryParameter = { readonly from: 'queryParameter'; readonly name: string };

/** A value, or the object of the owner's namespace that holds it. */
export type Source = Literal | Key | Service;

/** As `Source`, without Services, which no parameter can take, but with the Query's own parameters. */
export type ParameterSource = Literal | Key | QueryParameter;

export interface NamedSource {
  readonly name: string;
  readonly source: ParameterSource;
}

/** Contract 3.10: a value that is not empty, else Secret, else ConfigMap, else Service. */
export function sourceOf({ value = '', valueFrom = {} }: ValueSource): Source {
  const { secretKeyRef, configMapKeyRef, serviceRef } = valueFrom;
  if (value !== '') return { from: 'literal', value };
  if (secretKeyRef) return { from: 'secret', name: secretKeyRef.name, key: secretKeyRef.key };
  if (configMapKeyRef) return { from: 'configMap', name: configMapKeyRef.name, key: configMapKeyRef.key };
  if (serviceRef) return { from: 'service', ...serviceRef };
  return { from: 'literal', value: '' };
}

/** Why a value source has no value anywhere, in ARK's words; undefined if it has. */
export function sourceProblem({ value, valueFrom }: ValueSource): string | undefined {
  if (value) return undefined;
  if (!valueFrom) return 'value source must have either value or valueFrom specified';

  const { secretKeyRef, configMapKeyRef, serviceRef } = valueFrom;
  return secretKeyRef || configMapKeyRef || serviceRef ? undefined : 'no valid valueFrom source specified';
}

/** Contract 2.7 and 2.8: the address of something far away. */
export function addressProblem(address: ValueSource): string | undefined {
  const problem = sourceProblem(address);
  return problem && `failed to resolve Address: ${problem}`;
}

/** A header or a parameter with neither a value nor a place where one is. */
export const isUnset = (value: Omit<Parameter, 'name'>): boolean => isEmpty(parameterSource(value));

/** Contract 3.10: a value that is not empty, else ConfigMap before Secret; queryParameterRef as in contract 9, row 12. */
export function parameterSource({ value = '', valueFrom = {} }: Omit<Parameter, 'name'>): ParameterSource {
  const { configMapKeyRef, secretKeyRef, queryParameterRef } = valueFrom;
  if (value !== '') return { from: 'literal', value };
  if (configMapKeyRef) return { from: 'configMap', name: configMapKeyRef.name, key: configMapKeyRef.key };
  if (secretKeyRef) return { from: 'secret', name: secretKeyRef.name, key: secretKeyRef.key };
  if (queryParameterRef) return { from: 'queryParameter', name: queryParameterRef.name };
  return { from: 'literal', value: '' };
}

export const canonicalParameters = (parameters: readonly Parameter[] = []): readonly NamedSource[] =>
  parameters.map((parameter) => ({ name: parameter.name, source: parameterSource(parameter) }));

/** Contract 2.1: what admission says of the parameters of a Query or an Agent. */
export const parameterProblems = (parameters: readonly Parameter[] = []): readonly string[] =>
  parameters.flatMap(parameterProblem);

/** As `parameterProblems`, of the one at this index. */
export function parameterProblem(
  { name, value = '', valueFrom }: Parameter,
  index: number,
): readonly string[] {
  const { configMapKeyRef, secretKeyRef, queryParameterRef } = valueFrom ?? {};
  const sources = [configMapKeyRef, secretKeyRef, queryParameterRef].filter((source) => source !== undefined);
  const parameter = `parameter[${index}] '${name}'`;
  return problemsAmong(
    value !== '' && valueFrom && `${parameter}: cannot specify both value and valueFrom`,
    value === '' && !valueFrom && `${parameter}: must specify either value or valueFrom`,
    valueFrom && sources.length !== 1 && `${parameter}: valueFrom must specify exactly one source`,
  );
}

/** The list of headers, whether it was written as a list or as a map; a map has no order of its own. */
function headerList(headers: Headers): readonly Header[] {
  if (Array.isArray(headers)) return headers;
  return Object.entries(headers)
    .map(([name, value]) => ({ name, value: { value } }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export const canonicalHeaders = (headers: Headers = []): readonly NamedSource[] =>
  headerList(headers).map(({ name, value }) => ({ name, source: parameterSource(value) }));

/** Contract 3.10: ARK finds these when it sends the request; its own admission does not look. */
export const headerProblems = (headers: Headers = []): readonly string[] =>
  headerList(headers)
    .filter(({ value }) => isUnset(value))
    .map(({ name }) => `header ${name}: header value must specify either value or valueFrom.secretKeyRef`);

export const isEmpty = (source: Source | ParameterSource) => source.from === 'literal' && source.value === '';

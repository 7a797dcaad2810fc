import type { NamedSource, ParameterSource, Source } from '../../api/canonical-values.ts';
import type { SecretRef, Value } from '../../api/snapshot.ts';
import { shown } from './definitions.ts';
import type { Definitions } from './definitions.ts';
import { Unbuildable, within } from './unbuildable.ts';

/**
 * A value of a resource in `namespace` (contract section 3.10). ConfigMaps and Services are read now; a Secret stays
 * a reference, which nobody but the activity that uses it resolves.
 */
export async function resolveValue(source: Source, namespace: string, read: Places): Promise<Value> {
  switch (source.from) {
    case 'literal':
      return { value: source.value };
    case 'secret':
      return { secret: secretRef(source, namespace) };
    case 'service':
      return { value: await serviceUrl(source, namespace, read) };
    case 'configMap': {
      if (!source.name) throw invalid('configMap name is required');
      const at = { namespace, name: source.name };
      const data = await within(`failed to get configMap ${shown(at)}: `, () => read.configMap(at));
      return { value: valueOf(data, source.key, `configMap ${shown(at)}`) };
    }
  }
}

/** Where values lie that are no Secrets. */
type Places = Pick<Definitions, 'configMap' | 'servicePorts'>;

/** Parameters of a Query, an Agent, a header or a request body, by name; the last of a name wins. */
export async function resolveParameters(
  parameters: readonly NamedSource[],
  namespace: string,
  read: Definitions,
  ofQuery: Readonly<Record<string, Value>> = {},
): Promise<Record<string, Value>> {
  const values = await Promise.all(
    parameters.map(({ name, source }) =>
      within(`failed to resolve parameter ${name}: `, () =>
        resolveParameter(source, namespace, read, ofQuery),
      ),
    ),
  );
  return Object.fromEntries(parameters.map(({ name }, i) => [name, values[i] as Value]));
}

/** As `resolveValue`, in the words ARK has for parameters (contract sections 3.10 and 9, row 12). */
export async function resolveParameter(
  source: ParameterSource,
  namespace: string,
  read: Places,
  ofQuery: Readonly<Record<string, Value>>,
): Promise<Value> {
  switch (source.from) {
    case 'literal':
      return { value: source.value };
    case 'secret':
      return { secret: secretRef(source, namespace) };
    case 'configMap': {
      const at = { namespace, name: source.name };
      const data = await within(`failed to get ConfigMap ${at.name}: `, () => read.configMap(at));
      return { value: valueOf(data, source.key, `ConfigMap ${at.name}`) };
    }
    case 'queryParameter': {
      const given = Object.hasOwn(ofQuery, source.name) ? ofQuery[source.name] : undefined;
      if (!given) throw invalid(`parameter ${source.name} not found in the Query`);
      return given;
    }
  }
}

/** The address of a Service inside the cluster; the port is a name or a number, or the first one if absent. */
async function serviceUrl(
  { namespace: elsewhere, name, port, path }: Extract<Source, { from: 'service' }>,
  ownNamespace: string,
  read: Places,
): Promise<string> {
  const namespace = elsewhere || ownNamespace;
  const service = `service ${namespace}/${name}`;
  const ports = await within(`failed to get ${service}: `, () => read.servicePorts({ namespace, name }));
  if (ports.length === 0) throw invalid(`${service} has no ports`);

  const chosen = port ? ports.find((one) => one.name === port || String(one.port) === port) : ports[0];
  if (!chosen) throw invalid(`port ${port} not found in ${service}`);
  return `http://${name}.${namespace}.svc.cluster.local:${chosen.port}${cleanPath(path)}`;
}

/** Go's path.Clean behind one leading slash: `mcp/` is `/mcp`; no path is none. */
function cleanPath(path: string | undefined): string {
  if (!path) return '';
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function secretRef(
  { name, key }: { readonly name: string; readonly key: string },
  namespace: string,
): SecretRef {
  if (!name) throw invalid('secret name is required');
  return { namespace, name, key };
}

function valueOf(data: Readonly<Record<string, string>>, key: string, where: string): string {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined) throw invalid(`key ${key} not found in ${where}`);
  return value;
}

const invalid = (message: string): Unbuildable => new Unbuildable('ValueInvalid', message);

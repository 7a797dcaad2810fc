import type { KubernetesConnection } from '../../adapters/kubernetes/connection.ts';
import { KubernetesError } from '../../adapters/kubernetes/kubernetes-error.ts';
import type { ObjectView } from '../../adapters/kubernetes/object-store.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import { createResources } from '../../adapters/kubernetes/resources.ts';
import { agentKind, evaluatorKind, group, modelKind, teamKind, toolKind } from '../../api/kinds.ts';
import { shown } from '../snapshot/definitions.ts';
import type { NamespacedName, ServicePort } from '../snapshot/definitions.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import type { Reader, Referred } from './ports.ts';

export type Views = Partial<Readonly<Record<Referred, ObjectView<KubernetesObject>>>>;

const kinds = {
  agents: agentKind,
  teams: teamKind,
  models: modelKind,
  tools: toolKind,
  evaluators: evaluatorKind,
} as const satisfies Record<Referred, object>;

interface Data extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Reads with the controller's own rights, one reader for each review, which ends with the signal. What is in a view is
 * taken from there; what is not is asked for, since the object a manifest has before this one may not have been seen
 * yet. Within a review, a ConfigMap, Secret or Service is read once.
 */
export function clusterReader(
  connection: KubernetesConnection,
  views: Views,
): (signal: AbortSignal) => Reader {
  const resourcesOf = (resource: Referred) =>
    createResources<KubernetesObject>(connection, { group, ...kinds[resource] });
  const core = <T extends KubernetesObject>(plural: string, kind: string) =>
    createResources<T>(connection, { group: '', version: 'v1', plural, kind });

  const ark = {
    agents: resourcesOf('agents'),
    teams: resourcesOf('teams'),
    models: resourcesOf('models'),
    tools: resourcesOf('tools'),
    evaluators: resourcesOf('evaluators'),
  };
  const configMaps = core<Data>('configmaps', 'ConfigMap');
  const secrets = core<Data>('secrets', 'Secret');
  const services = core<KubernetesObject<{ readonly ports?: readonly ServicePort[] }>>('services', 'Service');

  return (signal) => {
    const reads = new Map<string, Promise<unknown>>();
    function once<T>(what: string, key: NamespacedName, read: () => Promise<T>): Promise<T> {
      const id = `${what} ${shown(key)}`;
      const reading = (reads.get(id) as Promise<T> | undefined) ?? orMissing(read);
      reads.set(id, reading);
      return reading;
    }
    const getLatest: Reader['getLatest'] = (resource, key) =>
      orMissing(() => ark[resource].get(key, { signal }));

    return {
      getLatest,
      get: async (resource, key) => views[resource]?.get(key) ?? getLatest(resource, key),
      configMap: (key) =>
        once('configMap', key, async () => (await configMaps.get(key, { signal })).data ?? {}),
      secretKeys: (key) =>
        once(
          'secret',
          key,
          async () => new Set(Object.keys((await secrets.get(key, { signal })).data ?? {})),
        ),
      servicePorts: (key) =>
        once('service', key, async () => (await services.get(key, { signal })).spec?.ports ?? []),
    };
  };
}

async function orMissing<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    // A RangeError: no object can have such a name.
    const why =
      error instanceof RangeError
        ? error.message
        : error instanceof KubernetesError && error.status === 404
          ? error.detail
          : undefined;
    if (why === undefined) throw error;
    throw new Unbuildable('DefinitionNotFound', why, { missing: true });
  }
}

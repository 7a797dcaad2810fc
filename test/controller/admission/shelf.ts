/** A cluster of a few objects, for the rules alone. */
import { KubernetesError } from '../../../src/adapters/kubernetes/kubernetes-error.ts';
import type { Reader } from '../../../src/controller/admission/ports.ts';
import { Unbuildable } from '../../../src/controller/snapshot/unbuildable.ts';

export interface Shelf {
  /** By resource and `namespace/name`, such as `agents ns/ann`: its spec. */
  readonly objects?: Readonly<Record<string, object>>;
  /** By `namespace/name`: the names of their keys. */
  readonly configMaps?: Readonly<Record<string, readonly string[]>>;
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
  readonly services?: Readonly<Record<string, readonly { readonly name?: string; readonly port: number }[]>>;
  /** Cannot be read, whether it is there or not; `resource ns/name`. */
  readonly broken?: readonly string[];
}

export const stuck = 'the connection was reset';

export function readFrom(shelf: Shelf): Reader {
  function find<T>(
    from: Readonly<Record<string, T>> | undefined,
    id: string,
    resource: string,
    name: string,
  ): T {
    if (shelf.broken?.includes(id)) {
      throw new KubernetesError(`get ${id}`, { reason: 'Unreachable', detail: stuck, retryable: true });
    }
    const found = from?.[id.slice(id.indexOf(' ') + 1)] ?? from?.[id];
    if (found !== undefined) return found;
    throw new Unbuildable('DefinitionNotFound', `${resource} "${name}" not found`, { missing: true });
  }
  const get: Reader['get'] = async (resource, { namespace, name }) => ({
    spec: find(shelf.objects, `${resource} ${namespace}/${name}`, `${resource}.ark.mckinsey.com`, name),
  });
  return {
    get,
    getLatest: get,
    configMap: async ({ namespace, name }) =>
      Object.fromEntries(
        find(shelf.configMaps, `configMap ${namespace}/${name}`, 'configmaps', name).map((key) => [key, 'v']),
      ),
    secretKeys: async ({ namespace, name }) =>
      new Set(find(shelf.secrets, `secret ${namespace}/${name}`, 'secrets', name)),
    servicePorts: async ({ namespace, name }) =>
      find(shelf.services, `service ${namespace}/${name}`, 'services', name),
  };
}

import { LRUCache } from 'lru-cache';
import type { KubernetesConnection } from '../adapters/kubernetes/connection.ts';
import { KubernetesError } from '../adapters/kubernetes/kubernetes-error.ts';
import type { ObjectView } from '../adapters/kubernetes/object-store.ts';
import type { KubernetesObject } from '../adapters/kubernetes/objects.ts';
import { createResources } from '../adapters/kubernetes/resources.ts';
import { group } from '../api/kinds.ts';
import type { Access } from '../api/snapshot.ts';
import { userOf } from '../adapters/kubernetes/user-of.ts';
import type { AccessReviews } from './access-reviews.ts';
import { shown } from './snapshot/definitions.ts';
import type {
  Definition,
  Definitions,
  NamespacedName,
  Resource,
  ServicePort,
} from './snapshot/definitions.ts';
import { Unbuildable } from './snapshot/unbuildable.ts';

/** The index of the definitions' views under which a namespace's objects are found. */
export const namespaceIndex = 'namespace';

/** How long a ConfigMap or Service is taken to be as it was read: a burst of Queries reads it about once. */
const readAgainMs = 1_000;
const readsMax = 1_000;

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface ServiceSpec {
  readonly ports?: readonly ServicePort[];
}

/**
 * Reads definitions as one service account: the ARK kinds out of the controller's caches, after asking whether the
 * account may; ConfigMaps and Services from the API server, as that account.
 */
export function kubernetesDefinitions(
  connection: KubernetesConnection,
  views: Readonly<Record<Resource, ObjectView<KubernetesObject>>>,
  reviews: AccessReviews,
): (access: Access) => Definitions {
  const configMaps = createResources<ConfigMap>(connection, {
    group: '',
    version: 'v1',
    plural: 'configmaps',
    kind: 'ConfigMap',
  });
  const services = createResources<KubernetesObject<ServiceSpec>>(connection, {
    group: '',
    version: 'v1',
    plural: 'services',
    kind: 'Service',
  });
  const reads = new LRUCache<string, Promise<object>>({ max: readsMax, ttl: readAgainMs });

  function readOnce<T extends object>(
    what: string,
    access: Access,
    key: NamespacedName,
    read: () => Promise<T>,
  ): Promise<T> {
    const id = `${userOf(access)} ${what} ${shown(key)}`;
    const known = reads.get(id) as Promise<T> | undefined;
    if (known) return known;

    const reading = read().catch((error: unknown) => {
      reads.delete(id);
      throw inOurWords(error);
    });
    reads.set(id, reading);
    return reading;
  }

  return (access) => ({
    async get(resource, { namespace, name }) {
      await reviews.require(access, { verb: 'get', group, resource, namespace, name });
      const object = views[resource].get({ namespace, name });
      if (object) return definitionOf(object);
      throw new Unbuildable('DefinitionNotFound', `${resource}.${group} "${name}" not found`, {
        missing: true,
      });
    },

    async list(resource, namespace) {
      await reviews.require(access, { verb: 'list', group, resource, namespace });
      const all = views[resource].byIndex(namespaceIndex, namespace).map(definitionOf);
      return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },

    async configMap(key) {
      const impersonate = userOf(access);
      const { data = {} } = await readOnce('configMap', access, key, () =>
        configMaps.get(key, { impersonate }),
      );
      return data;
    },

    async servicePorts(key) {
      const impersonate = userOf(access);
      const { spec } = await readOnce('service', access, key, () => services.get(key, { impersonate }));
      return spec?.ports ?? [];
    },
  });
}

function definitionOf({ metadata, spec }: KubernetesObject): Definition {
  const { namespace = '', name, labels = {}, annotations = {} } = metadata;
  return { namespace, name, labels, annotations, spec };
}

/** What the API server refuses is for the user to mend; whatever else happened heals, and is tried again. */
export function inOurWords(error: unknown): unknown {
  if (!(error instanceof KubernetesError)) return error;
  if (error.status === 404) return new Unbuildable('ValueInvalid', error.detail, { missing: true });
  if (error.status === 403) return new Unbuildable('AccessDenied', error.detail);
  return error;
}

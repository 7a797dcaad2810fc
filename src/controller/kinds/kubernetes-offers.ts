import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  undefinedIfGone,
} from '../../adapters/kubernetes/kubernetes-error.ts';
import type { ObjectView } from '../../adapters/kubernetes/object-store.ts';
import { keyOf } from '../../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import type { Resources } from '../../adapters/kubernetes/resources.ts';
import { namespaceIndex } from '../kubernetes-definitions.ts';
import { mergePatch } from '../merge-patch.ts';
import type { ExistingObject, OfferedObjects } from './ports.ts';

/** Tools or Agents in the API server; every change names the very object it is meant for. */
export function kubernetesOffers(
  resources: Resources<KubernetesObject>,
  view: ObjectView<KubernetesObject>,
): OfferedObjects {
  return {
    get(key) {
      const object = view.get(key);
      return object && existing(object);
    },
    read: async (key) => {
      const object = await resources.get(key).catch(undefinedIfGone);
      return object && existing(object);
    },
    list: (namespace) => view.byIndex(namespaceIndex, namespace).map(existing),

    async create({ namespace, name, labels, annotations, owner, spec }) {
      const metadata = { namespace, name, labels, annotations, ownerReferences: [owner] };
      try {
        await resources.create({ metadata, spec });
        return true;
      } catch (error) {
        if (isAlreadyExists(error)) return false;
        throw error;
      }
    },

    async change({ namespace, name, uid, spec: before }, { labels, annotations, spec }) {
      const patch = { metadata: { uid, labels, annotations }, spec: mergePatch(before, spec) };
      const changed = await resources.mergePatch({ namespace, name }, patch).catch(undefinedIfGone);
      if (changed) view.absorb(changed);
    },

    async remove({ namespace, name, uid }) {
      await resources.remove({ namespace, name }, { uid }).catch((error: unknown) => {
        // A conflict says that an object of this name is there, and is another one.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
    },
  };
}

function existing(object: KubernetesObject): ExistingObject {
  const { uid, labels = {}, annotations = {}, ownerReferences: owners = [] } = object.metadata;
  return { ...keyOf(object), uid, labels, annotations, owners, spec: object.spec ?? {} };
}

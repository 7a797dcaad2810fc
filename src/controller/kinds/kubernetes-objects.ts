import { undefinedIfGone } from '../../adapters/kubernetes/kubernetes-error.ts';
import type { ObjectView } from '../../adapters/kubernetes/object-store.ts';
import { keyOf } from '../../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import type { Resources } from '../../adapters/kubernetes/resources.ts';
import { mergePatch } from '../merge-patch.ts';
import type { Objects, SeenObject } from './ports.ts';

/**
 * Objects of one kind in the API server. Answers to own writes go straight into the view, so the next reconcile does not
 * act on what was there before; an object that has gone meanwhile is nothing to write to, and no error.
 */
export function kubernetesObjects<Status extends object>(
  resources: Resources<KubernetesObject>,
  view: ObjectView<KubernetesObject>,
): Objects<Status> {
  return {
    get(key) {
      const object = view.get(key);
      return object && !object.metadata.deletionTimestamp ? seen<Status>(object) : undefined;
    },

    async writeStatus({ namespace, name, uid }, status) {
      const known = view.get({ namespace, name });
      if (known?.metadata.uid !== uid) return;
      const patch = mergePatch(known.status ?? {}, JSON.parse(JSON.stringify(status)) as object);
      if (!patch) return;

      const key = keyOf(known);
      const written = await resources.mergePatchStatus(key, patch).catch(undefinedIfGone);
      // Replaced a moment ago by another of the same name: its own reconcile says what is true of it.
      if (written?.metadata.uid === uid) view.absorb(written);
    },
  };
}

function seen<Status extends object>({ metadata, spec, status }: KubernetesObject): SeenObject<Status> {
  const { namespace = '', name, uid, annotations = {} } = metadata;
  return { namespace, name, uid, annotations, spec, status: status ?? {} };
}

import { isConflict, isNotFound, undefinedIfGone } from '../adapters/kubernetes/kubernetes-error.ts';
import type { ObjectView } from '../adapters/kubernetes/object-store.ts';
import { keyOf } from '../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../adapters/kubernetes/objects.ts';
import { withoutBookkeeping } from '../adapters/kubernetes/reflector.ts';
import type { Resources } from '../adapters/kubernetes/resources.ts';
import type { QuerySpec, QueryStatus } from '../api/query.ts';
import { isFinished } from './lifetime.ts';
import { mergePatch } from './merge-patch.ts';
import type { Queries, SeenQuery } from './ports.ts';

/** ARK's own (contract section 1.13), so that Queries survive a change of controller in both directions. */
export const finalizer = 'ark.mckinsey.com/finalizer';
/** Others may write the object between our read and our write; this often in a row is not chance. */
const conflictsMax = 5;

export type QueryObject = KubernetesObject<Partial<QuerySpec>, Partial<QueryStatus>>;

/**
 * Queries in the API server. Answers to own writes go straight into the view, so the next reconcile does not act on
 * what was there before; objects that have gone meanwhile are nothing to write to, and no error.
 */
export function kubernetesQueries(resources: Resources<QueryObject>, view: ObjectView<QueryObject>): Queries {
  const absorb = (object: QueryObject): void => view.absorb(trimmedQuery(object));

  /** Changes the finalizers of this very object as it is now; undefined where it has gone, or `change` declines. */
  async function changeFinalizers(
    { namespace, name, uid }: SeenQuery,
    change: (object: QueryObject) => readonly string[] | undefined,
  ): Promise<QueryObject | undefined> {
    let object = view.get({ namespace, name });
    for (let conflicts = 0; object?.metadata.uid === uid; conflicts++) {
      const finalizers = change(object);
      if (!finalizers) return undefined;
      try {
        const { resourceVersion } = object.metadata;
        const changed = await resources.mergePatch(keyOf(object), {
          metadata: { resourceVersion, finalizers },
        });
        absorb(changed);
        return changed;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        if (!isConflict(error) || conflicts >= conflictsMax) throw error;
        object = await resources.get({ namespace, name }).catch(undefinedIfGone);
      }
    }
    return undefined;
  }

  return {
    get(key) {
      const object = view.get(key);
      return object && seen(object);
    },
    vanished: (key) => view.vanished(key).map(seen),
    forgetVanished(query) {
      for (const object of view.vanished(query)) {
        if (object.metadata.uid === query.uid) view.forgetVanished(object);
      }
    },

    async hold(query) {
      if (query.held) return query;
      const held = await changeFinalizers(query, ({ metadata }) =>
        // The API server refuses new finalizers on what is being deleted.
        metadata.deletionTimestamp ? undefined : [...new Set([...(metadata.finalizers ?? []), finalizer])],
      );
      return held && seen(held);
    },

    async release(query) {
      await changeFinalizers(query, ({ metadata: { finalizers = [] } }) =>
        finalizers.includes(finalizer) ? finalizers.filter((one) => one !== finalizer) : undefined,
      );
    },

    async remove({ namespace, name, uid }) {
      await resources.remove({ namespace, name }, { uid }).catch((error: unknown) => {
        // A conflict says that an object of this name is there, and is another one.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
    },

    async writeStatus({ namespace, name, uid }, status) {
      const known = view.get({ namespace, name });
      const patch = known?.metadata.uid === uid ? mergePatch(known.status ?? {}, plain(status)) : undefined;
      if (!patch) return;

      const written = await resources.mergePatchStatus({ namespace, name }, patch).catch(undefinedIfGone);
      if (!written) return;
      if (written.metadata.uid === uid) return absorb(written);

      // Removed by force and created again a moment ago: the new object must not inherit an answer.
      const nothing = Object.fromEntries(Object.keys(patch).map((field) => [field, null]));
      await resources.mergePatchStatus({ namespace, name }, nothing).catch(undefinedIfGone);
    },
  };
}

/** What the controller keeps of a Query in memory: of a finished one, only what its end of life needs. */
export function trimmedQuery(object: QueryObject): QueryObject {
  const { spec, status = {}, ...others } = withoutBookkeeping(object);
  if (!isFinished(status)) return { ...others, ...(spec && { spec }), status };
  return { ...others, ...(spec?.ttl && { spec: { ttl: spec.ttl } }), status: { phase: status.phase } };
}

function seen({ metadata, spec = {}, status = {} }: QueryObject): SeenQuery {
  const {
    namespace = '',
    name,
    uid,
    generation = 1,
    creationTimestamp,
    deletionTimestamp,
    finalizers,
    labels = {},
    annotations = {},
  } = metadata;
  return {
    namespace,
    name,
    uid,
    generation,
    createdAt: new Date(creationTimestamp),
    labels,
    annotations,
    ...(deletionTimestamp && { deletedAt: new Date(deletionTimestamp) }),
    held: finalizers?.includes(finalizer) ?? false,
    spec,
    status,
  };
}

/** As it will be read back: no fields that are undefined, no Dates. */
const plain = (status: QueryStatus): object => JSON.parse(JSON.stringify(status)) as object;

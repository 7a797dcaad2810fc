import { isNewer, keyOf, keyText } from './objects.ts';
import type { KubernetesObject, ObjectKey } from './objects.ts';

/** How an object's place in the store changed; a new object under an old name is a delete and an add. */
export type Change = 'add' | 'update' | 'delete';

export interface StoreOptions<T extends KubernetesObject> {
  /** Names for the values an object can be found by. */
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
  /** Keep the last known form of objects that went away until `forgetVanished`. */
  readonly keepVanished?: boolean;
  readonly onChange: (key: ObjectKey, change: Change) => void;
}

/** A view of the objects of one kind, as last seen. What it hands out is shared: never change it. */
export interface ObjectView<T extends KubernetesObject> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  values(): IterableIterator<T>;
  byIndex(index: string, value: string): readonly T[];
  /** Objects of this name that went away, oldest first; kept only with `keepVanished`. */
  vanished(key: ObjectKey): readonly T[];
  forgetVanished(object: T): void;
  /** Takes in the server's answer to a write of our own, so that nobody reads what was there before it. */
  absorb(object: T): void;
}

export interface ObjectStore<T extends KubernetesObject> extends ObjectView<T> {
  /** Newer wins; with `force`, the given object wins. */
  put(object: T, force?: boolean): void;
  remove(object: T): void;
  /** Everything whose key (`keyText`) is not among these has gone while nobody looked. */
  retain(keys: ReadonlySet<string>): void;
}

/** Vanished objects that nobody asks about (a standby's, for one) must not fill the memory: the oldest go first. */
export const vanishedMax = 5_000;

/** The objects of one kind by key and by index, with the memory of those that went away. */
export function createObjectStore<T extends KubernetesObject>(options: StoreOptions<T>): ObjectStore<T> {
  const { indexes = {}, keepVanished = false, onChange } = options;
  const objects = new Map<string, T>();
  const byValue = new Map(Object.keys(indexes).map((index) => [index, new Map<string, Set<string>>()]));
  /** By uid, in the order in which they went. */
  const gone = new Map<string, T>();
  const goneByKey = new Map<string, Set<string>>();

  const textOf = (object: T): string => keyText(keyOf(object));

  function reindex(key: string, before: T | undefined, after: T | undefined): void {
    for (const [index, valuesOf] of Object.entries(indexes)) {
      const values = byValue.get(index);
      if (!values) continue;
      for (const value of before ? valuesOf(before) : []) {
        const keys = values.get(value);
        keys?.delete(key);
        if (keys?.size === 0) values.delete(value);
      }
      for (const value of after ? valuesOf(after) : []) {
        const keys = values.get(value) ?? new Set();
        values.set(value, keys.add(key));
      }
    }
  }

  function bury(object: T): void {
    if (!keepVanished) return;
    const { uid } = object.metadata;
    const key = textOf(object);
    gone.set(uid, object);
    goneByKey.set(key, (goneByKey.get(key) ?? new Set()).add(uid));

    for (const oldest of gone.values()) {
      if (gone.size <= vanishedMax) return;
      forgetVanished(oldest);
    }
  }

  function forgetVanished(object: T): void {
    const key = textOf(object);
    gone.delete(object.metadata.uid);
    const uids = goneByKey.get(key);
    uids?.delete(object.metadata.uid);
    if (uids?.size === 0) goneByKey.delete(key);
  }

  function put(object: T, force = false): void {
    const key = textOf(object);
    const known = objects.get(key);
    const same = known?.metadata.uid === object.metadata.uid;
    if (known && same && !force && !isNewer(object.metadata.resourceVersion, known.metadata.resourceVersion))
      return;

    if (known && !same) remove(known);
    objects.set(key, object);
    reindex(key, same ? known : undefined, object);
    onChange(keyOf(object), same ? 'update' : 'add');
  }

  function remove(object: T): void {
    const key = textOf(object);
    const known = objects.get(key);
    if (known?.metadata.uid !== object.metadata.uid) return;

    objects.delete(key);
    reindex(key, known, undefined);
    bury(object);
    onChange(keyOf(object), 'delete');
  }

  return {
    put,
    remove,
    forgetVanished,

    retain(keys) {
      for (const [key, object] of objects) if (!keys.has(key)) remove(object);
    },

    absorb(object) {
      const known = objects.get(textOf(object));
      // An answer can arrive after the news that the object is gone: it must not come back to life here.
      if (known?.metadata.uid === object.metadata.uid) put(object);
    },

    get size() {
      return objects.size;
    },
    get: (key) => objects.get(keyText(key)),
    values: () => objects.values(),
    byIndex(index, value) {
      const values = byValue.get(index);
      if (!values)
        throw new RangeError(`there is no index ${index}; there are: ${Object.keys(indexes).join(', ')}`);
      return [...(values.get(value) ?? [])].flatMap((key) => objects.get(key) ?? []);
    },
    vanished: (key) => [...(goneByKey.get(keyText(key)) ?? [])].flatMap((uid) => gone.get(uid) ?? []),
  };
}

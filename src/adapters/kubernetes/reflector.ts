import { setTimeout as sleep } from 'node:timers/promises';
import { isExpired, KubernetesError, refusal } from './kubernetes-error.ts';
import { createObjectStore } from './object-store.ts';
import type { ObjectView, StoreOptions } from './object-store.ts';
import { isNewer, keyOf, keyText } from './objects.ts';
import type { KubernetesObject } from './objects.ts';
import { collectionPath, selectors } from './resources.ts';
import type { ListScope, Resources } from './resources.ts';

export interface ReflectorOptions<T extends KubernetesObject>
  extends StoreOptions<T>, Pick<ListScope, 'namespace' | 'labelSelector' | 'fieldSelector'> {
  /** What to keep of an object; by default all but `managedFields` and kubectl's copy of what was applied. */
  readonly trim?: (object: T) => T;
  /** Each time the watch broke, with the wait before the next attempt. It never gives up. */
  readonly onTrouble?: (error: unknown, waitMs: number) => void;
  readonly waits?: { readonly firstMs: number; readonly maxMs: number };
  readonly silenceMsMax?: number;
}

export interface Reflector<T extends KubernetesObject> extends ObjectView<T> {
  /** Resolves when everything that existed at the start is in the store; rejects if it was stopped before. */
  synced(): Promise<void>;
  stop(): Promise<void>;
}

/** The server sends a bookmark about once a minute: two missed ones mean that nobody is at the other end. */
const silenceMsMaxDefault = 150_000;
const watchSecondsMin = 300;
const watchSecondsMax = 600;
/** A watch that ends sooner than this is a failure, however politely it was ended: else we would spin. */
const watchMsMin = 1_000;
/** Failures in a row after which the place in history is no longer trusted, and everything is listed again. */
const resumesMax = 5;

/**
 * Keeps a local copy of the objects of one kind, for ever: lists, watches from there, resumes where it was after any
 * error, and lists again where the server has lost the thread. `onChange` learns only keys: what is true is in the
 * store. Deletions during a gap are found by listing.
 */
export function startReflector<T extends KubernetesObject>(
  resources: Resources<T>,
  options: ReflectorOptions<T>,
): Reflector<T> {
  const {
    trim = withoutBookkeeping,
    onTrouble = () => {},
    waits = { firstMs: 1_000, maxMs: 30_000 },
  } = options;
  const store = createObjectStore<T>({ ...options, onChange: guarded(options.onChange, onTrouble) });
  const stopping = new AbortController();
  const { signal } = stopping;
  const firstList = Promise.withResolvers<void>();
  // Whoever does not wait for it must not crash for it.
  firstList.promise.catch(() => {});

  /** The moment up to which the store is complete. */
  let seen: string | undefined;
  let mustList = true;
  let failures = 0;

  async function list(): Promise<void> {
    const keys = new Set<string>();
    let listed = '';
    let backwards = false;
    for await (const { items, resourceVersion } of resources.pages({ ...options, signal })) {
      listed = resourceVersion;
      // After a restore of etcd from a backup, the past is what is true.
      backwards = seen !== undefined && isNewer(seen, resourceVersion);
      for (const object of items) {
        keys.add(keyText(keyOf(object)));
        store.put(trim(object), backwards);
      }
    }
    store.retain(keys);
    seen = listed;
    mustList = false;
    firstList.resolve();
  }

  async function watch(): Promise<void> {
    const { plural } = resources.kind;
    const what = `watch ${plural}`;
    const startedMs = performance.now();
    const lasted = () => performance.now() - startedMs >= watchMsMin;
    try {
      await resources.connection.stream(collectionPath(resources.kind, options.namespace), {
        what,
        query: {
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion: seen,
          timeoutSeconds: Math.round(watchSecondsMin + Math.random() * (watchSecondsMax - watchSecondsMin)),
          ...selectors(options),
        },
        silenceMsMax: options.silenceMsMax ?? silenceMsMaxDefault,
        signal,
        onLine: (line) => take(JSON.parse(line) as WatchEvent<T>, what),
      });
    } finally {
      if (lasted()) failures = 0;
    }
    if (lasted()) return;
    const detail = 'the server ended the watch at once';
    throw new KubernetesError(what, { reason: 'Unreachable', detail, retryable: true });
  }

  function take(event: WatchEvent<T>, what: string): void {
    if (event.type === 'ERROR') throw refusal(what, event.object.code ?? 500, JSON.stringify(event.object));

    const { resourceVersion } = event.object.metadata;
    if (seen !== undefined && isNewer(seen, resourceVersion)) {
      const detail = `the server's history went back from ${seen} to ${resourceVersion}`;
      throw new KubernetesError(what, { status: 410, reason: 'Expired', detail, retryable: true });
    }
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        store.put(trim(event.object));
        break;
      case 'DELETED':
        store.remove(trim(event.object));
        break;
      case 'BOOKMARK':
        break;
    }
    seen = resourceVersion;
    failures = 0;
  }

  async function keepUp(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (mustList) await list();
        await watch();
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        mustList ||= isExpired(error) || failures % resumesMax === 0;
        const waitMs =
          Math.min(waits.firstMs * 2 ** (failures - 1), waits.maxMs) * (0.8 + Math.random() * 0.4);
        onTrouble(error, waitMs);
        await sleep(waitMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  const running = keepUp().finally(() => {
    firstList.reject(new Error(`stopped before the first list of ${resources.kind.plural} was complete`));
  });

  return Object.assign(store, {
    synced: () => firstList.promise,
    async stop() {
      stopping.abort();
      await running;
    },
  });
}

type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: { readonly code?: number } };

/** A listener that throws must not stop the watch; what it missed, it will be told about at the next resync. */
function guarded<A extends unknown[]>(
  listen: (...args: A) => void,
  onTrouble: (error: unknown, waitMs: number) => void,
) {
  return (...args: A) => {
    try {
      listen(...args);
    } catch (error) {
      onTrouble(error, 0);
    }
  };
}

const appliedCopy = 'kubectl.kubernetes.io/last-applied-configuration';

/** Two fields that often weigh more than the object itself and that only other tools read. */
export function withoutBookkeeping<T extends KubernetesObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  if (!metadata.annotations || !(appliedCopy in metadata.annotations)) return { ...object, metadata };

  const { [appliedCopy]: __, ...annotations } = metadata.annotations;
  return { ...object, metadata: { ...metadata, annotations } };
}

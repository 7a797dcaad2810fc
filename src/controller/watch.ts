import { KubernetesError } from '../adapters/kubernetes/kubernetes-error.ts';
import type { ObjectView } from '../adapters/kubernetes/object-store.ts';
import { keyOf, keyText } from '../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../adapters/kubernetes/objects.ts';
import { startReflector } from '../adapters/kubernetes/reflector.ts';
import type { ReflectorOptions } from '../adapters/kubernetes/reflector.ts';
import type { Resources } from '../adapters/kubernetes/resources.ts';
import type { Logger } from '../adapters/telemetry/logger.ts';

export interface WatchOptions<T extends KubernetesObject> extends Omit<
  ReflectorOptions<T>,
  'onChange' | 'onTrouble'
> {
  /** Gets the key (`namespace/name`) of everything that changes, and of everything every `resyncMs`. */
  readonly enqueue: (key: string) => void;
  readonly logger: Logger;
  /** Called each time the watch broke. */
  readonly onRestart?: () => void;
  readonly resyncMs?: number;
}

export interface Watch<T extends KubernetesObject> {
  /** The objects as last seen. */
  readonly objects: ObjectView<T>;
  /** Resolves when everything that existed at the start is in `objects`; rejects if it was stopped before. */
  synced(): Promise<void>;
  stop(): Promise<void>;
}

const resyncMsDefault = 10 * 60_000;

/**
 * Events in, keys out. The objects of one kind are kept up to date in memory, and whoever works on them is told which
 * ones to look at, never what happened; every so often all of them, in case something was missed.
 */
export function startWatch<T extends KubernetesObject>(
  resources: Resources<T>,
  { enqueue, logger, onRestart, resyncMs = resyncMsDefault, ...options }: WatchOptions<T>,
): Watch<T> {
  const { plural } = resources.kind;
  const reflector = startReflector(resources, {
    ...options,
    onChange: (key) => enqueue(keyText(key)),
    onTrouble(error, waitMs) {
      onRestart?.();
      const reason = error instanceof KubernetesError ? error.reason : undefined;
      logger.warn({ kind: plural, reason, retryInMs: Math.round(waitMs), err: error }, 'the watch broke');
    },
  });
  const resync = setInterval(() => {
    for (const object of reflector.values()) enqueue(keyText(keyOf(object)));
  }, resyncMs);

  return {
    objects: reflector,
    synced: () => reflector.synced(),
    stop() {
      clearInterval(resync);
      return reflector.stop();
    },
  };
}

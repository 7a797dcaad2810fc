import { randomUUID } from 'node:crypto';
import type { KubernetesConnection } from '../adapters/kubernetes/connection.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../adapters/kubernetes/kubernetes-error.ts';
import type { KubernetesObject, ObjectKey } from '../adapters/kubernetes/objects.ts';
import { createResources } from '../adapters/kubernetes/resources.ts';

/** One Lease object seen by one candidate. Each call is one bounded attempt and rejects where it got no clear answer. */
export interface Lease {
  /** `instance_process`, as it stands in the object. */
  readonly identity: string;
  /** Takes it if it is free. Undefined when it is ours, otherwise who has it. */
  take(): Promise<string | undefined>;
  /** Holds it for another `leaseMs`, within `withinMs`; false when it is somebody else's. */
  renew(withinMs: number): Promise<boolean>;
  /** Frees it, if it is ours. */
  release(): Promise<void>;
  /** Since when it is surely ours: the sending, not the answer, of what last renewed it (`performance.now()`). */
  renewedMs(): number;
}

interface LeaseObject extends KubernetesObject<LeaseSpec> {}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

const kind = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' };
/** Several attempts fit into the time a leader has to renew. */
const attemptMsMax = 3_000;

/**
 * The lease is compared and swapped by its resourceVersion, so two can never take it together. Its age is measured by
 * how long this process has seen it unchanged: clocks of other machines are not trusted. What an earlier process of
 * the same `instance` held is ours, see `instanceName`.
 */
export function openLease(
  connection: KubernetesConnection,
  {
    key,
    instance,
    leaseMs,
  }: { readonly key: ObjectKey; readonly instance: string; readonly leaseMs: number },
): Lease {
  const resources = createResources<LeaseObject>(connection, kind);
  const identity = `${instance}_${randomUUID()}`;
  let seen: { readonly resourceVersion: string; readonly atMs: number } | undefined;
  /** The object as our last write left it; undefined when it may have changed since. */
  let current: LeaseObject | undefined;
  let renewedMs = -Infinity;

  const isOurs = (holder: string) => holder.slice(0, holder.lastIndexOf('_')) === instance;

  function isFree({ metadata: { resourceVersion }, spec = {} }: LeaseObject): boolean {
    const { holderIdentity = '', leaseDurationSeconds = leaseMs / 1_000 } = spec;
    if (holderIdentity === '' || isOurs(holderIdentity)) return true;

    if (seen?.resourceVersion !== resourceVersion) seen = { resourceVersion, atMs: performance.now() };
    return performance.now() - seen.atMs > leaseDurationSeconds * 1_000;
  }

  function renewed(spec: LeaseSpec = {}): LeaseSpec {
    const leaseDurationSeconds = Math.ceil(leaseMs / 1_000);
    return { ...spec, holderIdentity: identity, leaseDurationSeconds, renewTime: microTime() };
  }

  function taken(spec: LeaseSpec = {}): LeaseSpec {
    const leaseTransitions = (spec.leaseTransitions ?? -1) + 1;
    return { ...renewed(spec), acquireTime: microTime(), leaseTransitions };
  }

  return {
    identity,
    renewedMs: () => renewedMs,

    async take() {
      const startedMs = performance.now();
      const acting = once(attemptMsMax);
      const lease = await resources.get(key, acting).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      });
      if (lease && !isFree(lease)) return lease.spec?.holderIdentity;

      const spec = taken(lease?.spec);
      try {
        current = lease
          ? await resources.replace({ ...lease, spec }, acting)
          : await resources.create({ metadata: key, spec }, acting);
      } catch (error) {
        if (isConflict(error) || isAlreadyExists(error)) return 'a faster candidate';
        throw error;
      }
      renewedMs = startedMs;
      return undefined;
    },

    async renew(withinMs) {
      const startedMs = performance.now();
      const acting = once(Math.min(withinMs, attemptMsMax));
      try {
        current ??= await resources.get(key, acting);
        if (current.spec?.holderIdentity !== identity) return false;
        current = await resources.replace({ ...current, spec: renewed(current.spec) }, acting);
      } catch (error) {
        // Somebody changed it, or a renewal of ours arrived whose answer was lost: the next attempt reads it first.
        current = undefined;
        if (isNotFound(error)) return false;
        throw error;
      }
      renewedMs = startedMs;
      return true;
    },

    async release() {
      const acting = once(attemptMsMax);
      const lease = await resources.get(key, acting);
      if (lease.spec?.holderIdentity !== identity) return;
      const spec = { ...renewed(lease.spec), holderIdentity: '', leaseDurationSeconds: 1 };
      await resources.replace({ ...lease, spec }, acting);
    },
  };
}

const once = (withinMs: number) => ({
  signal: AbortSignal.timeout(Math.max(1, Math.floor(withinMs))),
  attemptsMax: 1,
});

/** The API server wants six digits behind the second. */
const microTime = (): string => new Date().toISOString().replace('Z', '000Z');

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesConnection } from '../adapters/kubernetes/connection.ts';
import { openLease } from './lease.ts';

export interface LeaderElectionOptions {
  readonly namespace: string;
  readonly name?: string;
  /** The name of this process's slot, see `instanceName`. */
  readonly instance: string;
  /** client-go's numbers, and their order: a leader that cannot renew stops before anybody may follow. */
  readonly leaseMs?: number;
  readonly renewMsMax?: number;
  readonly retryMs?: number;
  /** Gives up waiting for the lead. */
  readonly signal?: AbortSignal;
  /** Called when somebody else is found to lead, and for each attempt that failed. */
  readonly onWaiting?: (why: { readonly holder: string } | { readonly error: unknown }) => void;
}

export interface Leadership {
  /** `instance_process`, as it stands in the lease. */
  readonly identity: string;
  /** Aborts when the lead is lost: from then on this process must not act. Its reason is an Error that says why. */
  readonly lost: AbortSignal;
  /** Whether nobody else can have the lead at this moment, save a new process in our own slot. */
  holds(): boolean;
  /** Gives the lead back, so that a successor need not wait for its end; `lost` stays as it is. */
  resign(): Promise<void>;
}

/**
 * The name of the slot this process runs in: `ARKWRIGHT_INSTANCE`, or the pod's name. A slot holds one process at a
 * time (kubelet or supervisor starts the next when the last has ended), which is why a slot may take over its own
 * lease at once instead of waiting until a killed process's lease has run out. Where nothing promises that, as in two
 * shells on one machine, the name is made up and the lease has to run out. See docs/decisions.
 */
export const instanceName = (env: NodeJS.ProcessEnv = process.env): string =>
  env.ARKWRIGHT_INSTANCE || (env.KUBERNETES_SERVICE_HOST ? hostname() : randomUUID());

/** Resolves when this process leads; rejects only when `signal` gives up. */
export async function becomeLeader(
  connection: KubernetesConnection,
  options: LeaderElectionOptions,
): Promise<Leadership> {
  const { namespace, name = 'arkwright-controller', instance, signal, onWaiting = () => {} } = options;
  const { leaseMs = 15_000, renewMsMax = 10_000, retryMs = 2_000 } = options;
  if (retryMs >= renewMsMax || renewMsMax >= leaseMs)
    throw new RangeError(
      `leader election needs retry < renew < lease, not ${retryMs}, ${renewMsMax}, ${leaseMs} ms`,
    );
  const lease = openLease(connection, { key: { namespace, name }, instance, leaseMs });

  let waitingFor: string | undefined;
  for (let leads = false; !leads;) {
    signal?.throwIfAborted();
    try {
      const holder = await lease.take();
      leads = holder === undefined;
      if (holder !== undefined && holder !== waitingFor) onWaiting({ holder });
      waitingFor = holder;
    } catch (error) {
      onWaiting({ error });
    }
    // Not all at once: candidates that start together would collide for ever.
    if (!leads) await sleep(retryMs * (1 + Math.random() * 0.2), undefined, { signal }).catch(() => {});
  }

  const lost = new AbortController();
  const resigning = new AbortController();
  const leftMs = () => lease.renewedMs() + renewMsMax - performance.now();

  async function keepLeading(): Promise<void> {
    for (;;) {
      await sleep(Math.max(0, Math.min(retryMs, leftMs())), undefined, { signal: resigning.signal }).catch(
        () => {},
      );
      if (resigning.signal.aborted) return;

      // Also after a pause (a debugger, a sleeping machine): the time counts, not the number of attempts.
      if (leftMs() <= 0)
        return lost.abort(
          new Error(`the lease ${namespace}/${name} could not be renewed for ${renewMsMax} ms`),
        );
      const ours = await lease.renew(leftMs()).catch(() => true);
      if (!ours) return lost.abort(new Error(`another process has the lease ${namespace}/${name}`));
    }
  }
  const leading = keepLeading();

  return {
    identity: lease.identity,
    lost: lost.signal,
    holds: () => !lost.signal.aborted && performance.now() < lease.renewedMs() + leaseMs,

    async resign() {
      resigning.abort();
      await leading;
      // Where this fails the lease runs out by itself.
      if (!lost.signal.aborted) await lease.release().catch(() => {});
    },
  };
}

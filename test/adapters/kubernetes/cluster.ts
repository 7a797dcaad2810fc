/** etcd and kube-apiserver for tests that kill them, and a wire in between that can be cut, blocked and silenced. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectKubernetes } from '../../../src/adapters/kubernetes/connection.ts';
import type { ConnectOptions, KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import { writeKubeconfig } from '../../../src/dev/credentials.ts';
import { assembleFleet } from '../../../src/dev/fleet.ts';
import { claimPlace } from '../../../src/dev/place.ts';
import { urls } from '../../../src/dev/programs.ts';
import { findOrBuildServers } from '../../../src/dev/servers.ts';

export interface Cluster {
  /** Straight to the API server. */
  readonly connection: KubernetesConnection;
  readonly kubeconfig: string;
  /** SIGKILL; it is back, and ready, when this resolves. */
  killApiServer(): Promise<void>;
  /** A connection of its own, by way of a wire. */
  overWire(
    options?: ConnectOptions,
  ): Promise<{ readonly connection: KubernetesConnection; readonly wire: Wire }>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const dir = await mkdtemp(join(tmpdir(), 'arkwright-cluster-'));
  const servers = await findOrBuildServers({ report: () => {} });
  const place = await claimPlace({ dir });
  const fleet = assembleFleet(['etcd', 'apiserver'], { ...place, servers, arkwright: '' });
  const { apiserver } = urls(place.ports);
  const open: { close(): Promise<void> }[] = [];

  async function stop(): Promise<void> {
    await Promise.all(open.map((one) => one.close()));
    await fleet.disband([['apiserver'], ['etcd']]);
    place.release();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
  try {
    for (const name of ['etcd', 'apiserver'] as const) {
      await fleet
        .start(name)
        .catch(() => fleet.ready(name))
        .catch(() => fleet.ready(name));
    }
    await writeKubeconfig(place.kubeconfig, apiserver, place.credentials);
  } catch (error) {
    await stop();
    throw error;
  }
  const connection = connectKubernetes({ kubeconfig: place.kubeconfig });
  open.push(connection);

  return {
    connection,
    kubeconfig: place.kubeconfig,
    stop,
    async killApiServer() {
      await fleet.kill('apiserver', 'SIGKILL');
      await fleet.ready('apiserver').catch(() => fleet.ready('apiserver'));
    },
    async overWire(options) {
      const wire = await layWire(Number(new URL(apiserver).port));
      const kubeconfig = join(dir, `kubeconfig-${wire.port}`);
      const text = await readFile(place.kubeconfig, 'utf8');
      await writeFile(kubeconfig, text.replace(apiserver, `https://127.0.0.1:${wire.port}`));
      const wired = connectKubernetes({ ...options, kubeconfig });
      open.push(wired, wire);
      return { connection: wired, wire };
    },
  };
}

export interface Wire {
  readonly port: number;
  /** Connections made so far, and those open now. */
  readonly made: number;
  readonly open: number;
  /** Resets every connection. */
  cut(): void;
  /** Every connection stays open and carries nothing any more; new ones work. */
  silence(): void;
  /** Resets every connection, and each new one, until it is unblocked. */
  block(blocked: boolean): void;
  close(): Promise<void>;
}

async function layWire(target: number): Promise<Wire> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let made = 0;
  let blocked = false;

  const server = createServer((near) => {
    if (blocked) return near.resetAndDestroy();
    made++;
    const far = connect(target, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far).pipe(near);
    for (const [one, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const cut = () => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    get made() {
      return made;
    },
    get open() {
      return pairs.size;
    },
    cut,
    silence() {
      for (const [near, far] of pairs) {
        far.unpipe(near);
        near.unpipe(far);
      }
    },
    block(value) {
      blocked = value;
      if (blocked) cut();
    },
    async close() {
      cut();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

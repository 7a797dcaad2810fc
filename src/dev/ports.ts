import { createServer, type Server } from 'node:net';
import { waitUntil } from './wait-until.ts';

/** Where every part of one stack listens. Two stacks differ by their offset alone. */
export type Ports = {
  readonly offset: number;
  readonly etcd: number;
  readonly etcdPeers: number;
  readonly apiserver: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly controllerHealth: number;
  readonly webhook: number;
  readonly broker: number;
  readonly brokerHealth: number;
  readonly workerHealth: readonly number[];
  readonly companions: readonly number[];
};

export type PortClaim = { readonly ports: Ports; release(): void };

export const offsetsMax = 100;
export const workersMax = 16;
export const companionsMax = 8;

/**
 * Claims the ports of one stack; nobody else gets them until they are released or this process ends.
 *
 * They lie below the range from which the kernel picks the near end of outgoing connections (32768 and up on Linux). In
 * that range a server that dies could lose its port to a client during the restart, and a client that tries to reach
 * the dead server could even connect to itself.
 *
 * With `wanted` it is that offset or an error. Without, it is `remembered` if that is free, so that a kubeconfig stays
 * valid over a restart, else any that is free.
 */
export async function claimPorts(choice: { wanted?: number; remembered?: number }): Promise<PortClaim> {
  const { wanted, remembered } = choice;
  if (wanted !== undefined) return claimWanted(wanted);

  const start = Math.floor(Math.random() * offsetsMax);
  const offsets = Array.from({ length: offsetsMax }, (_, index) => (start + index) % offsetsMax);
  for (const offset of remembered === undefined ? offsets : [remembered, ...offsets]) {
    const claim = await tryClaim(offset, offset === remembered ? leavingTimeMs : 0);
    if (claim) return claim;
  }
  throw new Error(
    `No free ports for a stack: all ${offsetsMax} port offsets are in use. Stop another stack first.`,
  );
}

/** The servers of a stack that was killed a moment ago may still be about to end. */
const leavingTimeMs = 5_000;

async function claimWanted(offset: number): Promise<PortClaim> {
  if (!Number.isInteger(offset) || offset < 0 || offset >= offsetsMax) {
    throw new Error(`The port offset must be a whole number from 0 to ${offsetsMax - 1}, not ${offset}.`);
  }
  const claim = await tryClaim(offset, leavingTimeMs);
  if (claim) return claim;
  throw new Error(
    `The ports of offset ${offset} are in use (for instance ${portsAt(offset).apiserver}), probably by another stack. ` +
      'Choose another --port-offset, or none to have free ports chosen.',
  );
}

/** Spaced so that neither two parts nor two offsets meet; the last one is 31779. */
function portsAt(offset: number): Ports {
  const row = (base: number, length: number) =>
    Array.from({ length }, (_, index) => base + index * offsetsMax + offset);
  return {
    offset,
    etcd: 22_379 + offset,
    etcdPeers: 23_380 + offset,
    webhook: 25_443 + offset,
    apiserver: 26_443 + offset,
    temporal: 27_233 + offset,
    temporalUi: 28_233 + offset,
    controllerHealth: 29_080 + offset,
    broker: 25_080 + offset,
    brokerHealth: 29_280 + offset,
    workerHealth: row(30_080, workersMax),
    companions: row(24_080, companionsMax),
  };
}

const claimBase = 21_000;

/**
 * The claim itself is a port that this process listens on: the kernel gives it to one process only and takes it back
 * when that ends. The others are looked at too, because a stranger may be using one.
 */
async function tryClaim(offset: number, patienceMs: number): Promise<PortClaim | undefined> {
  const claim = await listen(claimBase + offset);
  if (!claim) return undefined;

  const ports = portsAt(offset);
  try {
    const what = `the ports of offset ${offset} to be free`;
    await waitUntil(() => areFree(ports), { what, timeoutMs: patienceMs, everyMs: 100 });
    return { ports, release: () => void claim.close() };
  } catch {
    claim.close();
    return undefined;
  }
}

async function areFree(ports: Ports): Promise<boolean> {
  for (const port of Object.values({ ...ports, offset: [] }).flat()) {
    const server = await listen(port);
    if (!server) return false;
    await new Promise((closed) => server.close(closed));
  }
  return true;
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    // The claim must not keep the process alive.
    const server = createServer((socket) => socket.destroy()).unref();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

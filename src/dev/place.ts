import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureCredentials, type Credentials } from './credentials.ts';
import { claimPorts, type PortClaim, type Ports } from './ports.ts';
import { tryLock, type ProcessLock } from './process-lock.ts';
import { writeWhole } from './write-whole.ts';

/** A folder and a set of ports that belong to one stack until it releases them. */
export type Place = {
  readonly dir: string;
  readonly logs: string;
  readonly kubeconfig: string;
  readonly credentials: Credentials;
  readonly ports: Ports;
  release(): void;
};

/** What a stack keeps in its folder. Nothing else there is removed, whatever folder was given. */
const kept = [
  'etcd',
  'temporal.db',
  'temporal.db-wal',
  'temporal.db-shm',
  'broker.db',
  'broker.db-wal',
  'broker.db-shm',
  'credentials',
  'kubeconfig',
  'logs',
  'ports',
];

/** Takes a folder for one stack, or refuses with the pid of the process that has it. `fresh` removes what was kept. */
export async function claimPlace(options: {
  dir: string;
  fresh?: boolean;
  portOffset?: number;
}): Promise<Place> {
  const dir = resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(dir);
  try {
    if (options.fresh) {
      await Promise.all(kept.map((name) => rm(join(dir, name), { recursive: true, force: true })));
    }
    const logs = join(dir, 'logs');
    await mkdir(logs, { recursive: true });
    const credentials = await ensureCredentials(join(dir, 'credentials'));
    const claim = await claimStackPorts(dir, options.portOffset);
    return {
      dir,
      logs,
      kubeconfig: join(dir, 'kubeconfig'),
      credentials,
      ports: claim.ports,
      release() {
        claim.release();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function lockFolder(dir: string): Promise<ProcessLock> {
  const result = await tryLock(join(dir, 'lock'));
  if ('lock' in result) return result.lock;
  throw new Error(
    `Process ${result.busy.pid ?? 'unknown'} already runs a stack in ${dir}. Stop it first, or choose another --dir.`,
  );
}

/** Remembers the ports with the data: a kubeconfig that a terminal was given stays valid over a restart. */
async function claimStackPorts(dir: string, wanted: number | undefined): Promise<PortClaim> {
  const file = join(dir, 'ports');
  const written = (await readFile(file, 'utf8').catch(() => '')).trim();
  const claim = await claimPorts({
    ...(wanted !== undefined && { wanted }),
    ...(written !== '' && { remembered: Number(written) }),
  });
  await writeWhole(file, `${claim.ports.offset}\n`);
  return claim;
}

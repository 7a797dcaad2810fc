import { constants } from 'node:fs';
import { access, mkdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildServer, pinnedVersion, type ServerModule } from './build-server.ts';
import { tryLock } from './process-lock.ts';
import { projectFolder } from './project.ts';
import { waitUntil } from './wait-until.ts';

export type ServerName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'temporal' | 'kubectl';
export type ServerPaths = Readonly<Record<ServerName, string>>;

type Server = ServerModule & {
  /** The environment variable that names a binary to use instead of all others. */
  readonly variable: string;
  /** Finds the version in what `--version` prints; without it any binary on PATH will do. */
  readonly versionPattern?: RegExp;
};

const kubernetes = { module: 'kubernetes', pin: 'k8s.io/kubernetes' } as const;

const servers: Readonly<Record<ServerName, Server>> = {
  etcd: {
    module: 'etcd',
    pin: 'go.etcd.io/etcd/server/v3',
    package: 'go.etcd.io/etcd/server/v3',
    usualBuildMinutes: 0.5,
    variable: 'ARKWRIGHT_ETCD',
    versionPattern: /etcd Version: (\S+)/,
  },
  'kube-apiserver': {
    ...kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    usualBuildMinutes: 3,
    variable: 'ARKWRIGHT_KUBE_APISERVER',
    versionPattern: /Kubernetes v(\S+)/,
  },
  'kube-controller-manager': {
    ...kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    usualBuildMinutes: 1,
    variable: 'ARKWRIGHT_KUBE_CONTROLLER_MANAGER',
    versionPattern: /Kubernetes v(\S+)/,
  },
  temporal: {
    module: 'temporal',
    pin: 'github.com/temporalio/cli',
    package: 'github.com/temporalio/cli/cmd/temporal',
    usualBuildMinutes: 2.5,
    variable: 'ARKWRIGHT_TEMPORAL',
    versionPattern: /temporal version (\S+)/,
  },
  kubectl: {
    ...kubernetes,
    package: 'k8s.io/kubernetes/cmd/kubectl',
    usualBuildMinutes: 1,
    variable: 'ARKWRIGHT_KUBECTL',
  },
};

/** Longer than all five builds take one after the other on a slow machine with an empty Go cache. */
const buildByOtherMaxMs = 60 * 60_000;

export type FindOptions = {
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Where built binaries are kept; the project's own .cache/bin if not given. */
  readonly cache?: string;
  readonly env?: NodeJS.ProcessEnv;
};

/**
 * Returns a path for every server of the embedded stack, building what is found nowhere.
 *
 * Order: the environment, then the cache, then PATH, then a build. The cache goes before PATH because what lies there is
 * known to be what was pinned without running it, and because data written by one build of a server must not be opened
 * by another merely because a different terminal has a different PATH.
 */
export async function findOrBuildServers(options: FindOptions): Promise<ServerPaths> {
  const place: Place = {
    env: process.env,
    cache: join(projectFolder, '.cache', 'bin'),
    ...options,
  };
  const found = new Map<ServerName, string>();
  for (const name of Object.keys(servers) as ServerName[]) {
    found.set(name, (await find(name, place)) ?? (await buildOnce(name, place)));
  }
  return Object.fromEntries(found) as Record<ServerName, string>;
}

type Place = FindOptions & { readonly env: NodeJS.ProcessEnv; readonly cache: string };

async function find(name: ServerName, place: Place): Promise<string | undefined> {
  return (await named(name, place)) ?? (await cached(name, place)) ?? (await onPath(name, place));
}

async function named(name: ServerName, { env }: Place): Promise<string | undefined> {
  const { variable } = servers[name];
  const path = env[variable];
  if (!path) return undefined;

  if (await isExecutable(path)) return path;
  throw new Error(
    `${variable} says that ${name} is at ${path}, but no program can be run there. Correct or unset it.`,
  );
}

async function cached(name: ServerName, { cache }: Place): Promise<string | undefined> {
  const path = join(cache, name);
  const stamp = await readFile(`${path}.version`, 'utf8').catch(() => '');
  const isPinned = stamp.trim() === (await pinnedVersion(servers[name]));
  return isPinned && (await isExecutable(path)) ? path : undefined;
}

async function onPath(name: ServerName, { env }: Place): Promise<string | undefined> {
  const { versionPattern } = servers[name];
  const pinned = await pinnedVersion(servers[name]);

  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    if (!(await isExecutable(path))) continue;
    if (!versionPattern || `v${await versionOf(path, versionPattern)}` === pinned) return path;
  }
  return undefined;
}

/** Two processes may come here at once: the second waits for the first and then finds what it built. */
async function buildOnce(name: ServerName, place: Place): Promise<string> {
  const { cache, env, report, signal } = place;
  await mkdir(cache, { recursive: true });
  const lock = await buildLock(place);
  try {
    return (
      (await cached(name, place)) ?? (await buildServer(name, servers[name], { cache, env, report, signal }))
    );
  } finally {
    lock.release();
  }
}

async function buildLock({ cache, report, signal }: Place) {
  let told = false;
  return waitUntil(
    async () => {
      const result = await tryLock(join(cache, 'build.lock'));
      if ('lock' in result) return result.lock;

      if (!told)
        report(`another process (${result.busy.pid ?? 'unknown'}) is building servers; waiting for it`);
      told = true;
      return undefined;
    },
    {
      what: 'the build of the servers by another process to end',
      timeoutMs: buildByOtherMaxMs,
      everyMs: 500,
      signal,
    },
  );
}

const isExecutable = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

const run = promisify(execFile);
const versionTimeoutMs = 10_000;

/** A program that cannot say its version is not the one we want: that is an answer, not a failure. */
async function versionOf(path: string, pattern: RegExp): Promise<string | undefined> {
  const printed = await run(path, ['--version'], { timeout: versionTimeoutMs }).catch(() => undefined);
  return printed && pattern.exec(printed.stdout)?.[1];
}

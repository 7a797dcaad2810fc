import { spawn } from 'node:child_process';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from './project.ts';

export type ServerModule = {
  /** The folder under tools/servers whose go.mod and go.sum say what exactly is built. */
  readonly module: string;
  /** The required module whose version is the server's version. */
  readonly pin: string;
  readonly package: string;
  /** With an empty Go cache on 2 cores; only shown to people. */
  readonly usualBuildMinutes: number;
};

export type BuildOptions = {
  readonly cache: string;
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
};

const progressEveryMs = 15_000;
const outputTailMax = 4_000;

/**
 * Builds a server into the cache and returns its path. The binary appears there whole or not at all, and its stamp (the
 * pinned version) last. The caller holds the build lock.
 */
export async function buildServer(
  name: string,
  server: ServerModule,
  { cache, env, report, signal }: BuildOptions,
): Promise<string> {
  const version = await pinnedVersion(server);
  const path = join(cache, name);
  await removeUnfinished(cache);

  const unfinished = `${path}${unfinishedMark}${process.pid}`;
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  const about = `${server.usualBuildMinutes} min on 2 cores`;
  report(`building ${name} ${version} with Go; needed once, about ${about}`);
  const progress = setInterval(
    () => report(`still building ${name}: ${elapsed()} of about ${about}`),
    progressEveryMs,
  );
  try {
    await goBuild({ name, server, version, output: unfinished, env, signal });
  } finally {
    clearInterval(progress);
  }

  // The stamp goes first and comes last: a binary without one is built again, one with a wrong stamp cannot exist.
  await rm(`${path}.version`, { force: true });
  await rename(unfinished, path);
  await writeFile(`${path}.version`, `${version}\n`);
  report(`built ${name} in ${elapsed()}`);
  return path;
}

/** The version that tools/servers/<module>/go.mod requires: the only place where it is written. */
export async function pinnedVersion({ module, pin }: ServerModule): Promise<string> {
  const file = join(serversFolder, module, 'go.mod');
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    const [path, version] = line
      .replace(/^\s*require\s/, '')
      .trim()
      .split(/\s+/);
    if (path === pin && version?.startsWith('v')) return version;
  }
  throw new Error(`${file} does not require ${pin}, so nothing says which version to build`);
}

const serversFolder = join(projectFolder, 'tools', 'servers');
const unfinishedMark = '.building-';

/** What a killed build left behind. Safe under the build lock: nobody else is writing here. */
async function removeUnfinished(cache: string): Promise<void> {
  const left = (await readdir(cache)).filter((file) => file.includes(unfinishedMark));
  await Promise.all(left.map((file) => rm(join(cache, file), { force: true })));
}

type GoBuild = {
  readonly name: string;
  readonly server: ServerModule;
  readonly version: string;
  readonly output: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
};

function goBuild({ name, server, version, output, env, signal }: GoBuild): Promise<void> {
  const reproducible = [
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    linkerFlags(server, version),
  ];
  const go = spawn('go', ['build', ...reproducible, '-o', output, server.package], {
    cwd: join(serversFolder, server.module),
    // For this machine and from this module alone, whatever the shell is set up to build.
    env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: '', GOARCH: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
    killSignal: 'SIGINT',
    ...(signal && { signal }),
  });

  let printed = '';
  go.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed = (printed + text).slice(-outputTailMax);
  });

  return new Promise((resolve, reject) => {
    go.once('error', (error: NodeJS.ErrnoException) => {
      if (signal?.aborted) reject(signal.reason);
      else reject(error.code === 'ENOENT' ? noGo(name, version) : error);
    });
    go.once('close', (code) => {
      if (code === 0) return resolve();
      const command = `go build ${server.package}`;
      reject(
        new Error(
          `Could not build ${name} ${version}: \`${command}\` in tools/servers/${server.module} said\n${printed}`,
        ),
      );
    });
  });
}

const noGo = (name: string, version: string) =>
  new Error(
    `${name} ${version} is not on this machine yet and has to be built, which needs Go. Install Go 1.26 or later ` +
      `(https://go.dev/dl), or put ${name} ${version} on PATH, and try again.`,
  );

const versionPackage = 'k8s.io/component-base/version';

/** Without these, Kubernetes says v0.0.0, and kubectl warns about it. */
function linkerFlags({ module }: ServerModule, version: string): string {
  const strip = '-s -w';
  if (module !== 'kubernetes') return strip;

  const [major, minor] = version.slice(1).split('.');
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(variables).map(([name, value]) => `-X ${versionPackage}.${name}=${value}`);
  return [strip, ...settings].join(' ');
}

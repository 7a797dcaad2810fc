import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectFolder } from './project.ts';

const cache = join(projectFolder, '.cache', 'arkwright');
const inputs = [
  'src',
  'crds',
  'deploy',
  'samples',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** Those of the last changes: somebody may still be running one. */
const buildsKept = 4;
const main = join('src', 'cli', 'main.js');

/**
 * The path of the `arkwright` command as it is run in a cluster: compiled, with its workflow code in one file. Started
 * from sources it would take several times as long and half as much memory again. Code that is built already is its own;
 * a checkout builds its sources, once for every state they are in.
 */
export async function builtArkwright(report: (line: string) => void): Promise<string> {
  if (extname(fileURLToPath(import.meta.url)) === '.js')
    return join(import.meta.dirname, '..', 'cli', 'main.js');

  const folder = join(cache, await fingerprint());
  if (!existsSync(folder)) {
    report('building Arkwright from its sources, as after every change of them');
    await build(folder);
    await forgetOldBuilds();
  }
  return join(folder, main);
}

/** Two may build at the same moment: each into a folder of its own, and either may win. */
async function build(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    const tool = join(projectFolder, 'tools', 'build.ts');
    const building = spawn(process.execPath, [tool, '--no-check', draft], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const output of [building.stdout, building.stderr]) {
      output.setEncoding('utf8').on('data', (text: string) => (printed = (printed + text).slice(-4_000)));
    }
    const [code] = (await once(building, 'close')) as [number | null];
    if (code !== 0)
      throw new Error(`Arkwright could not be built from its sources; tools/build.ts said\n${printed}`);

    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Changes with every file that goes into a build. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const input of inputs) {
    const path = join(projectFolder, input);
    const isFolder = (await stat(path)).isDirectory();
    const files = isFolder ? await readdir(path, { recursive: true, withFileTypes: true }) : [];
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const file of isFolder ? paths.toSorted() : [path]) hash.update(file).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
}

async function forgetOldBuilds(): Promise<void> {
  const builds = await Promise.all(
    (await readdir(cache)).map(async (name) => ({ name, madeMs: (await stat(join(cache, name))).mtimeMs })),
  );
  const old = builds.toSorted((one, other) => other.madeMs - one.madeMs).slice(buildsKept);
  await Promise.all(old.map(({ name }) => rm(join(cache, name), { recursive: true, force: true })));
}

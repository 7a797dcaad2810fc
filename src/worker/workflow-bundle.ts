import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Written by `npm run build` beside the compiled code. */
const shipped = at('../../workflow-bundle.js');

export interface WorkflowBundle {
  readonly codePath: string;
  /** Names the code in every event of a history, three times a turn: hence short. */
  readonly buildId: string;
}

/**
 * The workflow code as one file, which a worker starts from in 0.6 s (from sources: 1.7 s). Installed code ships it; a
 * checkout bundles its sources once and keeps the result under the hash of what went in.
 */
export async function workflowBundle(): Promise<WorkflowBundle> {
  const codePath = existsSync(shipped) ? shipped : await bundled();
  const buildId = createHash('sha256')
    .update(await readFile(codePath))
    .digest('hex')
    .slice(0, 8);
  return { codePath, buildId };
}

async function bundled(): Promise<string> {
  const cache = at('../../.cache/workflows');
  const codePath = join(cache, `${await fingerprint()}.js`);
  if (existsSync(codePath)) return codePath;

  const { code } = await bundleWorkflowCode({ workflowsPath: at('../workflows/index.ts'), logger: quiet });
  await mkdir(cache, { recursive: true });
  // Two workers may start at the same moment: each writes its own file, and either may win.
  const draft = `${codePath}.${process.pid}`;
  await writeFile(draft, code);
  await rename(draft, codePath);
  return codePath;
}

/** Changes with the sources and with the version of the SDK, which must be the worker's own. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const sdk = fileURLToPath(import.meta.resolve('@temporalio/worker/package.json'));
  hash.update((JSON.parse(await readFile(sdk, 'utf8')) as { version: string }).version);

  const sources = await readdir(at('../workflows'), { recursive: true });
  for (const source of sources.filter((name) => name.endsWith('.ts')).toSorted()) {
    hash.update(source).update(await readFile(at(`../workflows/${source}`)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** The bundler reports its progress line by line; what fails is thrown all the same. */
const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

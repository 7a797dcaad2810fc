/** Puts what the code reads at run time beside the compiled code, so that dist/ holds all of it at the same places. */
import { chmod, cp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

for (const asset of ['crds', 'deploy', 'samples']) {
  await rm(at(`dist/${asset}`), { recursive: true, force: true });
  await cp(at(asset), at(`dist/${asset}`), { recursive: true });
}
await chmod(at('dist/src/cli/main.js'), 0o755);

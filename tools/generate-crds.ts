/**
 * Writes crds/<plural>.yaml for every Kind. With --check it writes nothing and exits 1 if a file is not what it would
 * write, or belongs to no Kind.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { kinds } from '../src/api/kinds.ts';
import { toCrd } from '../src/api/to-crd.ts';

const folder = new URL('../crds/', import.meta.url);
const header = '# Generated from src/api by `node tools/generate-crds.ts`; edit the schema, not this file.\n';

const wanted = new Map(
  kinds.map((kind) => [
    `${kind.plural}.yaml`,
    // Without aliases: most readers of CRDs have never met a YAML anchor.
    header +
      stringify(toCrd(kind), {
        lineWidth: 110,
        sortMapEntries: true,
        aliasDuplicateObjects: false,
        keepUndefined: false,
      }),
  ]),
);

if (process.argv.includes('--check')) await check();
else await write();

async function write(): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [file, text] of wanted) await writeFile(new URL(file, folder), text);
  console.log(`crds: wrote ${[...wanted.keys()].join(', ')}`);
}

async function check(): Promise<void> {
  const present = (await readdir(folder)).filter((file) => file.endsWith('.yaml'));
  const stale = [...new Set([...wanted.keys(), ...present])].filter(
    (file) => !present.includes(file) || !wanted.has(file),
  );
  for (const file of present) {
    if (wanted.has(file) && (await readFile(new URL(file, folder), 'utf8')) !== wanted.get(file))
      stale.push(file);
  }
  for (const file of stale) console.error(`crds/${file} is out of date; run: node tools/generate-crds.ts`);
  process.exitCode = stale.length > 0 ? 1 : 0;
}

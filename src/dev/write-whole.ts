import { rename, writeFile } from 'node:fs/promises';

/** Writes a file that only its owner may read, in one step: whoever opens it sees the old or the new content, whole. */
export async function writeWhole(path: string, content: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, content, { mode: 0o600 });
  await rename(unfinished, path);
}

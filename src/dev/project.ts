import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder that holds package.json, tools/servers and .cache: the same for sources and for what was built to dist. */
export const projectFolder = folderAbove(import.meta.dirname);

function folderAbove(start: string): string {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  throw new Error(
    `No package.json in ${start} or above it: Arkwright's own files are not where it expects them.`,
  );
}

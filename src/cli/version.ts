import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../dev/project.ts';

/** What package.json says. */
export function version(): string {
  const { version: said } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return said;
}

#!/usr/bin/env node
import { basename } from 'node:path';
import { runCommandLine } from './run-command-line.ts';

// kubectl runs `kubectl-arkwright` for `kubectl arkwright`, and that is what the help should then say.
const isPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-');
const code = await runCommandLine(process.argv.slice(2), isPlugin ? 'kubectl arkwright' : 'arkwright');

// What was to be closed is closed; a socket that some library keeps must not hold up the end of the process. But a pipe
// may not have taken all of the output yet.
await Promise.all([written(process.stdout), written(process.stderr)]);
process.exit(code);

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

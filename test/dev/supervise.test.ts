import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog, type LogFile } from '../../src/dev/log-file.ts';
import { supervise, type SupervisedProcess } from '../../src/dev/supervise.ts';
import { waitUntil } from '../../src/dev/wait-until.ts';
import { startWatchdog, type Watchdog } from '../../src/dev/watchdog.ts';
import { isRunning } from './running.ts';

let folder: string;
let log: LogFile;
let watchdog: Watchdog;
const started: SupervisedProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arkwright-supervise-'));
  log = openLog(join(folder, 'log'));
  watchdog = startWatchdog();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
  await watchdog.close();
  log.close();
  await rm(folder, { recursive: true });
});

async function run(script: string, changed: () => void = () => undefined): Promise<SupervisedProcess> {
  const program = {
    command: '/bin/sh',
    args: ['-c', script],
    env: process.env,
    cwd: folder,
    stopWithinMs: 300,
  };
  const supervised = supervise(program, log, watchdog, changed);
  started.push(supervised);
  await supervised.start();
  return supervised;
}

const newPid = (supervised: SupervisedProcess, old: number | undefined) =>
  waitUntil(() => supervised.pid !== old && supervised.pid, { what: 'a new process', timeoutMs: 120_000 });

test('what is killed runs again, and was dead before `kill` returned', async () => {
  const supervised = await run('exec sleep 60');
  const first = supervised.pid!;
  await supervised.kill('SIGKILL');

  expect(await isRunning(first)).toBe(false);
  expect(await isRunning(await newPid(supervised, undefined))).toBe(true);
  expect(supervised.deaths).toBe(1);
});

test('what keeps dying is started again ever more slowly', async () => {
  const deathsMs: number[] = [];
  await run('exit 1', () => {
    if ((started[0]?.deaths ?? 0) > deathsMs.length) deathsMs.push(performance.now());
  });
  await waitUntil(() => deathsMs.length >= 4, { what: 'four deaths', timeoutMs: 120_000 });
  const [first = 0, second = 0, third = 0, fourth = 0] = deathsMs;
  expect(second - first).toBeGreaterThan(200);
  expect(third - second).toBeGreaterThan(400);
  expect(fourth - third).toBeGreaterThan(900);
});

test('what is stopped stays down, also when it was about to be started again', async () => {
  const supervised = await run('exit 1');
  await waitUntil(() => supervised.deaths >= 2 && supervised.pid === undefined, {
    what: 'the pause',
    timeoutMs: 120_000,
  });
  await supervised.stop();
  const restarted = waitUntil(() => supervised.pid !== undefined, { what: 'a restart', timeoutMs: 1_000 });
  await expect(restarted).rejects.toThrow('Waited 1 s');

  await supervised.start();
  expect(supervised.pid).toBeDefined();
});

test('what ignores SIGTERM is killed in the end', async () => {
  const supervised = await run('trap "" TERM; echo deaf; while :; do sleep 0.05; done');
  const pid = supervised.pid!;
  await waitUntil(async () => (await readFile(log.path, 'utf8')).includes('deaf'), {
    what: 'it',
    timeoutMs: 120_000,
  });
  await supervised.stop();
  expect(await isRunning(pid)).toBe(false);
});

test('its output goes to the log, and its input is empty', async () => {
  await run('echo out; echo err >&2; cat; echo end; exec sleep 60');
  await waitUntil(async () => (await readFile(log.path, 'utf8')).includes('end'), {
    what: 'output',
    timeoutMs: 120_000,
  });
  expect(await readFile(log.path, 'utf8')).toBe('out\nerr\nend\n');
});

test('closing the watchdog ends what it guards, with descendants, also after it was killed itself', async () => {
  const supervised = await run('sleep 60 & echo $!; wait');
  await waitUntil(async () => (await readFile(log.path, 'utf8')).includes('\n'), {
    what: 'output',
    timeoutMs: 120_000,
  });
  const descendant = Number(await readFile(log.path, 'utf8'));
  const pids = [supervised.pid!, descendant];

  const firstDog = watchdog.pid!;
  process.kill(firstDog, 'SIGKILL');
  await waitUntil(() => watchdog.pid !== firstDog, { what: 'another watchdog', timeoutMs: 120_000 });

  const alive = () => Promise.all(pids.map(isRunning));
  expect(await alive()).toEqual([true, true]);
  await watchdog.close();
  await waitUntil(async () => !(await alive()).includes(true), { what: 'their end', timeoutMs: 120_000 });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from '../../src/dev/process-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arkwright-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function lockOrThrow(path: string) {
  const result = await tryLock(path);
  if ('busy' in result) throw new Error(`${path} is held by ${result.busy.pid}`);
  return result.lock;
}

test('one holder at a time, who is named to the others', async () => {
  const path = join(folder, 'lock');
  const lock = await lockOrThrow(path);
  expect(await tryLock(path)).toEqual({ busy: { pid: process.pid } });

  lock.release();
  (await lockOrThrow(path)).release();
});

test('a holder that is killed holds nothing', async () => {
  const path = join(folder, 'lock');
  const module = new URL('../../src/dev/process-lock.ts', import.meta.url);
  const script = `
    const { tryLock } = await import(${JSON.stringify(module.href)});
    await tryLock(${JSON.stringify(path)});
    console.log('held');
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  expect(await tryLock(path)).toEqual({ busy: { pid: holder.pid } });

  const gone = once(holder, 'exit');
  holder.kill('SIGKILL');
  await gone;
  (await lockOrThrow(path)).release();
});

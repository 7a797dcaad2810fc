import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDev, type StartCompanion } from '../../src/dev/dev.ts';
import { waitFor } from '../e2e/stack.ts';
import { isRunning } from './running.ts';

let dir: string;
beforeAll(async () => {
  // A quote and a space in the path: the file that a shell reads has to survive them.
  dir = join(await mkdtemp(join(tmpdir(), 'arkwright-dev-')), "it's here");
});
afterAll(() => rm(join(dir, '..'), { recursive: true, force: true }));

/** What a shell knows after sourcing the file. */
function sourced(): Record<string, string> {
  const printed = execFileSync('/bin/sh', ['-c', '. "$1" && env', 'sh', join(dir, 'env')], {
    env: {},
    encoding: 'utf8',
  });
  return Object.fromEntries(printed.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

const startModel: StartCompanion = async ({ port }) => {
  const server = createServer((_request, response) => response.end('I am the model'));
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  const close = () => new Promise<void>((closed) => void server.close(() => closed()));
  return { name: 'model', url: `http://127.0.0.1:${port}`, close };
};

test('dev writes what a shell needs when all is ready, keeps it true, and leaves nothing behind', async () => {
  const stop = new AbortController();
  const reported: string[] = [];
  const installedInto: string[] = [];
  const running = runDev(
    {
      dir,
      without: ['controller', 'worker'],
      companions: [startModel],
      report: (line) => reported.push(line),
      install: async (kubeconfig) => {
        installedInto.push(await readFile(kubeconfig, 'utf8'));
      },
    },
    stop.signal,
  );
  let failure: Error | undefined;
  running.catch((error: Error) => (failure = error));
  let pids: number[] = [];
  try {
    await waitFor(() => failure ?? existsSync(join(dir, 'env')), {
      what: 'the env file',
      timeoutMs: 240_000,
    });
    if (failure) throw failure;
    const env = sourced();
    expect(env).toMatchObject({ KUBECONFIG: join(dir, 'kubeconfig'), TEMPORAL_NAMESPACE: 'default' });
    expect(env['TEMPORAL_ADDRESS']).toMatch(/^127\.0\.0\.1:\d+$/);
    expect((await fetch(env['TEMPORAL_UI']!)).status).toBe(200);
    expect(await (await fetch(env['MODEL_URL']!)).text()).toBe('I am the model');
    expect(await (await fetch(`${env['BROKER_URL']}/health`)).text()).toBe('OK');
    expect(
      execFileSync('kubectl', ['get', 'ns', '-o', 'name'], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      }),
    ).toContain('namespace/default');
    expect(installedInto).toEqual([await readFile(env['KUBECONFIG']!, 'utf8')]);
    const told = reported.find((line) => line.startsWith('export KUBECONFIG='))!;
    expect(execFileSync('/bin/sh', ['-c', `${told}; echo "$KUBECONFIG"`], { encoding: 'utf8' })).toBe(
      `${env['KUBECONFIG']}\n`,
    );
    expect(reported.join('\n')).toContain(`Temporal Web UI: ${env['TEMPORAL_UI']}`);

    const killed = Number(env['TEMPORAL_PID']);
    process.kill(killed, 'SIGKILL');
    const restarted = await waitFor(
      () => Number(sourced()['TEMPORAL_PID']) !== killed && sourced()['TEMPORAL_PID'],
      {
        what: 'the pid of the new Temporal in the file',
      },
    );
    expect(await isRunning(Number(restarted))).toBe(true);

    pids = Object.entries(sourced()).flatMap(([name, value]) =>
      name.endsWith('_PID') ? [Number(value)] : [],
    );
    expect(pids).toHaveLength(5);
  } finally {
    stop.abort();
    await running;
  }
  expect(await Promise.all(pids.map(isRunning))).toEqual(pids.map(() => false));
  expect(existsSync(join(dir, 'env'))).toBe(false);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, Connection } from '@temporalio/client';
import { temporalSpeed } from '../../src/dev/programs.ts';
import { findOrBuildServers } from '../../src/dev/servers.ts';
import { startStack, type Stack } from '../../src/dev/stack.ts';
import { kubectl, waitFor } from '../e2e/stack.ts';
import { isRunning } from './running.ts';
import { measureTimerMs } from './measure-timer.ts';

const report = () => undefined;
const without = ['controller', 'broker', 'worker'] as const;

let dir: string;
let stack: Stack;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'arkwright-stack-'));
  stack = await startStack({ dir, report, without });
});
afterAll(async () => {
  await stack?.stop();
  await rm(dir, { recursive: true, force: true });
});

const servers = ['etcd', 'apiserver', 'controller-manager', 'temporal'] as const;

async function workflowIds(): Promise<string[]> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    const ids: string[] = [];
    for await (const { workflowId } of new Client({ connection }).workflow.list()) ids.push(workflowId);
    return ids;
  } finally {
    await connection.close();
  }
}

async function startWorkflow(workflowId: string): Promise<void> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    await new Client({ connection }).workflow.start('nobodyRunsThis', { workflowId, taskQueue: 'nobody' });
  } finally {
    await connection.close();
  }
}

/** Goes through the API server, etcd and the controllers: an account appears in a namespace, and the namespace ends. */
async function clusterWorks(namespace: string): Promise<void> {
  await kubectl(stack, ['create', 'namespace', namespace]);
  await waitFor(
    () => kubectl(stack, ['get', 'serviceaccount', 'default', '-n', namespace]).catch(() => false),
    {
      what: `a service account in ${namespace}`,
    },
  );
  await kubectl(stack, ['delete', 'namespace', namespace, '--timeout=120s']);
}

describe('a stack that has started', () => {
  test('is a cluster of the pinned version, where namespaces come to life and end', async () => {
    expect(JSON.parse(await kubectl(stack, ['version', '-o', 'json']))).toMatchObject({
      serverVersion: { gitVersion: 'v1.34.3' },
    });
    await clusterWorks('comes-and-goes');
  });

  test('collects what a deleted object owned', async () => {
    const owner = JSON.parse(await kubectl(stack, ['create', 'configmap', 'owner', '-o', 'json']));
    const { uid } = owner.metadata;
    const metadata = {
      name: 'owned',
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }],
    };
    await kubectl(
      stack,
      ['create', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }),
    );

    await kubectl(stack, ['delete', 'configmap', 'owner']);
    const left = await waitFor(
      async () => {
        const names = await kubectl(stack, ['get', 'configmap', '-o', 'name']);
        return !names.includes('owned') && names;
      },
      { what: 'the owned object to go' },
    );
    expect(left).toContain('configmap/kube-root-ca.crt');
  });

  test('serves Temporal and its Web UI', async () => {
    await startWorkflow('seen');
    await waitFor(async () => (await workflowIds()).includes('seen'), { what: 'the workflow in the list' });
    const page = await fetch(stack.temporalUi);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
  });

  test('runs Temporal with every setting that its speed depends on', async () => {
    const running = readFileSync(`/proc/${stack.pid('temporal')}/cmdline`, 'utf8').split('\0');
    expect(running).toEqual(expect.arrayContaining([...temporalSpeed]));

    // Two of them seen at work. The journal has its own file; and a timer of 100 ms takes 140–280 ms on a busy machine,
    // 500 ms and more without its setting. One of a few that is not late will do.
    expect((await stat(join(dir, 'temporal.db-wal'))).size).toBeGreaterThan(0);
    const isPrompt = async () => (await measureTimerMs(stack.temporalAddress, 100)) < 350;
    await waitFor(isPrompt, { what: 'a timer that is not late' });
  });

  test('keeps to itself: other users of the machine cannot read its keys', async () => {
    for (const file of ['.', 'kubeconfig', 'credentials/tokens.csv', 'credentials/service-accounts.key']) {
      expect((await stat(join(dir, file))).mode & 0o077).toBe(0);
    }
  });

  test('refuses a second stack in its folder and names who has it', async () => {
    await expect(startStack({ dir, report, without })).rejects.toThrow(
      `Process ${process.pid} already runs a stack in ${dir}.`,
    );
  });
});

describe('a killed server is back on its port, with its state:', () => {
  beforeAll(async () => {
    await kubectl(stack, ['create', 'configmap', 'kept']);
    await startWorkflow('kept');
  });

  test.each(servers)('%s', async (name) => {
    const before = stack.pid(name)!;
    await stack.kill(name);
    expect(await isRunning(before)).toBe(false);

    await stack.ready(name);
    await stack.ready('apiserver'); // it is not ready while etcd is away
    expect(stack.pid(name)).not.toBe(before);
    await clusterWorks(`after-${name}`);
    await kubectl(stack, ['get', 'configmap', 'kept']);
    await waitFor(async () => (await workflowIds()).includes('kept'), { what: 'the workflow' });
  });
});

test('a held process stays down until it is restarted', async () => {
  await stack.hold('temporal');
  expect(stack.pid('temporal')).toBeUndefined();
  await expect(fetch(stack.temporalUi)).rejects.toThrow('fetch failed');

  await stack.restart('temporal');
  expect((await fetch(stack.temporalUi)).status).toBe(200);
});

test('state, addresses and credentials survive a restart of the whole; `fresh` starts empty', async () => {
  await kubectl(stack, ['create', 'configmap', 'survivor']);
  await startWorkflow('survivor');
  const kubeconfig = await readFile(stack.kubeconfig, 'utf8');
  const pids = servers.map((name) => stack.pid(name)!);

  await stack.stop();
  expect(await Promise.all(pids.map(isRunning))).toEqual(pids.map(() => false));

  stack = await startStack({ dir, report, without });
  expect(await readFile(stack.kubeconfig, 'utf8')).toBe(kubeconfig);
  await kubectl(stack, ['get', 'configmap', 'survivor']);
  await waitFor(async () => (await workflowIds()).includes('survivor'), { what: 'the workflow' });
  await stack.stop();

  await writeFile(join(dir, 'not-ours'), 'stays');
  stack = await startStack({ dir, report, without, fresh: true });
  expect(await kubectl(stack, ['get', 'configmap', '-o', 'name'])).not.toContain('survivor');
  expect(await workflowIds()).toEqual([]);
  expect(await readFile(join(dir, 'not-ours'), 'utf8')).toBe('stays');
});

describe('beside it', () => {
  let other: string;
  beforeEach(async () => {
    other = await mkdtemp(join(tmpdir(), 'arkwright-other-'));
  });
  afterEach(() => rm(other, { recursive: true, force: true }));

  test('a second stack dies with its parent, whatever kills that, and its folder can be used again', async () => {
    const module = new URL('../../src/dev/stack.ts', import.meta.url);
    const script = `
      const { startStack } = await import(${JSON.stringify(module.href)});
      const dir = ${JSON.stringify(other)};
      const stack = await startStack({ dir, report() {}, without: ['controller', 'broker', 'worker'] });
      await stack.kill('temporal');
      await stack.ready('temporal');
      console.log(JSON.stringify(stack.processes.map((name) => stack.pid(name))));`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface(parent.stdout), 'line');
    const pids = JSON.parse(line) as number[];
    expect(await Promise.all(pids.map(isRunning))).toEqual(servers.map(() => true));

    parent.kill('SIGKILL');
    await waitFor(async () => !(await Promise.all(pids.map(isRunning))).includes(true), {
      what: 'the servers to end with their parent',
    });

    const again = await startStack({ dir: other, report, without });
    await again.stop();
  });

  test('a server that cannot start ends the start with its own words, and nothing is left', async () => {
    const started = await findOrBuildServers({ report });
    const dead = join(other, 'dead-etcd');
    await writeFile(dead, '#!/bin/sh\necho the disk is on fire\nexit 1\n', { mode: 0o755 });
    const failing = startStack({ dir: other, report, without, servers: { ...started, etcd: dead } });

    await expect(failing).rejects.toThrow(
      /etcd ended 3 times while starting.*etcd\.log, ends with[^]*disk is on fire/,
    );
    // Nobody holds the folder any more, so nothing that belongs to it runs.
    const later = await startStack({ dir: other, report, without });
    await later.stop();
  });

  test('a start that is given up leaves nothing running', async () => {
    const giveUp = new AbortController();
    const ready: string[] = [];
    const starting = startStack({
      dir: other,
      without,
      signal: giveUp.signal,
      report(line) {
        ready.push(line);
        giveUp.abort(new Error('changed my mind'));
      },
    });
    await expect(starting).rejects.toThrow('changed my mind');
    // Temporal starts beside etcd, and may have become ready at the same moment.
    expect(ready.filter((line) => !/^(etcd|temporal) is ready/.test(line))).toEqual([]);
    await (await startStack({ dir: other, report, without })).stop();
  });
});

test('a process that the stack does not have is named, with those it has', () => {
  expect(() => stack.pid('worker-7')).toThrow(/no process worker-7, only etcd, apiserver/);
});

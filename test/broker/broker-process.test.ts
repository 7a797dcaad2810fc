import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

let folder: string;
const children = new Set<ChildProcess>();
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'arkwright-broker-'))));
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

function run(port = '0') {
  const flags = ['--host', '127.0.0.1', '--port', port, '--file', join(folder, 'broker.db')];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', main, 'broker', ...flags, '--health-port', '0'],
    { env: { PATH: process.env['PATH'], HOME: folder }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

/** Resolves when it serves, with where. */
async function serving(child: ReturnType<typeof run>): Promise<string> {
  for await (const line of createInterface(child.stdout)) {
    const { msg, address } = JSON.parse(line) as { msg: string; address?: string };
    if (msg === 'memories and streams are served' && address) {
      child.stdout.resume();
      return address;
    }
  }
  throw new Error('the broker ended before it served');
}

const put = (url: string, n: number) =>
  fetch(`${url}/messages/s`, {
    method: 'PUT',
    headers: { 'idempotency-key': `append-${n}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: String(n) }] }),
  });

test('killed at any moment, it has lost nothing that it acknowledged, and repeats add nothing', async () => {
  let next = 0;
  for (let life = 0; life < 3; life += 1) {
    const child = run();
    const url = await serving(child);
    const dead = once(child, 'close');
    for (let acknowledged = 1; ; acknowledged += 1) {
      const answer = await put(url, next).catch(() => undefined);
      if (!answer) break;
      expect(answer.status).toBe(200);
      next += 1;
      // In the middle of a request, at another place in every life.
      if (acknowledged === 5) setTimeout(() => child.kill('SIGKILL'), 20 + 45 * life);
    }
    await dead;
  }

  const child = run();
  const url = await serving(child);
  expect((await put(url, next)).status).toBe(200);
  const { messages } = (await (await fetch(`${url}/messages/s`)).json()) as {
    messages: { content: string }[];
  };
  expect(messages.map(({ content }) => Number(content))).toEqual(
    Array.from({ length: next + 1 }, (_, n) => n),
  );
  expect(next).toBeGreaterThanOrEqual(3 * 5);
  child.kill('SIGKILL');
  await once(child, 'close');
});

test('told to stop, it lets its readers go and ends well, and its port is free', async () => {
  const child = run();
  const url = await serving(child);
  await fetch(`${url}/stream/q`, { method: 'POST', body: '{"a":1}' });
  const reading = await fetch(`${url}/stream/q?from-beginning=true`);
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  await reading.text().catch(() => undefined);
  expect((await ended)[0]).toBe(0);

  const { port } = new URL(url);
  const second = run(port);
  expect(await serving(second)).toBe(url);

  const third = run(port);
  let said = '';
  third.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  third.stdout.resume();
  expect((await once(third, 'close'))[0]).toBe(2);
  expect(said).toMatch(
    /^arkwright: Memories and streams cannot be served on .*EADDRINUSE.* give another --port/,
  );
  second.kill('SIGKILL');
  await once(second, 'close');
});

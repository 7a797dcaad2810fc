/** A real API server on loopback for the tests of schemas: etcd and kube-apiserver, nothing else. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface Reply {
  readonly status: number;
  // The API server's JSON, of as many shapes as there are resources.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface ApiServer {
  call(method: string, path: string, body?: unknown, contentType?: string): Promise<Reply>;
  kubectl(...args: readonly string[]): Promise<string>;
  /** Path of a kubeconfig with the admin's rights. */
  readonly kubeconfig: string;
  /** Asks again until the reply is as wanted; throws after two minutes. */
  until(ask: () => Promise<Reply>, wanted: (reply: Reply) => boolean): Promise<Reply>;
  stop(): Promise<void>;
}

/** Far above what anything here takes on an idle machine; the tests may share theirs. */
const patienceMs = 120_000;
const binaries = fileURLToPath(new URL('../../.cache/bin/', import.meta.url));

export async function startApiServer(): Promise<ApiServer> {
  const folder = await mkdtemp(join(tmpdir(), 'arkwright-api-'));
  const [etcdPort, peerPort, port] = await freePorts(3);
  const token = randomBytes(16).toString('hex');
  const at = (name: string) => join(folder, name);

  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(at('sa.key'), keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(at('sa.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }));
  await writeFile(at('tokens.csv'), `${token},admin,admin,system:masters\n`);

  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const etcd = spawn(
    `${binaries}etcd`,
    [
      ['--data-dir', at('etcd'), '--unsafe-no-fsync', '--log-level', 'error'],
      ['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
      ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ['--initial-cluster', `default=${peerUrl}`],
    ].flat(),
    { stdio: 'ignore' },
  );
  const server = spawn(
    `${binaries}kube-apiserver`,
    [
      ['--etcd-servers', etcdUrl, '--secure-port', `${port}`, '--bind-address', '127.0.0.1'],
      ['--cert-dir', at('certs'), '--token-auth-file', at('tokens.csv'), '--authorization-mode', 'RBAC'],
      ['--service-account-key-file', at('sa.pub'), '--service-account-signing-key-file', at('sa.key')],
      [
        '--service-account-issuer',
        'https://kubernetes.default.svc',
        '--service-cluster-ip-range',
        '10.0.0.0/24',
      ],
      ['--disable-admission-plugins', 'ServiceAccount'],
    ].flat(),
    { stdio: 'ignore' },
  );

  const stop = async () => {
    // etcd last: the API server waits for it when it shuts down.
    for (const child of [server, etcd]) await end(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  const call: ApiServer['call'] = async (method, path, body, contentType = 'application/json') => {
    const ca = await readFile(at('certs/apiserver.crt'));
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': contentType }),
    };
    const sent = request({ host: '127.0.0.1', port, path, method, ca, headers });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text };
  };

  const until: ApiServer['until'] = async (ask, wanted) => {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const reply = await ask().catch((error: Error) => ({ status: 0, body: error.message }));
      if (wanted(reply)) return reply;
      if (Date.now() > deadline)
        throw new Error(`still answered ${reply.status}: ${JSON.stringify(reply.body)}`);
      await pause(50);
    }
  };

  const kubectl: ApiServer['kubectl'] = async (...args) => {
    const access = ['--server', `https://127.0.0.1:${port}`, '--token', token];
    const trust = ['--certificate-authority', at('certs/apiserver.crt'), '--cache-dir', at('discovery')];
    const { stdout } = await promisify(execFile)('kubectl', [...access, ...trust, ...args]);
    return stdout;
  };

  try {
    for (const path of ['/readyz', '/api/v1/namespaces/default']) {
      await until(
        () => call('GET', path),
        ({ status }) => status === 200,
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  await writeFile(
    at('kubeconfig'),
    JSON.stringify({
      clusters: [
        {
          name: 'test',
          cluster: {
            server: `https://127.0.0.1:${port}`,
            'certificate-authority': at('certs/apiserver.crt'),
          },
        },
      ],
      users: [{ name: 'admin', user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
      'current-context': 'test',
    }),
  );
  return { call, kubectl, kubeconfig: at('kubeconfig'), until, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const insist = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await once(child, 'exit');
  clearTimeout(insist);
}

/** Held open together before any is released, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(
    Array.from({ length: count }, async () => {
      const holder = createServer().listen(0, '127.0.0.1');
      await once(holder, 'listening');
      return holder;
    }),
  );
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port);
  await Promise.all(holders.map((holder) => once(holder.close(), 'close')));
  return ports;
}

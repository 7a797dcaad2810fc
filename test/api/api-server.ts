/** A real API server on loopback for the tests of schemas: of the embedded stack, only etcd and kube-apiserver. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { authorityOf, writeKubeconfig } from '../../src/dev/credentials.ts';
import { assembleFleet } from '../../src/dev/fleet.ts';
import { claimPlace } from '../../src/dev/place.ts';
import { urls } from '../../src/dev/programs.ts';
import { findOrBuildServers } from '../../src/dev/servers.ts';

export interface Reply {
  readonly status: number;
  // The API server's JSON, of as many shapes as there are resources.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface ApiServer {
  readonly kubeconfig: string;
  call(method: string, path: string, body?: unknown, contentType?: string): Promise<Reply>;
  /** Resolves to what it prints. */
  kubectl(...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export async function startApiServer(): Promise<ApiServer> {
  const servers = await findOrBuildServers({ report: console.log });
  const dir = await mkdtemp(join(tmpdir(), 'arkwright-api-'));
  const place = await claimPlace({ dir });
  const fleet = assembleFleet(['etcd', 'apiserver'], { ...place, servers, arkwright: '' });
  const { apiserver } = urls(place.ports);

  async function stop(): Promise<void> {
    await fleet.disband([['apiserver'], ['etcd']]);
    place.release();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }

  try {
    await fleet.start('etcd');
    await fleet.start('apiserver');
    await writeKubeconfig(place.kubeconfig, apiserver, place.credentials);
    const call = callsTo(apiserver, await authorityOf(place.credentials), place.credentials.adminToken);
    await until(
      () => call('GET', '/api/v1/namespaces/default'),
      ({ status }) => status === 200,
    );

    const access = ['--kubeconfig', place.kubeconfig, '--cache-dir', join(dir, 'discovery')];
    return {
      kubeconfig: place.kubeconfig,
      call,
      kubectl: async (...args) => (await promisify(execFile)(servers.kubectl, [...access, ...args])).stdout,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const callsTo =
  (url: string, ca: string, token: string): ApiServer['call'] =>
  async (method, path, body, contentType = 'application/json') => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': contentType }),
    };
    const sent = request(`${url}${path}`, { method, ca, headers });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text };
  };

/** Far above what anything here takes on an idle machine; the tests may share theirs. */
const patienceMs = 120_000;

/** Asks again until the reply is as wanted; throws after two minutes. */
export async function until(ask: () => Promise<Reply>, wanted: (reply: Reply) => boolean): Promise<Reply> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const reply = await ask();
    if (wanted(reply)) return reply;
    if (Date.now() > deadline)
      throw new Error(`still answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    await pause(50);
  }
}

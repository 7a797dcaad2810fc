/** An HTTP server on loopback that answers as it is told, and a kubeconfig that leads to it. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectKubernetes } from '../../../src/adapters/kubernetes/connection.ts';
import type { ConnectOptions, KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';

export interface StubServer {
  readonly folder: string;
  readonly seen: readonly {
    readonly method?: string;
    readonly url?: string;
    readonly authorization?: string;
  }[];
  /** A connection as `user`, a kubeconfig's user entry. */
  connectAs(user: object, options?: ConnectOptions): Promise<KubernetesConnection>;
  stop(): Promise<void>;
}

/** What to do with the nth request, from 1. */
export type Answer = (response: ServerResponse, count: number, request: IncomingMessage) => void;

export async function startStub(answer: Answer): Promise<StubServer> {
  const folder = await mkdtemp(join(tmpdir(), 'arkwright-stub-'));
  const seen: { method?: string; url?: string; authorization?: string }[] = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    seen.push({ method, url, authorization: headers.authorization });
    answer(response, seen.length, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connections: KubernetesConnection[] = [];

  return {
    folder,
    seen,
    async connectAs(user, options) {
      const kubeconfig = join(folder, `kubeconfig-${connections.length}`);
      const config = {
        clusters: [{ name: 'stub', cluster: { server: `http://127.0.0.1:${port}` } }],
        users: [{ name: 'someone', user }],
        contexts: [{ name: 'here', context: { cluster: 'stub', user: 'someone' } }],
        'current-context': 'here',
      };
      await writeFile(kubeconfig, JSON.stringify(config));
      const connection = connectKubernetes({ ...options, kubeconfig });
      connections.push(connection);
      return connection;
    },
    async stop() {
      server.closeAllConnections();
      await Promise.all(connections.map((connection) => connection.close()));
      const closed = once(server, 'close');
      server.close();
      await closed;
      await rm(folder, { recursive: true });
    },
  };
}

export function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** As the API server says no. */
export const status = (code: number, reason: string, message: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message,
});

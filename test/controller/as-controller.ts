import { readFile, writeFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import { connectKubernetes } from '../../src/adapters/kubernetes/connection.ts';
import type { KubernetesConnection } from '../../src/adapters/kubernetes/connection.ts';
import type { Cluster } from '../adapters/kubernetes/cluster.ts';

/** A connection with the rights that an installation gives to the controller, and no others. */
export async function asController({ connection, kubeconfig }: Cluster): Promise<KubernetesConnection> {
  const account = '/api/v1/namespaces/arkwright-system/serviceaccounts/arkwright-controller';
  const { status } = await connection.request<{ status: { token: string } }>('POST', `${account}/token`, {
    what: 'get a token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const config = parse(await readFile(kubeconfig, 'utf8')) as { users: { user: object }[] };
  const users = config.users.map((user) => ({ ...user, user: { token: status.token } }));
  const own = `${kubeconfig}-of-controller`;
  await writeFile(own, stringify({ ...config, users }));
  return connectKubernetes({ kubeconfig: own });
}

import { connectKubernetes } from '../adapters/kubernetes/connection.ts';
import { installInto } from '../adapters/install/install-into.ts';
import { allTenants } from '../adapters/install/manifests.ts';

/** Installs into a cluster of one's own, where every namespace may run Queries. */
export async function installForDevelopment(kubeconfig: string): Promise<void> {
  const connection = connectKubernetes({ kubeconfig });
  try {
    await installInto(connection, { tenants: [allTenants] });
  } finally {
    await connection.close();
  }
}

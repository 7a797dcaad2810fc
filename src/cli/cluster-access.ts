import type { ConnectOptions } from '../adapters/kubernetes/connection.ts';
import { UsageError } from './settings.ts';

/** Which cluster to talk to, found as kubectl finds it; throws a `UsageError` where none can be found. */
export async function clusterAccess(settings: {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}): Promise<Pick<ConnectOptions, 'kubeconfig' | 'context'>> {
  const { kubeconfig, context } = settings;
  const access = { kubeconfig, context };
  const { loadClusterAccess } = await import('../adapters/kubernetes/kubeconfig.ts');
  try {
    loadClusterAccess(access);
    return access;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

import { clusterAccess } from './cluster-access.ts';
import { UsageError } from './settings.ts';

/** The id of the workflow that a Query's status names; throws a `UsageError` where there is no such Query or no run yet. */
export async function workflowIdOfQuery(wanted: {
  readonly query: string;
  readonly namespace: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}): Promise<string> {
  const access = await clusterAccess(wanted);
  const [{ connectKubernetes }, { isNotFound }] = await Promise.all([
    import('../adapters/kubernetes/connection.ts'),
    import('../adapters/kubernetes/kubernetes-error.ts'),
  ]);
  const connection = connectKubernetes(access);
  const { query, namespace = connection.namespace } = wanted;
  try {
    const path = `/apis/ark.mckinsey.com/v1alpha1/namespaces/${namespace}/queries/${encodeURIComponent(query)}`;
    const { status } = await connection
      .request<{ status?: { temporal?: { workflowId?: string } } }>('GET', path, {
        what: `get query ${namespace}/${query}`,
      })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        throw new UsageError(
          `There is no Query ${query} in ${namespace}; give --namespace, or --workflow-id if it is gone.`,
        );
      });
    const workflowId = status?.temporal?.workflowId;
    if (!workflowId)
      throw new UsageError(`The Query ${query} in ${namespace} has no run (yet); is a controller running?`);
    return workflowId;
  } finally {
    await connection.close();
  }
}

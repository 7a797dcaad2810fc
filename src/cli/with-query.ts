import { clusterAccess } from './cluster-access.ts';
import { UsageError } from './settings.ts';

/** A Query that has, or had, a run. */
export interface RunningQuery {
  /** `namespace/name`, for messages. */
  readonly shown: string;
  readonly workflowId: string;
  /** Makes the controller look at the run again, also where the Query had ended. */
  showRunning(): Promise<void>;
}

interface QueryStatus {
  readonly status?: { readonly temporal?: { readonly workflowId?: string } };
}

/** Finds a Query and what its status says of its run; throws a `UsageError` where there is no such Query, or no run yet. */
export async function withQuery<R>(
  wanted: {
    readonly query: string;
    readonly namespace: string | undefined;
    readonly kubeconfig: string | undefined;
    readonly context: string | undefined;
  },
  use: (query: RunningQuery) => Promise<R>,
): Promise<R> {
  const access = await clusterAccess(wanted);
  const [{ connectKubernetes }, { isNotFound }] = await Promise.all([
    import('../adapters/kubernetes/connection.ts'),
    import('../adapters/kubernetes/kubernetes-error.ts'),
  ]);
  const connection = connectKubernetes(access);
  const { query, namespace = connection.namespace } = wanted;
  const shown = `${namespace}/${query}`;
  const path = `/apis/ark.mckinsey.com/v1alpha1/namespaces/${namespace}/queries/${encodeURIComponent(query)}`;
  try {
    const { status } = await connection
      .request<QueryStatus>('GET', path, { what: `get query ${shown}` })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        throw new UsageError(
          `There is no Query ${query} in ${namespace}; give --namespace if it is elsewhere.`,
        );
      });
    const workflowId = status?.temporal?.workflowId;
    if (!workflowId)
      throw new UsageError(`The Query ${query} in ${namespace} has no run (yet); is a controller running?`);

    return await use({
      shown,
      workflowId,
      showRunning: async () => {
        await connection.request('PATCH', `${path}/status`, {
          what: `patch the status of query ${shown}`,
          contentType: 'application/merge-patch+json',
          body: { status: { phase: 'running' } },
          repeatable: true,
        });
      },
    });
  } finally {
    await connection.close();
  }
}

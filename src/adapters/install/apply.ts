import type { KubernetesConnection } from '../kubernetes/connection.ts';
import { isNotFound } from '../kubernetes/kubernetes-error.ts';
import type { Manifest } from './manifests.ts';

const fieldManager = 'arkwright-install';

/** The kinds that an installation is made of, and where the API server has them. */
const plurals: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'customresourcedefinitions',
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  Service: 'services',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
};

export type ApplyOutcome = 'created' | 'configured' | 'unchanged';

/**
 * Makes the object be as the manifest says, by server-side apply; fields that others added stay theirs. With `dryRun`
 * it only says what would happen.
 */
export async function apply(
  manifest: Manifest,
  connection: KubernetesConnection,
  options: { readonly dryRun: boolean; readonly signal?: AbortSignal },
): Promise<ApplyOutcome> {
  const { dryRun, signal } = options;
  const path = pathOf(manifest);
  const what = `${manifest.kind} ${manifest.metadata.name}`;

  const before = await connection
    .request<Manifest>('GET', path, { what: `look at ${what}`, signal })
    .catch(orNothing);
  const after = await connection
    .request<Manifest>('PATCH', path, {
      what: `install ${what}`,
      body: manifest,
      contentType: 'application/apply-patch+yaml',
      query: { fieldManager, force: true, ...(dryRun && { dryRun: 'All' }) },
      signal,
    })
    // A dry run meets namespaces that it would itself have created.
    .catch(dryRun ? orNothing : rethrow);

  if (!before || !after) return 'created';
  return isSame(before, after) ? 'unchanged' : 'configured';
}

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): string {
  const plural = plurals[kind];
  if (!plural) throw new Error(`an installation has no objects of kind ${kind}`);

  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${root}${scope}/${plural}/${name}`;
}

/** Versions and the times of managers differ also where nothing was changed. */
function isSame(before: Manifest, after: Manifest): boolean {
  return contentOf(before) === contentOf(after);
}

const contentOf = ({ metadata, ...rest }: Manifest): string =>
  JSON.stringify([rest, { ...metadata, resourceVersion: '', managedFields: [] }]);

function orNothing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

function rethrow(error: unknown): never {
  throw error;
}

import { readdir, readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';

/** Beside src/ in a checkout, and beside the compiled src/ in dist/, where `npm run build` copies them. */
const crdFolder = new URL('../../../crds/', import.meta.url);
const rbacFile = new URL('../../../deploy/0-rbac.yaml', import.meta.url);
const webhookFile = new URL('../../../deploy/webhook/webhook.yaml', import.meta.url);

/** Stands for every namespace there is and will be. */
export const allTenants = 'all';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

export interface CrdManifest extends Manifest {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

/** The definitions of the agent kinds. */
export async function readCrds(): Promise<CrdManifest[]> {
  const files = (await readdir(crdFolder)).filter((name) => name.endsWith('.yaml')).toSorted();
  if (files.length === 0)
    throw new Error(`there are no CRDs in ${crdFolder.pathname}; run "npm run generate"`);

  const crds = await Promise.all(files.map((name) => readObjects(new URL(name, crdFolder))));
  return crds.flat() as CrdManifest[];
}

/** Arkwright's namespace, service accounts and roles, and for each tenant what lets its Queries read what they name. */
export async function readRights(tenants: readonly string[]): Promise<Manifest[]> {
  return [...(await readObjects(rbacFile)), ...[...new Set(tenants)].map(tenantBinding)];
}

/** The Service and the rights of an admission webhook inside the cluster. */
export const readWebhook = (): Promise<Manifest[]> => readObjects(webhookFile);

async function readObjects(file: URL): Promise<Manifest[]> {
  const documents = parseAllDocuments(await readFile(file, 'utf8'));
  return documents.map((document) => document.toJS() as Manifest | null).filter((object) => object !== null);
}

const apiGroup = 'rbac.authorization.k8s.io';

function tenantBinding(tenant: string): Manifest {
  const binding = {
    apiVersion: `${apiGroup}/v1`,
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'arkwright-tenant' },
  };
  if (tenant === allTenants) {
    return {
      ...binding,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'arkwright-tenant' },
      subjects: [{ apiGroup, kind: 'Group', name: 'system:serviceaccounts' }],
    };
  }
  return {
    ...binding,
    kind: 'RoleBinding',
    metadata: { name: 'arkwright-tenant', namespace: tenant },
    // A Query that names no service account runs as this one (contract 3.9).
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: tenant }],
  };
}

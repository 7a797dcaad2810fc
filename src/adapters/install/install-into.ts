import { setTimeout as pause } from 'node:timers/promises';
import type { KubernetesConnection } from '../kubernetes/connection.ts';
import { isNotFound, KubernetesError } from '../kubernetes/kubernetes-error.ts';
import { apply, type ApplyOutcome } from './apply.ts';
import { readCrds, readRights, readWebhook, type CrdManifest, type Manifest } from './manifests.ts';

/** A CRD is Established after 40 ms and served after about 1 s; on a busy API server it may take a few. */
const servedWithinMs = 120_000;
const lookEveryMs = 100;

export interface InstallOptions {
  /** Namespaces whose Queries may run; `all` for every one. */
  readonly tenants: readonly string[];
  /** Also what the admission webhook needs inside the cluster. */
  readonly webhook?: boolean;
  /** Asks the API server what would happen, and changes nothing. */
  readonly dryRun?: boolean;
  readonly onObject?: (object: Manifest, outcome: ApplyOutcome) => void;
  readonly signal?: AbortSignal;
}

/**
 * On return the rights are in place and the CRDs are served; on a dry run nothing has changed. May be repeated at will,
 * also over an older or newer installation. Rejects with a `KubernetesError`.
 */
export async function installInto(connection: KubernetesConnection, options: InstallOptions): Promise<void> {
  const { tenants, webhook = false, dryRun = false, onObject, signal } = options;
  const crds = await readCrds();

  const rights = [...(await readRights(tenants)), ...(webhook ? await readWebhook() : [])];

  for (const object of [...crds, ...rights]) {
    const outcome = await apply(object, connection, { dryRun, signal });
    onObject?.(object, outcome);
  }
  if (!dryRun) await served(crds, connection, signal);
}

/** Established alone is not enough: kubectl and watches go by discovery, and find nothing there for about a second. */
async function served(
  crds: readonly CrdManifest[],
  connection: KubernetesConnection,
  signal?: AbortSignal,
): Promise<void> {
  const deadlineMs = Date.now() + servedWithinMs;
  for (const crd of crds) {
    while (!(await isServed(crd, connection, signal))) {
      if (Date.now() > deadlineMs) {
        const { name } = crd.metadata;
        throw new Error(
          `the API server does not serve ${name} ${servedWithinMs / 1000} s after it was installed; ` +
            `"kubectl describe crd ${name}" shows its conditions`,
        );
      }
      await pause(lookEveryMs, undefined, { signal });
    }
  }
}

async function isServed(
  { spec: { group, names, versions } }: CrdManifest,
  connection: KubernetesConnection,
  signal?: AbortSignal,
): Promise<boolean> {
  for (const { name: version } of versions.filter(({ served: isOffered }) => isOffered)) {
    const root = `/apis/${group}/${version}`;
    const discovery = { what: `discover ${group}/${version}`, signal };
    const list = await connection.request<ResourceList>('GET', root, discovery).catch(unlessNotYet);
    if (!list?.resources.some(({ name }) => name === names.plural)) return false;

    // Listed in discovery, a kind is still refused with 429 until the API server's cache of it has begun. Asked for a
    // name that cannot be, the answer is short however many objects there are.
    const probe = {
      what: `list ${names.plural}`,
      query: { fieldSelector: 'metadata.name=-' },
      attemptsMax: 1,
      signal,
    };
    if (!(await connection.request<object>('GET', `${root}/${names.plural}`, probe).catch(unlessNotYet)))
      return false;
  }
  return true;
}

interface ResourceList {
  readonly resources: readonly { readonly name: string }[];
}

function unlessNotYet(error: unknown): undefined {
  if (!isNotFound(error) && !(error instanceof KubernetesError && error.retryable)) throw error;
}

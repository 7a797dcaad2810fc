import { isDeepStrictEqual } from 'node:util';
import type { KubernetesConnection } from '../../adapters/kubernetes/connection.ts';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  undefinedIfGone,
} from '../../adapters/kubernetes/kubernetes-error.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import { createResources } from '../../adapters/kubernetes/resources.ts';
import { group } from '../../api/kinds.ts';
import { base64 } from './certificate-secret.ts';
import { ownAuthorities } from './certificates.ts';
import { pathOf, webhooks } from './webhooks.ts';

/** Where the API server finds this controller: a Service of its cluster, or an address it can reach. */
export type Address =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  | { readonly url: string };

export interface Registration {
  readonly address: Address;
  /** PEM, the newest first. */
  readonly authorities: readonly string[];
  /** What becomes of a write when nobody answers. */
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly signal?: AbortSignal;
}

interface Configuration extends KubernetesObject {
  readonly webhooks?: readonly {
    readonly clientConfig?: { readonly caBundle?: string; readonly url?: string };
  }[];
}

const configurationName = 'ark-validating-webhook-configuration';
const key = { namespace: '', name: configurationName };
/** Twice what a review may take. */
const timeoutSeconds = 10;
const authoritiesMax = 6;
/** Decided by the API server itself, so that also while nobody answers, finalizers can be taken off and labels edited. */
const matchConditions = [
  { name: 'is-not-going', expression: '!has(object.metadata.deletionTimestamp)' },
  {
    name: 'has-a-new-spec',
    expression:
      "request.operation == 'CREATE' || object.metadata.generation != oldObject.metadata.generation",
  },
];
const attemptsMax = 10;

const configurations = (connection: KubernetesConnection) =>
  createResources<Configuration>(connection, {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
  });

/**
 * Has the API server ask us, and trust these authorities and those it trusted for us before; resolves to whether
 * anything had to be changed. Another replica may be doing the same.
 */
export async function register(connection: KubernetesConnection, wanted: Registration): Promise<boolean> {
  const resources = configurations(connection);
  const { signal } = wanted;
  for (let attempt = 1; ; attempt++) {
    const found = await resources.get(key, { signal }).catch(undefinedIfGone);
    const next = webhooksOf(wanted, found);
    if (found && isDeepStrictEqual(found.webhooks, next) && !isTakenCareOf(found)) return false;
    try {
      if (found)
        await resources.replace({ ...found, metadata: ownMetadata(found), webhooks: next }, { signal });
      else await resources.create({ metadata: { name: configurationName }, webhooks: next }, { signal });
      return true;
    } catch (error) {
      const raced = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!raced || attempt >= attemptsMax) throw error;
    }
  }
}

/** Has the API server no longer ask at this address. Who has registered another one since is left alone. */
export async function unregister(
  connection: KubernetesConnection,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const resources = configurations(connection);
  const found = await resources.get(key, { signal }).catch(undefinedIfGone);
  if (!found?.webhooks?.some(({ clientConfig }) => clientConfig?.url?.startsWith(`${url}/`))) return;

  const { uid, resourceVersion } = found.metadata;
  await resources.remove(key, { uid, resourceVersion, signal }).catch((error: unknown) => {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}

/** ARK's chart has cert-manager write an authority of its own into the configuration, which would undo ours. */
const othersAnnotation = /^cert-manager\.io\//;

const isTakenCareOf = ({ metadata: { annotations = {} } }: Configuration): boolean =>
  Object.keys(annotations).some((name) => othersAnnotation.test(name));

function ownMetadata({ metadata }: Configuration): Configuration['metadata'] {
  const annotations = Object.entries(metadata.annotations ?? {});
  return {
    ...metadata,
    annotations: Object.fromEntries(annotations.filter(([name]) => !othersAnnotation.test(name))),
  };
}

/** Every field is given, also where it has its default: what the API server answers is then comparable with this. */
function webhooksOf(
  { address, authorities, failurePolicy }: Registration,
  found: Configuration | undefined,
): object[] {
  const caBundle = base64(trusted(authorities, found).join('\n'));
  return webhooks.map(({ kind, name }) => ({
    name,
    admissionReviewVersions: ['v1'],
    clientConfig:
      'url' in address
        ? { url: address.url + pathOf(kind), caBundle }
        : { service: { ...address.service, path: pathOf(kind) }, caBundle },
    rules: [
      {
        apiGroups: [group],
        apiVersions: [kind.version],
        operations: ['CREATE', 'UPDATE'],
        resources: [kind.plural],
        scope: 'Namespaced',
      },
    ],
    failurePolicy,
    sideEffects: 'None',
    timeoutSeconds,
    matchPolicy: 'Equivalent',
    matchConditions,
    namespaceSelector: {},
    objectSelector: {},
  }));
}

/** A replica that has read the Secret before it was renewed must not take away what the others have come to need. */
function trusted(authorities: readonly string[], found: Configuration | undefined): readonly string[] {
  const before = (found?.webhooks ?? []).map(({ clientConfig }) =>
    Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8'),
  );
  return ownAuthorities([...authorities, ...before].join('\n')).slice(0, authoritiesMax);
}

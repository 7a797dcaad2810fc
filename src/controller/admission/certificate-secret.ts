import type { KubernetesConnection } from '../../adapters/kubernetes/connection.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../adapters/kubernetes/kubernetes-error.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import { createResources } from '../../adapters/kubernetes/resources.ts';
import { issueCertificate, ownAuthorities, readCertificate } from './certificates.ts';

/** What a replica serves with, and who vouches for this and for its predecessors. Texts are PEM. */
export interface Shared {
  readonly certificate: string;
  readonly key: string;
  /** The newest first. */
  readonly authorities: readonly string[];
}

interface Secret extends KubernetesObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export const secretName = 'arkwright-webhook-tls';

const lifeMsDefault = 90 * 24 * 60 * 60_000;
/** A certificate is replaced when this part of its life is left. */
const partLeft = 1 / 3;
/** Of the current one and of its predecessors that have not ended. */
const authoritiesMax = 4;
/** Hosts add up as controllers inside and outside a cluster share the Secret. */
const hostsMax = 32;
/** Each means that another replica was faster: then there is something to read. */
const attemptsMax = 10;

export interface CertificateOptions {
  /** Where the Secret is. */
  readonly namespace: string;
  /** Who the certificate must be for, at least. */
  readonly hosts: readonly string[];
  readonly lifeMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * The certificate all replicas share, kept in a Secret: made where there is none, and made anew when it is due or not
 * for all of the hosts. Replicas that do so at the same time end up with the same one.
 */
export async function sharedCertificate(
  connection: KubernetesConnection,
  { namespace, hosts, lifeMs = lifeMsDefault, signal }: CertificateOptions,
): Promise<Shared> {
  const kind = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
  const secrets = createResources<Secret>(connection, kind);
  const key = { namespace, name: secretName };

  for (let attempt = 1; ; attempt++) {
    const secret = await secrets.get(key, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    });
    const known = secret && unpacked(secret);
    if (known && isGood(known, hosts, lifeMs)) return known;

    const next = await renewed(known, hosts, lifeMs);
    const data = packed(next);
    try {
      if (secret) await secrets.replace({ ...secret, data: { ...secret.data, ...data } }, { signal });
      else await secrets.create({ metadata: key, type: 'kubernetes.io/tls', data }, { signal });
      return next;
    } catch (error) {
      if ((!isConflict(error) && !isAlreadyExists(error)) || attempt >= attemptsMax) throw error;
    }
  }
}

function isGood({ certificate }: Shared, hosts: readonly string[], lifeMs: number): boolean {
  const read = readCertificate(certificate);
  if (!read || read.notAfterMs - Date.now() < lifeMs * partLeft) return false;
  return hosts.every((host) => read.hosts.includes(host));
}

async function renewed(known: Shared | undefined, hosts: readonly string[], lifeMs: number): Promise<Shared> {
  const before = known ? (readCertificate(known.certificate)?.hosts ?? []) : [];
  const all = [...new Set([...hosts, ...before])].slice(0, hostsMax);
  const { certificate, key, authority } = await issueCertificate({ hosts: all, lifeMs });
  const bundle = [authority, ...(known?.authorities ?? [])].join('\n');
  return { certificate, key, authorities: ownAuthorities(bundle).slice(0, authoritiesMax) };
}

const packed = ({ certificate, key, authorities }: Shared): Record<string, string> => ({
  'tls.crt': base64(certificate),
  'tls.key': base64(key),
  'ca.crt': base64(authorities.join('\n')),
});

function unpacked({ data = {} }: Secret): Shared {
  const text = (name: string) => Buffer.from(data[name] ?? '', 'base64').toString('utf8');
  return {
    certificate: text('tls.crt'),
    key: text('tls.key'),
    authorities: ownAuthorities(text('ca.crt')),
  };
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

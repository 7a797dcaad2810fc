// The certificate library registers its parts through it.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata';
import { isIP } from 'node:net';
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** A certificate and who vouches for it. Texts are PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const authorityName = 'CN=arkwright-webhook-ca';
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** Clocks of two machines differ. */
const backdatedMs = 5 * 60_000;

/**
 * A new authority and a server certificate by it for these hosts (DNS names and IP addresses), good for `lifeMs`. The
 * authority's key is gone when this returns: nobody can ever make another certificate in its name.
 */
export async function issueCertificate({
  hosts,
  lifeMs,
}: {
  readonly hosts: readonly string[];
  readonly lifeMs: number;
}): Promise<Issued> {
  const [authorityKeys, keys] = await Promise.all([makeKeys(), makeKeys()]);
  const nowMs = Date.now();
  const validity = { notBefore: new Date(nowMs - backdatedMs), notAfter: new Date(nowMs + lifeMs) };

  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serialNumber(),
    name: authorityName,
    keys: authorityKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: serialNumber(),
    subject: 'CN=arkwright-webhook',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
      // Authorities of one name are told apart by their keys.
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: certificate.toString('pem'),
    key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
    authority: authority.toString('pem'),
  };
}

const makeKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

/** Random, and positive as the standard wants it. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(Buffer.alloc(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** When it ends, and for which hosts it is; undefined for what is no certificate. */
export function readCertificate(
  pem: string,
): { readonly notAfterMs: number; readonly hosts: readonly string[] } | undefined {
  const parsed = parse(pem);
  if (!parsed) return undefined;

  const hosts = [...(parsed.subjectAltName ?? '').matchAll(/(?:DNS|IP Address):([^,]+)/g)];
  return { notAfterMs: parsed.validToDate.getTime(), hosts: hosts.map(([, host = '']) => host) };
}

/** The certificates of authorities made here that have not ended yet, each once, in their order. */
export function ownAuthorities(bundle: string): readonly string[] {
  const found = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const own = found.filter((pem) => {
    const parsed = parse(pem);
    return parsed?.subject === authorityName && parsed.validToDate.getTime() > Date.now();
  });
  return [...new Set(own)];
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

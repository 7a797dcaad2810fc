import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from './write-whole.ts';

/** Files by which the parts of one stack know each other. They stay in its folder, so they survive a restart of it. */
export type Credentials = {
  /** Service-account tokens are signed with the one and checked with the other. */
  readonly signingKey: string;
  readonly verifyingKey: string;
  /** The API server keeps its serving certificate here, and makes one if there is none. */
  readonly certificates: string;
  /** Names the one user: an administrator. */
  readonly tokens: string;
  readonly adminToken: string;
};

export async function ensureCredentials(folder: string): Promise<Credentials> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const credentials = {
    signingKey: join(folder, 'service-accounts.key'),
    verifyingKey: join(folder, 'service-accounts.pub'),
    certificates: join(folder, 'apiserver'),
    tokens: join(folder, 'tokens.csv'),
  };
  if (!existsSync(credentials.verifyingKey)) await writeKeyPair(credentials);
  await dropExpiring(credentials.certificates);
  return { ...credentials, adminToken: await ensureToken(credentials.tokens) };
}

/** The public key comes last: where it is, its other half is too. */
async function writeKeyPair({ signingKey, verifyingKey }: { signingKey: string; verifyingKey: string }) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(signingKey, privateKey, { mode: 0o600 });
  await writeWhole(verifyingKey, publicKey);
}

async function ensureToken(path: string): Promise<string> {
  const [known] = (await readFile(path, 'utf8').catch(() => '')).split(',');
  if (known) return known;

  const token = randomBytes(32).toString('base64url');
  await writeWhole(path, `${token},admin,admin,"system:masters"\n`);
  return token;
}

const renewBeforeMs = 7 * 24 * 3_600_000;

/** The API server makes its certificate for a year and never looks at it again. */
async function dropExpiring(folder: string): Promise<void> {
  const pem = await readFile(certificateFile(folder), 'utf8').catch(() => undefined);
  if (pem === undefined) return;

  const expires = Date.parse(new X509Certificate(pem).validTo);
  if (expires - Date.now() < renewBeforeMs) await rm(folder, { recursive: true });
}

const certificateFile = (folder: string) => join(folder, 'apiserver.crt');

/**
 * The authority that vouches for the API server. It makes a fresh authority along with its certificate, forgets that
 * one's key, and writes both certificates into one file: trusting that file trusts this server and no other.
 */
export const authorityOf = ({ certificates }: Credentials): Promise<string> =>
  readFile(certificateFile(certificates), 'utf8');

/** Writes a kubeconfig for the administrator, which holds all it needs: no paths to other files. */
export async function writeKubeconfig(
  path: string,
  apiserverUrl: string,
  credentials: Credentials,
): Promise<void> {
  const authority = Buffer.from(await authorityOf(credentials)).toString('base64');
  const name = 'arkwright';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: apiserverUrl, 'certificate-authority-data': authority } }],
    users: [{ name, user: { token: credentials.adminToken } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  };
  // JSON is YAML, and kubectl reads it as such.
  await writeWhole(path, `${JSON.stringify(config, null, 2)}\n`);
}

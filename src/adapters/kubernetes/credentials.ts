import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pem } from './kubeconfig.ts';
import type { ClusterAccess, ExecEntry, UserEntry } from './kubeconfig.ts';

/** What proves who we are. Headers go with each request, the certificate with each connection. */
export interface Credential {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly certificate?: { readonly cert: Buffer | string; readonly key: Buffer | string };
}

export interface Credentials {
  /** The credential to use now; read again from its source when it is a minute old or expired. */
  current(): Promise<Credential>;
  /** The server did not accept it: the next `current()` reads it again. */
  refuse(credential: Credential): void;
}

/** Tokens and certificates rotate on disk; client-go reads them again as often. */
const freshMs = 60_000;
/** A credential is renewed this long before it expires, so that it does not expire on its way. */
const expiryMarginMs = 10_000;
const pluginTimeoutMs = 60_000;
const pluginOutputBytesMax = 1024 * 1024;

interface Read {
  readonly credential: Credential;
  readonly goodUntilMs: number;
}

/** Credentials of a kubeconfig's user: static, from files that rotate, from a plugin, or from a legacy auth provider. */
export function createCredentials(access: ClusterAccess): Credentials {
  const read = readerOf(access);
  let known: Read | undefined;
  let reading: Promise<Read> | undefined;

  return {
    async current() {
      if (known && Date.now() < known.goodUntilMs) return known.credential;
      reading ??= read().finally(() => (reading = undefined));
      known = await reading;
      return known.credential;
    },
    refuse(credential) {
      if (known?.credential === credential) known = undefined;
    },
  };
}

function readerOf(access: ClusterAccess): () => Promise<Read> {
  const { user } = access;
  const { exec } = user;
  if (exec) return () => runPlugin(exec, user);
  if (user['auth-provider']) return () => askLegacyProvider(access);
  return () => readStatic(user);
}

async function readStatic(user: UserEntry): Promise<Read> {
  return { credential: await credentialOf(user), goodUntilMs: Date.now() + freshMs };
}

/** `token` and `certificate` are what a plugin said; it wins over what the file says. */
async function credentialOf(
  user: UserEntry,
  token?: string,
  certificate?: Credential['certificate'],
): Promise<Credential> {
  return {
    headers: { ...(await authorization(user, token)), ...impersonation(user) },
    certificate: certificate ?? certificateOf(user),
  };
}

async function authorization(user: UserEntry, token: string | undefined): Promise<Record<string, string>> {
  const bearer = token ?? (user.tokenFile ? (await readFile(user.tokenFile, 'utf8')).trim() : user.token);
  if (bearer) return { authorization: `Bearer ${bearer}` };
  if (!user.username) return {};

  const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}

const impersonation = (user: UserEntry): Record<string, string | string[]> => ({
  ...(user.as && { 'impersonate-user': user.as }),
  ...(user['as-groups']?.length && { 'impersonate-group': [...user['as-groups']] }),
});

function certificateOf(user: UserEntry): Credential['certificate'] {
  const cert = pem(user['client-certificate-data'], user['client-certificate']);
  const key = pem(user['client-key-data'], user['client-key']);
  return cert && key ? { cert, key } : undefined;
}

interface ExecCredential {
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

/** Runs a credential plugin (client.authentication.k8s.io). Its output is a secret and appears in no error. */
async function runPlugin(exec: ExecEntry, user: UserEntry): Promise<Read> {
  const info = { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const env = {
    ...process.env,
    ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  };
  const limits = { timeout: pluginTimeoutMs, maxBuffer: pluginOutputBytesMax };
  const hint = exec.installHint ? `; ${exec.installHint.trim()}` : '';

  const { stdout } = await promisify(execFile)(exec.command, [...(exec.args ?? [])], {
    env,
    ...limits,
  }).catch((error: NodeJS.ErrnoException & { stderr?: string }) => {
    const said = error.stderr?.trim().slice(0, 300) || `it ended with ${error.code ?? 'a signal'}`;
    throw new Error(`the credential plugin ${exec.command} failed: ${said}${hint}`);
  });
  const {
    token,
    clientCertificateData: cert,
    clientKeyData: key,
    expirationTimestamp,
  } = parsePlugin(exec, stdout);
  return {
    credential: await credentialOf(user, token, cert && key ? { cert, key } : undefined),
    goodUntilMs: expirationTimestamp ? Date.parse(expirationTimestamp) - expiryMarginMs : Infinity,
  };
}

function parsePlugin(exec: ExecEntry, stdout: string): NonNullable<ExecCredential['status']> {
  try {
    const { status } = JSON.parse(stdout) as ExecCredential;
    if (status?.token || status?.clientCertificateData) return status;
  } catch {
    // Said below: the parser would quote the plugin's output.
  }
  throw new Error(
    `the credential plugin ${exec.command} printed no ExecCredential with a token or a certificate`,
  );
}

/** Kubeconfigs with `auth-provider` (oidc, azure, gcp) are rare and client-node is large: it is loaded for them only. */
async function askLegacyProvider({ server, user }: ClusterAccess): Promise<Read> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'cluster', server, skipTLSVerify: true },
    { name: 'user', authProvider: user['auth-provider'] },
  );
  const options: { headers?: Record<string, string> } = {};
  await config.applyToHTTPSOptions(options);
  const token = options.headers?.Authorization?.replace(/^Bearer /, '').trim();
  return { credential: await credentialOf(user, token), goodUntilMs: Date.now() + freshMs };
}

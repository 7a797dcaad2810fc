import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { parse } from 'yaml';

/** How to reach one cluster and as whom, with every file path absolute. */
export interface ClusterAccess {
  readonly server: string;
  /** The context's namespace; `default` where it names none. */
  readonly namespace: string;
  readonly ca?: Buffer | string;
  readonly tlsServerName?: string;
  readonly skipTlsVerify: boolean;
  readonly proxyUrl?: string;
  readonly user: UserEntry;
}

/** A user of a kubeconfig, in the file's own words. */
export interface UserEntry {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-groups'?: readonly string[];
  readonly exec?: ExecEntry;
  readonly 'auth-provider'?: { readonly name: string; readonly config?: Readonly<Record<string, string>> };
}

export interface ExecEntry {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
}

interface ClusterEntry {
  readonly server: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
}

interface ContextEntry {
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** Several files read as one: the first to name a thing wins, as with kubectl. */
interface Merged {
  readonly clusters: Map<string, ClusterEntry>;
  readonly users: Map<string, UserEntry>;
  readonly contexts: Map<string, ContextEntry>;
  currentContext?: string;
}

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The cluster to talk to: `kubeconfig`, else the files of `$KUBECONFIG`, else `~/.kube/config`, else the service account
 * of the pod this runs in. Throws a sentence that says where it looked and what is missing.
 */
export function loadClusterAccess(
  options: { readonly kubeconfig?: string; readonly context?: string } = {},
  env: NodeJS.ProcessEnv = process.env,
): ClusterAccess {
  const named = options.kubeconfig ?? env.KUBECONFIG;
  const files = named
    ? named.split(delimiter).filter(Boolean)
    : [join(env.HOME ?? homedir(), '.kube', 'config')];
  const found = files.flatMap((file) => readIfThere(resolve(file)));

  if (found.length > 0) return select(merge(found), options.context, files.join(delimiter));
  if (named) throw new Error(`the kubeconfig ${named} does not exist`);
  if (env.KUBERNETES_SERVICE_HOST) return inCluster(env);
  throw new Error(
    `no cluster to talk to: ${files[0]} does not exist, KUBECONFIG is not set, and this is not a pod; set KUBECONFIG to a kubeconfig file`,
  );
}

function readIfThere(file: string): { file: string; text: string }[] {
  try {
    return [{ file, text: readFileSync(file, 'utf8') }];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new Error(`cannot read the kubeconfig ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function merge(files: readonly { file: string; text: string }[]): Merged {
  const merged: Merged = { clusters: new Map(), users: new Map(), contexts: new Map() };
  for (const { file, text } of files) {
    const config = parseFile(file, text);
    const folder = dirname(file);
    addTo(merged.clusters, config.clusters, 'cluster', folder, ['certificate-authority']);
    addTo(merged.users, config.users, 'user', folder, ['client-certificate', 'client-key', 'tokenFile']);
    addTo(merged.contexts, config.contexts, 'context', folder, []);
    merged.currentContext ||= config['current-context'];
  }
  return merged;
}

interface ConfigFile {
  readonly clusters?: readonly Named[] | null;
  readonly users?: readonly Named[] | null;
  readonly contexts?: readonly Named[] | null;
  readonly 'current-context'?: string;
}
type Named = { readonly name: string } & Readonly<Record<string, unknown>>;

function parseFile(file: string, text: string): ConfigFile {
  let config: unknown;
  try {
    config = parse(text);
  } catch {
    // The parser's message would quote the line, and the line may hold a token.
    throw new Error(`the kubeconfig ${file} is not valid YAML`);
  }
  if (typeof config !== 'object' || config === null) throw new Error(`the kubeconfig ${file} is empty`);
  return config;
}

function addTo<T extends object>(
  all: Map<string, T>,
  entries: readonly Named[] | null | undefined,
  field: 'cluster' | 'user' | 'context',
  folder: string,
  paths: readonly string[],
): void {
  for (const entry of entries ?? []) {
    if (all.has(entry.name)) continue;
    const value = { ...(entry[field] as Record<string, unknown> | null) };
    for (const path of paths)
      if (typeof value[path] === 'string') value[path] = absolute(folder, value[path]);

    // A plugin's command is looked up on PATH unless it names a folder (client-go does the same).
    const exec = value.exec as ExecEntry | undefined;
    if (exec?.command.includes('/')) value.exec = { ...exec, command: absolute(folder, exec.command) };
    all.set(entry.name, value as T);
  }
}

const absolute = (folder: string, path: string): string => (isAbsolute(path) ? path : join(folder, path));

function select(merged: Merged, wanted: string | undefined, files: string): ClusterAccess {
  const name = wanted ?? merged.currentContext;
  if (!name) throw new Error(`the kubeconfig ${files} has no current-context; name one`);

  const context = merged.contexts.get(name);
  if (!context) {
    const known = [...merged.contexts.keys()].join(', ') || 'none';
    throw new Error(`the kubeconfig ${files} has no context ${name}; it has: ${known}`);
  }
  const cluster = merged.clusters.get(context.cluster);
  if (!cluster?.server)
    throw new Error(
      `context ${name} of the kubeconfig ${files} names the cluster ${context.cluster}, which is not there`,
    );
  const user = context.user ? merged.users.get(context.user) : {};
  if (!user)
    throw new Error(
      `context ${name} of the kubeconfig ${files} names the user ${context.user}, which is not there`,
    );

  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: context.namespace || 'default',
    ca: pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    tlsServerName: cluster['tls-server-name'],
    skipTlsVerify: cluster['insecure-skip-tls-verify'] === true,
    proxyUrl: cluster['proxy-url'],
    user,
  };
}

/** A PEM from its base64 field, else from its file (the field wins, as with kubectl). */
export function pem(data: string | undefined, file: string | undefined): Buffer | undefined {
  if (data) return Buffer.from(data, 'base64');
  return file ? readFileSync(file) : undefined;
}

function inCluster(env: NodeJS.ProcessEnv): ClusterAccess {
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT ?? '443'}`,
    namespace: readFileSync(join(serviceAccountFolder, 'namespace'), 'utf8').trim() || 'default',
    ca: readFileSync(join(serviceAccountFolder, 'ca.crt')),
    skipTlsVerify: false,
    user: { tokenFile: join(serviceAccountFolder, 'token') },
  };
}

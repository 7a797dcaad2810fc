import type { SecretError, SecretPort } from '../../activities/ports.ts';
import { createBriefCache } from './brief-cache.ts';
import type { KubernetesConnection } from './connection.ts';
import { KubernetesError } from './kubernetes-error.ts';
import type { KubernetesObject } from './objects.ts';
import { createResources } from './resources.ts';
import { userOf } from './user-of.ts';

/** Worded as ARK words it (contract 3.10); never holds a value. A missing key is `NotFound`, as a missing Secret is. */
export class SecretReadError extends Error implements SecretError {
  readonly code: SecretError['code'];

  constructor(code: SecretError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SecretReadError';
    this.code = code;
  }
}

/** Long enough for a burst of calls, short enough for a rotated key. */
const freshMs = 10_000;
const secretsMax = 2_000;
const bytesMax = 32 * 1024 * 1024;

type Data = Readonly<Record<string, string>>;

interface Secret extends KubernetesObject {
  /** Base64. */
  readonly data?: Data;
}

/**
 * Secrets, read with the rights of the Query's service account and kept for ten seconds for that account alone: nobody
 * is shown from memory what the API server would refuse. A value is used as it is, untrimmed.
 */
export function createSecrets(connection: KubernetesConnection): SecretPort {
  const kind = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
  const secrets = createResources<Secret>(connection, kind);
  const cache = createBriefCache<Data>({ freshMs, entriesMax: secretsMax, bytesMax, bytesOf: sizeOf });

  return {
    async read({ namespace, name, key }, access, signal) {
      const where = `${namespace}/${name}`;
      if (!name) throw new SecretReadError('NotFound', 'secret name is required');

      const impersonate = userOf(access);
      const load = async () => (await secrets.get({ namespace, name }, { impersonate })).data ?? {};
      const data = await cache.get(`${impersonate} ${where}`, load, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw readError(where, error);
      });
      const value = data[key];
      if (value === undefined)
        throw new SecretReadError('NotFound', `key ${key} not found in secret ${where}`);
      return Buffer.from(value, 'base64').toString('utf8');
    },
  };
}

const sizeOf = (data: Data): number =>
  Object.entries(data).reduce((sum, [key, value]) => sum + key.length + value.length, 0);

function readError(where: string, error: unknown): unknown {
  const fail = (code: SecretError['code'], why: string) =>
    new SecretReadError(code, `failed to get secret ${where}: ${why}`, { cause: error });

  // No object can have such a name.
  if (error instanceof RangeError) return fail('NotFound', error.message);
  if (!(error instanceof KubernetesError)) return error;
  if (error.status === 404) return fail('NotFound', error.detail);
  return fail(error.status === 403 ? 'Forbidden' : 'Unavailable', error.detail);
}

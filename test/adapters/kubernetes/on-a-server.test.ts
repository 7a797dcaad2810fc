/** What only a real API server can answer: verbs, rights, Secrets, and how many sockets all of it takes. */
import { writeFile } from 'node:fs/promises';
import type { KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import { connectKubernetes } from '../../../src/adapters/kubernetes/connection.ts';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
} from '../../../src/adapters/kubernetes/kubernetes-error.ts';
import type { KubernetesObject } from '../../../src/adapters/kubernetes/objects.ts';
import { createResources } from '../../../src/adapters/kubernetes/resources.ts';
import type { Resources } from '../../../src/adapters/kubernetes/resources.ts';
import { createSecrets } from '../../../src/adapters/kubernetes/secrets.ts';
import { waitUntil } from '../../../src/dev/wait-until.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { startStub } from './stub-server.ts';

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

let cluster: Cluster;
let connection: KubernetesConnection;
let configMaps: Resources<ConfigMap>;
beforeAll(async () => {
  cluster = await startCluster();
  ({ connection } = cluster);
  configMaps = createResources<ConfigMap>(connection, coreKind('configmaps', 'ConfigMap'));
});
afterAll(() => cluster?.stop());

const coreKind = (plural: string, kind: string) => ({ group: '', version: 'v1', plural, kind });
const key = (name: string) => ({ namespace: 'default', name });
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe('resources', () => {
  test('are created once, read, patched, replaced only where unchanged, and deleted only if they are the same', async () => {
    const created = await configMaps.create({ metadata: key('one'), data: { a: '1' } });
    expect(isAlreadyExists(await caught(configMaps.create({ metadata: key('one') })))).toBe(true);

    const patched = await configMaps.mergePatch(key('one'), { data: { a: null, b: '2' } });
    expect(patched.data).toEqual({ b: '2' });
    expect((await configMaps.get(key('one'))).data).toEqual({ b: '2' });
    expect(isConflict(await caught(configMaps.replace({ ...created, data: {} })))).toBe(true);

    expect(isConflict(await caught(configMaps.remove(key('one'), { uid: 'another' })))).toBe(true);
    await configMaps.remove(key('one'), { uid: created.metadata.uid });
    expect(isNotFound(await caught(configMaps.get(key('one'))))).toBe(true);
  });

  test('have a status that is written apart, by patch or by apply', async () => {
    const namespaces = createResources<KubernetesObject<unknown, { phase?: string; conditions?: unknown[] }>>(
      connection,
      coreKind('namespaces', 'Namespace'),
    );
    const place = { namespace: '', name: 'with-status' };
    await namespaces.create({ metadata: { name: 'with-status' } });
    const condition = { type: 'Seen', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const patched = await namespaces.mergePatchStatus(place, { conditions: [condition] });
    expect(patched.status?.conditions).toHaveLength(1);

    const applied = await namespaces.applyStatus(
      place,
      { conditions: [{ ...condition, type: 'Applied' }] },
      { fieldManager: 'arkwright' },
    );
    expect(JSON.stringify(applied.status?.conditions)).toContain('Applied');
  });

  test('are listed whole, page after page', async () => {
    await Promise.all(
      Array.from({ length: 620 }, (_, n) =>
        configMaps.create({ metadata: { ...key(`listed-${n}`), labels: { listed: 'yes' } } }),
      ),
    );
    const scope = { namespace: 'default', labelSelector: 'listed=yes' };
    const pages = [];
    for await (const page of configMaps.pages(scope)) pages.push(page);
    expect(pages.map(({ items }) => items.length)).toEqual([500, 120]);
    expect(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size).toBe(1);

    const { items } = await configMaps.list(scope);
    expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(620);
  });

  test.each(['', '.', '..'])('never mistake the name "%s" for another path', async (name) => {
    expect(() => configMaps.get({ namespace: 'default', name })).toThrow(RangeError);
  });
});

describe('sockets', () => {
  test('are kept: many calls one after the other take one, or two that take turns', async () => {
    const { connection: wired, wire } = await cluster.overWire();
    for (let call = 0; call < 30; call++) await wired.request('GET', '/version');
    expect(wire.made).toBeLessThanOrEqual(2);
  });

  test('are bounded: many calls at once take no more than allowed', async () => {
    const { connection: wired, wire } = await cluster.overWire({ connectionsMax: 4 });
    await Promise.all(Array.from({ length: 200 }, () => wired.request('GET', '/version')));
    expect(wire.made).toBeLessThanOrEqual(4);
  });

  test('are made anew after a reset, unseen by the caller', async () => {
    const { connection: wired, wire } = await cluster.overWire();
    for (let round = 0; round < 5; round++) {
      await wired.request('GET', '/version');
      wire.cut();
    }
    await expect(wired.request('GET', '/version')).resolves.toMatchObject({ major: '1' });
  });

  test('are not opened to a server that the kubeconfig does not vouch for', async () => {
    const stub = await startStub(() => {});
    try {
      const strangers = new URL(cluster.connection.server);
      const kubeconfig = `${stub.folder}/untrusting`;
      await writeFile(
        kubeconfig,
        JSON.stringify({
          clusters: [{ name: 'c', cluster: { server: strangers.href } }],
          contexts: [{ name: 'c', context: { cluster: 'c' } }],
          'current-context': 'c',
        }),
      );
      const untrusting = connectKubernetes({ kubeconfig });
      expect(await caught(untrusting.request('GET', '/version'))).toMatchObject({
        reason: 'Untrusted',
        retryable: false,
      });
      await untrusting.close();
    } finally {
      await stub.stop();
    }
  });
});

const ref = (name: string, secretKey = 'token') => ({ namespace: 'default', name, key: secretKey });

interface Role extends KubernetesObject {
  readonly rules: readonly object[];
}
interface RoleBinding extends KubernetesObject {
  readonly roleRef: object;
  readonly subjects: readonly object[];
}
interface Secret extends KubernetesObject {
  readonly stringData: Readonly<Record<string, string>>;
}
const rbacKind = (plural: string, kind: string) => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural,
  kind,
});
const writeSecret = (name: string, stringData: Record<string, string>) =>
  createResources<Secret>(connection, coreKind('secrets', 'Secret')).create({
    metadata: key(name),
    stringData,
  });

describe('secrets', () => {
  const reader = { namespace: 'default', serviceAccount: 'reader' };
  const stranger = { namespace: 'default', serviceAccount: 'stranger' };
  const { signal } = new AbortController();
  beforeAll(async () => {
    await createResources<Role>(connection, rbacKind('roles', 'Role')).create({
      metadata: key('reads-secrets'),
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    });
    await createResources<RoleBinding>(connection, rbacKind('rolebindings', 'RoleBinding')).create({
      metadata: key('reads-secrets'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reads-secrets' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
    });
    await writeSecret('key', { token: ' s3cret with spaces \n' });
    // The API server's authorizer learns of new roles a moment later.
    await waitUntil(
      () =>
        createSecrets(connection)
          .read(ref('key'), reader, signal)
          .then(
            () => true,
            () => false,
          ),
      { what: 'the role to count', timeoutMs: 120_000 },
    );
  });

  test('are read as they are, with the rights of the account', async () => {
    expect(await createSecrets(connection).read(ref('key'), reader, signal)).toBe(' s3cret with spaces \n');
  });

  test('are not shown from memory to who may not read them', async () => {
    const secrets = createSecrets(connection);
    await secrets.read(ref('key'), reader, signal);
    const error = await caught(secrets.read(ref('key'), stranger, signal));
    expect(error).toMatchObject({
      code: 'Forbidden',
      message: expect.stringMatching(
        /^failed to get secret default\/key: secrets "key" is forbidden: User "system:serviceaccount:default:stranger"/,
      ),
    });
    expect(JSON.stringify(error)).not.toContain('s3cret');
  });

  test('that are missing, and keys that are, are told in ARK’s words', async () => {
    const secrets = createSecrets(connection);
    expect(await caught(secrets.read(ref('none'), reader, signal))).toMatchObject({
      code: 'NotFound',
      message: 'failed to get secret default/none: secrets "none" not found',
    });
    expect(await caught(secrets.read(ref('key', 'other'), reader, signal))).toMatchObject({
      code: 'NotFound',
      message: 'key other not found in secret default/key',
    });
    expect(await caught(secrets.read(ref(''), reader, signal))).toMatchObject({
      message: 'secret name is required',
    });
  });

  test('that were missing are found as soon as they are there', async () => {
    const secrets = createSecrets(connection);
    await caught(secrets.read(ref('late'), reader, signal));
    await writeSecret('late', { token: 'now' });
    expect(await secrets.read(ref('late'), reader, signal)).toBe('now');
  });

  test('are asked for once by many callers, and one that gives up does not end it for the others', async () => {
    const { connection: wired, wire } = await cluster.overWire();
    const secrets = createSecrets(wired);
    const ends = new AbortController();
    const quitter = caught(secrets.read(ref('key'), reader, ends.signal));
    const others = Array.from({ length: 20 }, () => secrets.read(ref('key'), reader, signal));
    const reason = new Error('canceled');
    ends.abort(reason);
    expect(await quitter).toBe(reason);
    expect(new Set(await Promise.all(others)).size).toBe(1);
    expect(wire.made).toBe(1);
  });

  test('of a server that cannot be reached are unavailable, not missing', async () => {
    const { connection: wired, wire } = await cluster.overWire();
    wire.block(true);
    const error = await caught(createSecrets(wired).read(ref('key'), reader, signal));
    expect(error).toMatchObject({ code: 'Unavailable' });
  });
});

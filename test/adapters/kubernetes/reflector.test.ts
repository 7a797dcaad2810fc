import type { ServerResponse } from 'node:http';
import { KubernetesError } from '../../../src/adapters/kubernetes/kubernetes-error.ts';
import type { KubernetesObject } from '../../../src/adapters/kubernetes/objects.ts';
import { keyOf, keyText } from '../../../src/adapters/kubernetes/objects.ts';
import { startReflector } from '../../../src/adapters/kubernetes/reflector.ts';
import type { Reflector, ReflectorOptions } from '../../../src/adapters/kubernetes/reflector.ts';
import { createResources } from '../../../src/adapters/kubernetes/resources.ts';
import type { Resources } from '../../../src/adapters/kubernetes/resources.ts';
import { waitUntil } from '../../../src/dev/wait-until.ts';
import { startCluster } from './cluster.ts';
import type { Cluster, Wire } from './cluster.ts';
import { send, startStub, status } from './stub-server.ts';

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}
const kind = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };
const labelled = { labels: { test: 'reflector' } };

let cluster: Cluster;
/** Straight to the server: what the test itself does. */
let direct: Resources<ConfigMap>;

beforeAll(async () => {
  cluster = await startCluster();
  direct = createResources<ConfigMap>(cluster.connection, kind);
});
afterAll(() => cluster?.stop());

let watched: Watched | undefined;
beforeEach(async () => {
  for (const object of (await direct.list(scope)).items) await direct.remove(keyOf(object));
});
afterEach(() => watched?.reflector.stop());

const scope = { namespace: 'default', labelSelector: 'test=reflector' };
const key = (name: string) => ({ namespace: 'default', name });
const create = (name: string, value = '0') =>
  direct.create({ metadata: { ...key(name), ...labelled }, data: { value } });
const change = (name: string, value: string) => direct.mergePatch(key(name), { data: { value } });

interface Watched {
  readonly reflector: Reflector<ConfigMap>;
  readonly wire: Wire;
  readonly troubles: string[];
  /** What somebody knows who looks only at the keys handed out. */
  readonly known: Map<string, ConfigMap>;
}

async function watch(options: Partial<ReflectorOptions<ConfigMap>> = {}): Promise<Watched> {
  const { connection, wire } = await cluster.overWire();
  const troubles: string[] = [];
  const known = new Map<string, ConfigMap>();
  const reflector: Reflector<ConfigMap> = startReflector(createResources<ConfigMap>(connection, kind), {
    ...scope,
    waits: { firstMs: 50, maxMs: 400 },
    onTrouble: (error) => troubles.push(error instanceof KubernetesError ? error.reason : String(error)),
    onChange(changed) {
      const object = reflector.get(changed);
      if (object) known.set(keyText(changed), object);
      else known.delete(keyText(changed));
    },
    ...options,
  });
  await reflector.synced();
  watched = { reflector, wire, troubles, known };
  return watched;
}

const identity = ({ metadata, data }: ConfigMap) => `${metadata.uid} ${data?.value}`;

const asText = (objects: Iterable<ConfigMap>): string =>
  [...objects]
    .map((object) => `${keyText(keyOf(object))} ${identity(object)}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('\n');

/** The server, the store, and those who only followed the keys, all say the same. */
async function agree({ reflector, known }: Watched): Promise<void> {
  const same = async () => asText(reflector.values()) === asText((await direct.list(scope)).items);
  await waitUntil(same, { what: 'the store to say what the server says', timeoutMs: 120_000 });
  expect(asText(known.values())).toBe(asText(reflector.values()));
}

test('knows everything that was there, without the fields that only weigh', async () => {
  await direct.create({
    metadata: {
      ...key('heavy'),
      ...labelled,
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' },
    },
  });
  const one = await watch();
  await agree(one);
  const heavy = one.reflector.get(key('heavy'));
  expect(heavy?.metadata.managedFields).toBeUndefined();
  expect(heavy?.metadata.annotations).toEqual({ kept: 'yes' });
});

test('misses nothing while its connections are reset again and again', async () => {
  const one = await watch();
  for (let round = 0; round < 10; round++) {
    await Promise.all([create(`a-${round}`), create(`b-${round}`)]);
    one.wire.cut();
    await Promise.all([change(`a-${round}`, 'changed'), direct.remove(key(`b-${round}`))]);
  }
  await agree(one);
  expect(one.reflector.size).toBe(10);
  expect(one.troubles).toContain('Unreachable');
});

test('misses nothing when the API server is killed', async () => {
  const one = await watch();
  for (let kill = 0; kill < 2; kill++) {
    await Promise.all([create(`c-${kill}`), create(`d-${kill}`)]);
    const back = cluster.killApiServer();
    const changes = Promise.all([
      untilDone(() => change(`c-${kill}`, 'after the kill')),
      untilDone(() => direct.remove(key(`d-${kill}`))),
    ]);
    await Promise.all([back, changes]);
  }
  await agree(one);
  expect([...one.reflector.values()].map(({ data }) => data?.value)).toEqual([
    'after the kill',
    'after the kill',
  ]);
});

test('finds what vanished while nobody looked, and hands over its last form', async () => {
  const one = await watch({ keepVanished: true });
  const gone = await create('gone', 'last words');
  const replaced = await create('replaced');
  await agree(one);

  one.wire.block(true);
  await direct.remove(key('gone'));
  await direct.remove(key('replaced'));
  const successor = await create('replaced');
  one.wire.block(false);

  await agree(one);
  expect(one.reflector.vanished(key('gone')).map(identity)).toEqual([identity(gone)]);
  expect(one.reflector.vanished(key('replaced')).map(identity)).toEqual([identity(replaced)]);
  expect(one.reflector.get(key('replaced'))?.metadata.uid).toBe(successor.metadata.uid);

  for (const object of one.reflector.vanished(key('gone'))) one.reflector.forgetVanished(object);
  expect(one.reflector.vanished(key('gone'))).toEqual([]);
});

test('notices a connection that stays open and says nothing', async () => {
  const one = await watch({ silenceMsMax: 3_000 });
  await create('heard');
  await agree(one);
  one.wire.silence();
  await create('unheard');
  await agree(one);
  expect(one.troubles).toContain('TimedOut');
});

test('survives a listener that throws', async () => {
  let told = 0;
  const one = await watch({
    onChange() {
      told++;
      throw new Error('a listener failed');
    },
  });
  await create('first');
  await create('second');
  await waitUntil(() => told >= 2, { what: 'both to be told', timeoutMs: 120_000 });
  expect(one.reflector.size).toBe(2);
  expect(one.troubles).toContain('Error: a listener failed');
});

test('uses one connection for the watch and few for its lists', async () => {
  const one = await watch();
  await Promise.all(Array.from({ length: 50 }, (_, n) => create(`n-${n}`)));
  await agree(one);
  expect(one.wire.made).toBeLessThanOrEqual(2);
});

/** A server with one object, `n` (its data counts the lists), and a script for its watches. */
async function scripted(...watches: readonly ((response: ServerResponse) => void)[]) {
  let lists = 0;
  let watching = 0;
  const stub = await startStub((response, _, { url = '' }) => {
    if (url.includes('watch=true'))
      return (watches[watching++] ?? ((quiet) => quiet.writeHead(200).flushHeaders()))(response);
    const metadata = { name: 'n', namespace: 'default', uid: 'u', resourceVersion: String(100 + lists) };
    send(response, 200, {
      metadata: { resourceVersion: '200' },
      items: [{ metadata, data: { value: String(++lists) } }],
    });
  });
  const troubles: string[] = [];
  const reflector = startReflector(createResources<ConfigMap>(await stub.connectAs({}), kind), {
    waits: { firstMs: 10, maxMs: 50 },
    onChange: () => {},
    onTrouble: (error) => troubles.push((error as KubernetesError).reason),
  });
  const value = () => reflector.get(key('n'))?.data?.value;
  const end = async () => {
    await reflector.stop();
    await stub.stop();
  };
  return { stub, troubles, value, end };
}

const event = (response: ServerResponse, type: string, object: object) =>
  response.write(`${JSON.stringify({ type, object })}\n`);
const expired = status(410, 'Expired', 'too old resource version: 200 (300)');

test.each<[string, (response: ServerResponse) => void]>([
  ['says so in the watch', (response) => event(response.writeHead(200), 'ERROR', expired)],
  ['refuses the watch', (response) => send(response, 410, expired)],
  [
    'goes back in time',
    (response) => event(response.writeHead(200), 'BOOKMARK', { metadata: { resourceVersion: '150' } }),
  ],
])('lists again when the server has lost the thread and %s', async (_, loseIt) => {
  const { troubles, value, end } = await scripted(loseIt);
  try {
    await waitUntil(() => value() === '2', { what: 'the second list', timeoutMs: 120_000 });
    expect(troubles).toEqual(['Expired']);
  } finally {
    await end();
  }
});

test('resumes after a bookmark where the bookmark was, without a list', async () => {
  const { stub, value, end } = await scripted((response) => {
    event(response.writeHead(200), 'BOOKMARK', { metadata: { resourceVersion: '250' } });
    setTimeout(() => response.end(), 50);
  });
  try {
    const resumed = () => stub.seen.find(({ url }) => url?.includes('resourceVersion=250'));
    await waitUntil(resumed, { what: 'the watch to go on', timeoutMs: 120_000 });
    expect(value()).toBe('1');
  } finally {
    await end();
  }
});

const refuse = (response: ServerResponse) =>
  send(response, 500, status(500, 'InternalError', 'etcdserver: no leader'));

test('lists again when the server refuses its place in history for any reason, again and again', async () => {
  const { troubles, value, end } = await scripted(refuse, refuse, refuse, refuse, refuse);
  try {
    await waitUntil(() => value() === '2', { what: 'the second list', timeoutMs: 120_000 });
    expect(troubles).toEqual(Array(5).fill('InternalError'));
  } finally {
    await end();
  }
});

test('rejects `synced` when it is stopped before the first list', async () => {
  const { connection, wire } = await cluster.overWire();
  wire.block(true);
  const reflector = startReflector(createResources<ConfigMap>(connection, kind), { onChange: () => {} });
  const synced = reflector.synced();
  await reflector.stop();
  await expect(synced).rejects.toThrow('stopped before the first list of configmaps');
});

async function untilDone(act: () => Promise<unknown>): Promise<void> {
  await waitUntil(
    () =>
      act().then(
        () => true,
        (error: unknown) => error instanceof KubernetesError && error.status === 404,
      ),
    { what: 'the API server to take a change', timeoutMs: 120_000 },
  );
}

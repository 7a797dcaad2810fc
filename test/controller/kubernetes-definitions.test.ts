/** Whose rights a Query is read with (contract section 3.9), asked of a real API server. */
import { createObjectStore } from '../../src/adapters/kubernetes/object-store.ts';
import type { KubernetesObject } from '../../src/adapters/kubernetes/objects.ts';
import { createResources } from '../../src/adapters/kubernetes/resources.ts';
import { group } from '../../src/api/kinds.ts';
import { accessReviews } from '../../src/controller/access-reviews.ts';
import { kubernetesDefinitions, namespaceIndex } from '../../src/controller/kubernetes-definitions.ts';
import type { Definitions, Resource } from '../../src/controller/snapshot/definitions.ts';
import { waitUntil } from '../../src/dev/wait-until.ts';
import { startCluster, type Cluster } from '../adapters/kubernetes/cluster.ts';

const namespace = 'default';
const key = (name: string) => ({ namespace, name });

let cluster: Cluster;
let readAs: (serviceAccount: string) => Definitions;

beforeAll(async () => {
  cluster = await startCluster();
  const all = { apiGroups: [group, ''], resources: ['agents', 'configmaps', 'services'] };
  await grant('reader', { ...all, verbs: ['get', 'list'] });
  await grant('guest', { ...all, verbs: ['get'], resourceNames: ['bot'] });
  await create('configmaps', 'ConfigMap', { metadata: key('settings'), data: { city: 'Oslo' } });
  await create('services', 'Service', { metadata: key('far'), spec: { ports: [{ name: 'web', port: 80 }] } });

  const reviews = accessReviews(cluster.connection);
  const read = kubernetesDefinitions(cluster.connection, views('bot', 'amy'), reviews);
  readAs = (serviceAccount) => read({ namespace, serviceAccount });
  // The API server's authorizer learns of new roles a moment later.
  for (const may of [
    () => readAs('reader').list('agents', namespace),
    () => readAs('guest').get('agents', key('bot')),
  ])
    await waitUntil(() => succeeds(may), { what: 'the roles to count', timeoutMs: 60_000 });
});
afterAll(() => cluster?.stop());

test('who may read all of a kind reads all of it, by name', async () => {
  expect(await readAs('reader').get('agents', key('bot'))).toMatchObject({
    name: 'bot',
    spec: { prompt: 'p' },
  });
  expect((await readAs('reader').list('agents', namespace)).map(({ name }) => name)).toEqual(['amy', 'bot']);
  expect(await readAs('reader').configMap(key('settings'))).toEqual({ city: 'Oslo' });
  expect(await readAs('reader').servicePorts(key('far'))).toMatchObject([{ name: 'web', port: 80 }]);
});

test('who may read one object reads that one', async () => {
  expect(await readAs('guest').get('agents', key('bot'))).toMatchObject({ name: 'bot' });
});

const user = 'User "system:serviceaccount:default';
const inDefault = 'in the namespace "default"';

test.each<[string, (read: Definitions) => Promise<unknown>, string]>([
  [
    'guest',
    (read) => read.get('agents', key('amy')),
    `agents.ark.mckinsey.com "amy" is forbidden: ${user}:guest" cannot get resource "agents" in API group "ark.mckinsey.com" ${inDefault}`,
  ],
  [
    'guest',
    (read) => read.list('agents', namespace),
    `agents.ark.mckinsey.com is forbidden: ${user}:guest" cannot list resource "agents" in API group "ark.mckinsey.com" ${inDefault}`,
  ],
  [
    'reader',
    (read) => read.get('teams', key('crew')),
    `teams.ark.mckinsey.com "crew" is forbidden: ${user}:reader" cannot get resource "teams" in API group "ark.mckinsey.com" ${inDefault}`,
  ],
  [
    'guest',
    (read) => read.configMap(key('settings')),
    `configmaps "settings" is forbidden: ${user}:guest" cannot get resource "configmaps" in API group "" ${inDefault}`,
  ],
  [
    'guest',
    (read) => read.servicePorts(key('far')),
    `services "far" is forbidden: ${user}:guest" cannot get resource "services" in API group "" ${inDefault}`,
  ],
])('%s may not do what it was not granted, whoever did it before', async (account, act, message) => {
  await act(readAs('reader')).catch(() => undefined);
  await expect(act(readAs(account))).rejects.toMatchObject({ type: 'AccessDenied', message, missing: false });
});

test.each<[(read: Definitions) => Promise<unknown>, string]>([
  [(read) => read.get('agents', key('none')), 'agents.ark.mckinsey.com "none" not found'],
  [(read) => read.configMap(key('none')), 'configmaps "none" not found'],
  [(read) => read.servicePorts(key('none')), 'services "none" not found'],
])('what is not there may come', async (act, message) => {
  await expect(act(readAs('reader'))).rejects.toMatchObject({ message, missing: true });
});

/** The controller's caches, which know no users: these Agents, and nothing of any other kind. */
function views(...agents: readonly string[]) {
  const indexes = { [namespaceIndex]: (object: KubernetesObject) => [object.metadata.namespace ?? ''] };
  const empty = () => createObjectStore<KubernetesObject>({ indexes, onChange: () => {} });
  const found = empty();
  for (const name of agents) {
    const metadata = { ...key(name), uid: name, resourceVersion: '1', creationTimestamp: '' };
    found.put({ metadata, spec: { prompt: 'p' } });
  }
  return new Proxy({} as Record<Resource, typeof found>, {
    get: (_, resource) => (resource === 'agents' ? found : empty()),
  });
}

async function grant(account: string, rule: object): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  await create('roles', 'Role', { metadata: key(account), rules: [rule] }, apiGroup);
  const binding = {
    metadata: key(account),
    roleRef: { apiGroup, kind: 'Role', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  };
  await create('rolebindings', 'RoleBinding', binding, apiGroup);
}

const create = (plural: string, kind: string, object: object, apiGroup = '') =>
  createResources(cluster.connection, { group: apiGroup, version: 'v1', plural, kind }).create(
    object as Parameters<ReturnType<typeof createResources>['create']>[0],
  );

const succeeds = (act: () => Promise<unknown>): Promise<boolean> =>
  act().then(
    () => true,
    () => false,
  );

import { built, model, refused, type Shelf } from './shelf.ts';

const bot: Shelf = { models: { default: model }, agents: { bot: {} } };
const memory = { address: { value: 'http://memory' } };

async function memoryOf(shelf: Shelf, spec: object = {}) {
  const snapshot = await built({ ...bot, ...shelf }, spec);
  return snapshot.memory && snapshot.definitions[snapshot.memory];
}

test('a conversation is kept in the Memory that the Query names, wherever that is', async () => {
  const named = { 'shared/talks': { address: { valueFrom: { serviceRef: { name: 'pg' } } } } };
  const shelf = { memories: { default: memory, ...named }, services: { 'shared/pg': [{ port: 80 }] } };
  expect(await memoryOf(shelf, { memory: { name: 'talks', namespace: 'shared' } })).toEqual({
    kind: 'memory',
    namespace: 'shared',
    name: 'talks',
    address: { value: 'http://pg.shared.svc.cluster.local:80' },
    session: '6f1c',
    query: 'hello',
    access: { namespace: 'default', serviceAccount: 'default' },
  });
});

test('its Events name the Memory', async () => {
  const { memoryName } = await built({ ...bot, memories: { talks: memory } }, { memory: { name: 'talks' } });
  expect(memoryName).toBe('talks');
});

test('a Memory named without a namespace is beside the Query', async () => {
  const shelf = {
    models: { 'own/default': model },
    agents: { 'own/bot': {} },
    memories: { talks: { address: { value: 'http://other' } }, 'own/talks': memory },
  };
  const { memory: hash = '', definitions } = await built(
    shelf,
    { memory: { name: 'talks' } },
    { namespace: 'own' },
  );
  expect(definitions[hash]).toMatchObject({ namespace: 'own', address: { value: 'http://memory' } });
});

test('without a name, it is kept in the one named default', async () => {
  expect(await memoryOf({ memories: { default: memory } })).toMatchObject({
    namespace: 'default',
    name: 'default',
    address: { value: 'http://memory' },
  });
});

test.each<[string, Shelf]>([
  ['there is none', {}],
  ['there is one elsewhere', { memories: { 'shared/default': memory } }],
  ['it may not be read', { memories: { default: memory }, forbidden: ['memories default/default'] }],
])('it is not kept where %s', async (_, shelf) => {
  expect(await memoryOf(shelf)).toBeUndefined();
});

test.each([
  [{}, '6f1c'],
  [{ conversationId: 'c1' }, 'c1'],
  [{ sessionId: 's1', conversationId: 'c1' }, 's1'],
])('of %j the session is %s', async (spec, session) => {
  expect(await memoryOf({ memories: { default: memory } }, spec)).toMatchObject({ session });
});

test('an address in a Secret stays there', async () => {
  const valueFrom = { secretKeyRef: { name: 'pg', key: 'url' } };
  expect(await memoryOf({ memories: { default: { address: { valueFrom } } } })).toMatchObject({
    address: { secret: { namespace: 'default', name: 'pg', key: 'url' } },
  });
});

test.each<[string, Shelf, string, string]>([
  [
    'is not there',
    {},
    'DefinitionNotFound',
    'memory not found: default/talks: memories.ark.mckinsey.com "talks" not found',
  ],
  [
    'may not be read',
    { memories: { talks: memory }, forbidden: ['memories default/talks'] },
    'AccessDenied',
    'memory not found: default/talks: forbidden',
  ],
  [
    'has no address',
    { memories: { talks: { address: {} } } },
    'DefinitionInvalid',
    'memory default/talks: failed to resolve Address: value source must have either value or valueFrom specified',
  ],
  [
    'is nowhere',
    { memories: { talks: { address: { valueFrom: { serviceRef: { name: 'pg' } } } } } },
    'DefinitionNotFound',
    'failed to resolve address of memory default/talks: failed to get service default/pg: services "pg" not found',
  ],
])('a Query that names a Memory that %s is refused', async (_, shelf, type, message) => {
  expect(await refused({ ...bot, ...shelf }, { memory: { name: 'talks' } })).toMatchObject({ type, message });
});

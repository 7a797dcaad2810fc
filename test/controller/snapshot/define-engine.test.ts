import type { EngineAgentDefinition } from '../../../src/api/snapshot.ts';
import { built, model, refused, type Shelf } from './shelf.ts';

const engine = { type: 'langchain', address: { value: 'http://engine' } };
const models = { default: model };
const bot = (more: object = {}, executionEngine: object = { name: 'langchain' }) => ({
  bot: { prompt: 'Be brief.', executionEngine, ...more },
});

async function definitionOf(shelf: Shelf) {
  const { agents, definitions } = await built(shelf);
  const plan = agents['bot'];
  return { plan, definition: definitions[plan?.definition ?? ''] as EngineAgentDefinition };
}

describe('an agent of an execution engine', () => {
  test('is the engine’s: it is told of the model and of parameters with a literal value only', async () => {
    const outputSchema = { type: 'object' };
    const { plan, definition } = await definitionOf({
      models,
      executionengines: { langchain: engine },
      configMaps: { 'default/c': { k: 'v' } },
      agents: bot({
        description: 'A bot',
        outputSchema,
        parameters: [
          { name: 'city', value: 'Oslo' },
          { name: 'mood', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
        ],
        tools: [{ name: 'noop' }],
      }),
    });
    expect(plan).toMatchObject({ type: 'agent', name: 'bot', model: 'langchain', hasEngine: true });
    expect(definition).toMatchObject({
      kind: 'engine-agent',
      namespace: 'default',
      name: 'bot',
      prompt: { text: 'Be brief.' },
      tools: [{ name: 'noop' }],
      outputSchema,
      engine: {
        type: 'engine',
        namespace: 'default',
        name: 'langchain',
        address: { value: 'http://engine' },
        protocol: 'execute',
        model: { namespace: 'default', name: 'default', apiKey: { value: 'k' } },
        description: 'A bot',
        parameters: [{ name: 'city', value: 'Oslo' }],
      },
    });
  });

  test('may have it in another namespace, where its address is read', async () => {
    const { definition } = await definitionOf({
      models,
      executionengines: {
        'ai/langchain': { ...engine, address: { valueFrom: { serviceRef: { name: 'engine' } } } },
      },
      services: { 'ai/engine': [{ port: 8000 }] },
      agents: bot({}, { name: 'langchain', namespace: 'ai' }),
    });
    expect(definition.engine).toMatchObject({
      namespace: 'ai',
      address: { value: 'http://engine.ai.svc.cluster.local:8000' },
      model: { namespace: 'default' },
    });
  });

  test.each<[string, Shelf]>([
    ['its type', { executionengines: { langchain: { ...engine, type: 'a2a' } } }],
    [
      'an annotation',
      {
        executionengines: { langchain: engine },
        annotations: { langchain: { 'ark.mckinsey.com/engine-protocol': 'a2a' } },
      },
    ],
  ])('speaks A2A where %s says so', async (_, shelf) => {
    const { definition } = await definitionOf({ models, agents: bot(), ...shelf });
    expect(definition.engine).toMatchObject({ type: 'engine', protocol: 'a2a' });
  });
});

const a2a = { name: 'a2a' };
const discovered = {
  bot: { 'a2a.server/address': 'http://discovered/', 'a2a.server/name': 'poet' },
};

test('an agent of an A2A server needs no Model, and has the server’s headers, read beside the agent', async () => {
  const secretKeyRef = { name: 'keys', key: 'a2a' };
  const { plan, definition } = await definitionOf({
    a2aservers: {
      poet: {
        address: { value: 'http://poet' },
        headers: [{ name: 'X-Token', value: { valueFrom: { secretKeyRef } } }],
      },
    },
    annotations: discovered,
    agents: bot({}, a2a),
  });
  // The address is told by Events, and only where it is no secret.
  const told = { server: 'poet', address: 'http://poet' };
  expect(plan).toMatchObject({ model: 'poet', hasEngine: true, a2a: told });
  expect(definition.engine).toEqual({
    type: 'a2a',
    namespace: 'default',
    name: 'poet',
    address: { value: 'http://poet' },
    headers: [{ name: 'X-Token', value: { secret: { namespace: 'default', ...secretKeyRef } } }],
  });
});

const making = 'unable to make agent default/bot, error:';

test.each<[string, Shelf, string, string]>([
  [
    'of an engine that is not there',
    { models, agents: bot() },
    'DefinitionNotFound',
    `${making}execution engine langchain not found in namespace default: executionengines.ark.mckinsey.com "langchain" not found`,
  ],
  [
    'of an engine that is nowhere',
    {
      models,
      agents: bot(),
      executionengines: { langchain: { ...engine, address: { valueFrom: { serviceRef: { name: 'x' } } } } },
    },
    'DefinitionNotFound',
    `${making}failed to resolve execution engine address: failed to get service default/x: services "x" not found`,
  ],
  [
    'of an engine without an address',
    { models, agents: bot(), executionengines: { langchain: { ...engine, address: {} } } },
    'DefinitionInvalid',
    `${making}execution engine default/langchain: failed to resolve Address: value source must have either value or valueFrom specified`,
  ],
  [
    'of an engine, without a Model',
    { agents: bot(), executionengines: { langchain: engine } },
    'DefinitionNotFound',
    `${making}failed to load model for agent default/bot: models.ark.mckinsey.com "default" not found`,
  ],
  [
    'of no A2A server',
    { agents: bot({}, a2a) },
    'DefinitionInvalid',
    `${making}A2A agent missing a2a.server/address annotation`,
  ],
  [
    'of a nameless A2A server',
    { agents: bot({}, a2a), annotations: { bot: { 'a2a.server/address': 'http://x' } } },
    'DefinitionInvalid',
    `${making}A2A agent missing a2a.server/name annotation`,
  ],
  [
    'of an A2A server that went away',
    { agents: bot({}, a2a), annotations: discovered },
    'DefinitionNotFound',
    `${making}A2A agent execution failed: unable to get A2AServer default/poet: a2aservers.ark.mckinsey.com "poet" not found`,
  ],
])('an agent %s is refused', async (_, shelf, type, message) => {
  expect(await refused(shelf)).toMatchObject({ type, message });
});

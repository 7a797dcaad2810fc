import type { AgentDefinition } from '../../../src/api/snapshot.ts';
import { built, model, refused, type Shelf } from './shelf.ts';

const notFound = 'not found';
const mcp = { type: 'mcp', mcp: { mcpServerRef: { name: 'server' }, toolName: 'get_weather' } };
const server = { address: { value: 'http://mcp/v1' }, transport: 'http' };
const http = { type: 'http', http: { url: 'http://find' } };
const custom = (name: string, more: object = {}) => ({ type: 'custom', name, ...more });

/** What the agent `bot` becomes that has these tools. */
async function bot(tools: readonly object[], shelf: Shelf = {}, query: object = {}) {
  const { agents, definitions } = await built(
    { models: { default: model }, agents: { bot: { tools } }, ...shelf },
    query,
  );
  const plan = agents['bot'];
  return { plan, ...(definitions[plan?.definition ?? ''] as AgentDefinition) };
}

describe('an MCP tool', () => {
  test('is its server’s: address, transport and time are the server’s, names and description the Tool’s', async () => {
    const { tools } = await bot([custom('weather')], {
      tools: { weather: { ...mcp, inputSchema: { properties: { city: { type: 'string' } } } } },
      mcpservers: { server: { ...server, transport: 'sse', timeout: '5s' } },
    });
    expect(tools).toEqual([
      {
        type: 'mcp',
        name: 'weather',
        description: 'Custom tool: weather',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        server: {
          namespace: 'default',
          name: 'server',
          transport: 'sse',
          address: { value: 'http://mcp/v1' },
          headers: [],
          timeoutMs: 5_000,
        },
        toolName: 'get_weather',
        repeatable: true,
      },
    ]);
  });

  test('of a server elsewhere has its address read there, and its headers beside the Tool', async () => {
    const secretKeyRef = { name: 'keys', key: 'mcp' };
    const { tools } = await bot([custom('weather')], {
      tools: {
        weather: {
          ...mcp,
          mcp: { mcpServerRef: { name: 'server', namespace: 'shared' }, toolName: 'w' },
          description: 'Weather by city',
          annotations: { idempotentHint: false },
        },
      },
      mcpservers: {
        'shared/server': {
          ...server,
          address: { valueFrom: { serviceRef: { name: 'mcp', port: 'http', path: 'mcp/' } } },
          headers: [{ name: 'X-Key', value: { valueFrom: { secretKeyRef } } }],
        },
      },
      services: { 'shared/mcp': [{ name: 'http', port: 8080 }] },
    });
    expect(tools).toMatchObject([
      {
        description: 'Weather by city',
        repeatable: false,
        server: {
          namespace: 'shared',
          address: { value: 'http://mcp.shared.svc.cluster.local:8080/mcp' },
          headers: [{ name: 'X-Key', value: { secret: { namespace: 'default', ...secretKeyRef } } }],
        },
      },
    ]);
  });

  test('is asked directly, too', async () => {
    const snapshot = await built(
      { tools: { weather: mcp }, mcpservers: { server } },
      { targets: [{ type: 'tool', name: 'weather' }] },
    );
    const [target] = snapshot.targets;
    expect(target && 'definition' in target && snapshot.definitions[target.definition]).toMatchObject({
      kind: 'tool',
      tool: { type: 'mcp', toolName: 'get_weather' },
    });
  });
});

describe('an HTTP tool', () => {
  const using = (more: object, query?: object) =>
    bot(
      [custom('find')],
      { tools: { find: { type: 'http', http: { url: 'http://find', ...more } } } },
      query,
    );

  test('is as it was written, but for its Secrets, which stay where they are', async () => {
    const secret = { namespace: 'default', name: 'keys', key: 'find' };
    const fromSecret = { valueFrom: { secretKeyRef: { name: 'keys', key: 'find' } } };
    const parameters = [
      { name: 'token', ...fromSecret },
      { name: 'lang', value: 'no' },
    ];
    const written = {
      method: 'POST',
      timeout: '5s',
      headers: [{ name: 'X-Key', value: fromSecret }],
      body: '{{.token}}',
      bodyParameters: parameters,
    };
    expect((await using(written)).tools).toEqual([
      {
        type: 'http',
        name: 'find',
        description: 'HTTP request to http://find',
        parameters: { type: 'object', properties: {} },
        url: 'http://find',
        method: 'POST',
        timeoutMs: 5_000,
        headers: [{ name: 'X-Key', value: { secret } }],
        body: '{{.token}}',
        bodyParameters: { token: { secret }, lang: { value: 'no' } },
        repeatable: true,
      },
    ]);
  });

  test('that must not be repeated says so', async () => {
    const { tools } = await bot([custom('find')], {
      tools: { find: { ...http, annotations: { idempotentHint: false } } },
    });
    expect(tools).toMatchObject([{ repeatable: false }]);
  });

  test('may be given parameters of the Query, in its headers, which are no templates, and its body', async () => {
    const valueFrom = { queryParameterRef: { name: 'city' } };
    const written = {
      headers: [
        { name: 'X-City', value: { valueFrom } },
        { name: 'X-Text', value: { value: '{{.city}}' } },
      ],
      bodyParameters: [{ name: 'city', valueFrom }],
    };
    const { tools } = await using(written, { parameters: [{ name: 'city', value: 'Oslo' }] });
    expect(tools).toMatchObject([
      {
        headers: [
          { name: 'X-City', value: { value: 'Oslo' } },
          { name: 'X-Text', value: { value: '{{.city}}' } },
        ],
        bodyParameters: { city: { value: 'Oslo' } },
      },
    ]);
  });
});

/** Contract section 4.8, for tools of both types. */
describe.each([
  ['http', http, 'HTTP request to http://find'],
  ['mcp', mcp, 'Custom tool: find'],
])('of a tool of type %s the model is told', (_, tool, otherwise) => {
  const faceOf = async (spec: object, annotations: Record<string, string> = {}) => {
    const shelf = { tools: { find: { ...tool, ...spec } }, mcpservers: { server } };
    const { tools } = await bot([custom('find')], { ...shelf, annotations: { find: annotations } });
    return tools[0];
  };

  test.each([
    ['what its description says', { description: 'Finds' }, { description: 'annotated' }, 'Finds'],
    ['what its annotation says', {}, { description: 'annotated' }, 'annotated'],
    ['what it is', {}, { other: 'annotated' }, otherwise],
  ])('%s', async (__, spec, annotations, description) => {
    expect(await faceOf(spec, annotations)).toMatchObject({ name: 'find', description });
  });

  const q = { properties: { q: { type: 'string' } }, required: ['q'] };
  test.each([
    ['no arguments, where it says nothing of them', undefined, { type: 'object', properties: {} }],
    ['its arguments, which are an object', q, { type: 'object', ...q }],
    [
      'its own schema',
      { type: 'object', minProperties: 1 },
      { type: 'object', properties: {}, minProperties: 1 },
    ],
  ])('%s', async (__, inputSchema, parameters) => {
    expect((await faceOf({ inputSchema }))?.parameters).toEqual(parameters);
  });
});

describe('filters', () => {
  test.each<[string, readonly object[], readonly string[] | undefined]>([
    ['of jq are kept in their order', [jq('.a'), jq('.b')], ['.a', '.b']],
    ['that say nothing are none', [jq('')], undefined],
    ['of other names are none', [{ name: 'awk', value: '1' }], undefined],
    ['are those that are left', [{ name: 'awk', value: '1' }, jq(''), jq('.a')], ['.a']],
  ])('%s', async (_, functions, filters) => {
    const { tools } = await bot([custom('find', { functions })], { tools: { find: http } });
    expect(tools[0]?.filters).toEqual(filters);
  });
});

function jq(value: string) {
  return { name: 'jq', value };
}

describe('tools that are forgiven', () => {
  test.each<[string, object, object, readonly string[] | undefined]>([
    ['none', {}, {}, undefined],
    ['one the agent forgives', { onError: 'continue' }, {}, ['find']],
    ['one that says so itself', {}, { onError: 'continue' }, ['find']],
    ['none, where the agent knows better', { onError: 'fail' }, { onError: 'continue' }, undefined],
  ])('%s', async (_, entry, tool, forgiven) => {
    const { plan } = await bot([custom('find', entry)], { tools: { find: { ...http, ...tool } } });
    expect(plan?.forgiven).toEqual(forgiven);
  });

  test('are known by the name the model calls them by', async () => {
    const { plan, tools } = await bot([{ name: 'terminate_team', onError: 'continue' }]);
    expect(tools).toMatchObject([{ name: 'terminate_team', builtIn: 'terminate' }]);
    expect(plan?.forgiven).toEqual(['terminate_team']);
  });
});

test('of several entries of one name, the last counts', async () => {
  const { plan, tools } = await bot(
    [
      custom('find', { functions: [jq('.a')], onError: 'continue' }),
      custom('find', { description: 'Finds' }),
    ],
    { tools: { find: http } },
  );
  expect(tools).toMatchObject([{ name: 'find', description: 'Finds' }]);
  expect(tools[0]).not.toHaveProperty('filters');
  expect(plan).not.toHaveProperty('forgiven');
});

test('the Model of another namespace has its values there', async () => {
  const apiKey = { valueFrom: { secretKeyRef: { name: 'keys', key: 'far' } } };
  const far = { ...model, config: { openai: { baseUrl: { value: 'http://far' }, apiKey } } };
  const snapshot = await built({
    models: { 'ai/far': far },
    agents: { bot: { modelRef: { name: 'far', namespace: 'ai' } } },
  });
  const plan = snapshot.agents['bot'];
  expect(plan?.model).toBe('ai/far');
  expect(snapshot.definitions[plan?.definition ?? '']).toMatchObject({
    model: {
      namespace: 'ai',
      name: 'far',
      apiKey: { secret: { namespace: 'ai', name: 'keys', key: 'far' } },
    },
  });
});

const making = 'unable to make agent default/bot, error:';
const ofQuery = (name: string) => ({ valueFrom: { queryParameterRef: { name } } });

const finding = (more: object): Shelf => ({
  models: { default: model },
  agents: { bot: { tools: [custom('find')] } },
  tools: { find: { type: 'http', http: { url: 'http://find', ...more } } },
});
const withTool = (more: Shelf): Shelf => ({
  models: { default: model },
  agents: { bot: { tools: [custom('weather')] } },
  tools: { weather: mcp },
  ...more,
});

test.each<[string, Shelf, string, string]>([
  [
    'without its server',
    withTool({}),
    'DefinitionNotFound',
    `${making}failed to load tool default/weather: failed to get MCPServer default/server: mcpservers.ark.mckinsey.com "server" ${notFound}`,
  ],
  [
    'of a server that may not be read',
    withTool({ mcpservers: { server }, forbidden: ['mcpservers default/server'] }),
    'AccessDenied',
    `${making}failed to load tool default/weather: failed to get MCPServer default/server: forbidden`,
  ],
  [
    'of a server that is nowhere',
    withTool({
      mcpservers: { server: { ...server, address: { valueFrom: { serviceRef: { name: 'mcp' } } } } },
    }),
    'DefinitionNotFound',
    `${making}failed to load tool default/weather: failed to resolve address of MCPServer default/server: failed to get service default/mcp: services "mcp" ${notFound}`,
  ],
  [
    'of a server without an address',
    withTool({ mcpservers: { server: { ...server, address: {} } } }),
    'DefinitionInvalid',
    `${making}failed to load tool default/weather: MCPServer default/server: failed to resolve Address: value source must have either value or valueFrom specified`,
  ],
  [
    'with a header from a ConfigMap that is not there',
    withTool({
      mcpservers: {
        server: {
          ...server,
          headers: [{ name: 'X', value: { valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } } }],
        },
      },
    }),
    'DefinitionNotFound',
    `${making}failed to load tool default/weather: failed to resolve header X: failed to get ConfigMap c: configmaps "c" ${notFound}`,
  ],
  [
    'with a body parameter from a ConfigMap that is not there',
    withTool({
      tools: {
        weather: {
          type: 'http',
          http: {
            url: 'http://find',
            bodyParameters: [{ name: 'p', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }],
          },
        },
      },
    }),
    'DefinitionNotFound',
    `${making}failed to load tool default/weather: failed to resolve body parameters: failed to resolve parameter p: failed to get ConfigMap c: configmaps "c" ${notFound}`,
  ],
  [
    'with a header from a parameter the Query lacks',
    finding({ headers: [{ name: 'X', value: ofQuery('city') }] }),
    'ValueInvalid',
    `${making}failed to load tool default/find: failed to resolve header X: parameter city not found in the Query`,
  ],
  [
    'with a body from a parameter the Query lacks',
    finding({ bodyParameters: [{ name: 'where', ...ofQuery('city') }] }),
    'ValueInvalid',
    `${making}failed to load tool default/find: failed to resolve body parameters: failed to resolve parameter where: parameter city not found in the Query`,
  ],
])('a tool %s is no tool', async (_, shelf, type, message) => {
  expect(await refused(shelf)).toMatchObject({ type, message });
});

test('Events are told what every tool is, and what its provider calls the model', async () => {
  const filtered = custom('some', { functions: [{ name: 'jq', value: '.a' }] });
  const tools = [custom('weather'), custom('find'), filtered, { type: 'built-in', name: 'noop' }];
  const shelf = { tools: { weather: mcp, find: http, some: http }, mcpservers: { server } };
  expect((await bot(tools, shelf)).plan).toMatchObject({
    model: 'default',
    provider: 'gpt',
    tools: { weather: 'mcp', find: 'custom', some: 'filtered', noop: 'builtin' },
  });

  const valueFrom = { secretKeyRef: { name: 'keys', key: 'model' } };
  const secretive = { ...model, model: { valueFrom } };
  expect((await bot([], { models: { default: secretive } })).plan).not.toHaveProperty('provider');
});

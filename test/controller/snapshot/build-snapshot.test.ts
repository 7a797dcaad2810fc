import type { AgentDefinition, QueriedDefinition, Snapshot } from '../../../src/api/snapshot.ts';
import type { Shelf } from './shelf.ts';
import { built, model, refused } from './shelf.ts';

const models = { default: model };
const ask = (type: string, name: string): object => ({ targets: [{ type, name }] });

const questionOf = (snapshot: Snapshot): unknown => snapshot.definitions[snapshot.question];

const agentOf = (snapshot: Snapshot, name: string): AgentDefinition =>
  snapshot.definitions[snapshot.agents[name]?.definition ?? ''] as AgentDefinition;

describe('a snapshot', () => {
  test.each([
    ['as it was written', 'How is Oslo?', [], undefined],
    ['filled in', 'How is {{.city}}?', [{ name: 'city', value: 'Oslo' }], 'How is {{.city}}?'],
  ])(
    'keeps a question that is asked %s once, and for evaluators as it was written',
    async (_, input, parameters, kept) => {
      const shelf = {
        models,
        agents: { bot: {} },
        evaluators: { judge: { address: { value: 'http://judge' } } },
      };
      const snapshot = await built(shelf, { input, parameters, evaluators: [{ name: 'judge' }] });
      const queried = snapshot.definitions[snapshot.evaluation?.queried ?? ''] as QueriedDefinition;
      expect(queried.query.spec.input).toBe(kept);
      expect(queried.input).toBe(kept === undefined ? snapshot.question : undefined);
    },
  );

  test('holds an agent, its model and its tools, ready to use', async () => {
    const snapshot = await built({
      models,
      agents: {
        bot: { prompt: 'Be brief.', tools: [{ type: 'custom', name: 'find' }, { name: 'terminate' }] },
      },
      tools: { find: { type: 'http', http: { url: 'http://find/{q}', timeout: '5s' } } },
    });

    expect(snapshot.targets).toEqual([{ type: 'agent', name: 'bot' }]);
    expect(snapshot.agents['bot']).toMatchObject({ name: 'bot', model: 'default' });
    expect(snapshot.timeoutMs).toBe(300_000);
    expect(agentOf(snapshot, 'bot')).toMatchObject({
      prompt: { text: 'Be brief.' },
      model: { namespace: 'default', name: 'default', type: 'openai', baseUrl: { value: 'http://llm/v1' } },
      tools: [
        {
          type: 'http',
          name: 'find',
          description: 'HTTP request to http://find/{q}',
          method: 'GET',
          timeoutMs: 5_000,
          repeatable: true,
          parameters: { type: 'object', properties: {} },
        },
        { type: 'built-in', builtIn: 'terminate', name: 'terminate' },
      ],
      access: { namespace: 'default', serviceAccount: 'default' },
    });
  });

  test('names equal definitions by equal hashes, whatever order their fields were written in', async () => {
    const one = await built({ models, agents: { bot: { prompt: 'p', description: 'd' } } });
    const other = await built({ models, agents: { bot: { description: 'd', prompt: 'p' } } });

    expect(one).toEqual(other);
    expect(one.agents['bot']?.definition).toMatch(/^[0-9a-f]{16}$/);
  });

  test('asks the targets of the spec first, then what the selector matches, by kind and name', async () => {
    const snapshot = await built(
      {
        models: { default: model, brain: model },
        agents: { zoe: {}, bot: {}, amy: {}, 'elsewhere/amy': {} },
        teams: { crew: { strategy: 'sequential', members: [{ name: 'bot' }] } },
        tools: { axe: { type: 'http', http: { url: 'http://axe' } } },
        labels: {
          zoe: { team: 'x' },
          amy: { team: 'x' },
          crew: { team: 'x' },
          brain: { team: 'y' },
          axe: { team: 'x' },
          bot: {},
        },
      },
      { selector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['x', 'y'] }] } },
    );

    expect(snapshot.targets.map(({ type, name }) => `${type}/${name}`)).toEqual([
      'agent/bot',
      'agent/amy',
      'agent/zoe',
      'team/crew',
      'model/brain',
      'tool/axe',
    ]);
    // What Events count (contract section 6.1).
    expect(snapshot.query.named).toBe(1);
  });

  test('asks twice who is named and selected', async () => {
    const shelf = { models, agents: { bot: {} }, labels: { bot: { team: 'x' } } };
    const snapshot = await built(shelf, { selector: { matchLabels: { team: 'x' } } });
    expect(snapshot.targets).toEqual([
      { type: 'agent', name: 'bot' },
      { type: 'agent', name: 'bot' },
    ]);
    expect(snapshot.query.named).toBe(1);
  });

  test('is read with the rights of the service account that the Query names', async () => {
    const snapshot = await built({ models, agents: { bot: {} } }, { serviceAccount: 'auditor' });
    const access = { namespace: 'default', serviceAccount: 'auditor' };
    expect(questionOf(snapshot)).toMatchObject({ access });
    expect(agentOf(snapshot, 'bot')).toMatchObject({ access });
  });

  test.each([
    ['by name', { evaluators: [{ name: 'judge' }] }],
    ['by label', { evaluatorSelector: { matchLabels: { judges: 'all' } } }],
  ])('finds everything beside who names it, and its evaluators %s', async (_, judged) => {
    const city = { name: 'city', valueFrom: { configMapKeyRef: { name: 'settings', key: 'city' } } };
    const header = { name: 'X-City', value: { valueFrom: city.valueFrom } };
    const address = { valueFrom: { serviceRef: { name: 'far' } } };
    const find = { url: 'http://find', headers: [header], body: '{{.city}}', bodyParameters: [city] };
    const chat = { mcpServerRef: { name: 'server' }, toolName: 'chat' };
    const snapshot = await built(
      {
        configMaps: { 'own/settings': { city: 'Oslo' } },
        services: { 'own/far': [{ port: 80 }] },
        models: { 'own/default': model },
        agents: {
          'own/bot': { prompt: '{{.city}}', parameters: [city], tools: [{ name: 'find' }, { name: 'chat' }] },
          'own/out': { executionEngine: { name: 'engine' } },
          'own/away': { executionEngine: { name: 'a2a' } },
        },
        annotations: { away: { 'a2a.server/name': 'server', 'a2a.server/address': 'http://far' } },
        teams: {
          'own/crew': { strategy: 'selector', members: [{ name: 'bot' }, { name: 'inner', type: 'team' }] },
          'own/inner': { strategy: 'sequential', members: [{ name: 'out' }, { name: 'away' }] },
        },
        tools: { 'own/find': { type: 'http', http: find }, 'own/chat': { type: 'mcp', mcp: chat } },
        mcpservers: { 'own/server': { address, headers: [header] } },
        a2aservers: { 'own/server': { address, headers: [header] } },
        executionengines: { 'own/engine': { type: 'langchain', address } },
        memories: { 'own/default': { address } },
        evaluators: { 'own/judge': { address } },
        labels: { judge: { judges: 'all' } },
      },
      {
        input: '{{.city}}',
        parameters: [city],
        targets: ['team/crew', 'agent/bot', 'model/default', 'tool/find'].map((target) => {
          const [type, name] = target.split('/');
          return { type, name };
        }),
        ...judged,
      },
      { namespace: 'own' },
    );
    expect(snapshot).toMatchObject({
      memoryName: 'default',
      evaluation: { evaluators: [{ name: 'judge' }] },
    });
    expect(JSON.stringify(snapshot)).not.toContain('"namespace":"default"');
  });

  test('asks nobody where the selector matches nothing', async () => {
    const snapshot = await built({}, { targets: [], selector: { matchLabels: { a: 'b' } } });
    expect(snapshot.targets).toEqual([]);
  });

  test('reads ConfigMaps and Services now and leaves Secrets where they are', async () => {
    const snapshot = await built({
      agents: { bot: { modelRef: { name: 'far', namespace: 'ai' } } },
      configMaps: { 'ai/settings': { name: 'gpt-4o' } },
      services: {
        'ai/gateway': [
          { name: 'grpc', port: 1 },
          { name: 'http', port: 8080 },
        ],
      },
      models: {
        'ai/far': {
          type: 'openai',
          model: { valueFrom: { configMapKeyRef: { name: 'settings', key: 'name' } } },
          config: {
            openai: {
              baseUrl: { valueFrom: { serviceRef: { name: 'gateway', port: '8080', path: 'v1/' } } },
              apiKey: { valueFrom: { secretKeyRef: { name: 'keys', key: 'openai' } } },
            },
          },
        },
      },
    });

    expect(agentOf(snapshot, 'bot').model).toMatchObject({
      namespace: 'ai',
      model: { value: 'gpt-4o' },
      baseUrl: { value: 'http://gateway.ai.svc.cluster.local:8080/v1' },
      apiKey: { secret: { namespace: 'ai', name: 'keys', key: 'openai' } },
    });
  });

  test('takes of a Bedrock model what is there, and only that', async () => {
    const bedrock = {
      region: { value: 'eu-west-1' },
      accessKeyId: { valueFrom: { configMapKeyRef: { name: 'gone', key: 'k' } } },
      secretAccessKey: { valueFrom: { secretKeyRef: { name: 'aws', key: 'secret' } } },
      modelArn: { value: '' },
      maxTokens: 100,
      temperature: '0.5',
      properties: { top_k: { value: '7' } },
    };
    const claude = { type: 'bedrock', model: { value: 'claude' }, config: { bedrock } };
    const snapshot = await built({ agents: { bot: {} }, models: { default: claude } });
    expect(agentOf(snapshot, 'bot').model).toEqual({
      type: 'bedrock',
      namespace: 'default',
      name: 'default',
      model: { value: 'claude' },
      region: { value: 'eu-west-1' },
      secretAccessKey: { secret: { namespace: 'default', name: 'aws', key: 'secret' } },
      maxTokens: 100,
      temperature: '0.5',
      properties: { top_k: { value: '7' } },
    });
  });

  test('renders texts whose parameters are known, and no others', async () => {
    const parameters = [
      { name: 'city', value: 'Oslo' },
      { name: 'mood', valueFrom: { configMapKeyRef: { name: 'moods', key: 'today' } } },
    ];
    const secret = { name: 'code', valueFrom: { secretKeyRef: { name: 'codes', key: 'c' } } };
    const shelf: Shelf = {
      models,
      configMaps: { 'default/moods': { today: 'sunny' } },
      agents: {
        bot: {
          prompt: 'For {{.who}} in {{.where}}',
          parameters: [
            { name: 'who', value: 'Ann' },
            { name: 'where', valueFrom: { queryParameterRef: { name: 'city' } } },
          ],
        },
      },
    };
    const input = '{{.city}} is {{.mood}}';

    const plain = await built(shelf, { input, parameters });
    expect(questionOf(plain)).toMatchObject({ question: { text: 'Oslo is sunny' } });
    expect(agentOf(plain, 'bot').prompt).toEqual({ text: 'For Ann in Oslo' });

    const secretive = await built(shelf, {
      input: `${input} {{.code}}`,
      parameters: [...parameters, secret],
    });
    expect(questionOf(secretive)).toMatchObject({
      question: { template: `${input} {{.code}}`, parameters: { code: { secret: { name: 'codes' } } } },
    });

    const verbatim = await built({ ...shelf, agents: { bot: {} } }, { input });
    expect(questionOf(verbatim)).toMatchObject({ question: { text: input } });
  });

  test.each([
    ['and is left as it is, where it has none', [], 'In {{.city}}'],
    ['of which that of the Query is none', [{ name: 'who', value: 'Ann' }], 'In <no value>'],
  ])('knows a prompt by its agent’s own parameters, %s', async (_, parameters, text) => {
    const snapshot = await built(
      { models, agents: { bot: { prompt: 'In {{.city}}', parameters } } },
      { parameters: [{ name: 'city', value: 'Oslo' }] },
    );
    expect(agentOf(snapshot, 'bot').prompt).toEqual({ text });
  });

  test('gives every strategy what it decides by', async () => {
    const members = [{ name: 'bot' }, { name: 'amy', type: 'agent' }];
    const snapshot = await built(
      {
        models: { default: model, chooser: model },
        agents: { bot: { description: 'a bot' }, amy: {} },
        teams: {
          all: {
            strategy: 'sequential',
            maxTurns: 2,
            members: ['robin', 'long', 'graph', 'pick', 'vote', 'par'].map((name) => ({
              name,
              type: 'team',
            })),
          },
          long: { strategy: 'round-robin', members },
          robin: { strategy: 'round-robin', members, maxTurns: 0 },
          graph: { strategy: 'graph', members, graph: { edges: [{ from: 'bot', to: 'amy' }] } },
          pick: {
            strategy: 'selector',
            members: [...members, { name: 'par', type: 'team' }],
            selector: { selectorPrompt: 'Pick', model: 'chooser' },
          },
          vote: { strategy: 'selector', members, maxTurns: 4 },
          par: { strategy: 'parallel', members, description: 'all at once' },
        },
      },
      ask('team', 'all'),
    );

    expect(snapshot.teams).toMatchObject({
      all: { strategy: 'sequential' },
      robin: { strategy: 'round-robin', maxTurns: 1 },
      long: { strategy: 'round-robin', maxTurns: 30 },
      graph: { strategy: 'graph', maxTurns: 30, edges: { bot: 'amy' } },
      pick: { strategy: 'selector', maxTurns: 30, model: 'chooser' },
      vote: { strategy: 'selector', maxTurns: 4, model: 'default' },
      par: { strategy: 'parallel' },
    });
    expect(snapshot.teams['all']).not.toHaveProperty('maxTurns');
    const { pick } = snapshot.teams;
    expect(pick?.strategy === 'selector' && snapshot.definitions[pick.definition]).toMatchObject({
      prompt: 'Pick',
      model: { name: 'chooser' },
      members: [
        { name: 'bot', description: 'a bot' },
        { name: 'amy' },
        { name: 'par', description: 'all at once' },
      ],
    });
  });

  test('holds a shared member once', async () => {
    const snapshot = await built(
      {
        models,
        agents: { bot: {} },
        teams: {
          top: {
            strategy: 'sequential',
            members: [{ name: 'a', type: 'team' }, { name: 'b', type: 'team' }, { name: 'bot' }],
          },
          a: { strategy: 'sequential', members: [{ name: 'bot' }] },
          b: { strategy: 'sequential', members: [{ name: 'a', type: 'team' }, { name: 'bot' }] },
        },
      },
      ask('team', 'top'),
    );

    expect(Object.keys(snapshot.teams).toSorted()).toEqual(['a', 'b', 'top']);
    expect(Object.keys(snapshot.agents)).toEqual(['bot']);
  });

  test('takes names that mean something to JavaScript for what they are', async () => {
    const snapshot = await built({ models, agents: { constructor: {} } }, ask('agent', 'constructor'));
    expect(snapshot.agents['constructor']).toMatchObject({ type: 'agent', model: 'default' });
  });
});

const bot = { agents: { bot: {} }, models };
const notFound = 'not found';
const gone = { valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } };

test.each<[string, Shelf, object, string, string]>([
  [
    'an unknown agent',
    {},
    {},
    'DefinitionNotFound',
    `unable to get default/bot, error:agents.ark.mckinsey.com "bot" ${notFound}`,
  ],
  [
    'an unknown team',
    {},
    ask('team', 't'),
    'DefinitionNotFound',
    `unable to fetch team default/t, error:teams.ark.mckinsey.com "t" ${notFound}`,
  ],
  [
    'an unknown model',
    {},
    ask('model', 'm'),
    'DefinitionNotFound',
    `unable to get default/m, error:models.ark.mckinsey.com "m" ${notFound}`,
  ],
  [
    'an unknown tool',
    {},
    ask('tool', 'x'),
    'DefinitionNotFound',
    `unable to get tool default/x, error:tools.ark.mckinsey.com "x" ${notFound}`,
  ],
  [
    'an agent without its model',
    { agents: { bot: {} } },
    {},
    'DefinitionNotFound',
    `unable to make agent default/bot, error:failed to load model for agent default/bot: models.ark.mckinsey.com "default" ${notFound}`,
  ],
  [
    'an agent without its tool',
    { models, agents: { bot: { tools: [{ type: 'custom', name: 'x' }] } } },
    {},
    'DefinitionNotFound',
    `unable to make agent default/bot, error:failed to load tool default/x: tools.ark.mckinsey.com "x" ${notFound}`,
  ],
  [
    'an agent that names a built-in tool there is not',
    { models, agents: { bot: { tools: [{ type: 'built-in', name: 'calculator' }] } } },
    {},
    'DefinitionInvalid',
    "unable to make agent default/bot, error:agent default/bot: tool[0]: unsupported built-in tool 'calculator': supported built-in tools are: noop, terminate",
  ],
  [
    'an agent whose Model says nothing of its provider',
    { models: { default: { ...model, config: {} } }, agents: { bot: {} } },
    {},
    'DefinitionInvalid',
    'unable to make agent default/bot, error:failed to load model for agent default/bot: model default/default: openai configuration is required for openai model type',
  ],
  [
    'an agent with a prompt that does not parse',
    { models, agents: { bot: { prompt: '{{nobody}}', parameters: [{ name: 'who', value: 'Ann' }] } } },
    {},
    'TemplateInvalid',
    'unable to make agent default/bot, error:agent default/bot prompt resolution failed: invalid template syntax in prompt: template: agent-prompt:1: function "nobody" not defined',
  ],
  [
    'a Model whose address is not there',
    { models: { m: { ...model, config: { openai: { ...model.config.openai, baseUrl: gone } } } } },
    ask('model', 'm'),
    'DefinitionNotFound',
    `unable to get default/m, error:failed to resolve OpenAI BaseURL: failed to get configMap default/c: configmaps "c" ${notFound}`,
  ],
  [
    'a Model with a property that is not there',
    {
      models: { m: { ...model, config: { openai: { ...model.config.openai, properties: { seed: gone } } } } },
    },
    ask('model', 'm'),
    'DefinitionNotFound',
    `unable to get default/m, error:failed to resolve OpenAI property seed: failed to get configMap default/c: configmaps "c" ${notFound}`,
  ],
  [
    'a built-in tool',
    {},
    ask('tool', 'noop'),
    'DefinitionNotFound',
    `unable to get tool default/noop, error:tools.ark.mckinsey.com "noop" ${notFound}`,
  ],
  [
    'a tool that does not say where it is',
    { tools: { x: { type: 'http' } } },
    ask('tool', 'x'),
    'DefinitionInvalid',
    'failed to create tool executor: tool default/x: http spec is required for http type',
  ],
  [
    'a team without its member',
    { teams: { t: { strategy: 'sequential', members: [{ name: 'bot' }] } } },
    ask('team', 't'),
    'DefinitionNotFound',
    `unable to make team default/t, error:failed to get agent bot for team t: agents.ark.mckinsey.com "bot" ${notFound}`,
  ],
  [
    'a team without the team in it',
    { teams: { t: { strategy: 'sequential', members: [{ name: 'u', type: 'team' }] } } },
    ask('team', 't'),
    'DefinitionNotFound',
    `unable to make team default/t, error:failed to get team u for team t: teams.ark.mckinsey.com "u" ${notFound}`,
  ],
  [
    'a team whose selector has no model',
    {
      ...bot,
      teams: { t: { strategy: 'selector', members: [{ name: 'bot' }], selector: { model: 'm' } } },
    },
    ask('team', 't'),
    'DefinitionNotFound',
    `unable to make team default/t, error:models.ark.mckinsey.com "m" ${notFound}`,
  ],
  [
    'a team of a strategy nobody knows',
    { teams: { t: { strategy: 'swarm', members: [{ name: 'bot' }] } } },
    ask('team', 't'),
    'DefinitionInvalid',
    "team default/t: unsupported strategy 'swarm': must be 'sequential', 'round-robin', 'selector', or 'graph'",
  ],
  [
    'a team of a member of another type',
    { teams: { t: { strategy: 'sequential', members: [{ name: 'm', type: 'model' }] } } },
    ask('team', 't'),
    'DefinitionInvalid',
    "team default/t: team member 0 has invalid type 'model': must be 'agent' or 'team'",
  ],
  [
    'a team without members',
    { teams: { t: { strategy: 'sequential', members: [] } } },
    ask('team', 't'),
    'TeamEmpty',
    'team default/t has no members configured',
  ],
  [
    'teams that contain each other',
    {
      teams: {
        a: { strategy: 'sequential', members: [{ name: 'b', type: 'team' }] },
        b: { strategy: 'sequential', members: [{ name: 'a', type: 'team' }] },
      },
    },
    ask('team', 'a'),
    'TeamCycle',
    'team default/a contains itself: a → b → a',
  ],
  [
    'what may not be read',
    { ...bot, forbidden: ['agents default/bot'] },
    {},
    'AccessDenied',
    'unable to get default/bot, error:forbidden',
  ],
  ['nobody', {}, { targets: [] }, 'QueryInvalid', 'at least one target or selector must be specified'],
  [
    'who may not be listed',
    { ...bot, forbidden: ['teams default'] },
    { selector: {} },
    'AccessDenied',
    'failed to resolve targets: failed to resolve selector: failed to list teams: forbidden',
  ],
  [
    'whom no operator of Kubernetes selects',
    bot,
    { selector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
    'QueryInvalid',
    '"Like" is not a valid label selector operator',
  ],
  [
    'more than can be asked at once',
    { models, agents: Object.fromEntries(Array.from({ length: 1_024 }, (_, n) => [`a${n}`, {}])) },
    { targets: [{ type: 'agent', name: 'a0' }], selector: {} },
    'QueryInvalid',
    'asks 1026 targets; at most 1024 are asked at once',
  ],
  [
    'with a parameter from a ConfigMap that lacks the key',
    { ...bot, configMaps: { 'default/c': {} } },
    { parameters: [{ name: 'p', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }] },
    'ValueInvalid',
    'failed to resolve query input: failed to resolve parameters: failed to resolve parameter p: key k not found in ConfigMap c',
  ],
  [
    'with a parameter from a ConfigMap that is not there',
    bot,
    { parameters: [{ name: 'p', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }] },
    'DefinitionNotFound',
    'failed to resolve query input: failed to resolve parameters: failed to resolve parameter p: failed to get ConfigMap c: configmaps "c" not found',
  ],
  [
    'an agent that wants a parameter the Query lacks',
    {
      models,
      agents: {
        bot: {
          prompt: '{{.a}}',
          parameters: [{ name: 'a', valueFrom: { queryParameterRef: { name: 'b' } } }],
        },
      },
    },
    {},
    'ValueInvalid',
    'unable to make agent default/bot, error:agent default/bot prompt resolution failed: failed to resolve parameters: failed to resolve parameter a: parameter b not found in the Query',
  ],
  [
    'with a template that does not parse',
    bot,
    { input: '{{.a', parameters: [{ name: 'a', value: 'x' }] },
    'TemplateInvalid',
    'failed to resolve query input: invalid template syntax in input: template: query-input:1: unclosed action',
  ],
  [
    'a tool of an MCP server that is not there',
    { tools: { x: { type: 'mcp', mcp: { mcpServerRef: { name: 's' }, toolName: 't' } } } },
    ask('tool', 'x'),
    'DefinitionNotFound',
    'failed to create tool executor: failed to get MCPServer default/s: mcpservers.ark.mckinsey.com "s" not found',
  ],
  [
    'an agent of no A2A server',
    { models, agents: { bot: { executionEngine: { name: 'a2a' } } } },
    {},
    'DefinitionInvalid',
    'unable to make agent default/bot, error:A2A agent missing a2a.server/address annotation',
  ],
])('a Query that asks %s is refused', async (_, shelf, spec, type, message) => {
  expect(await refused(shelf, spec)).toMatchObject({ type, message });
});

test('only what may yet appear counts as missing', async () => {
  expect(await refused({})).toMatchObject({ missing: true });
  expect(await refused({ agents: { bot: {} } })).toMatchObject({ missing: true });
  expect(
    await refused({ teams: { t: { strategy: 'sequential', members: [] } } }, ask('team', 't')),
  ).not.toHaveProperty('missing');
});

test('a snapshot that no workflow could take is refused before one is started', async () => {
  const prompt = 'x'.repeat(2 * 1024 * 1024);
  expect(await refused({ models, agents: { bot: { prompt } } })).toMatchObject({ type: 'SnapshotTooLarge' });
});

/** Contract section 2, message by message, against a cluster of a few objects. */
import { webhooks } from '../../../src/controller/admission/webhooks.ts';
import { readFrom, stuck } from './shelf.ts';

const read = readFrom({
  objects: {
    'agents ns/ann': {},
    'agents ns/bob': { executionEngine: { name: 'a2a' } },
    'agents ns/out': { executionEngine: { name: 'langchain' } },
    'teams ns/crew': { strategy: 'sequential', members: [{ type: 'agent', name: 'ann' }] },
    'teams ns/inner': { strategy: 'sequential', members: [{ type: 'team', name: 'innermost' }] },
    'teams ns/innermost': { strategy: 'sequential', members: [{ type: 'team', name: 'me' }] },
    'teams ns/whirl': { strategy: 'sequential', members: [{ type: 'team', name: 'whirl' }] },
    'models ns/default': {},
    'models other/big': {},
    'tools ns/search': {},
    'evaluators ns/judge': {},
    'evaluators other/critic': {},
  },
  configMaps: { 'ns/settings': ['city'] },
  secrets: { 'ns/keys': ['token'] },
  services: { 'ns/far': [{ name: 'web', port: 80 }], 'ns/empty': [] },
  broken: ['agents ns/stuck', 'tools ns/stuck', 'secret ns/stuck'],
});

async function problemsOf(
  kind: string,
  spec: unknown,
  { namespace = 'ns', name = 'me' } = {},
): Promise<string[]> {
  const rules = webhooks.find((webhook) => webhook.kind.kind === kind)?.rules;
  const problems: string[] = [];
  for await (const problem of rules?.({ namespace, name, spec }, read) ?? []) problems.push(problem);
  return problems;
}

const token = { secretKeyRef: { name: 'keys', key: 'token' } };
const noSecret = { secretKeyRef: { name: 'none', key: 'token' } };
const noKey = { secretKeyRef: { name: 'keys', key: 'none' } };
const toAnn = { input: 'hi', targets: [{ type: 'agent', name: 'ann' }] };
const judgedTwice = (name: string) => ({ evaluators: [{ name }], evaluatorSelector: {} });
const query = (parameter: object) => ({ ...toAnn, parameters: [{ name: 'p', ...parameter }] });
const agent = (tool: object) => ({ tools: [{ type: 'custom', name: 'search' }, tool] });
const ann = { type: 'agent', name: 'ann' };
const team = (...members: object[]) => ({ strategy: 'sequential', members });
const graph = (...edges: object[]) => ({ strategy: 'graph', members: [ann], graph: { edges } });
const http = { url: 'https://example.com' };
const schema = (inputSchema: unknown) => ({ type: 'http', http, inputSchema });
const schemaTypes = 'object, array, string, number, integer, boolean, null';
const openai = { baseUrl: { value: 'http://x/v1' }, apiKey: { value: 'k' } };
const model = (fields: object, type = 'openai') => ({
  type,
  model: { value: 'm' },
  config: { [type]: { ...openai, ...fields } },
});
const address = { value: 'http://far' };
const service = (more: object) => ({ address: { valueFrom: { serviceRef: { name: 'far', ...more } } } });
const mcp = (value: object) => ({
  address,
  headers: [
    { name: 'Ok', value: { valueFrom: token } },
    { name: 'X', value },
  ],
});
const direct = { evaluator: { name: 'judge' }, config: { input: 'i', output: 'o' } };
const noModel = "model 'none' does not exist in namespace 'ns': models.ark.mckinsey.com \"none\" not found";

describe('the first problem is ARK’s', () => {
  test.each([
    // 2.1
    ['Query', query({ name: '' }), 'parameter[0]: name cannot be empty'],
    ['Agent', { parameters: [{ name: '', value: 'v' }] }, 'parameter[0]: name cannot be empty'],
    [
      'Query',
      query({ value: 'v', valueFrom: token }),
      "parameter[0] 'p': cannot specify both value and valueFrom",
    ],
    ['Query', query({ value: '' }), "parameter[0] 'p': must specify either value or valueFrom"],
    ['Query', query({ valueFrom: {} }), "parameter[0] 'p': valueFrom must specify exactly one source"],
    [
      'Query',
      query({ valueFrom: { serviceRef: { name: 'far' } } }),
      "parameter[0] 'p': valueFrom must specify exactly one source",
    ],
    [
      'Query',
      query({ valueFrom: { ...token, configMapKeyRef: { name: 'settings', key: 'city' } } }),
      "parameter[0] 'p': valueFrom must specify exactly one source",
    ],
    [
      'Query',
      query({ valueFrom: noSecret }),
      "parameter[0] 'p': secret 'none' does not exist in namespace 'ns': secrets \"none\" not found",
    ],
    [
      'Query',
      query({ valueFrom: noKey }),
      "parameter[0] 'p': key 'none' not found in secret 'keys' in namespace 'ns'",
    ],
    [
      'Query',
      query({ valueFrom: { configMapKeyRef: { name: 'none', key: 'k', optional: true } } }),
      "parameter[0] 'p': configMap 'none' does not exist in namespace 'ns': configmaps \"none\" not found",
    ],
    [
      'Agent',
      { parameters: [{ name: 'p', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none' } } }] },
      "parameter[0] 'p': key 'none' not found in configMap 'settings' in namespace 'ns'",
    ],
    // 2.2
    ['Query', { input: 'hi' }, 'at least one target or selector must be specified'],
    [
      'Query',
      { input: 'hi', targets: [ann, { type: 'agent', name: 'none' }] },
      "target[1] references agent 'none' does not exist in namespace 'ns': agents.ark.mckinsey.com \"none\" not found",
    ],
    [
      'Query',
      { input: 'hi', team: { name: 'none' } },
      "target[0] references team 'none' does not exist in namespace 'ns': teams.ark.mckinsey.com \"none\" not found",
    ],
    ['Query', { input: 'hi', target: { type: 'model', name: 'none' } }, `target[0] references ${noModel}`],
    [
      'Query',
      { input: 'hi', targets: [{ type: 'tool', name: 'none' }] },
      "target[0] references tool 'none' does not exist in namespace 'ns'",
    ],
    [
      'Query',
      { input: 'hi', targets: [{ type: 'prophet', name: 'x' }] },
      "target[0]: unsupported type 'prophet': supported types are: agent, team, model, tool",
    ],
    [
      'Query',
      { ...toAnn, evaluators: [{ name: 'judge' }], evaluatorSelector: {} },
      'cannot specify both evaluators and evaluatorSelector',
    ],
    [
      'Query',
      { ...toAnn, evaluators: [{ name: 'critic', namespace: 'other' }, { name: 'none' }] },
      "evaluator reference none: evaluator 'none' does not exist in namespace 'ns': evaluators.ark.mckinsey.com \"none\" not found",
    ],
    // 2.3
    [
      'Agent',
      { modelRef: { name: 'none', namespace: 'far' } },
      'model none not found in namespace far: models.ark.mckinsey.com "none" not found',
    ],
    [
      'Agent',
      { model: { name: 'big' } },
      'model big not found in namespace ns: models.ark.mckinsey.com "big" not found',
    ],
    // Only an A2A server answers without a model; other engines are told it.
    [
      'Agent',
      { executionEngine: { name: 'nowhere' }, modelRef: { name: 'none' } },
      'model none not found in namespace ns: models.ark.mckinsey.com "none" not found',
    ],
    ['Agent', agent({ type: 'built-in' }), 'tool[1]: built-in tools must specify a name'],
    ['Agent', agent({ type: 'built-in', name: '' }), 'tool[1]: built-in tools must specify a name'],
    [
      'Agent',
      agent({ type: 'built-in', name: 'hammer' }),
      "tool[1]: unsupported built-in tool 'hammer': supported built-in tools are: noop, terminate",
    ],
    ['Agent', agent({ type: 'custom' }), 'tool[1]: custom tools must specify a name'],
    [
      'Agent',
      agent({ type: 'custom', name: 'none' }),
      "tool[1]: tool 'none' does not exist in namespace 'ns'",
    ],
    ['Agent', agent({ name: 'none' }), "tool[1]: tool 'none' does not exist in namespace 'ns'"],
    [
      'Agent',
      agent({ type: 'power', name: 'x' }),
      "tool[1]: unsupported tool type 'power': supported types are: built-in, custom, mcp",
    ],
    // 2.4
    [
      'Team',
      { strategy: 'selector', members: [ann], selector: { model: 'none' } },
      'selector model none not found in namespace ns: models.ark.mckinsey.com "none" not found',
    ],
    ['Team', { strategy: 'graph', members: [ann] }, 'graph strategy requires graph configuration'],
    ['Team', graph(), 'graph strategy requires at least one edge'],
    ['Team', graph({ from: 'x', to: 'ann' }), "graph edge 0: 'from' member 'x' not found in team members"],
    ['Team', graph({ from: 'ann', to: 'x' }), "graph edge 0: 'to' member 'x' not found in team members"],
    [
      'Team',
      graph({ from: 'ann', to: 'ann' }, { from: 'ann', to: 'ann' }),
      "member 'ann' has more than one outgoing edge",
    ],
    [
      'Team',
      { strategy: 'vote', members: [ann] },
      "unsupported strategy 'vote': must be 'sequential', 'round-robin', 'selector', or 'graph'",
    ],
    ['Team', team(ann, { type: 'agent', name: 'me' }), "team member 1: team 'me' cannot reference itself"],
    [
      'Team',
      team({ type: 'agent', name: 'none' }),
      "team member 0 references agent: agent 'none' does not exist in namespace 'ns': agents.ark.mckinsey.com \"none\" not found",
    ],
    [
      'Team',
      team(ann, { type: 'team', name: 'none' }),
      "team member 1 references team: team 'none' does not exist in namespace 'ns': teams.ark.mckinsey.com \"none\" not found",
    ],
    [
      'Team',
      team({ type: 'crowd', name: 'x' }),
      "team member 0 has invalid type 'crowd': must be 'agent' or 'team'",
    ],
    [
      'Team',
      team(ann, { type: 'agent', name: 'out' }),
      "mixed teams are not allowed: team contains both internal and external agents. Team member 1: agent 'out' uses external execution engine 'langchain'",
    ],
    [
      'Team',
      team({ type: 'agent', name: 'out' }, { type: 'team', name: 'crew' }, { type: 'agent', name: 'bob' }),
      "mixed teams are not allowed: team contains both internal and external agents. Team member 0: agent 'out' uses external execution engine 'langchain'",
    ],
    [
      'Team',
      team(ann, { type: 'team', name: 'crew' }, { type: 'team', name: 'inner' }),
      "team member 2: team 'me' contains itself: me → inner → innermost → me",
    ],
    // 2.5
    ['Tool', schema('text'), 'invalid inputSchema: failed to parse inputSchema as JSON: it is not an object'],
    [
      'Tool',
      schema({ type: 'thing' }),
      `invalid inputSchema: invalid schema type 'thing': must be one of ${schemaTypes}`,
    ],
    [
      'Tool',
      schema({ type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'thing' } } } } }),
      `invalid inputSchema: invalid property 'a' schema: invalid property 'b' schema: invalid schema type 'thing': must be one of ${schemaTypes}`,
    ],
    ['Tool', { type: 'http' }, 'http spec is required for http type'],
    ['Tool', { type: 'http', http: {} }, 'URL is required for http tool'],
    ['Tool', { type: 'http', http: { url: 'ftp://x' } }, 'invalid URL format: ftp://x'],
    ['Tool', { type: 'http', http: { url: 'https://a b' } }, 'invalid URL format: https://a b'],
    [
      'Tool',
      { type: 'http', http: { ...http, method: 'BREW' } },
      "invalid HTTP method 'BREW': supported methods are GET, POST, PUT, DELETE, HEAD, OPTIONS, PATCH",
    ],
    ['Tool', { type: 'mcp' }, 'MCP spec is required for mcp type'],
    [
      'Tool',
      { type: 'mcp', mcp: { mcpServerRef: { name: '' }, toolName: 't' } },
      'MCP server name is required',
    ],
    ['Tool', { type: 'mcp', mcp: { toolName: 't' } }, 'MCP server name is required'],
    ['Tool', { type: 'mcp', mcp: { mcpServerRef: { name: 's' } } }, 'MCP tool name is required'],
    ['Tool', { type: 'magic' }, "unsupported tool type 'magic': supported types are: http, mcp"],
    // 2.6
    [
      'Model',
      { ...model({}), model: { valueFrom: noSecret } },
      "spec.model: secret 'none' does not exist in namespace 'ns': secrets \"none\" not found",
    ],
    ...[
      ['openai', 'baseUrl'],
      ['openai', 'apiKey'],
      ['azure', 'baseUrl'],
      ['azure', 'apiKey'],
      ['azure', 'apiVersion'],
      ['bedrock', 'region'],
      ['bedrock', 'accessKeyId'],
      ['bedrock', 'secretAccessKey'],
      ['bedrock', 'sessionToken'],
      ['bedrock', 'modelArn'],
    ].map(
      ([type = '', field = '']) =>
        [
          'Model',
          model({ [field]: { valueFrom: noKey } }, type),
          `spec.config.${type}.${field}: key 'none' not found in secret 'keys' in namespace 'ns'`,
        ] as const,
    ),
    [
      'Model',
      model({ modelArn: { valueFrom: { configMapKeyRef: { name: 'settings', key: 'arn' } } } }, 'bedrock'),
      "spec.config.bedrock.modelArn: key 'arn' not found in configMap 'settings' in namespace 'ns'",
    ],
    ...['openai', 'azure', 'bedrock'].map(
      (type) =>
        [
          'Model',
          { type, model: { value: 'm' }, config: {} },
          `${type} configuration is required for ${type} model type`,
        ] as const,
    ),
    ['Model', { ...model({}), type: 'oracle' }, 'unsupported model type: oracle'],
    [
      'Model',
      model({ baseUrl: {} }),
      'failed to resolve OpenAI BaseURL: value source must have either value or valueFrom specified',
    ],
    [
      'Model',
      model({ baseUrl: { valueFrom: { secretKeyRef: { name: '', key: 'k' } } } }),
      'failed to resolve OpenAI BaseURL: secret name is required',
    ],
    [
      'Model',
      model({ baseUrl: { valueFrom: { serviceRef: { name: 'none' } } } }, 'azure'),
      'failed to resolve Azure BaseURL: failed to get service ns/none: services "none" not found',
    ],
    // 2.7
    [
      'MCPServer',
      { address: {} },
      'failed to resolve Address: value source must have either value or valueFrom specified',
    ],
    ['MCPServer', service({ name: 'empty' }), 'failed to resolve Address: service ns/empty has no ports'],
    [
      'MCPServer',
      mcp({}),
      'failed to validate header X (index 1): header value must specify either value or valueFrom.secretKeyRef',
    ],
    [
      'MCPServer',
      mcp({ valueFrom: noSecret }),
      'failed to validate header X (index 1): failed to get secret ns/none: secrets "none" not found',
    ],
    [
      'MCPServer',
      mcp({ valueFrom: noKey }),
      'failed to validate header X (index 1): key none not found in secret ns/keys',
    ],
    [
      'MCPServer',
      { address, pollInterval: '-1m' },
      'failed to validate pollInterval: pollInterval cannot be negative',
    ],
    // 2.8
    [
      'A2AServer',
      {
        address: {},
        headers: [
          { name: 'X', value: {} },
          { name: 'X', value: { value: 'v', valueFrom: token } },
        ],
        pollInterval: '-1s',
      },
      'validation failed: [address must specify either value or valueFrom header X must specify either value or valueFrom duplicate header name: X header X cannot specify both value and valueFrom pollInterval cannot be negative]',
    ],
    [
      'A2AServer',
      { address: { value: 'v', valueFrom: token } },
      'validation failed: [address cannot specify both value and valueFrom]',
    ],
    [
      'ExecutionEngine',
      { type: 'x', ...service({ port: 'none' }) },
      'failed to resolve Address: port none not found in service ns/far',
    ],
    [
      'Evaluator',
      { address: { valueFrom: noSecret } },
      'failed to resolve Address: failed to get secret ns/none: secrets "none" not found',
    ],
    [
      'Evaluator',
      { address, parameters: [{ name: 'model.name', value: 'none' }] },
      `failed to validate model 'none': ${noModel}`,
    ],
    [
      'Evaluator',
      {
        address,
        parameters: [
          { name: 'model.namespace', value: 'other' },
          { name: 'model.name', value: 'none' },
        ],
      },
      `failed to validate model 'none': ${noModel.replace("'ns'", "'other'")}`,
    ],
    // 2.9
    [
      'Evaluation',
      { ...direct, evaluator: { name: 'none' } },
      "evaluator reference validation failed: evaluator 'none' does not exist in namespace 'ns': evaluators.ark.mckinsey.com \"none\" not found",
    ],
    [
      'Evaluation',
      { ...direct, evaluator: { name: 'judge', namespace: 'other' } },
      "evaluator reference validation failed: evaluator 'judge' does not exist in namespace 'other': evaluators.ark.mckinsey.com \"judge\" not found",
    ],
    [
      'Evaluation',
      { config: direct.config },
      'evaluator reference validation failed: evaluator name is required',
    ],
    ['Evaluation', { ...direct, config: { output: 'o' } }, 'Direct evaluation requires non-empty input'],
    ['Evaluation', { ...direct, config: { input: 'i' } }, 'Direct evaluation requires non-empty output'],
    ['Evaluation', { ...direct, type: 'query' }, 'Query evaluation requires queryRef in config'],
    ['Evaluation', { ...direct, type: 'event' }, 'Event evaluation requires rules in config'],
    [
      'Evaluation',
      { ...direct, type: 'batch' },
      'Batch evaluation requires at least one evaluation in config.evaluations',
    ],
    [
      'Evaluation',
      { ...direct, type: 'guess' },
      "unsupported evaluation type 'guess': supported types are: direct, query, batch, baseline, event",
    ],
  ] as const)('%s %j', async (kind, spec, problem) => {
    expect((await problemsOf(kind, spec))[0]).toBe(problem);
  });

  test.each([
    ['Agent', {}, "no model specified for agent and no 'default' model found in namespace bare"],
    ['Team', { strategy: 'selector', members: [] }, 'selector model default not found in namespace bare'],
  ])('%s %j, where no Model is named default', async (kind, spec, problem) => {
    expect((await problemsOf(kind, spec, { namespace: 'bare' }))[0]).toBe(
      `${problem}: models.ark.mckinsey.com "default" not found`,
    );
  });

  test('an engine of the name that is taken, wherever it is', async () => {
    const spec = { type: 'x', ...service({ port: 'none' }) };
    expect((await problemsOf('ExecutionEngine', spec, { name: 'a2a' }))[0]).toBe(
      "execution engine name 'a2a' is reserved for A2A servers",
    );
  });

  test.each([
    ['Query', 'that somebody is asked', { input: 'hi', parameters: [{ name: 'p' }] }, /^at least one target/],
    [
      'Query',
      'targets',
      { input: 'hi', targets: [{ type: 'agent', name: 'none' }], parameters: [{ name: 'p' }] },
      /^target/,
    ],
    ['Query', 'parameters', { ...query({}), ...judgedTwice('judge') }, /^parameter/],
    [
      'Query',
      'each parameter',
      { ...toAnn, parameters: [{ name: 'p', valueFrom: noKey }, { name: 'q' }] },
      /\[0\]/,
    ],
    ['Query', 'two ways to name evaluators', { ...toAnn, ...judgedTwice('none') }, /^cannot specify both/],
    ['Agent', 'the model', { modelRef: { name: 'none' }, parameters: [{ name: 'p' }] }, /^model/],
    ['Agent', 'parameters', { parameters: [{ name: 'p' }], tools: [{ type: 'custom' }] }, /^parameter/],
    ['Team', 'the strategy', { strategy: 'vote', members: [{ type: 'x', name: 'y' }] }, /^unsupported/],
    [
      'Team',
      'the model that selects',
      { strategy: 'selector', selector: { model: 'none' }, members: [{ type: 'x', name: 'y' }] },
      /^selector model/,
    ],
    ['Team', 'each member', team({ type: 'agent', name: 'none' }, { type: 'x', name: 'y' }), /member 0/],
    ['Team', 'members', team(ann, { type: 'agent', name: 'out' }, { type: 'x', name: 'y' }), /member 2 has/],
    ['Tool', 'the schema', { type: 'http', inputSchema: { type: 'thing' } }, /^invalid inputSchema/],
    [
      'Model',
      'the model',
      { ...model({ apiKey: { valueFrom: noKey } }), model: { valueFrom: noKey } },
      /^spec.model/,
    ],
    ['Model', 'values', { type: 'openai', model: { valueFrom: noKey }, config: {} }, /^spec.model/],
    [
      'MCPServer',
      'the address',
      { ...service({ name: 'empty' }), headers: [{ name: 'X', value: {} }], pollInterval: '-1m' },
      /Address/,
    ],
    [
      'MCPServer',
      'each header',
      {
        ...mcp({}),
        headers: [
          { name: 'X', value: { valueFrom: noKey } },
          { name: 'Y', value: {} },
        ],
      },
      /header X/,
    ],
    ['MCPServer', 'headers', { ...mcp({ valueFrom: noKey }), pollInterval: '-1m' }, /header X/],
    [
      'Evaluator',
      'the address',
      { address: {}, parameters: [{ name: 'model.name', value: 'none' }] },
      /Address/,
    ],
    ['Evaluation', 'the evaluator', { evaluator: { name: 'none' }, config: {} }, /^evaluator reference/],
  ])('%s: %s come first', async (kind, _, spec, problem) => {
    expect((await problemsOf(kind, spec))[0]).toMatch(problem);
  });
});

describe('nothing is wrong with', () => {
  test.each([
    ['Query', toAnn],
    ['Query', { input: 'hi', target: ann }],
    ['Query', { input: 'hi', team: { name: 'crew' } }],
    ['Query', { input: 'hi', selector: { matchLabels: { a: 'b' } } }],
    ['Query', { ...toAnn, selector: { matchLabels: { a: 'b' } } }],
    ['Query', { ...query({ value: 'v' }), input: '{{.no' }],
    [
      'Query',
      { ...toAnn, targets: [ann, { type: 'model', name: 'default' }, { type: 'tool', name: 'search' }] },
    ],
    ['Query', query({ valueFrom: token })],
    ['Query', query({ valueFrom: { secretKeyRef: { name: '', key: 'k' } } })],
    ['Query', query({ valueFrom: { configMapKeyRef: { name: 'none', key: '' } } })],
    ['Query', { ...toAnn, memory: { name: 'nowhere' }, serviceAccount: 'nobody' }],
    ['Agent', {}],
    ['Agent', { model: { name: 'big', namespace: 'other', type: 'azure' } }],
    ['Agent', { executionEngine: { name: 'a2a' }, modelRef: { name: 'none' } }],
    ['Agent', { executionEngine: { name: 'nowhere' } }],
    ['Agent', { prompt: '{{.no', parameters: [{ name: 'p', value: 'v' }], outputSchema: { type: 'thing' } }],
    ['Agent', { parameters: [{ name: 'p', valueFrom: { queryParameterRef: { name: 'q' } } }] }],
    ['Agent', { tools: [{ name: 'terminate_team' }, { name: 'search' }, { type: 'mcp', name: 'search' }] }],
    ['Team', team()],
    ['Team', team(ann, ann, { name: 'ann' }, { type: 'team', name: 'crew' })],
    ['Team', { ...team(ann), strategy: 'parallel' }],
    ['Team', { ...team(ann), loops: true }],
    ['Team', { strategy: 'selector', members: [ann] }],
    ['Team', { strategy: 'selector', members: [ann], selector: { model: '' } }],
    ['Team', { strategy: 'round-robin', members: [ann] }],
    ['Team', team({ type: 'agent', name: 'out' })],
    ['Team', team({ type: 'agent', name: 'out' }, { type: 'team', name: 'crew' })],
    ['Team', team(ann, { type: 'agent', name: 'bob' })],
    // Somebody else's circle is not this team's fault, and must not be walked for ever.
    ['Team', team({ type: 'team', name: 'whirl' })],
    ['Tool', { type: 'fetcher', fetcher: http }],
    ['Tool', { type: 'mcp', mcpServer: { name: 'nowhere' }, function: 'f' }],
    ['Tool', schema({ type: 'object', properties: { a: { type: ['string', 'null'] } } })],
    ['Tool', schema({ type: 'array', properties: { a: { type: 'thing' } } })],
    ['Model', model({ apiKey: { valueFrom: token } })],
    ['Model', model({ baseUrl: { valueFrom: { serviceRef: { name: 'far' } } } })],
    ['Model', model({ properties: { temperature: { valueFrom: noSecret } } })],
    ['MCPServer', { ...mcp({ value: 'v' }), ...service({ port: 'web' }) }],
    ['A2AServer', { address: { valueFrom: noSecret } }],
    ['ExecutionEngine', { type: 'x', address }],
    ['Evaluator', { address, parameters: [{ name: 'model.name', value: 'default' }] }],
    ['Evaluator', { address, parameters: [{ name: 'model.name', valueFrom: noSecret }] }],
    ['Evaluation', direct],
    ['Evaluation', { ...direct, type: 'baseline', config: {} }],
    ['Evaluation', { ...direct, type: 'batch', config: { evaluations: [{ name: 'e' }] } }],
  ])('%s %j', async (kind, spec) => {
    expect(await problemsOf(kind, spec)).toEqual([]);
  });
});

test.each([
  ['Query', { input: 'hi', targets: [{ type: 'agent', name: 'stuck' }] }, 'agent'],
  ['Agent', agent({ type: 'custom', name: 'stuck' }), 'tool'],
  ['Query', query({ valueFrom: { secretKeyRef: { name: 'stuck', key: 'k' } } }), 'secret'],
])('%s %j: what cannot be read is no answer', async (kind, spec, what) => {
  await expect(problemsOf(kind, spec)).rejects.toThrow(
    `failed to get ${what} 'stuck' in namespace 'ns': ${stuck}`,
  );
});

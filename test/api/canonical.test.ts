import { canonicalA2aServer } from '../../src/api/canonical-a2a-server.ts';
import { canonicalAgent, type CanonicalAgent } from '../../src/api/canonical-agent.ts';
import { canonicalExecutionEngine } from '../../src/api/canonical-execution-engine.ts';
import { canonicalMcpServer } from '../../src/api/canonical-mcp-server.ts';
import { canonicalModel } from '../../src/api/canonical-model.ts';
import { canonicalQuery } from '../../src/api/canonical-query.ts';
import { canonicalTeam } from '../../src/api/canonical-team.ts';
import { canonicalTool } from '../../src/api/canonical-tool.ts';
import { kinds } from '../../src/api/kinds.ts';
import { asExpected, canonical, fixtures } from './fixtures.ts';

const httpTool = (http: object, annotations?: object) =>
  canonicalTool({ type: 'http', annotations, http: { url: 'http://a', ...http } });

describe('manifests', () => {
  test.each(fixtures('good'))('$title is understood', ({ manifest }) => {
    expect(canonical(manifest)).not.toHaveProperty('problems');
  });

  test.each([...fixtures('bad'), ...fixtures('late')])(
    '$title is refused in the right words',
    ({ manifest, expected }) => {
      // The first problem is the one ARK would have stopped at.
      expect(canonical(manifest)).toHaveProperty('problems.0', asExpected(expected));
    },
  );
});

describe('every spelling comes to the same', () => {
  const agent = { type: 'agent', name: 'a' };

  test('targets of a Query, in the order target, targets, team', () => {
    const spellings = [
      { input: 'hi', targets: [agent, { type: 'team', name: 't' }] },
      { input: 'hi', target: agent, targets: [{ type: 'team', name: 't' }] },
      { input: 'hi', target: agent, team: { name: 't' } },
      { input: 'hi', targets: [agent], team: { name: 't' } },
    ];
    for (const spec of spellings) {
      expect(canonicalQuery(spec)).toMatchObject({ targets: [agent, { type: 'team', name: 't' }] });
    }
  });

  test('the conversation of a Query: sessionId before conversationId', () => {
    const query = { input: 'hi', target: agent };
    expect(canonicalQuery({ ...query, conversationId: 'c' })).toMatchObject({
      sessionId: 'c',
      conversationId: 'c',
    });
    expect(canonicalQuery({ ...query, sessionId: 's', conversationId: 'c' })).toMatchObject({
      sessionId: 's',
      conversationId: 'c',
    });
    expect(canonicalQuery(query)).toHaveProperty('sessionId', undefined);
  });

  test('the Model of an Agent: modelRef before model, whose type does not matter', () => {
    expect(canonicalAgent({ model: { name: 'm', type: 'openai' } })).toEqual(
      canonicalAgent({ modelRef: { name: 'm' } }),
    );
    expect(canonicalAgent({ model: { name: 'm', namespace: 'ai' } })).toEqual(
      canonicalAgent({ modelRef: { name: 'm', namespace: 'ai' } }),
    );
    expect(canonicalAgent({ modelRef: { name: 'm' }, model: { name: 'n' } })).toMatchObject({
      modelRef: { name: 'm' },
    });
    expect(canonicalAgent({})).toHaveProperty('modelRef', undefined);
  });

  test.each([
    [{ name: 'terminate_team' }, { type: 'built-in', name: 'terminate', alias: 'terminate_team' }],
    [
      { type: 'built-in', name: 'terminate_team' },
      { type: 'built-in', name: 'terminate', alias: 'terminate_team' },
    ],
    [{ name: 'terminate' }, { type: 'built-in', name: 'terminate' }],
    [
      { type: 'built-in', name: 'noop' },
      { type: 'built-in', name: 'noop' },
    ],
    [
      { type: 'custom', name: 'noop' },
      { type: 'custom', name: 'noop' },
    ],
    [{ name: 'search' }, { type: 'custom', name: 'search' }],
    [
      { type: 'mcp', name: 'search' },
      { type: 'custom', name: 'search' },
    ],
    [{ name: 'constructor' }, { type: 'custom', name: 'constructor' }],
  ])('tool %j of an Agent', (written, meant) => {
    expect(canonicalAgent({ tools: [written] })).toHaveProperty('tools', [{ ...meant, functions: [] }]);
  });

  test('members of a Team are agents unless they say otherwise', () => {
    const members = [{ name: 'a' }, { name: 'b', type: 'team' }];
    expect(canonicalTeam({ strategy: 'parallel', members }, 'own')).toMatchObject({
      members: [agent, { type: 'team', name: 'b' }],
    });
  });

  test('a sequential Team that loops is a round-robin Team', () => {
    const team = { members: [{ name: 'a' }], maxTurns: 2 };
    expect(canonicalTeam({ ...team, strategy: 'sequential', loops: true }, 'own')).toEqual(
      canonicalTeam({ ...team, strategy: 'round-robin' }, 'own'),
    );
  });

  test.each([
    [3, 3],
    [1, 1],
    [0, 1],
    [-5, 1],
    [undefined, undefined],
  ])('maxTurns %p bounds a Team by %p', (written, meant) => {
    expect(canonicalTeam({ strategy: 'round-robin', members: [], maxTurns: written }, 'own')).toHaveProperty(
      'maxTurns',
      meant,
    );
  });

  test('headers of a Tool', () => {
    const meant = [{ name: 'Accept', source: { from: 'literal', value: 'text/plain' } }];
    expect(httpTool({ headers: { Accept: 'text/plain' } })).toHaveProperty('headers', meant);
    expect(httpTool({ headers: [{ name: 'Accept', value: { value: 'text/plain' } }] })).toHaveProperty(
      'headers',
      meant,
    );
    expect(httpTool({})).toHaveProperty('headers', []);
  });

  test('a fetcher is an HTTP tool', () => {
    expect(canonicalTool({ type: 'fetcher', fetcher: { url: 'http://a' } })).toEqual(httpTool({}));
  });

  test('a tool of an MCP server: mcp before mcpServer and function', () => {
    const meant = canonicalTool({ type: 'mcp', mcp: { mcpServerRef: { name: 's' }, toolName: 'f' } });
    const others = { mcpServer: { name: 't' }, function: 'g' };
    expect(canonicalTool({ type: 'mcp', mcpServer: { name: 's' }, function: 'f' })).toEqual(meant);
    expect(
      canonicalTool({ type: 'mcp', mcp: { mcpServerRef: { name: 's' }, toolName: 'f' }, ...others }),
    ).toEqual(meant);
  });
});

describe('defaults', () => {
  test('of a Query', () => {
    expect(canonicalQuery({ input: 'hi', selector: {} })).toMatchObject({
      targets: [],
      parameters: [],
      evaluators: [],
      serviceAccount: 'default',
      timeoutMs: 300_000,
      ttlMs: 2_592_000_000,
      cancel: false,
    });
  });

  test('a timeout below zero leaves no time', () => {
    expect(canonicalQuery({ input: 'hi', selector: {}, timeout: '-5m' })).toHaveProperty('timeoutMs', 0);
  });

  test.each([
    [undefined, 30_000],
    ['60', 30_000],
    ['0', 30_000],
    ['10s', 10_000],
    ['2m', 120_000],
  ])('timeout %p of an HTTP tool is %d ms', (timeout, timeoutMs) => {
    expect(httpTool({ timeout })).toMatchObject({
      timeoutMs,
      method: 'GET',
    });
  });

  test('only a tool that says it is not idempotent is not repeated', () => {
    expect(httpTool({})).toHaveProperty('repeatable', true);
    expect(httpTool({}, { idempotentHint: true })).toHaveProperty('repeatable', true);
    expect(httpTool({}, { idempotentHint: false })).toHaveProperty('repeatable', false);
  });
});

describe('an error of a tool', () => {
  test.each([
    [undefined, 'fail'],
    ['fail', 'fail'],
    ['continue', 'continue'],
  ])('of onError %p of a Tool is to %s', (onError, meant) => {
    const tool = { type: 'http', http: { url: 'http://a' }, onError };
    expect(canonicalTool(tool)).toHaveProperty('onError', meant);
  });

  test.each([undefined, 'fail', 'continue'])('of an agent with onError %p', (onError) => {
    const { tools } = canonicalAgent({ tools: [{ name: 'search', onError }] }) as CanonicalAgent;
    expect(tools[0]?.onError).toBe(onError);
  });
});

describe('servers', () => {
  const address = { value: 'http://a' };

  test.each([
    [undefined, 60_000],
    ['30s', 30_000],
    ['0s', 0],
    ['0', 0],
  ])('polled every %p are polled every %d ms', (pollInterval, pollMs) => {
    expect(canonicalMcpServer({ address, pollInterval })).toHaveProperty('pollMs', pollMs);
    expect(canonicalA2aServer({ address, pollInterval })).toHaveProperty('pollMs', pollMs);
  });

  test.each([
    [undefined, 30_000],
    ['45s', 45_000],
    ['0s', 30_000],
    ['-1s', 30_000],
    ['soon', 30_000],
  ])('of MCP with a timeout of %p get %d ms', (timeout, timeoutMs) => {
    expect(canonicalMcpServer({ address, timeout })).toMatchObject({ timeoutMs, transport: 'http' });
  });

  test('of A2A say all that is wrong with them in one sentence', () => {
    const headers = [
      { name: 'X-A', value: {} },
      { name: 'X-A', value: { value: 'a' } },
    ];
    expect(canonicalA2aServer({ address: {}, headers, pollInterval: '-1s' })).toEqual({
      problems: [
        'validation failed: [address must specify either value or valueFrom ' +
          'header X-A must specify either value or valueFrom duplicate header name: X-A ' +
          'pollInterval cannot be negative]',
      ],
    });
  });

  test.each([
    ['langchain', undefined, 'execute'],
    ['a2a', undefined, 'a2a'],
    ['langchain', 'a2a', 'a2a'],
    ['langchain', 'execute', 'execute'],
  ])('an engine of type %s with the annotation %p speaks %s', (type, annotation, protocol) => {
    const annotations: Record<string, string> =
      annotation === undefined ? {} : { 'ark.mckinsey.com/engine-protocol': annotation };
    const engine = canonicalExecutionEngine({ type, address }, { name: 'e', annotations });
    expect(engine).toHaveProperty('protocol', protocol);
  });
});

describe('where a value comes from', () => {
  const secretKeyRef = { name: 's', key: 'k' };
  const configMapKeyRef = { name: 'c', key: 'k' };
  const serviceRef = { name: 'svc', port: 'http' };
  const fromSecret = { from: 'secret', name: 's', key: 'k' };
  const fromConfigMap = { from: 'configMap', name: 'c', key: 'k' };

  test.each([
    [
      { value: 'v', valueFrom: { secretKeyRef } },
      { from: 'literal', value: 'v' },
    ],
    [{ value: '', valueFrom: { secretKeyRef, configMapKeyRef, serviceRef } }, fromSecret],
    [{ valueFrom: { configMapKeyRef, serviceRef } }, fromConfigMap],
    [{ valueFrom: { serviceRef } }, { from: 'service', ...serviceRef }],
  ])('value source %j', (model, source) => {
    const config = { bedrock: {} };
    expect(canonicalModel({ type: 'bedrock', model, config })).toHaveProperty('model', source);
  });

  test('a body parameter: ConfigMap before Secret', () => {
    const bodyParameters = [{ name: 'p', valueFrom: { secretKeyRef, configMapKeyRef } }];
    expect(httpTool({ bodyParameters })).toHaveProperty('bodyParameters', [
      { name: 'p', source: fromConfigMap },
    ]);
  });
});

describe('a spec of any content', () => {
  const nonsense = [
    undefined,
    null,
    'text',
    7,
    [],
    { spec: {} },
    { input: null },
    { members: null },
    { config: 3 },
    { address: 'http://a' },
  ];
  const cases = nonsense.flatMap((spec) =>
    kinds.filter(({ kind }) => kind !== 'Agent').map(({ kind }) => ({ kind, spec })),
  );

  test.each(cases)('$spec is no $kind', ({ kind, spec }) => {
    const result = canonical({ apiVersion: '', kind, metadata: { name: 'n' }, spec });
    expect(result).toHaveProperty('problems.0', expect.stringMatching(/^spec/));
  });

  test('a schema nested without end is refused', () => {
    let inputSchema: Record<string, unknown> = { type: 'object' };
    for (let depth = 0; depth < 100; depth++)
      inputSchema = { type: 'object', properties: { a: inputSchema } };
    const result = canonicalTool({ type: 'http', http: { url: 'http://a' }, inputSchema });
    expect(result).toHaveProperty('problems', [expect.stringContaining('nested more than 64 levels deep')]);
  });
});

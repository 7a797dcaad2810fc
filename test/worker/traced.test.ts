import type { Context } from '@temporalio/activity';
import { createActivities, type Activities } from '../../src/activities/create-activities.ts';
import { targetSpanIdOf, traceIdOf } from '../../src/adapters/telemetry/span-ids.ts';
import type { Tracing } from '../../src/adapters/telemetry/tracing.ts';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import type { Definition, ToolDefinition } from '../../src/api/snapshot.ts';
import { startScriptedModel, type ScriptedAnswer, type ScriptedModel } from '../../src/dev/scripted-model.ts';
import type { JournaledReply, JournaledServer } from '../../src/dev/journaled-server.ts';
import { spanPerCall, traced } from '../../src/worker/traced.ts';
import { messageOf, startA2aServer, type A2aServer } from '../fakes/a2a-server.ts';
import { FakeRuns, fakeRun, inActivity } from '../fakes/activity.ts';
import { startCollector, tracingWith, type CollectedSpan, type Collector } from '../fakes/collector.ts';
import { startCountingTool } from '../fakes/counting-tool.ts';
import { startEngineServer, type EngineServer } from '../fakes/engine-server.ts';
import { startEvaluatorServer, type EvaluatorServer } from '../fakes/evaluator-server.ts';
import { startMcpServer, type RunningMcpServer } from '../fakes/mcp-server.ts';
import { access, portsWith } from '../fakes/ports.ts';

const uid = '0f8fad5b-d9cb-469f-a165-70867728950e';
const trace = traceIdOf(uid);

let collector: Collector;
let tracing: Tracing;
let model: ScriptedModel;
let tool: JournaledServer;
let mcp: RunningMcpServer;
let engine: EngineServer;
let a2a: A2aServer;
let evaluator: EvaluatorServer;
let answer: ScriptedAnswer;
let toolReply: JournaledReply;

beforeAll(async () => {
  model = await startScriptedModel({ script: () => answer });
  tool = await startCountingTool(() => toolReply);
  mcp = await startMcpServer({
    tools: [{ name: 'get_weather', run: () => ({ content: [{ type: 'text', text: 'sunny' }] }) }],
  });
  engine = await startEngineServer();
  a2a = await startA2aServer({ reply: () => ({ result: messageOf('a poem') }) });
  evaluator = await startEvaluatorServer();
});
beforeEach(async () => {
  answer = { content: 'hello', usage: { promptTokens: 3, completionTokens: 1 } };
  toolReply = { body: '[]' };
  collector = await startCollector();
  tracing = (await tracingWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })) as Tracing;
});
afterEach(() => collector.close());
afterAll(async () => {
  const stops = [model.close(), tool.close(), mcp.stop(), engine.stop(), a2a.stop(), evaluator.stop()];
  await Promise.all(stops);
});

const value = (text: string) => ({ value: text });
const secret = (key: string) => ({ secret: { namespace: 'default', name: 'keys', key } });
const secrets = {
  'default/keys/model': 'canary-model-key',
  'default/keys/header': 'canary-header',
  'default/keys/who': 'canary "quoted" name',
  'default/keys/property': 'canary-property',
};

const face = { description: '', parameters: { type: 'object' } };
const header = { name: 'X-Key', value: secret('header') };

function definitions(): Record<string, Definition> {
  const modelOf = {
    namespace: 'default',
    name: 'main',
    type: 'openai',
    model: value('gpt-4o'),
    baseUrl: value(model.baseUrl),
    apiKey: secret('model'),
    properties: { temperature: value('0.5'), user: secret('property') },
  } as const;
  const tools: ToolDefinition[] = [
    {
      ...face,
      type: 'http',
      name: 'weather',
      url: `${tool.url}/weather`,
      method: 'GET',
      headers: [header],
      timeoutMs: 60_000,
      bodyParameters: {},
      repeatable: true,
    },
    {
      ...face,
      type: 'mcp',
      name: 'forecast',
      toolName: 'get_weather',
      repeatable: true,
      server: {
        namespace: 'default',
        name: 'skies',
        transport: 'http',
        address: value(mcp.url),
        headers: [header],
        timeoutMs: 60_000,
      },
    },
    builtInTools.noop,
  ];
  const agent = { namespace: 'default', name: 'bot', prompt: { text: 'Be brief.' }, access };
  const engineAgent = { ...agent, kind: 'engine-agent', tools: [] } as const;
  return {
    agent: { ...agent, kind: 'agent', model: modelOf, tools },
    secretive: {
      ...agent,
      kind: 'agent',
      prompt: { template: 'You are {{.who}}', label: 'agent-prompt', parameters: { who: secret('who') } },
      model: modelOf,
      tools: [],
    },
    model: { kind: 'model', model: modelOf, access },
    selector: { kind: 'selector', namespace: 'default', team: 'crew', model: modelOf, members: [], access },
    engine: {
      ...engineAgent,
      engine: {
        type: 'engine',
        namespace: 'default',
        name: 'langchain',
        address: value(engine.url),
        protocol: 'execute',
        model: modelOf,
        description: '',
        parameters: [],
      },
    },
    a2a: {
      ...engineAgent,
      engine: { type: 'a2a', namespace: 'default', name: 'poet', address: value(a2a.url), headers: [header] },
    },
    memory: {
      kind: 'memory',
      namespace: 'default',
      name: 'default',
      address: value(tool.url),
      session: 's1',
      query: 'hello',
      access,
    },
    evaluator: {
      kind: 'evaluator',
      namespace: 'default',
      name: 'judge',
      address: value(evaluator.url),
      access,
    },
    queried: {
      kind: 'queried',
      query: {
        apiVersion: 'v1',
        kind: 'Query',
        metadata: { namespace: 'default', name: 'hello', uid },
        spec: { input: 'Hi' },
      },
    },
  };
}

/** Performs one attempt at a call as a worker with tracing does. */
async function perform<T extends keyof Activities>(
  type: T,
  activityId: string,
  input: Parameters<Activities[T]>[0],
  { workflowId = `query:default:hello:${uid}`, attempt = 1 } = {},
): Promise<unknown> {
  const toolCalls = ['weather', 'forecast', 'noop', 'lost'].map((name, index) => ({
    id: `c${index}`,
    name,
    arguments: '{"city":"Oslo"}',
  }));
  const run = {
    ...fakeRun('run-1', [{ role: 'assistant', content: '', toolCalls }]),
    ref: { workflowId, runId: 'run-1' },
  };
  Object.assign(run.definitions, definitions());
  const activities = createActivities(traced(portsWith(secrets)));
  const info = { activityType: type, activityId, attempt, workflowExecution: run.ref };
  const { inbound } = spanPerCall(tracing)({ info } as unknown as Context);
  const next = ({ args }: { args: unknown[] }) =>
    (activities[type] as (input: unknown) => Promise<unknown>)(args[0]);
  return inActivity({ run: run.ref, runs: new FakeRuns(run), activityId, attempt }, () =>
    inbound?.execute
      ? inbound.execute({ args: [input], headers: {} }, next)
      : Promise.reject(new Error('no interceptor')),
  );
}

async function onlySpan(): Promise<CollectedSpan> {
  await tracing.close();
  expect(collector.spans).toHaveLength(1);
  return collector.spans[0] as CollectedSpan;
}

const question = { hash: 'q', text: 'Hi' };
const wish = (name: string, index: number) => ({
  definition: 'agent',
  question,
  slot: 1,
  call: { tool: name, slot: 0, index },
});

test('a model call has the attributes of ARK, and those of OpenTelemetry (contract section 6.3)', async () => {
  await perform('callModel', 't001.bot.model.1', { definition: 'agent', question, slot: 1 });
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ];
  expect(await onlySpan()).toMatchObject({
    tracer: 'ark/controller',
    name: 'llm.chat_completion',
    status: 'ok',
    attributes: {
      'service.name': 'ark',
      component: 'ark-controller',
      'input.value': JSON.stringify(messages),
      'output.value': 'hello',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.request.messages.count': 2,
      'gen_ai.agent.name': 'bot',
      'gen_ai.completion.finish_reason': 'stop',
      'llm.model.name': 'gpt-4o',
      'llm.model.provider': 'openai',
      'llm.model.type': 'openai',
      'llm.model.temperature': '0.5',
      model: 'gpt-4o',
      provider: 'openai',
      'tokens.prompt': 3,
      'tokens.completion': 1,
      'tokens.total': 4,
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 1,
      'gen_ai.usage.total_tokens': 4,
      'usage.input_tokens': 3,
      'usage.output_tokens': 1,
      'usage.total_tokens': 4,
      'temporal.workflow.id': `query:default:hello:${uid}`,
      'temporal.run.id': 'run-1',
      'temporal.activity.id': 't001.bot.model.1',
      'temporal.activity.attempt': 1,
    },
  });
});

test('a model that asks for tools says how many, and the first', async () => {
  answer = {
    toolCalls: [
      { id: 'a', name: 'weather', arguments: '{}' },
      { id: 'b', name: 'noop' },
    ],
  };
  await perform('callModel', 't001.bot.model.1', { definition: 'agent', question, slot: 1 });
  const { attributes } = await onlySpan();
  expect(attributes).toMatchObject({ 'tools.called': 2, 'tools.functions': 'weather' });
  expect(JSON.parse(String(attributes['output.value']))).toHaveLength(2);
});

const inTool = {
  'gen_ai.operation.name': 'execute_tool',
  'input.value': '{"city":"Oslo"}',
  'gen_ai.agent.name': 'bot',
};
const calls: readonly [string, string, object, () => Promise<unknown>, (() => unknown) | undefined][] = [
  [
    'a model',
    'llm.chat_completion',
    {},
    () => perform('callModel', 't001.main.model.1', { definition: 'model', question, slot: 1 }),
    () => model.requests.at(-1)?.headers['traceparent'],
  ],
  [
    'a selector',
    'llm.chat_completion',
    { 'team.name': 'crew' },
    () => perform('selectSpeaker', 't001.crew.select', { definition: 'selector', before: [] }),
    () => model.requests.at(-1)?.headers['traceparent'],
  ],
  [
    'an HTTP tool',
    'execute_tool weather',
    { ...inTool, 'gen_ai.tool.name': 'weather', 'gen_ai.tool.type': 'http', 'output.value': '[]' },
    () => perform('callTool', 't001.bot.tool.1.weather', wish('weather', 0)),
    () => tool.requests.at(-1)?.headers['traceparent'],
  ],
  [
    'an MCP tool',
    'execute_tool forecast',
    { ...inTool, 'gen_ai.tool.type': 'mcp', 'mcp.server': 'default/skies', 'output.value': 'sunny' },
    () => perform('callTool', 't001.bot.tool.1.forecast', wish('forecast', 1)),
    () => mcp.requests.filter(({ method }) => method === 'POST').at(-1)?.headers['traceparent'],
  ],
  [
    'a built-in tool',
    'execute_tool noop',
    { ...inTool, 'gen_ai.tool.type': 'built-in', 'output.value': 'map[city:Oslo]' },
    () => perform('callTool', 't001.bot.tool.1.noop', wish('noop', 2)),
    undefined,
  ],
  [
    'an engine',
    'invoke_agent bot',
    {
      'gen_ai.operation.name': 'invoke_agent',
      'input.value': 'Hi',
      'output.value': 'Echo: Hi',
      'tokens.total': 4,
    },
    () => perform('callEngine', 't001.bot.engine.1', { definition: 'engine', question, slot: 1 }),
    () => engine.requests.at(-1)?.headers['traceparent'],
  ],
  [
    'an A2A server',
    'invoke_agent bot',
    { 'gen_ai.agent.name': 'bot', 'input.value': 'Hi', 'output.value': 'a poem' },
    () => perform('callEngine', 't001.bot.engine.1', { definition: 'a2a', question, slot: 1 }),
    () => a2a.requests.at(-1)?.http.headers['traceparent'],
  ],
  [
    'a memory that is read',
    'memory.get_messages',
    { 'session.id': 's1', 'memory.messages.count': 0 },
    () => perform('readMemory', 'memory.read', { definition: 'memory', slot: 1 }),
    () => tool.requests.at(-1)?.headers['traceparent'],
  ],
  [
    'a memory that is written',
    'memory.add_messages',
    { 'session.id': 's1', 'memory.messages.count': 1 },
    () => perform('writeMemory', 'memory.write.1', { definition: 'memory', question, said: [] }),
    () => tool.requests.at(-1)?.headers['traceparent'],
  ],
  [
    'an evaluator',
    'evaluator.evaluate',
    { 'gen_ai.evaluation.score.value': '0.9', 'gen_ai.evaluation.passed': true },
    () => perform('judge', 'evaluator.1', { definition: 'evaluator', queried: 'queried', responses: [] }),
    () => evaluator.requests.at(-1)?.headers['traceparent'],
  ],
];

test.each(calls)(
  'the call of %s is a span under the target, whose context the far side is given',
  async (_, name, attributes, call, received) => {
    await call();
    const span = await onlySpan();
    expect(span).toMatchObject({
      name,
      traceId: trace,
      parentId: targetSpanIdOf(uid, 0),
      status: 'ok',
      attributes,
    });
    if (received) expect(received()).toBe(`00-${trace}-${span.spanId}-01`);
  },
);

describe('the place of a call', () => {
  test('is under the target it is made for', async () => {
    const asked = { definition: 'agent', question: { ...question, target: 2 }, slot: 1 };
    await perform('callModel', 't001.bot.model.1', asked, { workflowId: `team:default:${uid}:t001.inner` });
    expect(await onlySpan()).toMatchObject({ traceId: trace, parentId: targetSpanIdOf(uid, 2) });
  });

  test('is the root where an Evaluation makes it', async () => {
    const asked = { address: value(evaluator.url), access, request: {}, timeoutMs: 60_000 };
    await perform('evaluate', 'evaluate', asked, { workflowId: `evaluation:default:check:${uid}` });
    expect(await onlySpan()).toMatchObject({ traceId: trace, parentId: '', name: 'evaluator.evaluate' });
  });

  test('is a span of its own for every attempt', async () => {
    answer = { status: 503 };
    const call = { definition: 'agent', question, slot: 1 };
    for (const attempt of [1, 2])
      await expect(perform('callModel', 't001.bot.model.1', call, { attempt })).rejects.toThrow();
    await tracing.close();
    expect(collector.spans.map(({ attributes }) => attributes['temporal.activity.attempt'])).toEqual([1, 2]);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(2);
  });
});

test('a failure keeps its name, also where nothing was asked', async () => {
  await expect(perform('callTool', 't001.bot.tool.1.lost', wish('lost', 3))).rejects.toThrow(
    'tool lost not found',
  );
  expect(await onlySpan()).toMatchObject({
    name: 'execute_tool lost',
    status: 'error',
    message: 'tool lost not found',
    events: [{ name: 'exception', attributes: { 'exception.type': 'ToolNotFound' } }],
  });
});

test('no value of a Secret goes into a span, wherever it stands', async () => {
  const { 'default/keys/model': key, 'default/keys/property': property } = secrets;
  await perform('callModel', 't001.bot.model.1', { definition: 'secretive', question, slot: 1 });
  answer = { content: `you use ${key} and ${property}` };
  await perform('callModel', 't001.bot.model.2', { definition: 'agent', question, slot: 1 });
  answer = { status: 401, body: { error: { message: `wrong key ${key}` } } };
  await expect(
    perform('callModel', 't001.bot.model.3', { definition: 'agent', question, slot: 1 }),
  ).rejects.toThrow();
  toolReply = { body: JSON.stringify({ echoed: secrets['default/keys/header'] }) };
  await perform('callTool', 't001.bot.tool.1.weather', wish('weather', 0));
  await perform('callTool', 't001.bot.tool.2.forecast', wish('forecast', 1));
  await perform('callEngine', 't001.bot.engine.1', { definition: 'engine', question, slot: 1 });
  await perform('callEngine', 't002.bot.engine.1', { definition: 'a2a', question, slot: 1 });
  await tracing.close();

  expect(collector.spans).toHaveLength(7);
  expect(collector.wire()).not.toContain('canary');
  expect(collector.spans[0]?.attributes).toMatchObject({
    'input.value': expect.stringContaining('You are [redacted]'),
    'llm.model.user': '[redacted]',
  });
});

test('a collector that is away disturbs no call', async () => {
  await collector.close();
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  tracing = (await tracingWith(variables)) as Tracing;
  await perform('callModel', 't001.bot.model.1', { definition: 'agent', question, slot: 1 });
  expect(model.requests.at(-1)?.headers['traceparent']).toContain(trace);
  await tracing.close();
  collector = await startCollector();
});

/** A real Temporal server and a real worker: what travels between runs, processes and servers is one trace. */
import { NativeConnection, Runtime } from '@temporalio/worker';
import { createActivities } from '../../src/activities/create-activities.ts';
import { targetSpanIdOf, traceIdOf } from '../../src/adapters/telemetry/span-ids.ts';
import type { Tracing } from '../../src/adapters/telemetry/tracing.ts';
import type { RunInput, RunOutcome } from '../../src/api/run.ts';
import type { AgentDefinition, Snapshot } from '../../src/api/snapshot.ts';
import type { SeenQuery } from '../../src/controller/ports.ts';
import { traced as tracedController } from '../../src/controller/traced.ts';
import { workflowIdOf } from '../../src/controller/workflow-id.ts';
import type { JournaledServer } from '../../src/dev/journaled-server.ts';
import { startScriptedModel, type ScriptedModel } from '../../src/dev/scripted-model.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { spanPerCall, traced } from '../../src/worker/traced.ts';
import { startCollector, tracingWith, type Collector } from '../fakes/collector.ts';
import { startCountingTool } from '../fakes/counting-tool.ts';
import { startMcpServer, type RunningMcpServer } from '../fakes/mcp-server.ts';
import { access, portsWith } from '../fakes/ports.ts';
import { World } from '../fakes/world.ts';
import { startTemporal, type TemporalForTests } from '../temporal.ts';

let temporal: TemporalForTests;
let collector: Collector;
let model: ScriptedModel;
let tool: JournaledServer;
let mcp: RunningMcpServer;

beforeAll(async () => {
  const quiet = (): void => undefined;
  const logger = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
  Runtime.install({ logger });
  temporal = await startTemporal();
  collector = await startCollector();
  // Everybody uses every tool once, and then answers.
  model = await startScriptedModel({
    script: ({ body: { messages, tools = [] } }) =>
      messages.at(-1)?.role === 'tool' || tools.length === 0
        ? { content: 'done' }
        : { toolCalls: tools.map(({ function: { name } }) => ({ name, arguments: '{}' })) },
  });
  tool = await startCountingTool();
  mcp = await startMcpServer({
    tools: [{ name: 'forecast', run: () => ({ content: [{ type: 'text', text: 'sunny' }] }) }],
  });
});
afterAll(async () => {
  await Promise.all([collector.close(), model.close(), tool.close(), mcp.stop()]);
  await temporal.stop();
});

const uid = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const value = (text: string) => ({ value: text });

function agent(name: string, withTools: boolean): AgentDefinition {
  const face = { description: '', parameters: { type: 'object' }, repeatable: true, timeoutMs: 60_000 };
  const server = { namespace: 'default', name: 'skies', transport: 'http', headers: [] } as const;
  return {
    kind: 'agent',
    namespace: 'default',
    name,
    prompt: { text: `You are ${name}.` },
    access,
    model: {
      namespace: 'default',
      name: 'main',
      type: 'openai',
      model: value('gpt-4o'),
      baseUrl: value(model.baseUrl),
      apiKey: value(''),
      properties: {},
    },
    tools: withTools
      ? [
          {
            ...face,
            type: 'http',
            name: 'weather',
            url: `${tool.url}/weather`,
            method: 'GET',
            headers: [],
            bodyParameters: {},
          },
          {
            ...face,
            type: 'mcp',
            name: 'forecast',
            toolName: 'forecast',
            server: { ...server, address: value(mcp.url), timeoutMs: 60_000 },
          },
        ]
      : [],
  };
}

/** Two targets: an agent with tools, and a team in which a team speaks. */
function snapshot(): Snapshot {
  const plan = (name: string) => ({ type: 'agent', name, definition: name, model: 'main' }) as const;
  const member = (name: string) => ({ type: 'agent', name }) as const;
  return {
    query: { namespace: 'default', name: 'hello', uid },
    question: 'question',
    targets: [member('ann'), { type: 'team', name: 'crew' }],
    agents: { ann: plan('ann'), bob: plan('bob'), cyd: plan('cyd') },
    teams: {
      crew: {
        type: 'team',
        name: 'crew',
        strategy: 'sequential',
        members: [member('bob'), { type: 'team', name: 'inner' }],
      },
      inner: { type: 'team', name: 'inner', strategy: 'sequential', members: [member('cyd'), member('bob')] },
    },
    definitions: {
      question: { kind: 'question', question: { text: 'what now?' }, access },
      ann: agent('ann', true),
      bob: agent('bob', false),
      cyd: agent('cyd', false),
    },
    timeoutMs: 300_000,
  };
}

/** Runs the Query as a worker does, and mirrors its end as the controller does, each with tracing of its own. */
async function runQuery(): Promise<RunOutcome> {
  const [ofWorker, ofController] = (await Promise.all(
    ['worker', 'controller'].map((name) =>
      tracingWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: name }),
    ),
  )) as [Tracing, Tracing];
  const connection = await NativeConnection.connect({ address: temporal.address });
  const worker = await createWorker(connection, createActivities(traced(portsWith())), {
    namespace: 'default',
    taskQueue: 'traced',
    interceptors: { activity: [spanPerCall(ofWorker)] },
  });
  const input: RunInput = { snapshot: snapshot(), limits: { toolRounds: 5, turns: 10, concurrency: 8 } };
  const outcome = (await worker.runUntil(
    temporal.client.workflow.execute('queryWorkflow', {
      args: [input],
      workflowId: workflowIdOf({ namespace: 'default', name: 'hello', uid }),
      taskQueue: 'traced',
    }),
  )) as RunOutcome;
  await connection.close();

  const { ports } = new World({});
  const query = { ...ports.queries.get({ namespace: 'default', name: 'hello' }), uid } as SeenQuery;
  await tracedController(ports, ofController).queries.writeStatus(query, {
    phase: outcome.phase,
    responses: [...outcome.responses],
  });
  await Promise.all([ofWorker.close(), ofController.close()]);
  return outcome;
}

test('from a Query to its models, its tools and the servers behind them', async () => {
  expect(await runQuery()).toMatchObject({ phase: 'done' });
  const { spans } = collector;
  const [first, second] = [targetSpanIdOf(uid, 0), targetSpanIdOf(uid, 1)];
  const under = (parent: string) =>
    spans
      .filter(({ parentId }) => parentId === parent)
      .map(({ name, attributes }) => `${name} by ${String(attributes['gen_ai.agent.name'])}`)
      .toSorted();

  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(uid)]));
  expect(spans.filter(({ parentId }) => parentId === '')).toMatchObject([
    { name: 'query.agent', spanId: first, service: 'controller' },
    { name: 'query.team', spanId: second, service: 'controller' },
  ]);
  expect(under(first)).toEqual([
    'execute_tool forecast by ann',
    'execute_tool weather by ann',
    'llm.chat_completion by ann',
    'llm.chat_completion by ann',
  ]);
  expect(under(second)).toEqual([
    'llm.chat_completion by bob',
    'llm.chat_completion by bob',
    'llm.chat_completion by cyd',
  ]);

  const spanOf = (name: string) => spans.find((span) => span.name === name)?.spanId;
  const headerOf = (span: string | undefined) => `00-${traceIdOf(uid)}-${span}-01`;
  expect(tool.requests.map(({ headers }) => headers['traceparent'])).toEqual([
    headerOf(spanOf('execute_tool weather')),
  ]);
  const posts = mcp.requests.filter(({ method }) => method === 'POST');
  // The handshake belongs to the call that needed it; its closing notice answers to nobody.
  expect(posts.map(({ headers }) => headers['traceparent']).filter(Boolean)).toEqual([
    headerOf(spanOf('execute_tool forecast')),
    headerOf(spanOf('execute_tool forecast')),
  ]);
  const asked = spans
    .filter(({ name }) => name === 'llm.chat_completion')
    .map(({ spanId }) => headerOf(spanId));
  expect(model.requests.map(({ headers }) => headers['traceparent']).toSorted()).toEqual(asked.toSorted());
});

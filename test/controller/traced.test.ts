import { targetSpanIdOf, traceIdOf } from '../../src/adapters/telemetry/span-ids.ts';
import type { Tracing } from '../../src/adapters/telemetry/tracing.ts';
import type { QueryStatus } from '../../src/api/query.ts';
import { createModels } from '../../src/adapters/models/create-models.ts';
import { traced, tracedProbe, traceStartup } from '../../src/controller/traced.ts';
import { startScriptedModel } from '../../src/dev/scripted-model.ts';
import { startCollector, tracingWith, type Collector } from '../fakes/collector.ts';
import { settle, World, type Story } from '../fakes/world.ts';

let collector: Collector;
let tracing: Tracing;
beforeEach(async () => {
  collector = await startCollector();
  tracing = (await tracingWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })) as Tracing;
});
afterEach(() => collector.close());

/** The uid and the times of every World. */
const uid = '6f1c';
const createdMs = Date.parse('2026-11-21T12:00:00.000Z');

const tracedWorld = (story: Story): World => {
  const world = new World(story);
  return Object.assign(world, { ports: traced(world.ports, tracing) });
};

async function spans() {
  await tracing.close();
  return collector.spans;
}

test('a target is the root span of its Query, with the attributes of ARK (contract section 6.3)', async () => {
  await settle(tracedWorld({ spec: { input: 'Hi {{.name}}' } }));
  expect(await spans()).toEqual([
    {
      service: 'ark-controller',
      tracer: 'ark/controller',
      name: 'query.agent',
      traceId: traceIdOf(uid),
      spanId: targetSpanIdOf(uid, 0),
      parentId: '',
      startMs: createdMs,
      endMs: createdMs + 1_500,
      attributes: {
        'service.name': 'ark',
        component: 'ark-controller',
        'target.type': 'agent',
        'target.name': 'bot',
        'query.name': 'hello',
        'query.namespace': 'default',
        'input.value': 'Hi {{.name}}',
        'output.value': 'hello',
      },
      events: [],
      status: 'ok',
      message: '',
    },
  ]);
});

test.each<[string, Story, object[]]>([
  ['failed', { conduct: 'fails' }, [{ name: 'query.agent', status: 'error', message: 'wrong key' }]],
  [
    'was canceled while it ran',
    { conduct: 'waits for cancel', user: 'cancel' },
    [{ status: 'error', message: 'canceled' }],
  ],
  [
    'was refused',
    {
      refused: { type: 'TeamEmpty', message: 'no members' },
      spec: { targets: [{ type: 'team', name: 'crew' }] },
    },
    [{ name: 'query.team', status: 'error', message: 'no members', spanId: targetSpanIdOf(uid, 0) }],
  ],
  [
    'nobody could read',
    { refused: { type: 'QueryInvalid', message: 'no input' }, spec: { input: 3 as never } },
    [],
  ],
  ['was answered before', { status: { phase: 'done' } }, []],
  ['was deleted before it started', { deleted: true }, []],
])('a Query that %s', async (_, story, expected) => {
  await settle(tracedWorld(story));
  expect(await spans()).toMatchObject(expected);
  expect(collector.spans.map(({ attributes }) => attributes['output.value'])).toEqual(
    expected.map(() => undefined),
  );
});

test.each(['request', 'reply'] as const)('is traced at most once, whichever %s is lost', async (part) => {
  const calm = await settle(new World({}));
  for (let step = 0; step < calm.steps; step++) {
    const before = collector.spans.length;
    tracing = (await tracingWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })) as Tracing;
    const rough = tracedWorld({}).losing(step, part);
    await settle(await settle(rough));
    await tracing.close();
    // The one thing that is forgotten: that the last write arrived, where nobody heard so.
    const isLastWrite = part === 'reply' && step === calm.steps - 1;
    expect({ step, spans: collector.spans.length - before }).toEqual({ step, spans: isLastWrite ? 0 : 1 });
  }
});

test('every target has a span of its own, in its place', async () => {
  const world = new World({});
  const { queries } = traced(world.ports, tracing);
  const seen = world.ports.queries.get({ namespace: 'default', name: 'hello' });
  const status: QueryStatus = {
    phase: 'error',
    error: 'no',
    responses: [
      { target: { type: 'model', name: 'm' }, content: 'yes', phase: 'done' },
      { target: { type: 'tool', name: 't' }, content: '', phase: 'error', error: 'no' },
    ],
  };
  await queries.writeStatus(seen as NonNullable<typeof seen>, status);
  expect(await spans()).toMatchObject([
    {
      name: 'query.model',
      spanId: targetSpanIdOf(uid, 0),
      status: 'ok',
      attributes: { 'output.value': 'yes' },
    },
    { name: 'query.tool', spanId: targetSpanIdOf(uid, 1), status: 'error', message: 'no' },
  ]);
});

test('a controller tells of its start', async () => {
  traceStartup(tracing);
  expect(await spans()).toMatchObject([
    {
      tracer: 'ark/controller-startup',
      name: 'controller.startup',
      attributes: { 'service.name': 'ark-controller', 'service.version': 'dev' },
    },
  ]);
});

describe('the probe of a Model', () => {
  test.each([
    [
      'answers',
      { content: 'I know canary-key' },
      { status: 'ok', attributes: { 'tokens.total': expect.any(Number) } },
    ],
    [
      'refuses',
      { status: 401, body: { error: { message: 'wrong key canary-key' } } },
      { status: 'error', message: 'Model default/main did not answer; its status says why' },
    ],
  ])('that %s is a trace of its own, without a word of the far side', async (_, answer, expected) => {
    const model = await startScriptedModel({ script: () => answer });
    const endpoint = {
      type: 'openai',
      namespace: 'default',
      name: 'main',
      model: 'canary-model',
      baseUrl: model.baseUrl,
      apiKey: 'canary-key',
      properties: { user: 'canary-property' },
    } as const;
    await tracedProbe(createModels().complete, tracing)(
      { endpoint, messages: [{ role: 'user', content: 'Hello' }], tools: [] },
      { signal: new AbortController().signal, timeoutMs: 60_000, idempotencyKey: 'probe' },
    ).catch(() => undefined);

    expect(await spans()).toMatchObject([{ name: 'llm.chat_completion', parentId: '', ...expected }]);
    const [span] = collector.spans;
    expect(span?.attributes).toMatchObject({ 'llm.model.name': 'default/main', 'gen_ai.system': 'openai' });
    expect(model.requests[0]?.headers['traceparent']).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
    expect(collector.wire()).not.toContain('canary');
    await model.close();
  });
});

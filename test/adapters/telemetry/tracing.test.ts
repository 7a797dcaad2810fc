import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { createLogger } from '../../../src/adapters/telemetry/logger.ts';
import { targetSpanIdOf, traceIdOf, uidIn } from '../../../src/adapters/telemetry/span-ids.ts';
import { inTraceContext, traceHeaders } from '../../../src/adapters/telemetry/trace-context.ts';
import type { Tracing } from '../../../src/adapters/telemetry/tracing.ts';
import { waitFor } from '../../e2e/stack.ts';
import { startCollector, tracingWith, type Collector } from '../../fakes/collector.ts';

let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.close());

const uid = '0f8fad5b-d9cb-469f-a165-70867728950e';
const at = { traceId: traceIdOf(uid), spanId: targetSpanIdOf(uid, 0) };

async function opened(variables: Readonly<Record<string, string>> = {}): Promise<Tracing> {
  const tracing = await tracingWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables });
  if (!tracing) throw new Error('tracing is off');
  return tracing;
}

const begin = (tracing: Tracing, attributes = {}, place = {}) =>
  tracing.begin({ tracer: 'ark/controller', name: 'a call', at: place, attributes });

describe('tracing is off', () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ['without an endpoint', {}],
    ['with an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    ['with an endpoint that is no URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }],
    [
      'where the SDK is disabled',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' },
    ],
  ])('%s', async (_, variables) => {
    expect(await tracingWith(variables)).toBeUndefined();
  });

  test('by default, and then nothing of OpenTelemetry is loaded by worker or controller', async () => {
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
      await Promise.all([import('./src/worker/main.ts'), import('./src/controller/main.ts')]);
      const { openTracing } = await import('./src/adapters/telemetry/tracing.ts');
      console.log(await openTracing({}), loaded.some((url) => url.endsWith('telemetry/tracing.ts')),
        loaded.filter((url) => url.includes('@opentelemetry/sdk') || url.includes('@opentelemetry/exporter')).length);
    `;
    const { stdout } = await promisify(execFile)('node', ['--input-type=module', '--eval', script], {
      env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: '', NODE_NO_WARNINGS: '1' },
    });
    expect(stdout.trim()).toBe('undefined true 0');
  });

  test.each(['1-controller', '2-worker'])('in a cluster by what it was for ARK (%s)', async (name) => {
    const file = new URL(`../../../deploy/${name}.yaml`, import.meta.url);
    const from = { name: 'otel-environment-variables', optional: true };
    const deployments = parseAllDocuments(await readFile(file, 'utf8')).map(
      (document) => document.toJS() as object,
    );
    expect(deployments).toContainEqual(
      expect.objectContaining({
        kind: 'Deployment',
        spec: expect.objectContaining({
          template: expect.objectContaining({
            spec: expect.objectContaining({
              containers: [
                expect.objectContaining({
                  envFrom: expect.arrayContaining([{ configMapRef: from }, { secretRef: from }]) as object[],
                }),
              ],
            }),
          }),
        }),
      }),
    );
  });

  test('and requests bear no trace', () => {
    expect(traceHeaders()).toEqual({});
  });
});

describe('ids', () => {
  test('of a trace are the uid', () => {
    expect(traceIdOf(uid)).toBe('0f8fad5bd9cb469fa16570867728950e');
    expect(traceIdOf('not a uid')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('of a target differ by Query and place', () => {
    const ids = [targetSpanIdOf(uid, 0), targetSpanIdOf(uid, 1), targetSpanIdOf('another', 0)];
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  test.each([
    [`query:default:hello:${uid}`, uid],
    [`evaluation:default:hello:${uid}`, uid],
    [`team:default:${uid}:t001.t002.inner`, uid],
  ])('are found in %s', (workflowId, found) => {
    expect(uidIn(workflowId)).toBe(found);
  });
});

describe('a span', () => {
  test('has the ids, the time and the words it was given', async () => {
    const tracing = await opened();
    const started = new Date('2026-01-01T00:00:00.000Z');
    const ended = new Date('2026-01-01T00:00:02.500Z');
    const start = { tracer: 'ark/controller', name: 'query.agent', at, startedAt: started };
    tracing
      .begin({ ...start, attributes: { 'target.name': 'bot', n: 3, absent: undefined } })
      .end(undefined, ended);
    await tracing.close();

    expect(collector.spans).toEqual([
      {
        service: 'ark-controller',
        tracer: 'ark/controller',
        name: 'query.agent',
        ...at,
        parentId: '',
        startMs: started.getTime(),
        endMs: ended.getTime(),
        attributes: { 'target.name': 'bot', n: 3 },
        events: [],
        status: 'ok',
        message: '',
      },
    ]);
  });

  test('that failed says why', async () => {
    const tracing = await opened();
    begin(tracing).end({ type: 'ModelUnavailable', message: 'gone' });
    await tracing.close();
    expect(collector.spans).toMatchObject([
      {
        status: 'error',
        message: 'gone',
        events: [
          {
            name: 'exception',
            attributes: { 'exception.type': 'ModelUnavailable', 'exception.message': 'gone' },
          },
        ],
      },
    ]);
  });

  test('finds its parent in another process by ids alone, and one of its own is made up', async () => {
    const tracing = await opened();
    const child = begin(tracing, {}, { traceId: at.traceId, parentId: at.spanId });
    expect(child.traceparent).toMatch(new RegExp(`^00-${at.traceId}-[0-9a-f]{16}-01$`));
    child.end();
    begin(tracing).end();
    await tracing.close();
    const [first, second] = collector.spans;
    expect(collector.spans).toHaveLength(2);
    expect(first).toMatchObject({ traceId: at.traceId, parentId: at.spanId });
    expect(child.traceparent).toContain(first?.spanId);
    expect(second?.traceId).not.toBe(at.traceId);
  });

  test.each(['0', '1'])('is kept or dropped with its parent, by the trace (ratio %s)', async (ratio) => {
    const tracing = await opened({
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
    const child = begin(tracing, {}, { traceId: at.traceId, parentId: at.spanId });
    expect(child.traceparent.endsWith(`-0${ratio}`)).toBe(true);
    child.end();
    begin(tracing, {}, at).end();
    await tracing.close();
    expect(collector.spans).toHaveLength(2 * Number(ratio));
  });

  test('bears the name that operators give', async () => {
    const tracing = await opened({ OTEL_SERVICE_NAME: 'mine' });
    begin(tracing).end();
    await tracing.close();
    expect(collector.spans[0]?.service).toBe('mine');
  });
});

describe('content', () => {
  const content = { 'input.value': 'what?', 'output.value': 'that', model: 'm' };

  test('can be left out', async () => {
    const tracing = await opened({ ARKWRIGHT_TRACE_CONTENT: 'false' });
    const span = begin(tracing, content);
    span.set(content);
    span.end();
    await tracing.close();
    expect(collector.spans[0]?.attributes).toEqual({ model: 'm' });
  });

  test('is cut to 64 KiB, and no character is split', async () => {
    const tracing = await opened();
    begin(tracing, { 'input.value': `a${'€'.repeat(100_000)}` }).end();
    await tracing.close();
    const text = String(collector.spans[0]?.attributes['input.value']);
    expect(Buffer.byteLength(text)).toBe(64 * 1024);
    expect(text).toMatch(/^a€+$/);
  });
});

describe('a collector', () => {
  test('that never answers holds up the end for five seconds', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const sockets = new Set<Socket>();
    silent.on('connection', (socket) => sockets.add(socket));
    const { port } = silent.address() as AddressInfo;
    const tracing = await opened({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '40000',
    });
    begin(tracing).end();
    const before = performance.now();
    await tracing.close();
    expect(performance.now() - before).toBeLessThan(30_000);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('that is away is told of once and holds nobody up', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const tracing = await tracingWith(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      },
      createLogger({ level: 'warn', name: 'test', pretty: false, destination }),
    );
    for (let i = 0; i < 200; i++) begin(tracing as Tracing, { 'input.value': 'x' }).end();
    await tracing?.close();
    await waitFor(() => lines.length > 0, { what: 'a word about it' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/spans are lost: the collector at 127\.0\.0\.1:\d+ /);
  });
});

test('requests bear the trace of the call they are made in', async () => {
  const told = await Promise.all(
    ['one', 'other'].map((traceparent) =>
      inTraceContext(traceparent, async () => {
        await new Promise(setImmediate);
        return traceHeaders();
      }),
    ),
  );
  expect(told).toEqual([{ traceparent: 'one' }, { traceparent: 'other' }]);
});

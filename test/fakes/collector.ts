import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';
import { createLogger } from '../../src/adapters/telemetry/logger.ts';
import { openTracing, type Tracing } from '../../src/adapters/telemetry/tracing.ts';

/** What OTLP says of a span, as far as tests look at it (opentelemetry-proto, trace/v1/trace.proto). */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    fixed64 start_time_unix_nano = 7;
    fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9;
    repeated Event events = 11;
    Status status = 15;
  }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; Value value = 2; }
  message Value { oneof value { string s = 1; bool b = 2; int64 i = 3; double d = 4; } }
`);

type Attributes = Readonly<Record<string, unknown>>;

export interface CollectedSpan {
  readonly service: unknown;
  readonly tracer: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty at the root. */
  readonly parentId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly status: 'ok' | 'error' | 'unset';
  readonly message: string;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that was sent, as it came over the wire. */
  readonly wire: () => string;
  close(): Promise<void>;
}

/** An OpenTelemetry collector on loopback: OTLP over HTTP, in protobuf. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      if (request.url === '/v1/traces') {
        bodies.push(body);
        spans.push(...decoded(body));
      }
      response.writeHead(request.url === '/v1/traces' ? 200 : 404).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    wire: () => Buffer.concat(bodies).toString(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Opens tracing as a process with these variables does. */
export async function tracingWith(
  variables: Readonly<Record<string, string>>,
  logger = createLogger({ level: 'silent', name: 'test' }),
): Promise<Tracing | undefined> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await openTracing(logger);
  } finally {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

interface Wire {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Wire[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly WireSpan[];
    }[];
  }[];
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: number;
  readonly endTimeUnixNano: number;
  readonly attributes: readonly Wire[];
  readonly events: readonly { readonly name: string; readonly attributes: readonly Wire[] }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

const attributesOf = (wire: readonly Wire[]): Attributes =>
  Object.fromEntries(wire.map(({ key, value }) => [key, Object.values(value ?? {})[0]]));

function decoded(body: Buffer): CollectedSpan[] {
  const type = root.lookupType('Request');
  const options = { longs: Number, bytes: String, arrays: true, objects: true, defaults: false };
  const { resourceSpans } = type.toObject(type.decode(body), options) as WireRequest;
  const hex = (text = ''): string => Buffer.from(text, 'base64').toString('hex');
  const spans: CollectedSpan[] = [];
  for (const { resource, scopeSpans } of resourceSpans) {
    for (const { scope, spans: some } of scopeSpans) {
      for (const span of some) {
        spans.push({
          service: attributesOf(resource.attributes)['service.name'],
          tracer: scope.name,
          name: span.name,
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentId: hex(span.parentSpanId),
          startMs: span.startTimeUnixNano / 1e6,
          endMs: span.endTimeUnixNano / 1e6,
          attributes: attributesOf(span.attributes),
          events: span.events.map(({ name, attributes }) => ({ name, attributes: attributesOf(attributes) })),
          status: (['unset', 'ok', 'error'] as const)[span.status?.code ?? 0] ?? 'unset',
          message: span.status?.message ?? '',
        });
      }
    }
  }
  return spans;
}

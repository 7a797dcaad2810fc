import type { Context, Span } from '@opentelemetry/api';
import type { IdGenerator, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from './logger.ts';

/** Of one attribute, in UTF-8: a collector refuses a batch that is too large as a whole. */
const textBytesMax = 64 * 1024;
/** At most 64 MiB wait for a collector that is away; what comes after them is dropped. */
const queueSpansMax = 512;
const batchSpansMax = 64;
const closeTimeoutMs = 5_000;
const complainEveryMs = 60_000;
export const serviceNameDefault = 'ark-controller';

/** What people wrote and models said; left out with `ARKWRIGHT_TRACE_CONTENT=false`. */
const contentAttributes: ReadonlySet<string> = new Set(['input.value', 'output.value']);

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where a span belongs. Ids that are not given are made up. */
export interface Place {
  readonly traceId?: string;
  readonly spanId?: string;
  /** A span that this process may know nothing else of. */
  readonly parentId?: string;
}

export interface SpanStart {
  readonly tracer: string;
  readonly name: string;
  readonly at?: Place;
  /** True where the span is the time that something far away took. */
  readonly isCall?: boolean;
  readonly startedAt?: Date;
  readonly attributes: SpanAttributes;
}

export interface TracedSpan {
  /** In the form of W3C Trace Context; says also whether the span is sampled. */
  readonly traceparent: string;
  /** Adds attributes; texts are cut to 64 KiB, content is left out where it is not wanted. */
  set(attributes: SpanAttributes): void;
  end(failure?: { readonly type: string; readonly message: string }, endedAt?: Date): void;
}

/** Spans for an OpenTelemetry collector (contract section 6.3). Nothing here throws, waits or fails a call. */
export interface Tracing {
  begin(start: SpanStart): TracedSpan;
  /** Sends what is left, for at most five seconds. */
  close(): Promise<void>;
}

/**
 * Undefined, and nothing is loaded, unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set. Spans go there as OTLP over HTTP, in
 * batches; OpenTelemetry's other variables (headers, timeout, sampler, resource, batches) mean what they mean everywhere.
 */
export async function openTracing(logger: Logger): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: disabled, ...environment } = process.env;
  if (!endpoint || disabled === 'true') return undefined;
  if (!URL.canParse(endpoint)) {
    logger.warn(
      'nothing is traced: OTEL_EXPORTER_OTLP_ENDPOINT is no URL; give one, such as http://collector:4318',
    );
    return undefined;
  }

  const [
    api,
    { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator },
    resources,
    { OTLPTraceExporter },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const ids = givenIds(new RandomIdGenerator());
  const provider = new BasicTracerProvider({
    idGenerator: ids,
    resource: resources
      .resourceFromAttributes({ 'service.name': serviceNameDefault })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(complaining(new OTLPTraceExporter(), endpoint, logger), {
        ...(!environment['OTEL_BSP_MAX_QUEUE_SIZE'] && { maxQueueSize: queueSpansMax }),
        ...(!environment['OTEL_BSP_MAX_EXPORT_BATCH_SIZE'] && { maxExportBatchSize: batchSpansMax }),
      }),
    ],
  });
  const fit = fitting(environment['ARKWRIGHT_TRACE_CONTENT'] !== 'false');

  function start({ tracer, name, at = {}, isCall, startedAt, attributes }: SpanStart): Span {
    const options = {
      kind: isCall ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL,
      attributes: fit(attributes),
      ...(startedAt && { startTime: startedAt }),
    };
    const parent = parentOf(tracer, at);
    return ids.giving(at, () => provider.getTracer(tracer).startSpan(name, options, parent));
  }

  /** A stand-in, never ended and so never sent: whoever ends the real one decides by the same id whether it is sampled. */
  function parentOf(tracer: string, { traceId, parentId }: Place): Context {
    if (parentId === undefined) return api.ROOT_CONTEXT;
    const at = { ...(traceId !== undefined && { traceId }), spanId: parentId };
    return api.trace.setSpan(api.ROOT_CONTEXT, start({ tracer, name: 'parent', at, attributes: {} }));
  }

  return {
    begin(beginning) {
      const span = start(beginning);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        set: (attributes) => void span.setAttributes(fit(attributes)),
        end(failure, endedAt) {
          if (failure) {
            const { type: name, message } = failure;
            span.recordException({ name, message }, endedAt);
            span.setStatus({ code: api.SpanStatusCode.ERROR, message });
          } else span.setStatus({ code: api.SpanStatusCode.OK });
          span.end(endedAt);
        },
      };
    },
    async close() {
      const givenUp = new Promise<void>((resolve) => setTimeout(resolve, closeTimeoutMs).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), givenUp]);
    },
  };
}

/** An id generator that uses the ids it is given for the span that is begun meanwhile. */
function givenIds(random: IdGenerator): IdGenerator & { giving<R>(ids: Place, begin: () => R): R } {
  let given: Place = {};
  return {
    generateTraceId: () => given.traceId ?? random.generateTraceId(),
    generateSpanId: () => given.spanId ?? random.generateSpanId(),
    giving(ids, begin) {
      given = ids;
      try {
        return begin();
      } finally {
        given = {};
      }
    },
  };
}

/** The same exporter; that spans are lost is told once a minute, and nobody else is disturbed. */
function complaining(exporter: SpanExporter, endpoint: string, logger: Logger): SpanExporter {
  let quietUntilMs = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error && Date.now() >= quietUntilMs) {
          quietUntilMs = Date.now() + complainEveryMs;
          const { host } = new URL(endpoint);
          logger.warn(
            `${spans.length} spans are lost: the collector at ${host} (OTEL_EXPORTER_OTLP_ENDPOINT) did not take them: ${result.error.message}`,
          );
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

const fitting =
  (withContent: boolean) =>
  (attributes: SpanAttributes): SpanAttributes =>
    Object.fromEntries(
      Object.entries(attributes)
        .filter(([name, value]) => value !== undefined && (withContent || !contentAttributes.has(name)))
        .map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]),
    );

/** Cut where no character is split. */
function cut(text: string): string {
  if (text.length * 3 <= textBytesMax || Buffer.byteLength(text) <= textBytesMax) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(textBytesMax));
  return text.slice(0, read);
}

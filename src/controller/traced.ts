import type { createModels } from '../adapters/models/create-models.ts';
import { replyAttributes, requestAttributes } from '../adapters/telemetry/model-attributes.ts';
import { targetSpanIdOf, traceIdOf } from '../adapters/telemetry/span-ids.ts';
import { inTraceContext } from '../adapters/telemetry/trace-context.ts';
import { serviceNameDefault, type Tracing } from '../adapters/telemetry/tracing.ts';
import { canonicalQuery } from '../api/canonical-query.ts';
import { isInvalid } from '../api/problems.ts';
import type { QueryStatus } from '../api/query.ts';
import type { ControllerPorts, SeenQuery } from './ports.ts';
import { whenFinished } from './when-finished.ts';

type Complete = ReturnType<typeof createModels>['complete'];

const tracer = 'ark/controller';
const origin = { 'service.name': 'ark', component: 'ark-controller' } as const;

/** One span for each start of a controller. */
export function traceStartup(tracing: Tracing): void {
  const { OTEL_SERVICE_NAME: name = serviceNameDefault, VERSION: version = 'dev' } = process.env;
  const attributes = { 'service.name': name, 'service.version': version };
  tracing.begin({ tracer: 'ark/controller-startup', name: 'controller.startup', attributes }).end();
}

/**
 * The same ports; when the status is written that makes a Query finished, each of its targets becomes a span, the
 * root of its calls (contract section 6.3). All of them span the run: a Query's targets are asked at the same time.
 */
export const traced = (ports: ControllerPorts, tracing: Tracing): ControllerPorts =>
  whenFinished(ports, (query, status) => traceTargets(tracing, query, status));

/**
 * The same question to a Model, as a span in a trace of its own. It names the Model by its resource and tells nothing of
 * what the far side said: which values are Secrets is not known here.
 */
export const tracedProbe =
  (complete: Complete, tracing: Tracing): Complete =>
  async (request, options) => {
    const { namespace, name } = request.endpoint;
    const endpoint = { ...request.endpoint, model: `${namespace}/${name}`, properties: {} };
    const attributes = { ...origin, ...requestAttributes({ ...request, endpoint }) };
    const span = tracing.begin({ tracer, name: 'llm.chat_completion', isCall: true, attributes });
    try {
      const reply = await inTraceContext(span.traceparent, () => complete(request, options));
      if (reply) span.set({ ...replyAttributes(reply), 'output.value': undefined });
      span.end();
      return reply;
    } catch (error) {
      const { type = 'error' } = error as { readonly type?: string };
      span.end({ type, message: `Model ${namespace}/${name} did not answer; its status says why` });
      throw error;
    }
  };

function traceTargets(tracing: Tracing, query: SeenQuery, status: QueryStatus): void {
  const { namespace, name, uid, spec, createdAt } = query;
  const { startTime, completionTime } = status;
  const traceId = traceIdOf(uid);
  for (const [index, { target, content, failure }] of endsOf(query, status).entries()) {
    const span = tracing.begin({
      tracer,
      name: `query.${target.type}`,
      at: { traceId, spanId: targetSpanIdOf(uid, index) },
      startedAt: startTime ? new Date(startTime) : createdAt,
      attributes: {
        ...origin,
        'target.type': target.type,
        'target.name': target.name,
        'query.name': name,
        'query.namespace': namespace,
        'input.value': typeof spec.input === 'string' ? spec.input : undefined,
        ...(!failure && { 'output.value': content }),
      },
    });
    span.end(failure, completionTime ? new Date(completionTime) : undefined);
  }
}

interface End {
  readonly target: { readonly type: string; readonly name: string };
  readonly content: string;
  readonly failure?: { readonly type: string; readonly message: string };
}

/** Without responses nobody could be asked, or nobody knows what they said: then all that the spec names have failed. */
function endsOf({ spec }: SeenQuery, { responses = [], phase, error = '' }: QueryStatus): readonly End[] {
  const failed = (type: string, message: string) => ({ failure: { type, message } });
  if (responses.length > 0) {
    return responses.map(({ target, content = '', phase: end = 'done', error: why = '' }) => ({
      target,
      content,
      ...(end !== 'done' && failed(end, why)),
    }));
  }
  const asked = canonicalQuery(spec);
  if (isInvalid(asked)) return [];
  return asked.targets.map((target) => ({ target, content: '', ...failed(phase, error) }));
}

import { targetSpanIdOf, traceIdOf } from '../adapters/telemetry/span-ids.ts';
import { serviceNameDefault, type Tracing } from '../adapters/telemetry/tracing.ts';
import { canonicalQuery } from '../api/canonical-query.ts';
import { isInvalid } from '../api/problems.ts';
import type { QueryStatus } from '../api/query.ts';
import { isFinished } from './lifetime.ts';
import type { ControllerPorts, SeenQuery } from './ports.ts';

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
export function traced(ports: ControllerPorts, tracing: Tracing): ControllerPorts {
  const { queries } = ports;
  return {
    ...ports,
    queries: {
      ...queries,
      async writeStatus(query, status) {
        await queries.writeStatus(query, status);
        if (isFinished(status)) traceTargets(tracing, query, status);
      },
    },
  };
}

function traceTargets(tracing: Tracing, query: SeenQuery, status: QueryStatus): void {
  const { namespace, name, uid, spec, createdAt } = query;
  const { startTime, completionTime } = status;
  const traceId = traceIdOf(uid);
  for (const [index, { target, content, failure }] of endsOf(query, status).entries()) {
    const span = tracing.begin({
      tracer: 'ark/controller',
      name: `query.${target.type}`,
      at: { traceId, spanId: targetSpanIdOf(uid, index) },
      startedAt: startTime ? new Date(startTime) : createdAt,
      attributes: {
        'service.name': 'ark',
        component: 'ark-controller',
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

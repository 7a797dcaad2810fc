import { canonicalQuery } from '../api/canonical-query.ts';
import { isInvalid } from '../api/problems.ts';
import type { QueryStatus } from '../api/query.ts';
import type { RunEvent } from '../api/run-event.ts';
import type { ControllerPorts, SeenQuery } from './ports.ts';
import { whenFinished } from './when-finished.ts';

/**
 * The same ports, with the end of every Query told once (contract section 6.1): also of one that could not be started,
 * or whose run was ended from outside. What happens in between is told by the run.
 */
export const announced = (ports: ControllerPorts, tell: (event: RunEvent) => void): ControllerPorts =>
  whenFinished(ports, (query, status) => tell(endOf(query, status)));

function endOf({ namespace, name, uid, spec, createdAt }: SeenQuery, status: QueryStatus): RunEvent {
  const { phase, error, startTime, completionTime } = status;
  const canonical = canonicalQuery(spec);
  const targets = isInvalid(canonical) ? 0 : canonical.targets.length;
  const startedMs = startTime ? Date.parse(startTime) : createdAt.getTime();
  return {
    query: { namespace, name, uid },
    reason: phase === 'done' ? 'QueryResolveComplete' : 'QueryResolveError',
    name,
    facts: { namespace, targets: String(targets) },
    ...(completionTime && { durationMs: Math.max(0, Date.parse(completionTime) - startedMs) }),
    ...(phase !== 'done' && { error: error ?? '' }),
  };
}

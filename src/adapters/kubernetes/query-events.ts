import { eventMessage, eventType, queryEventComponent } from '../../api/event-text.ts';
import type { RunEvent } from '../../api/run-event.ts';
import type { EventRecorder } from './event-recorder.ts';

/** Which Events of Queries are written. */
export type Events = 'all' | 'errors' | 'none';

/** One at a time, with a rest: an API server on a small machine takes several milliseconds for each. */
export const gentle = { writers: 1, restMs: 50 } as const;

/** Writes what is told of a Query as core/v1 Events of it (contract section 6.1). */
export const queryEvents =
  (which: Events, recorder: EventRecorder) =>
  (event: RunEvent): void => {
    const type = eventType(event.reason);
    if (which === 'none' || (which === 'errors' && type === 'Normal')) return;

    const { namespace, name, uid } = event.query;
    recorder.record(
      { apiVersion: 'ark.mckinsey.com/v1alpha1', kind: 'Query', namespace, name, uid },
      { component: queryEventComponent, type, reason: event.reason, message: eventMessage(event) },
    );
  };

import { parseDuration } from '../api/durations.ts';
import type { SeenQuery } from './ports.ts';

/** Contract section 1.2: 720h. */
const ttlMsDefault = 720 * 3_600_000;

/** The phases that nothing changes any more. */
export const isFinished = ({ phase }: SeenQuery['status']): boolean =>
  phase === 'done' || phase === 'error' || phase === 'canceled';

/** When a finished Query is deleted; `spec.ttl` counts from its creation. One that cannot be read is the default. */
export const expiryOf = ({ createdAt, spec }: SeenQuery): Date =>
  new Date(createdAt.getTime() + (parseDuration(spec.ttl ?? '') ?? ttlMsDefault));

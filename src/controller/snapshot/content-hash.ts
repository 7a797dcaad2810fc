import { createHash } from 'node:crypto';
import type { Hash } from '../../api/snapshot.ts';

const hexDigits = 16;

/** Names a value by its content: equal values have equal hashes, in whatever order their fields were written. */
export const contentHash = (value: unknown): Hash =>
  createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, hexDigits);

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

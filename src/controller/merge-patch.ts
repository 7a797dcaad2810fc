import { isDeepStrictEqual } from 'node:util';

/**
 * The JSON merge patch (RFC 7386) that turns one object into another, or undefined where there is nothing to turn.
 * Arrays are replaced whole; a field that must go is null. Both sides are plain JSON.
 */
export function mergePatch(from: object, to: object): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  const before = from as Record<string, unknown>;
  const after = to as Record<string, unknown>;

  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = before[field];
    const is = after[field];
    if (is === undefined) {
      if (was !== undefined) patch[field] = null;
    } else if (isObject(was) && isObject(is)) {
      const inner = mergePatch(was, is);
      if (inner) patch[field] = inner;
    } else if (!isDeepStrictEqual(was, is)) {
      patch[field] = is;
    }
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

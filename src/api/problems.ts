/** What is wrong with a resource, said to its owner. An expected end, hence a value and not an exception. */
import type { z } from 'zod';

export interface Invalid {
  /** At least one; the first is the one ARK's admission would show (contract section 2). */
  readonly problems: readonly string[];
}

export const isInvalid = (result: object): result is Invalid => 'problems' in result;

/** The problems among these checks, each of which is a problem or nothing. */
export const problemsAmong = (...checks: readonly (string | false | undefined)[]): readonly string[] =>
  checks.filter((check) => typeof check === 'string');

/** Further ones would only be read after these have been mended. */
const schemaProblemsMax = 10;

/**
 * The spec as its schema reads it, defaults applied and unknown fields dropped, as the API server would have done. An
 * absent spec is an empty one: no Kind requires it.
 */
export function readSpec<S extends z.ZodType<object>>(schema: S, spec: unknown): z.output<S> | Invalid {
  const result = schema.safeParse(spec ?? {}, {
    error: ({ input }) => (input === undefined ? 'is required' : undefined),
  });
  if (result.success) return result.data;

  const problems = result.error.issues
    .slice(0, schemaProblemsMax)
    .map(({ path, message }) => `${fieldPath(path)}: ${message}`);
  return { problems };
}

/** As the API server writes it: `spec.targets[0].type`. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${String(part)}`),
    'spec',
  );
}

import { isInvalid } from '../../api/problems.ts';
import type { Invalid } from '../../api/problems.ts';
import type { FailureType } from '../../api/failures.ts';

/** Why there can be no snapshot, in the words of contract sections 4.2 and 4.11; ends in the Query's status. */
export class Unbuildable extends Error {
  override readonly name = 'Unbuildable';
  readonly type: FailureType;
  /** What is named is not there, or not there yet. */
  readonly missing: boolean;

  constructor(type: FailureType, message: string, { missing = false } = {}) {
    super(message);
    this.type = type;
    this.missing = missing;
  }
}

/** Puts where it happened before what happened; errors that heal by themselves pass unchanged. */
export async function within<T>(where: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error;
    throw new Unbuildable(error.type, where + error.message, { missing: error.missing });
  }
}

/** What one can do without: undefined where it cannot be read. */
export async function unlessUnreadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Unbuildable) return undefined;
    throw error;
  }
}

/** The spec, if nothing is wrong with it. */
export function valid<T extends object>(where: string, spec: T | Invalid): T {
  if (isInvalid(spec))
    throw new Unbuildable('DefinitionInvalid', `${where}: ${spec.problems[0] ?? 'invalid'}`);
  return spec;
}

import { addressProblem, sourceOf, type Source } from './canonical-values.ts';
import { MemorySpec } from './memory.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';

export interface CanonicalMemory {
  readonly address: Source;
}

/** A Memory's spec, or what is wrong with it. */
export function canonicalMemory(written: unknown): CanonicalMemory | Invalid {
  const spec = readSpec(MemorySpec, written);
  if (isInvalid(spec)) return spec;

  const problems = memoryProblems(spec);
  return problems.length > 0 ? { problems } : { address: sourceOf(spec.address) };
}

/** What one Memory can tell about itself. ARK's admission lets it pass, and its controller says so. */
export const memoryProblems = ({ address }: MemorySpec): readonly string[] =>
  problemsAmong(addressProblem(address));

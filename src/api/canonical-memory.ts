import { sourceOf, type Source } from './canonical-values.ts';
import { MemorySpec } from './memory.ts';
import { isInvalid, readSpec, type Invalid } from './problems.ts';

export interface CanonicalMemory {
  readonly address: Source;
}

/** A Memory's spec, or what is wrong with it; admission lets pass an address that is nowhere, and status tells. */
export function canonicalMemory(written: unknown): CanonicalMemory | Invalid {
  const spec = readSpec(MemorySpec, written);
  return isInvalid(spec) ? spec : { address: sourceOf(spec.address) };
}

import { A2aServerSpec } from './a2a-server.ts';
import { isUnset, parameterSource, sourceOf, type NamedSource, type Source } from './canonical-values.ts';
import { parseDuration } from './durations.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';

export interface CanonicalA2aServer {
  readonly address: Source;
  readonly headers: readonly NamedSource[];
  /** 0: its card is read once. */
  readonly pollMs: number;
}

/** An A2AServer's spec with every value traced to its source, or what is wrong with it. */
export function canonicalA2aServer(written: unknown): CanonicalA2aServer | Invalid {
  const spec = readSpec(A2aServerSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = a2aServerProblems(spec);
  if (problems.length > 0) return { problems };

  return {
    address: sourceOf(spec.address),
    headers: (spec.headers ?? []).map(({ name, value }) => ({ name, source: parameterSource(value) })),
    pollMs: parseDuration(spec.pollInterval) ?? 0,
  };
}

/** What one A2AServer can tell about itself: all of it in one sentence, or nothing (contract 2.8). */
export function a2aServerProblems({ address, headers = [], pollInterval }: A2aServerSpec): readonly string[] {
  const found = [
    ...problemsAmong(
      !address.value && !address.valueFrom && 'address must specify either value or valueFrom',
      address.value && address.valueFrom && 'address cannot specify both value and valueFrom',
    ),
    ...headers.flatMap(({ name, value }, index) =>
      problemsAmong(
        headers.findIndex((other) => other.name === name) < index && `duplicate header name: ${name}`,
        isUnset(value) && `header ${name} must specify either value or valueFrom`,
        value.value && value.valueFrom && `header ${name} cannot specify both value and valueFrom`,
      ),
    ),
    ...problemsAmong(pollInterval.startsWith('-') && 'pollInterval cannot be negative'),
  ];
  return found.length > 0 ? [`validation failed: [${found.join(' ')}]`] : [];
}

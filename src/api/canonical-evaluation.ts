import { canonicalParameters, type NamedSource } from './canonical-values.ts';
import { parseDuration } from './durations.ts';
import { EvaluationSpec } from './evaluation.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';
import type { Ref } from './values.ts';

export interface CanonicalEvaluation {
  readonly type: EvaluationSpec['type'];
  /** Absent: nobody can judge it. */
  readonly evaluator?: (Ref & { readonly parameters: readonly NamedSource[] }) | undefined;
  readonly config: EvaluationSpec['config'];
  readonly ttlMs: number;
  /** 0 leaves no time. */
  readonly timeoutMs: number;
}

/** An Evaluation's spec, or what is wrong with it. */
export function canonicalEvaluation(written: unknown): CanonicalEvaluation | Invalid {
  const spec = readSpec(EvaluationSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = evaluationProblems(spec);
  if (problems.length > 0) return { problems };

  const { type, evaluator, config, ttl, timeout } = spec;
  return {
    type,
    evaluator: evaluator && { ...evaluator, parameters: canonicalParameters(evaluator.parameters) },
    config,
    ttlMs: Math.max(0, parseDuration(ttl) ?? 0),
    timeoutMs: Math.max(0, parseDuration(timeout) ?? 0),
  };
}

/**
 * What one Evaluation can tell about itself, in the words of ARK's controller (contract 7.3). ARK admits them all, and
 * its unused rules of admission (contract 2.9) refuse batches that its controller runs: the controller is followed.
 */
export function evaluationProblems({ type, config }: EvaluationSpec): readonly string[] {
  switch (type) {
    case 'direct':
      return problemsAmong(
        !config.input && 'Direct evaluation requires non-empty input',
        !config.output && 'Direct evaluation requires non-empty output',
      );
    case 'query':
      return problemsAmong(!config.queryRef && 'Query evaluation requires queryRef in config');
    case 'event':
      return problemsAmong(!config.rules?.length && 'Event evaluation requires rules in config');
    case 'batch':
      return problemsAmong(
        !config.evaluations?.length &&
          'Batch evaluation requires at least one evaluation in config.evaluations',
      );
    case 'baseline':
      return [];
  }
}

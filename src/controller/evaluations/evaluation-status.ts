import type { CanonicalEvaluation } from '../../api/canonical-evaluation.ts';
import { formatDuration } from '../../api/durations.ts';
import type { EvaluationStatus } from '../../api/evaluation.ts';
import type { EvaluatorReply } from '../../api/run.ts';
import type { EvaluationRun, SeenEvaluation } from './ports.ts';
import { scoreOf } from './score.ts';

const messageCharsMax = 2_000;

/** The phases that nothing changes any more. */
export const hasEnded = ({ status: { phase } }: SeenEvaluation): boolean =>
  phase === 'done' || phase === 'error' || phase === 'canceled';

/** The status of an Evaluation whose run has ended, in the words of contract section 7.3. */
export function endedStatus(
  spec: CanonicalEvaluation,
  { end, startedAt, closedAt }: Extract<EvaluationRun, { state: 'closed' }>,
): EvaluationStatus {
  const duration = formatDuration(Math.max(0, closedAt.getTime() - startedAt.getTime()));
  if ('score' in end) return { ...judgedStatus(spec, end), duration };
  if (end.type === 'RunCanceled') return { phase: 'canceled', message: 'canceled', passed: false, duration };
  return {
    phase: 'error',
    message: clipped(`${failed[spec.type]}: ${end.message}`),
    passed: false,
    duration,
  };
}

function judgedStatus(spec: CanonicalEvaluation, reply: EvaluatorReply): EvaluationStatus {
  const score = scoreOf(reply.score);
  return {
    phase: 'done',
    message: doneMessage(spec, reply.passed, score ?? reply.score),
    ...(score !== undefined && { score }),
    passed: reply.passed,
    ...(reply.usage && { tokenUsage: reply.usage }),
  };
}

const failed = {
  direct: 'Evaluator call failed',
  query: 'Query evaluation failed',
  baseline: 'Baseline evaluation failed',
  event: 'Evaluation failed',
  batch: 'Batch evaluation failed',
} as const satisfies Record<CanonicalEvaluation['type'], string>;

function doneMessage({ type, config }: CanonicalEvaluation, passed: boolean, score: string): string {
  switch (type) {
    case 'direct':
      return 'Direct evaluation completed successfully';
    case 'query':
      return 'Query evaluation completed successfully';
    case 'baseline':
      return 'Baseline evaluation completed successfully';
    case 'batch':
      return 'Batch evaluation completed successfully';
    case 'event': {
      const outcome = passed ? 'passed' : 'failed';
      return `Event evaluation completed with ${config.rules?.length ?? 0} rules - ${outcome} (score: ${score})`;
    }
  }
}

const clipped = (text: string): string =>
  text.length <= messageCharsMax ? text : `${text.slice(0, messageCharsMax - 1)}…`;

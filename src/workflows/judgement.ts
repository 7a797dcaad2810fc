import { proxyActivities, upsertMemo } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { EvaluationOutcome, Progress, TargetOutcome } from '../api/run.ts';
import type { Snapshot } from '../api/snapshot.ts';
import { clip } from './clip.ts';
import { evaluation as evaluationOf, told } from './events.ts';
import { failureOf } from './failures.ts';
import { inOrder } from './in-order.ts';
import type { Stage } from './stage.ts';
import * as timeouts from './timeouts.ts';

const { judge } = proxyActivities<Activities>(timeouts.judgement);

/** All that is kept of the evaluators' remarks; the answers have their own room in the run's result. */
const remarksBytesMax = 48 * 1024;

/** What the evaluators say, and whether the run was cancelled meanwhile. */
export interface Judgement {
  readonly evaluations: readonly EvaluationOutcome[];
  readonly isCanceled: boolean;
}

/**
 * Asks all evaluators of the Query at once about its answers, and keeps their order (contract section 7.1). One that
 * fails scores 0 and says why: it never fails the Query.
 */
export async function judged(
  stage: Stage,
  { queried, evaluators }: NonNullable<Snapshot['evaluation']>,
  responses: readonly TargetOutcome[],
): Promise<Judgement> {
  const answers = responses.map(({ target, content }) => ({ target, content }));
  const turn = stage.ledger.nextTurn() - 1;
  const tokens = stage.ledger.usage().totalTokens;
  upsertMemo({ progress: { turn, speaker: 'evaluators', tokens, isEvaluating: true } satisfies Progress });

  let isCanceled = false;
  const remarkBytesMax = Math.floor(remarksBytesMax / evaluators.length);
  const ask = async ({ name, definition }: (typeof evaluators)[number], index: number) => {
    try {
      const { score, passed, metadata } = await judge.executeWithOptions(
        {
          activityId: `evaluator.${index + 1}`,
          summary: `evaluator ${name}`,
        },
        [{ definition, queried, responses: answers }],
      );
      return { outcome: { evaluator: name, score, passed, metadata: fitting(metadata, remarkBytesMax) } };
    } catch (error) {
      const failure = failureOf(error);
      isCanceled ||= failure.type === 'RunCanceled';
      const metadata = { error: failure.message };
      return { outcome: { evaluator: name, score: '0', passed: false, metadata }, failure };
    }
  };
  const ends = await inOrder(evaluators, stage.limits.concurrency, (one, index) =>
    told(stage, evaluationOf(stage, one.name), () => ask(one, index)),
  );
  const evaluations = ends.map(({ outcome }) => outcome);
  return { evaluations, isCanceled };
}

function fitting(metadata: EvaluationOutcome['metadata'], bytesMax: number): EvaluationOutcome['metadata'] {
  const remarks = Object.entries(metadata);
  const share = Math.floor(bytesMax / Math.max(1, remarks.length));
  return Object.fromEntries(remarks.map(([name, text]) => [name, clip(text, share)]));
}

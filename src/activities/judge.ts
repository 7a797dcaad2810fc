import type { EvaluationCall, EvaluatorReply } from '../api/run.ts';
import type { QueriedDefinition } from '../api/snapshot.ts';
import { asStep, type Step } from './context.ts';
import type { Effects } from './effects.ts';
import { askEvaluator } from './evaluate.ts';

/** Contract section 7.1. */
const evaluatorTimeoutMs = 30_000;

/** Asks one evaluator once about a Query's answers (contract section 7.1). */
export const judge =
  (effects: Effects) =>
  (input: EvaluationCall): Promise<EvaluatorReply> =>
    asStep(async (step) => {
      const { definitions, ports } = effects;
      const [{ address, access }, query] = await Promise.all([
        definitions.get(step, input.definition, 'evaluator'),
        queriedBy(definitions, step, input.queried),
      ]);
      const request = {
        queryId: query.metadata.uid,
        input: query.spec.input,
        responses: input.responses,
        query,
      };
      return askEvaluator(ports, step, { address, access, request, timeoutMs: evaluatorTimeoutMs });
    });

/** The Query with its input as it was written. */
async function queriedBy(
  definitions: Effects['definitions'],
  step: Step,
  hash: EvaluationCall['queried'],
): Promise<QueriedDefinition['query']> {
  const { query, input } = await definitions.get(step, hash, 'queried');
  if (input === undefined) return query;
  const { question } = await definitions.get(step, input, 'question');
  return 'text' in question ? { ...query, spec: { ...query.spec, input: question.text } } : query;
}

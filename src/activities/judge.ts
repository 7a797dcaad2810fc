import type { EvaluationCall, EvaluatorReply } from '../api/run.ts';
import { asStep } from './context.ts';
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
      const [{ address, access }, { query }] = await Promise.all([
        definitions.get(step, input.definition, 'evaluator'),
        definitions.get(step, input.queried, 'queried'),
      ]);
      const request = {
        queryId: query.metadata.uid,
        input: query.spec.input,
        responses: input.responses,
        query,
      };
      return askEvaluator(ports, step, { address, access, request, timeoutMs: evaluatorTimeoutMs });
    });

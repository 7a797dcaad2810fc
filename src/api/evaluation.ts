/** An Evaluation: one judgement by an evaluator (contract 1.10). */
import { z } from 'zod';
import { Duration, LabelSelector, listMax, Parameter, Ref, TokenUsage } from './values.ts';

const EvaluatorRef = Ref.extend({ parameters: z.array(Parameter).max(listMax.parameters).optional() });

const ItemType = z.enum(['direct', 'query', 'baseline', 'event']);

const ExpressionRule = z.object({
  name: z.string().min(1),
  expression: z.string().describe('A condition in the language of CEL, which the evaluator judges.'),
  description: z.string().optional(),
  weight: z.int().min(0).optional(),
});

const EvaluationConfig = z.object({
  input: z.string().optional(),
  output: z.string().optional(),
  queryRef: Ref.extend({ responseTarget: z.string().optional() }).optional(),
  rules: z.array(ExpressionRule).optional(),
  evaluations: z.array(Ref).optional().describe('The Evaluations a batch is made of.'),
  items: z
    .array(
      z.object({
        name: z.string().optional(),
        type: ItemType,
        config: z.object({}),
        evaluator: EvaluatorRef,
        ttl: Duration.optional(),
        timeout: Duration.optional(),
      }),
    )
    .optional(),
  template: z
    .object({
      namePrefix: z.string().optional(),
      type: ItemType,
      config: z.object({}),
      evaluator: EvaluatorRef,
      parameters: z.array(Parameter).max(listMax.parameters).optional(),
    })
    .optional(),
  querySelector: LabelSelector.optional(),
  concurrency: z.int().default(10),
  continueOnFailure: z.boolean().default(false),
});

export const EvaluationSpec = z.object({
  type: z.enum(['direct', 'baseline', 'query', 'batch', 'event']).default('direct'),
  evaluator: EvaluatorRef.optional().describe('Who judges.'),
  ttl: Duration.default('720h').describe('How long after its creation the Evaluation is deleted.'),
  timeout: Duration.default('5m').describe('How long the evaluator may take.'),
  config: EvaluationConfig.describe('What is judged; which fields count depends on the type.'),
});
export type EvaluationSpec = z.infer<typeof EvaluationSpec>;

const phase = z.enum(['pending', 'running', 'error', 'done', 'canceled']);

/** ARK's own judge scores from 0 to 100, which ARK's schema of 0 to 1 refuses. */
const score = z.string().regex(/^[0-9]+(\.[0-9]+)?$/, 'must be a number');

const ChildEvaluation = z.object({
  name: z.string(),
  phase: phase.optional(),
  score: z.string().optional(),
  passed: z.boolean().optional(),
  message: z.string().optional(),
});

export const EvaluationStatus = z.object({
  phase: phase.optional(),
  message: z.string().optional(),
  score: score.optional(),
  passed: z.boolean().optional(),
  tokenUsage: TokenUsage.optional(),
  duration: z.string().optional().describe('From start to completion, as a Go duration.'),
  batchProgress: z
    .object({
      total: z.int().optional(),
      completed: z.int().optional(),
      failed: z.int().optional(),
      running: z.int().optional(),
      childEvaluations: z.array(ChildEvaluation).optional(),
    })
    .optional(),
});
export type EvaluationStatus = z.infer<typeof EvaluationStatus>;

/** An Evaluator: a service that judges answers (contract 1.9). */
import { z } from 'zod';
import { addressRules, rules } from './rules.ts';
import { AddressStatus, LabelSelector, labelSelector, listMax, Parameter, ValueSource } from './values.ts';

/** The resources of a kind that are judged as soon as they are done. */
const ResourceSelector = z.object({
  resourceType: z.enum(['Query']),
  apiGroup: z.string().default('ark.mckinsey.com'),
  namespaces: z.array(z.string()).optional(),
  namespaceSelector: LabelSelector.optional(),
  ...labelSelector,
});

export const EvaluatorSpec = z
  .object({
    address: ValueSource.describe('Where it is asked, with its path.'),
    description: z.string().optional(),
    selector: ResourceSelector.optional().describe('Judges every Query with these labels, once it is done.'),
    parameters: z.array(Parameter).max(listMax.parameters).optional().describe('Sent with every question.'),
  })
  .meta(rules(...addressRules));
export type EvaluatorSpec = z.infer<typeof EvaluatorSpec>;

export const EvaluatorStatus = AddressStatus;
export type EvaluatorStatus = z.infer<typeof EvaluatorStatus>;

/** An ExecutionEngine: a service that runs agents instead of us (contract 1.12). */
import { z } from 'zod';
import { addressRules, rules, type Rule } from './rules.ts';
import { AddressStatus, ValueSource } from './values.ts';

export const ExecutionEngineSpec = z
  .object({
    type: z
      .string()
      .describe('What it is, such as langchain. a2a: it is spoken to over A2A, and not at /execute.'),
    address: ValueSource.describe('Where the service is.'),
    description: z.string().optional(),
  })
  .meta(rules(...addressRules));
export type ExecutionEngineSpec = z.infer<typeof ExecutionEngineSpec>;

/** Only the root of an object can see its name. */
export const executionEngineRules: readonly Rule[] = [
  { rule: "self.metadata.name != 'a2a'", message: "execution engine name 'a2a' is reserved for A2A servers" },
];

export const ExecutionEngineStatus = AddressStatus;
export type ExecutionEngineStatus = z.infer<typeof ExecutionEngineStatus>;

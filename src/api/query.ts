/** A Query: one question to agents, teams, models or tools, and where its answer appears (contract 1.2). */
import { z } from 'zod';
import { rules } from './rules.ts';
import {
  Conditions,
  Duration,
  LabelSelector,
  listMax,
  QueryParameters,
  Ref,
  Time,
  TokenUsage,
} from './values.ts';

export const QueryTarget = z.object({
  type: z.enum(['agent', 'team', 'model', 'tool']),
  name: z.string().min(1),
});

export const QuerySpec = z
  .object({
    input: z.string().min(1).describe('What is asked; a Go template where there are parameters.'),
    type: z.enum(['user']).optional().describe('Newer spelling; text of a user is the only form there is.'),
    parameters: QueryParameters.optional().describe('Values for the template in the input.'),
    targets: z
      .array(QueryTarget)
      .max(listMax.targets)
      .optional()
      .describe('Who is asked, all at the same time.'),
    target: QueryTarget.optional().describe('Another spelling of a single target.'),
    team: Ref.omit({ namespace: true })
      .optional()
      .describe('Another spelling of a single target that is a team.'),
    selector: LabelSelector.optional().describe('Asks every agent, team, model and tool with these labels.'),
    memory: Ref.optional().describe('Keeps the conversation; the Memory named default if absent.'),
    evaluators: z.array(Ref).max(listMax.evaluators).optional().describe('Judge the answers.'),
    evaluatorSelector: LabelSelector.optional().describe('Picks the evaluators by labels.'),
    serviceAccount: z
      .string()
      .min(1)
      .optional()
      .describe('With whose rights objects are read; default if absent.'),
    sessionId: z.string().min(1).optional().describe('Names the conversation in the memory.'),
    conversationId: z
      .string()
      .min(1)
      .optional()
      .describe('Newer name of the conversation; sessionId comes first.'),
    ttl: Duration.default('720h').describe(
      'How long after its creation the Query is deleted, once it has ended.',
    ),
    timeout: Duration.default('5m').describe('How long each target may take.'),
    cancel: z.boolean().optional().describe('True ends the run and keeps what was answered.'),
  })
  .meta(
    rules(
      {
        rule: 'has(self.target) || has(self.team) || has(self.selector) || (has(self.targets) && size(self.targets) > 0)',
        message: 'at least one target or selector must be specified',
      },
      {
        rule: '!(has(self.evaluators) && size(self.evaluators) > 0 && has(self.evaluatorSelector))',
        message: 'cannot specify both evaluators and evaluatorSelector',
      },
    ),
  );
export type QuerySpec = z.infer<typeof QuerySpec>;

const QueryResponse = z.object({
  target: QueryTarget,
  content: z
    .string()
    .optional()
    .describe('Text of the last message; also where the target failed on the way.'),
  phase: z.enum(['done', 'error', 'canceled']).optional(),
  error: z.string().optional(),
});

const QueryEvaluation = z.object({
  evaluatorName: z.string(),
  score: z.string().optional(),
  passed: z.boolean().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

/** What the run is doing now; gone when it has ended. */
const QueryProgress = z.object({
  turn: z.int().optional(),
  speaker: z.string().optional(),
  tokens: z.int().optional(),
  attempt: z.int().optional().describe('Which attempt of the pending call this is.'),
  lastFailure: z.string().optional().describe('Why the attempt before it failed.'),
  nextRetryTime: Time.optional(),
});

export const QueryStatus = z.object({
  phase: z.enum(['pending', 'running', 'evaluating', 'error', 'done', 'canceled']).default('pending'),
  message: z.string().optional().describe('The first answer, or why there is none.'),
  error: z.string().optional().describe('Why the run failed.'),
  responses: z.array(QueryResponse).optional().describe('One for each target, in the order of the spec.'),
  evaluations: z.array(QueryEvaluation).optional(),
  tokenUsage: TokenUsage.extend({ modelCalls: z.int().optional(), toolCalls: z.int().optional() }).optional(),
  startTime: Time.optional(),
  completionTime: Time.optional(),
  duration: z.string().optional().describe('From start to completion, as a Go duration.'),
  conversationId: z.string().optional(),
  progress: QueryProgress.optional(),
  temporal: z
    .object({ workflowId: z.string().optional(), runId: z.string().optional(), url: z.string().optional() })
    .optional()
    .describe('The workflow that answers this Query, and its page in the Web UI.'),
  snapshotHash: z.string().optional().describe('Names the definitions the run works with.'),
  conditions: Conditions.optional(),
});
export type QueryStatus = z.infer<typeof QueryStatus>;

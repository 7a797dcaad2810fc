/** The table of Kinds: everything that installs, watches or prints them reads it (contract 1). */
import type { z } from 'zod';
import { AgentSpec, AgentStatus } from './agent.ts';
import { ModelSpec, ModelStatus } from './model.ts';
import { QuerySpec, QueryStatus } from './query.ts';
import type { Rule } from './rules.ts';
import { TeamSpec, teamRules, TeamStatus } from './team.ts';
import { ToolSpec, ToolStatus } from './tool.ts';

export const group = 'ark.mckinsey.com';

/** A column of `kubectl get`; those with priority 1 show with `-o wide` only. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly priority?: 1;
}

export interface Kind {
  readonly kind: string;
  readonly version: 'v1alpha1' | 'v1prealpha1';
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly description: string;
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  /** Rules that need the object's name. */
  readonly rules?: readonly Rule[];
  /** Empty means Kubernetes' own: name and age. */
  readonly columns: readonly Column[];
}

const phase: Column = { name: 'Phase', type: 'string', jsonPath: '.status.phase' };
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

export const queryKind = {
  kind: 'Query',
  version: 'v1alpha1',
  plural: 'queries',
  singular: 'query',
  listKind: 'QueryList',
  description: 'Query asks agents, teams, models or tools one question and holds the answers.',
  spec: QuerySpec,
  status: QueryStatus,
  columns: [
    phase,
    { name: 'Duration', type: 'string', jsonPath: '.status.duration' },
    // Kept for ARK's clients; the path has never resolved, so the column is empty.
    { name: 'Evaluations', type: 'integer', jsonPath: '.status.evaluations.length' },
    age,
    { name: 'Turn', type: 'integer', jsonPath: '.status.progress.turn', priority: 1 },
    { name: 'Speaker', type: 'string', jsonPath: '.status.progress.speaker', priority: 1 },
    { name: 'Tokens', type: 'integer', jsonPath: '.status.tokenUsage.totalTokens', priority: 1 },
    { name: 'Error', type: 'string', jsonPath: '.status.error', priority: 1 },
  ],
} as const satisfies Kind;

export const agentKind = {
  kind: 'Agent',
  version: 'v1alpha1',
  plural: 'agents',
  singular: 'agent',
  listKind: 'AgentList',
  description: 'Agent speaks: a prompt, a model and tools.',
  spec: AgentSpec,
  status: AgentStatus,
  columns: [],
} as const satisfies Kind;

export const teamKind = {
  kind: 'Team',
  version: 'v1alpha1',
  plural: 'teams',
  singular: 'team',
  listKind: 'TeamList',
  description: 'Team lets agents and other teams speak in turn.',
  spec: TeamSpec,
  status: TeamStatus,
  rules: teamRules,
  columns: [],
} as const satisfies Kind;

export const modelKind = {
  kind: 'Model',
  version: 'v1alpha1',
  plural: 'models',
  singular: 'model',
  listKind: 'ModelList',
  description: "Model is a provider's language model and how to reach it.",
  spec: ModelSpec,
  status: ModelStatus,
  columns: [
    { name: 'Model', type: 'string', jsonPath: '.spec.model.value' },
    phase,
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    age,
  ],
} as const satisfies Kind;

export const toolKind = {
  kind: 'Tool',
  version: 'v1alpha1',
  plural: 'tools',
  singular: 'tool',
  listKind: 'ToolList',
  description: 'Tool is something an agent may call, over HTTP or MCP.',
  spec: ToolSpec,
  status: ToolStatus,
  columns: [],
} as const satisfies Kind;

export const kinds: readonly Kind[] = [queryKind, agentKind, teamKind, modelKind, toolKind];

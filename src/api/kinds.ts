/** The table of Kinds: everything that installs, watches or prints them reads it (contract 1). */
import type { z } from 'zod';
import { A2aServerSpec, A2aServerStatus } from './a2a-server.ts';
import { AgentSpec, AgentStatus } from './agent.ts';
import { EvaluationSpec, EvaluationStatus } from './evaluation.ts';
import { EvaluatorSpec, EvaluatorStatus } from './evaluator.ts';
import { executionEngineRules, ExecutionEngineSpec, ExecutionEngineStatus } from './execution-engine.ts';
import { McpServerSpec, McpServerStatus } from './mcp-server.ts';
import { MemorySpec, MemoryStatus } from './memory.ts';
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

const address: Column = { name: 'Address', type: 'string', jsonPath: '.status.lastResolvedAddress' };

const conditionColumn = (type: string): Column => ({
  name: type,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
});

export const mcpServerKind = {
  kind: 'MCPServer',
  version: 'v1alpha1',
  plural: 'mcpservers',
  singular: 'mcpserver',
  listKind: 'MCPServerList',
  description: 'MCPServer offers tools over MCP; each becomes a Tool.',
  spec: McpServerSpec,
  status: McpServerStatus,
  columns: [
    conditionColumn('Ready'),
    conditionColumn('Discovering'),
    { name: 'Tools', type: 'integer', jsonPath: '.status.toolCount' },
    age,
  ],
} as const satisfies Kind;

export const memoryKind = {
  kind: 'Memory',
  version: 'v1alpha1',
  plural: 'memories',
  singular: 'memory',
  listKind: 'MemoryList',
  description: 'Memory is a service that keeps conversations.',
  spec: MemorySpec,
  status: MemoryStatus,
  columns: [phase, address, age],
} as const satisfies Kind;

export const evaluatorKind = {
  kind: 'Evaluator',
  version: 'v1alpha1',
  plural: 'evaluators',
  singular: 'evaluator',
  listKind: 'EvaluatorList',
  description: 'Evaluator is a service that judges answers.',
  spec: EvaluatorSpec,
  status: EvaluatorStatus,
  columns: [phase, address, age],
} as const satisfies Kind;

export const evaluationKind = {
  kind: 'Evaluation',
  version: 'v1alpha1',
  plural: 'evaluations',
  singular: 'evaluation',
  listKind: 'EvaluationList',
  description: 'Evaluation asks an Evaluator for one judgement and holds it.',
  spec: EvaluationSpec,
  status: EvaluationStatus,
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    phase,
    { name: 'Score', type: 'string', jsonPath: '.status.score' },
    { name: 'Passed', type: 'boolean', jsonPath: '.status.passed' },
    age,
  ],
} as const satisfies Kind;

export const a2aServerKind = {
  kind: 'A2AServer',
  version: 'v1prealpha1',
  plural: 'a2aservers',
  singular: 'a2aserver',
  listKind: 'A2AServerList',
  description: 'A2AServer offers an agent over A2A, which becomes an Agent.',
  spec: A2aServerSpec,
  status: A2aServerStatus,
  columns: [conditionColumn('Ready'), conditionColumn('Discovering'), address, age],
} as const satisfies Kind;

export const executionEngineKind = {
  kind: 'ExecutionEngine',
  version: 'v1prealpha1',
  plural: 'executionengines',
  singular: 'executionengine',
  listKind: 'ExecutionEngineList',
  description: 'ExecutionEngine is a service that runs agents.',
  spec: ExecutionEngineSpec,
  status: ExecutionEngineStatus,
  rules: executionEngineRules,
  columns: [{ name: 'Type', type: 'string', jsonPath: '.spec.type' }, phase, address, age],
} as const satisfies Kind;

export const kinds: readonly Kind[] = [
  queryKind,
  agentKind,
  teamKind,
  modelKind,
  toolKind,
  mcpServerKind,
  memoryKind,
  evaluatorKind,
  evaluationKind,
  a2aServerKind,
  executionEngineKind,
];

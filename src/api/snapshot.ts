/**
 * The definitions a run works with, as they were read when it started. Types only.
 *
 * The controller normalises every spelling of the resources into these shapes, pins ConfigMap and Service values,
 * and leaves Secrets as references: the value of a Secret exists only inside the activity that uses it.
 *
 * *Definitions* hold what activities need (prompts, tool schemas, endpoints) and are named by the hash of their
 * content, so that runs, calls and processes can share them. *Plans* hold what decisions need (who, in which order,
 * up to which bound) and are all a workflow reads.
 */

import type { RunRef } from './transcript.ts';

/** The first 16 hexadecimal digits of the SHA-256 of a definition's canonical JSON. */
export type Hash = string;

export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** A value that is known, or one that stays in its Secret until the moment it is used. */
export type Value = { readonly value: string } | { readonly secret: SecretRef };

/**
 * Final text, or a Go template with its parameters (contract section 4.1). The controller renders what it can; a
 * template is left only where a parameter is a Secret. `label` is the template's name in error messages.
 */
export type Text =
  | { readonly text: string }
  | {
      readonly template: string;
      readonly label: 'query-input' | 'agent-prompt';
      readonly parameters: Readonly<Record<string, Value>>;
    };

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whose rights the activity uses to read Secrets: `system:serviceaccount:<namespace>:<serviceAccount>`. */
export interface Access {
  readonly namespace: string;
  readonly serviceAccount: string;
}

export interface ModelDefinition {
  readonly namespace: string;
  readonly name: string;
  readonly type: 'openai' | 'azure';
  /** The provider's name of the model or deployment. */
  readonly model: Value;
  readonly baseUrl: Value;
  readonly apiKey: Value;
  readonly apiVersion?: Value;
  /** Extra request fields as written in the resource; the adapter coerces numbers and booleans (contract 4.5). */
  readonly properties: Readonly<Record<string, Value>>;
}

/** An MCP server, or an A2A server, with its headers. */
interface Endpoint {
  readonly namespace: string;
  readonly name: string;
  readonly address: Value;
  readonly headers: readonly { readonly name: string; readonly value: Value }[];
}

export interface McpServerDefinition extends Endpoint {
  readonly transport: 'http' | 'sse';
  /** For the connection and for each call. */
  readonly timeoutMs: number;
}

interface ToolFace {
  /** The name the model calls it by. */
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: JsonSchema;
}

export interface HttpToolDefinition extends ToolFace {
  readonly type: 'http';
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly headers: readonly { readonly name: string; readonly value: Value }[];
  readonly timeoutMs: number;
  /** Go template over `input` and the body parameters; sent for POST, PUT and PATCH only. */
  readonly body?: string;
  readonly bodyParameters: Readonly<Record<string, Value>>;
  /** False where the resource says `idempotentHint: false`: then a call that may have arrived is not repeated. */
  readonly repeatable: boolean;
}

export interface BuiltInToolDefinition extends ToolFace {
  readonly type: 'built-in';
  readonly builtIn: 'noop' | 'terminate';
}

export type ToolDefinition = HttpToolDefinition | BuiltInToolDefinition;

/** What the activities need to let one agent speak. */
export interface AgentDefinition {
  readonly kind: 'agent';
  readonly namespace: string;
  readonly name: string;
  readonly prompt: Text;
  readonly model: ModelDefinition;
  readonly tools: readonly ToolDefinition[];
  readonly outputSchema?: JsonSchema;
  readonly access: Access;
}

/** What the activities need to let a model choose the next speaker of a team (contract section 4.12). */
export interface SelectorDefinition {
  readonly kind: 'selector';
  readonly namespace: string;
  readonly team: string;
  readonly model: ModelDefinition;
  /** Go template over `.Roles`, `.Participants` and `.History`; absent means the default prompt. */
  readonly prompt?: string;
  readonly members: readonly { readonly name: string; readonly description?: string }[];
  readonly access: Access;
}

/** A Model or a Tool asked directly by a Query. */
export interface DirectModelDefinition {
  readonly kind: 'model';
  readonly model: ModelDefinition;
  readonly access: Access;
}

export interface DirectToolDefinition {
  readonly kind: 'tool';
  readonly tool: ToolDefinition;
  readonly access: Access;
}

/** The Query's own input, kept out of activity inputs when it is large. */
export interface QuestionDefinition {
  readonly kind: 'question';
  readonly question: Text;
  readonly access: Access;
}

export type Definition =
  AgentDefinition | SelectorDefinition | DirectModelDefinition | DirectToolDefinition | QuestionDefinition;

export interface AgentPlan {
  readonly type: 'agent';
  readonly name: string;
  readonly definition: Hash;
  /** The Model's name, as the Web UI shows it. */
  readonly model: string;
}

export interface ModelPlan {
  readonly type: 'model';
  readonly name: string;
  readonly definition: Hash;
}

export interface ToolPlan {
  readonly type: 'tool';
  readonly name: string;
  readonly definition: Hash;
}

/** A member is named, not nested: teams may share members without the plan growing. */
export interface MemberPlan {
  readonly type: 'agent' | 'team';
  readonly name: string;
}

interface EveryTeam {
  readonly type: 'team';
  readonly name: string;
  readonly members: readonly MemberPlan[];
}

/** Passes through all members (round-robin) or single turns (selector, graph); at least 1. */
interface Bounded {
  readonly maxTurns: number;
}

export type TeamPlan = EveryTeam &
  (
    | { readonly strategy: 'sequential' }
    | { readonly strategy: 'parallel' }
    | ({ readonly strategy: 'round-robin' } & Bounded)
    | ({ readonly strategy: 'selector'; readonly definition: Hash; readonly model: string } & Bounded)
    | ({ readonly strategy: 'graph'; readonly edges: Readonly<Record<string, string>> } & Bounded)
  );

export type TeamOf<S extends TeamPlan['strategy']> = Extract<TeamPlan, { readonly strategy: S }>;

/** What a Query asks. An agent or a team is looked up in the snapshot by its name. */
export type TargetPlan = MemberPlan | ModelPlan | ToolPlan;

export interface Snapshot {
  readonly query: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Names a QuestionDefinition. */
  readonly question: Hash;
  readonly targets: readonly TargetPlan[];
  readonly agents: Readonly<Record<string, AgentPlan>>;
  readonly teams: Readonly<Record<string, TeamPlan>>;
  readonly definitions: Readonly<Record<Hash, Definition>>;
  /** The run that holds the definitions, where this one (a nested team, a continued run) left them behind. */
  readonly definitionsAt?: RunRef;
  /** Each target's own deadline, from its start. */
  readonly timeoutMs: number;
}

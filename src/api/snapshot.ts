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

interface EveryModelDefinition {
  readonly namespace: string;
  readonly name: string;
  /** The provider's name of the model or deployment. */
  readonly model: Value;
  /** Extra request fields as written in the resource; the adapter coerces numbers and booleans (contract 4.5). */
  readonly properties: Readonly<Record<string, Value>>;
}

export interface OpenAiModelDefinition extends EveryModelDefinition {
  readonly type: 'openai' | 'azure';
  readonly baseUrl: Value;
  readonly apiKey: Value;
  readonly apiVersion?: Value;
}

export interface BedrockModelDefinition extends EveryModelDefinition {
  readonly type: 'bedrock';
  readonly region?: Value;
  /** Without key and secret, what AWS finds around the worker. */
  readonly accessKeyId?: Value;
  readonly secretAccessKey?: Value;
  readonly sessionToken?: Value;
  /** What is asked, where it is not `model` itself. */
  readonly modelArn?: Value;
  readonly maxTokens?: number;
  readonly temperature?: string;
}

export type ModelDefinition = OpenAiModelDefinition | BedrockModelDefinition;

/** An MCP server, or an A2A server, with its headers. */
interface Endpoint {
  readonly namespace: string;
  readonly name: string;
  readonly address: Value;
  readonly headers: readonly { readonly name: string; readonly value: Value }[];
}

export interface McpServerDefinition extends Endpoint {
  readonly transport: 'http' | 'sse';
  /** For the connection; a call may take as long as the Query has. */
  readonly timeoutMs: number;
}

interface ToolFace {
  /** The name the model calls it by. */
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: JsonSchema;
  /** jq expressions, applied to a result in this order (contract section 4.9). */
  readonly filters?: readonly string[];
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

export interface McpToolDefinition extends ToolFace {
  readonly type: 'mcp';
  readonly server: McpServerDefinition;
  /** The server's own name for it. */
  readonly toolName: string;
  readonly repeatable: boolean;
}

export type ToolDefinition = HttpToolDefinition | BuiltInToolDefinition | McpToolDefinition;

/** An A2A server that answers for an agent (contract section 4.13). */
export interface A2aEngineDefinition extends Endpoint {
  readonly type: 'a2a';
}

/** An execution engine that runs an agent (contract section 4.14). */
export interface ExecuteEngineDefinition {
  readonly type: 'engine';
  readonly namespace: string;
  readonly name: string;
  readonly address: Value;
  readonly protocol: 'execute' | 'a2a';
  /** Engines are told how to reach the agent's model, its key included (contract section 4.14). */
  readonly model: ModelDefinition;
  /** What the engine is told about the agent besides its prompt: only parameters with a literal value. */
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
}

export type EngineDefinition = A2aEngineDefinition | ExecuteEngineDefinition;

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

/** What the activities need to let an engine, or an A2A server, answer for an agent. */
export interface EngineAgentDefinition {
  readonly kind: 'engine-agent';
  readonly namespace: string;
  readonly name: string;
  readonly prompt: Text;
  readonly engine: EngineDefinition;
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

/** Where a Query's conversation is kept (contract section 5). */
export interface MemoryDefinition {
  readonly kind: 'memory';
  readonly namespace: string;
  readonly name: string;
  readonly address: Value;
  readonly session: string;
  readonly query: string;
  readonly access: Access;
}

/** Who judges a Query's answers (contract section 7.1), and the Query as it is shown to them. */
export interface EvaluatorDefinition {
  readonly kind: 'evaluator';
  readonly namespace: string;
  readonly name: string;
  readonly address: Value;
  readonly access: Access;
}

export interface QueriedDefinition {
  readonly kind: 'queried';
  readonly query: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string } & Readonly<
      Record<string, unknown>
    >;
    readonly spec: { readonly input?: string } & Readonly<Record<string, unknown>>;
  };
  /** Names the QuestionDefinition whose text is the input, which is then left out of the spec: large texts are kept once. */
  readonly input?: Hash;
}

/** Where answers can be read while they are written (contract section 12). */
export interface StreamDefinition {
  readonly kind: 'stream';
  readonly address: string;
  readonly query: string;
  readonly session: string;
}

export type Definition =
  | AgentDefinition
  | EngineAgentDefinition
  | SelectorDefinition
  | DirectModelDefinition
  | DirectToolDefinition
  | QuestionDefinition
  | MemoryDefinition
  | EvaluatorDefinition
  | QueriedDefinition
  | StreamDefinition;

export interface AgentPlan {
  readonly type: 'agent';
  readonly name: string;
  readonly definition: Hash;
  /** The Model's name, as the Web UI shows it; of an agent that an engine runs, the engine's. */
  readonly model: string;
  /** The provider's name of the model, where that is no secret. */
  readonly provider?: string;
  /** What its tools are, by the names the model calls them by. */
  readonly tools?: Readonly<Record<string, 'builtin' | 'custom' | 'mcp' | 'filtered'>>;
  /** Present where an A2A server answers for the agent. */
  readonly a2a?: { readonly server: string; readonly address: string };
  /** True where an engine or an A2A server answers for the agent. */
  readonly hasEngine?: true;
  /** The tools whose errors are told to the model (`onError: continue`); those of all others fail the run. */
  readonly forgiven?: readonly string[];
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
  readonly query: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    /** Of the conversation; absent where it is the uid. */
    readonly session?: string;
    /** The targets that the spec names; absent where these are all. */
    readonly named?: number;
  };
  /** Names a QuestionDefinition. */
  readonly question: Hash;
  readonly targets: readonly TargetPlan[];
  readonly agents: Readonly<Record<string, AgentPlan>>;
  readonly teams: Readonly<Record<string, TeamPlan>>;
  readonly definitions: Readonly<Record<Hash, Definition>>;
  /** The run that holds the definitions, where this one (a nested team, a continued run) left them behind. */
  readonly definitionsAt?: RunRef;
  /** Absent where the conversation is not kept. */
  readonly memory?: Hash;
  readonly memoryName?: string;
  /** Who judges the answers, in the order of the spec. Names EvaluatorDefinitions and a QueriedDefinition. */
  readonly evaluation?: {
    readonly queried: Hash;
    readonly evaluators: readonly { readonly name: string; readonly definition: Hash }[];
  };
  /** Present where the answers are streamed. */
  readonly stream?: Hash;
  /** Each target's own deadline, from its start. */
  readonly timeoutMs: number;
}

/** What the effects need from the world, as interfaces; src/adapters makes them real, tests play them. */
import type { FailureType } from '../api/failures.ts';
import type {
  DefinitionAnswer,
  EngineReply,
  EvaluatorReply,
  ModelReply,
  Remembered,
  TranscriptPage,
} from '../api/run.ts';
import type {
  Access,
  BedrockModelDefinition,
  BuiltInToolDefinition,
  Hash,
  HttpToolDefinition,
  JsonSchema,
  McpServerDefinition,
  OpenAiModelDefinition,
  SecretRef,
  Text,
  Value,
} from '../api/snapshot.ts';
import type { Message, RunRef } from '../api/transcript.ts';

export interface Ports {
  readonly models: ModelPort;
  readonly httpTools: HttpToolPort;
  readonly builtIns: BuiltInPort;
  readonly templates: TemplatePort;
  readonly secrets: SecretPort;
  readonly mcp: McpPort;
  readonly filters: FilterPort;
  readonly outputs: OutputPort;
  readonly a2a: A2aPort;
  readonly engines: EnginePort;
  readonly memories: MemoryPort;
  readonly streams: StreamPort;
  readonly evaluators: EvaluatorPort;
}

export interface CallOptions {
  /** Aborts when the call is no longer wanted; the port then rejects, with whatever it likes. */
  readonly signal: AbortSignal;
  /** The same for every attempt at this call, so that a far side that has already answered can tell. */
  readonly idempotencyKey: string;
}

/** Asks a model once; it never retries by itself. */
export interface ModelPort {
  /** Undefined where the provider answered with no choice. Rejects with a `KnownError`. */
  complete(
    request: ChatRequest,
    options: CallOptions & { readonly timeoutMs: number },
  ): Promise<ModelReply | undefined>;
}

export interface ChatRequest<E extends ModelEndpoint = ModelEndpoint> {
  readonly endpoint: E;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolFace[];
  /** The shape the answer is asked to have; not checked against it (contract section 4.5). */
  readonly output?: { readonly name: string; readonly schema: JsonSchema };
  /**
   * Asks for the answer piece by piece: told each OpenAI `chat.completion.chunk` as the provider sends it, where the
   * provider can stream. The reply is the same.
   */
  readonly onChunk?: (chunk: object) => void;
}

/** A model's definition with every value in clear: never logged, never thrown. */
export type ModelEndpoint = OpenAiEndpoint | BedrockEndpoint;
export type OpenAiEndpoint = InClear<OpenAiModelDefinition>;
export type BedrockEndpoint = InClear<BedrockModelDefinition>;

type InClear<D> = {
  readonly [K in keyof D]: D[K] extends Value | undefined
    ? string
    : D[K] extends Readonly<Record<string, Value>>
      ? Readonly<Record<string, string>>
      : D[K];
};

export interface ToolFace {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** An error that already bears one of our names. `message` may hold what the far side said. */
export interface KnownError extends Error {
  readonly type: FailureType;
  readonly status?: number;
  readonly code?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
}

/** Uses an HTTP tool once; it never retries by itself. */
export interface HttpToolPort {
  /** Rejects with an `RemoteError`. */
  call(
    tool: ResolvedHttpTool,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<{ readonly content: string }>;
}

/** An HTTP tool with every value in clear: never logged, never thrown. */
export type ResolvedHttpTool = Omit<HttpToolDefinition, 'headers' | 'bodyParameters'> & {
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bodyParameters: Readonly<Record<string, string>>;
};

/** A call that has no answer. The message is the contract's, and holds no header, no query and no credentials. */
export interface RemoteError extends Error {
  /**
   * `template`: the request could not be written. `protocol`: the answer is not what was agreed. `refused`: the far
   * side says in its own protocol that it failed, and asking again would not help.
   */
  readonly kind: 'status' | 'network' | 'timeout' | 'template' | 'too-large' | 'protocol' | 'refused';
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** Whether the request, or a part of it, may have reached the far side. */
  readonly sent: boolean;
}

/** Uses a tool of an MCP server once (contract section 4.10). Connections are pooled; a lost one is not retried here. */
export interface McpPort {
  /**
   * The text parts without separator, other parts as JSON. `isError` where the server says that its tool failed.
   * The call may take `timeoutMs`, connecting before it `server.timeoutMs`. Rejects with a `RemoteError`.
   */
  call(
    server: ResolvedMcpServer,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions & Timed,
  ): Promise<{ readonly content: string; readonly isError?: boolean }>;
}

/** An MCP server with every value in clear: never logged, never thrown. */
export type ResolvedMcpServer = Omit<McpServerDefinition, 'address' | 'headers'> & ResolvedEndpoint;

/** An address and its headers in clear: never logged, never thrown. */
export interface ResolvedEndpoint {
  readonly address: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** Runs jq over tool results (contract section 4.9). */
export interface FilterPort {
  /** Applies the expressions in order. Rejects with `filter error: …`, or with `signal`'s reason. */
  apply(expressions: readonly string[], content: string, signal: AbortSignal): Promise<string>;
}

/** Judges whether an answer has the shape that was asked for. */
export interface OutputPort {
  /** What is wrong, as one sentence for the model; undefined if nothing is, or if the schema itself is not one. */
  problem(schema: JsonSchema, answer: string): Promise<string | undefined>;
}

/** Lets an agent of an A2A server answer (contract section 4.13). Rejects with a `RemoteError`. */
export interface A2aPort {
  send(server: ResolvedEndpoint, text: string, options: CallOptions & Timed): Promise<string>;
}

/** Lets an execution engine run an agent (contract section 4.14). Rejects with a `RemoteError`. */
export interface EnginePort {
  execute(
    engine: { readonly address: string; readonly protocol: 'execute' | 'a2a' },
    request: EngineRequest,
    options: CallOptions & Timed,
  ): Promise<EngineReply>;
}

/** What an engine is told. Secrets of the model are in clear, as engines of ARK expect: never logged, never thrown. */
export interface EngineRequest {
  readonly agent: {
    readonly namespace: string;
    readonly name: string;
    /** Rendered. */
    readonly prompt: string;
    readonly description: string;
    readonly parameters: readonly { readonly name: string; readonly value: string }[];
    readonly outputSchema?: JsonSchema;
  };
  readonly model: ModelEndpoint;
  readonly userInput: string;
  readonly history: readonly Message[];
  readonly tools: readonly ToolFace[];
}

export interface Timed {
  readonly timeoutMs: number;
}

/** A Memory (contract section 5.2, and section 12 where the service speaks the newer dialect). Rejects with a `RemoteError`. */
export interface MemoryPort {
  /** In the order of the conversation; empty where nothing is known of the session. */
  read(memory: MemoryAddress, signal: AbortSignal): Promise<Remembered>;
  /**
   * Adds messages once: a repeated append with the same key, or one whose earlier attempt arrived unheard, changes
   * nothing. A service that knows no keys is asked whether they are among those that came after the `heldBefore` first.
   */
  append(
    memory: MemoryAddress,
    messages: readonly Message[],
    options: CallOptions & { readonly isRepeated: boolean; readonly heldBefore?: number | undefined },
  ): Promise<void>;
}

export interface MemoryAddress {
  readonly address: string;
  readonly session: string;
  /** Names the Query to memories of the newer dialect. */
  readonly query: string;
}

/** Asks an evaluator once (contract section 7.1 and 7.3). Rejects with a `RemoteError`. */
export interface EvaluatorPort {
  /** `request` is sent as it is, as JSON, to the address as it is. */
  evaluate(address: string, request: unknown, options: CallOptions & Timed): Promise<EvaluatorReply>;
}

/** Lets people read an answer while it is being written (contract section 12). Never rejects: a lost reader is no failure. */
export interface StreamPort {
  open(stream: StreamAddress, signal: AbortSignal): AnswerStream;
  /** Tells readers that nothing more will come. */
  complete(stream: StreamAddress, signal: AbortSignal): Promise<void>;
}

export interface StreamAddress {
  readonly address: string;
  /**
   * Names the call, the same for all its attempts: readers of `restart` know by it which chunks to drop. Absent where the
   * stream is only completed.
   */
  readonly call?: string;
  /** Goes into every chunk as its `ark` object. */
  readonly about: {
    readonly query: string;
    readonly session: string;
    readonly target: string;
    readonly team?: string;
    readonly agent?: string;
    readonly model?: string;
  };
}

/** The stream of one attempt at one model call. */
export interface AnswerStream {
  /** An OpenAI `chat.completion.chunk`, as the provider sent it; sent on in the background, in order, in bounded memory. */
  write(chunk: object): void;
  /** Resolves when all of it was sent or given up. */
  end(): Promise<void>;
  /** Tells readers to drop what an earlier attempt at this call had written. */
  restart(): void;
}

export interface BuiltInPort {
  /** Throws `Error('no response')` for a `terminate` without one (contract section 4.9). */
  run(
    builtIn: BuiltInToolDefinition['builtIn'],
    args: Readonly<Record<string, unknown>>,
  ): { readonly content: string; readonly ends?: boolean };
}

/** Go templates (contract section 4.1). Both throw a `KnownError` whose message is ARK's. */
export interface TemplatePort {
  render(text: Extract<Text, { template: string }>, values: Readonly<Record<string, string>>): string;
  renderSelector(prompt: string, data: SelectorData): string;
}

/** The names are the template's (contract section 4.12). */
export interface SelectorData {
  readonly Roles: string;
  readonly Participants: string;
  readonly History: string;
}

export interface SecretPort {
  /** Reads with the rights of `access`. Rejects with a `SecretError` in the words of contract section 3.10. */
  read(ref: SecretRef, access: Access, signal: AbortSignal): Promise<string>;
}

export interface SecretError extends Error {
  readonly code: 'NotFound' | 'Forbidden' | 'Unavailable';
}

/** Asks a run what it knows, by its two workflow queries; each answer comes or fails within five seconds. */
export interface RunReader {
  transcript(run: RunRef, from: number, to: number): Promise<TranscriptPage>;
  definition(run: RunRef, hash: Hash): Promise<DefinitionAnswer>;
}

/** What the effects need from the world, as interfaces; src/adapters makes them real, tests play them. */
import type { FailureType } from '../api/failures.ts';
import type { DefinitionAnswer, ModelReply, TranscriptPage } from '../api/run.ts';
import type {
  Access,
  BuiltInToolDefinition,
  Hash,
  HttpToolDefinition,
  JsonSchema,
  ModelDefinition,
  SecretRef,
  Text,
} from '../api/snapshot.ts';
import type { Message, RunRef } from '../api/transcript.ts';

export interface Ports {
  readonly models: ModelPort;
  readonly httpTools: HttpToolPort;
  readonly builtIns: BuiltInPort;
  readonly templates: TemplatePort;
  readonly secrets: SecretPort;
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

export interface ChatRequest {
  readonly endpoint: ModelEndpoint;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolFace[];
  /** The shape the answer is asked to have; not checked against it (contract section 4.5). */
  readonly output?: { readonly name: string; readonly schema: JsonSchema };
}

/** A model's definition with every value in clear: never logged, never thrown. */
export type ModelEndpoint = Pick<ModelDefinition, 'type' | 'namespace' | 'name'> & {
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiVersion?: string;
  readonly properties: Readonly<Record<string, string>>;
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
  /** Rejects with an `HttpToolError`. */
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

export interface HttpToolError extends Error {
  readonly kind: 'status' | 'network' | 'timeout' | 'template' | 'too-large';
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** Whether the request, or a part of it, may have reached the tool. */
  readonly sent: boolean;
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

/**
 * What has been said in a run. Types only: workflow code imports them, so nothing here may have a value.
 *
 * A run writes every answer exactly once, into the next numbered *slot* of its log. Everything else points into
 * logs: a *segment* is a stretch of slots, a *view* is the segments one speaker may see, in order. An activity is
 * given a view instead of messages, so its input stays small however long the conversation grows.
 */

/** One message of a conversation, in a form every provider can be given. */
export type Message =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | AssistantMessage
  | { readonly role: 'tool'; readonly content: string; readonly toolCallId: string };

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  /** The agent that spoke; absent where a model, an engine or an A2A server answered for itself. */
  readonly name?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly refusal?: string;
}

/** A model's wish to use a tool. `arguments` is the model's own JSON text, possibly not valid JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One execution of a workflow; after a reset the same workflow id has another run id, and another log. */
export interface RunRef {
  readonly workflowId: string;
  readonly runId: string;
}

/** Slots `from` (inclusive) to `to` (exclusive) of a run's log; without `run`, of the run that is asking. */
export interface Segment {
  readonly run?: RunRef;
  readonly from: number;
  readonly to: number;
}

export type View = readonly Segment[];

/** Tokens as the provider counted them; each model call is counted once. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** What a run has spent so far. */
export interface Usage extends TokenUsage {
  readonly modelCalls: number;
  readonly toolCalls: number;
}

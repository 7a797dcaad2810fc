/** A chat completion request as it came over the wire. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly {
    readonly function: {
      readonly name: string;
      readonly description?: string;
      readonly parameters?: Readonly<Record<string, unknown>>;
    };
  }[];
  readonly response_format?: {
    readonly json_schema?: { readonly schema?: Readonly<Record<string, unknown>> };
  };
  readonly [field: string]: unknown;
}

export interface WireMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content?: string;
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** What the model says. Call ids and token counts are made up where they are not given: the same for the same request. */
export interface ScriptedReply {
  readonly content?: string;
  readonly refusal?: string;
  readonly toolCalls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments?: string | Readonly<Record<string, unknown>>;
  }[];
  readonly usage?: { readonly promptTokens: number; readonly completionTokens: number };
}

import type { ChatBody } from './chat-wire.ts';

/** A chat completion as it goes over the wire when it is not streamed. */
export interface Completion {
  readonly id: string;
  readonly object: 'chat.completion';
  readonly created: number;
  readonly model: string;
  readonly choices: readonly [
    {
      readonly index: 0;
      readonly message: {
        readonly role: 'assistant';
        readonly content: string | null;
        readonly refusal?: string;
        readonly tool_calls?: readonly object[];
      };
      readonly finish_reason: string;
    },
  ];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
}

/** The same completion as server-sent events: word by word, with its usage at the end where the request asks for it. */
export function eventsOf({ choices, usage, ...head }: Completion, body: ChatBody): readonly string[] {
  const [{ message, finish_reason: finish }] = choices;
  const { content, tool_calls: calls = [], ...rest } = message;
  const chunkOf = (delta: object, finished: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finished }],
  });
  const wishes = body['stream_options'] as { readonly include_usage?: boolean } | undefined;

  const chunks = [
    chunkOf({ ...rest, content: '' }),
    ...wordsOf(content ?? '').map((word) => chunkOf({ content: word })),
    ...calls.map((call, index) => chunkOf({ tool_calls: [{ index, ...call }] })),
    chunkOf({}, finish),
    ...(wishes?.include_usage ? [{ ...chunkOf({}), choices: [], usage }] : []),
  ];
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`);
}

/** Each with the space that follows it, so that together they are the text. */
const wordsOf = (text: string): readonly string[] => text.match(/\S+\s*|\s+/g) ?? [];

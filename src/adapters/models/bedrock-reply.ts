import { randomUUID } from 'node:crypto';
import type { ModelReply } from '../../api/run.ts';
import type { ToolCall } from '../../api/transcript.ts';
import { ModelError } from './model-error.ts';

type Wire = Readonly<Record<string, unknown>>;

const finishReasonCharactersMax = 64;

/** An answer of InvokeModel, in Anthropic's form, in our words: the last text block counts (contract section 4.5). */
export function bedrockReply(body: Uint8Array, tried: string): ModelReply {
  const answer = parsed(body);
  const content = isObject(answer) ? answer['content'] : undefined;
  if (!isObject(answer) || !Array.isArray(content))
    throw new ModelError(
      'ModelReplyInvalid',
      `${tried}: the answer is not in the form of Anthropic's messages; is the model one of theirs?`,
    );

  const blocks = content.filter(isObject);
  const toolCalls = blocks.filter(({ type }) => type === 'tool_use').map(toolCall);
  const text = blocks.findLast((block) => block['type'] === 'text' && typeof block['text'] === 'string');
  const finishReason = answer['stop_reason'];
  const usage = isObject(answer['usage']) ? answer['usage'] : undefined;
  const promptTokens = count(usage?.['input_tokens']);
  const completionTokens = count(usage?.['output_tokens']);
  return {
    message: {
      role: 'assistant',
      content: (text?.['text'] as string | undefined) ?? '',
      ...(toolCalls.length > 0 && { toolCalls }),
    },
    ...(typeof finishReason === 'string' && {
      finishReason: finishReason.slice(0, finishReasonCharactersMax),
    }),
    ...(usage && {
      usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
    }),
  };
}

const toolCall = ({ id, name, input }: Wire): ToolCall => ({
  id: typeof id === 'string' && id !== '' ? id : `call_${randomUUID()}`,
  name: typeof name === 'string' ? name : '',
  arguments: JSON.stringify(input ?? {}),
});

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

const isObject = (value: unknown): value is Wire => typeof value === 'object' && value !== null;

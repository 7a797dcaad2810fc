import { randomUUID } from 'node:crypto';
import type { ModelReply } from '../../api/run.ts';
import type { TokenUsage, ToolCall } from '../../api/transcript.ts';
import { ModelError } from './model-error.ts';

type Wire = Readonly<Record<string, unknown>>;

const finishReasonCharactersMax = 64;

/**
 * A chat completion in our words; undefined where it holds no choice. Lenient: compatible servers leave out what they
 * do not know. Of several choices (`n`) the first counts.
 */
export function replyOf(completion: unknown, url: string): ModelReply | undefined {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  if (!Array.isArray(choices)) throw invalid(url);
  if (choices.length === 0) return undefined;

  const [choice] = choices as unknown[];
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) throw invalid(url);

  const toolCalls = toolCallsOf(message['tool_calls']);
  const refusal = message['refusal'];
  const finishReason = choice['finish_reason'];
  const usage = usageOf((completion as Wire)['usage']);
  return {
    message: {
      role: 'assistant',
      content: textOf(message['content']),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(typeof refusal === 'string' && refusal !== '' && { refusal }),
    },
    ...(typeof finishReason === 'string' && {
      finishReason: finishReason.slice(0, finishReasonCharactersMax),
    }),
    ...(usage && { usage }),
  };
}

/** Text, or the text of its parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/** A call without an id could not be answered, so it is given one. */
function toolCallsOf(calls: unknown): ToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call) => {
    const wished = isObject(call) ? call['function'] : undefined;
    if (!isObject(call) || !isObject(wished) || typeof wished['name'] !== 'string') return [];
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : `call_${randomUUID()}`;
    return [{ id, name: wished['name'], arguments: argumentsOf(wished['arguments']) }];
  });
}

const argumentsOf = (text: unknown): string =>
  typeof text === 'string' ? text : text === undefined || text === null ? '' : JSON.stringify(text);

function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const promptTokens = count(usage['prompt_tokens']);
  const completionTokens = count(usage['completion_tokens']);
  return {
    promptTokens,
    completionTokens,
    totalTokens: count(usage['total_tokens']) || promptTokens + completionTokens,
  };
}

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

const isObject = (value: unknown): value is Wire => typeof value === 'object' && value !== null;

const invalid = (url: string): ModelError =>
  new ModelError(
    'ModelReplyInvalid',
    `POST "${url}": the answer is not a chat completion; does baseUrl point at an OpenAI-compatible API?`,
  );

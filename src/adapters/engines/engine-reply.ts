import type { EngineReply } from '../../api/run.ts';
import type { Message } from '../../api/transcript.ts';
import { RemoteError } from '../remote-error.ts';

/** What an engine answered (contract section 4.14). Throws a RemoteError: `refused` where the engine says that it failed. */
export function engineReply(answer: unknown): EngineReply {
  if (!isRecord(answer)) throw unreadable('the answer is not an object');
  const { error, messages, token_usage: usage } = answer;
  if (typeof error === 'string' && error !== '')
    throw new RemoteError('refused', `execution engine error: ${error}`, { sent: true });
  if (messages !== undefined && messages !== null && !Array.isArray(messages))
    throw unreadable('messages is not a list');
  return {
    messages: (messages ?? []).map(messageOf),
    ...(isRecord(usage) && {
      usage: {
        promptTokens: count(usage['prompt_tokens']),
        completionTokens: count(usage['completion_tokens']),
        totalTokens: count(usage['total_tokens']),
      },
    }),
  };
}

/** An engine's tool messages lack the id of the call they answer, and are its own words to the outside. */
function messageOf(message: unknown, index: number): Message {
  if (!isRecord(message)) throw unreadable(`message ${index} is not an object`);
  const { role, content = '' } = message;
  if (typeof content !== 'string') throw unreadable(`the content of message ${index} is no text`);
  switch (role) {
    case 'assistant':
    case 'tool':
      return { role: 'assistant', content };
    case 'system':
      return { role: 'system', content };
    default:
      return { role: 'user', content };
  }
}

const count = (value: unknown): number => (Number.isSafeInteger(value) ? Math.max(value as number, 0) : 0);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unreadable = (problem: string) =>
  new RemoteError('protocol', `failed to decode response: ${problem}`, { sent: true });

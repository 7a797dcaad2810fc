import type { Message, ToolCall } from '../../api/transcript.ts';
import { RemoteError } from '../remote-error.ts';

/**
 * What a memory holds, as messages. One of a role that no provider is given is left out; what is no message at all is a
 * RemoteError of kind `protocol` that says where it stands.
 */
export function fromWire(messages: readonly unknown[]): Message[] {
  return messages.flatMap((message, index) => {
    const problem = problemOf(message);
    if (problem === undefined) return fromWireMessage(message as WireMessage) ?? [];
    throw new RemoteError('protocol', `failed to unmarshal message at index ${index}: ${problem}`, {
      sent: true,
    });
  });
}

/** What others write may have more, and may lack anything; the checks below are for what the types then promise. */
interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly name?: unknown;
  readonly tool_call_id?: unknown;
  readonly tool_calls?: unknown;
  readonly refusal?: unknown;
}

function problemOf(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return 'it is no JSON object';
  return typeof (message as WireMessage).role === 'string' ? undefined : 'it has no role';
}

function fromWireMessage(message: WireMessage): Message | undefined {
  const content = textOf(message.content);
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content };
    case 'user':
      return { role: 'user', content };
    case 'tool':
      return { role: 'tool', content, toolCallId: stringOr(message.tool_call_id, '') };
    case 'assistant': {
      const { name, refusal } = message;
      const toolCalls = callsIn(message.tool_calls);
      return {
        role: 'assistant',
        content,
        ...(typeof name === 'string' && name !== '' && { name }),
        ...(toolCalls.length > 0 && { toolCalls }),
        ...(typeof refusal === 'string' && refusal !== '' && { refusal }),
      };
    }
    default:
      return undefined;
  }
}

/** The text itself, or that of its parts; pictures and sound have none. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return stringOr(content, '');
  return content.map((part: unknown) => stringOr((part as { text?: unknown } | null)?.text, '')).join('');
}

function callsIn(calls: unknown): ToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap(
    (call: { id?: unknown; function?: { name?: unknown; arguments?: unknown } } | null) => {
      const name = stringOr(call?.function?.name, '');
      if (name === '') return [];
      return { id: stringOr(call?.id, ''), name, arguments: stringOr(call?.function?.arguments, '') };
    },
  );
}

const stringOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise;

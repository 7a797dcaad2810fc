import type OpenAI from 'openai';
import type { Message, ToolCall } from '../api/transcript.ts';

/** A message as OpenAI writes it (contract section 4.5): what is empty or absent is left out. */
export function wireMessage(message: Message): OpenAI.ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant': {
      const { content, name, toolCalls = [], refusal } = message;
      return {
        role: 'assistant',
        ...(content !== '' && { content }),
        ...(name && { name }),
        ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(wireToolCall) }),
        ...(refusal && { refusal }),
      };
    }
  }
}

const wireToolCall = ({ id, name, arguments: text }: ToolCall) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: text },
});

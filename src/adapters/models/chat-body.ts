import type OpenAI from 'openai';
import type { ChatRequest, OpenAiEndpoint, ToolFace } from '../../activities/ports.ts';
import { wireMessage } from '../wire-message.ts';
import { coerceProperties } from './coerce-properties.ts';

type ChatBody = OpenAI.ChatCompletionCreateParamsNonStreaming;

/** What a request says itself, and what would change the form of the answer: not for properties to set. */
const reserved = new Set(['model', 'messages', 'tools', 'stream', 'stream_options']);

/** The request as it goes over the wire (contract sections 4.5 and 14). */
export function chatBody({ endpoint, messages, tools, output }: ChatRequest<OpenAiEndpoint>): ChatBody {
  const properties = coerceProperties(endpoint.properties);
  for (const name of reserved) delete properties[name];

  return {
    model: endpoint.model,
    messages: messages.map(wireMessage),
    ...(tools.length > 0 && { tools: wireTools(tools) }),
    temperature: 1,
    n: 1,
    ...properties,
    ...(output && { response_format: { type: 'json_schema', json_schema: output } }),
  };
}

/** Of several tools with one name the last counts (contract section 4.9); a provider refuses the others. */
function wireTools(tools: readonly ToolFace[]): OpenAI.ChatCompletionTool[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return [...byName.values()].map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

import type { BedrockEndpoint, ChatRequest, ToolFace } from '../../activities/ports.ts';
import type { Message } from '../../api/transcript.ts';
import { coerceProperties } from './coerce-properties.ts';

const maxTokensDefault = 4_096;
const anthropicVersion = 'bedrock-2023-05-31';

/** What a request says itself, and what would change the form of the answer: not for properties to set. */
const reserved = new Set(['model', 'messages', 'system', 'tools', 'stream']);

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: string };

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

/**
 * The body of an InvokeModel request, in Anthropic's form (contract section 4.5). Unlike ARK it sends tool calls and
 * their results as such, all properties, and the shape that the answer is asked to have.
 */
export function bedrockBody({ endpoint, messages, tools, output }: ChatRequest<BedrockEndpoint>): object {
  const properties = coerceProperties({
    ...endpoint.properties,
    ...(endpoint.maxTokens !== undefined && { max_tokens: String(endpoint.maxTokens) }),
    ...(endpoint.temperature && { temperature: endpoint.temperature }),
  });
  for (const name of reserved) delete properties[name];

  const system = [
    ...messages.flatMap(({ role, content }) => (role === 'system' && content !== '' ? [content] : [])),
    ...(output ? [shapeWish(output.schema)] : []),
  ];
  return {
    ...(/claude/i.test(endpoint.model + (endpoint.modelArn ?? '')) && {
      anthropic_version: anthropicVersion,
    }),
    messages: wireMessages(turnsOf(messages, tools.length > 0)),
    ...(system.length > 0 && { system: system.join('\n\n') }),
    ...(tools.length > 0 && { tools: wireTools(tools) }),
    max_tokens: maxTokensDefault,
    temperature: 1,
    ...properties,
  };
}

const shapeWish = (schema: object): string =>
  `Answer with JSON only, without any text around it. It must be valid by this JSON schema:\n${JSON.stringify(schema)}`;

/**
 * Who said what, turn about: results of tools are the user's, and all that one side says in a row is one turn. Tools
 * may be spoken of only where there are some: without, their results are told as text, as ARK does.
 */
function turnsOf(messages: readonly Message[], hasTools: boolean): readonly Turn[] {
  const turns: { role: Turn['role']; content: Block[] }[] = [];
  for (const message of messages) {
    const content = blocksOf(message, hasTools);
    if (message.role === 'system' || content.length === 0) continue;

    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

function blocksOf(message: Message, hasTools: boolean): Block[] {
  const text: Block[] = message.content.trim() === '' ? [] : [{ type: 'text', text: message.content }];
  if (!hasTools) return text;
  if (message.role === 'tool')
    return [{ type: 'tool_result', tool_use_id: message.toolCallId, content: message.content }];
  if (message.role !== 'assistant') return text;
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: json }): Block => ({
    type: 'tool_use',
    id,
    name,
    input: inputOf(json),
  }));
  return [...text, ...calls];
}

/** Arguments that are no object were refused when they were called with; the model sees that in the result. */
function inputOf(json: string): object {
  try {
    const input: unknown = JSON.parse(json);
    return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  } catch {
    return {};
  }
}

/** What ends with the assistant's words is for the model to continue them; in a team they are another member's. */
function wireMessages(turns: readonly Turn[]): object[] {
  const wire = turns.map(({ role, content: [first, ...more] }) => ({
    role,
    content: first?.type === 'text' && more.length === 0 ? first.text : [first, ...more],
  }));
  return turns.at(-1)?.role === 'assistant' ? [...wire, { role: 'user', content: 'Continue.' }] : wire;
}

/** Of several tools with one name the last counts (contract section 4.9). */
function wireTools(tools: readonly ToolFace[]): object[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return [...byName.values()].map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
}

import type { ChatRequest } from '../../activities/ports.ts';
import type { ModelReply } from '../../api/run.ts';
import type { SpanAttributes } from './tracing.ts';

/** As ARK names a provider, and as the conventions of OpenTelemetry do. */
const providers = {
  openai: { ark: 'openai', convention: 'openai' },
  azure: { ark: 'azure', convention: 'azure.ai.openai' },
  bedrock: { ark: 'aws', convention: 'aws.bedrock' },
} as const satisfies Record<ChatRequest['endpoint']['type'], object>;

/** What a span tells of a model that is asked (contract section 6.3); never its address or its key. */
export function requestAttributes({ endpoint, messages, tools }: ChatRequest): SpanAttributes {
  const { type, model, properties } = endpoint;
  const { ark: provider, convention } = providers[type];
  return {
    ...Object.fromEntries(Object.entries(properties).map(([name, value]) => [`llm.model.${name}`, value])),
    'input.value': JSON.stringify(messages),
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': convention,
    'gen_ai.system': provider,
    'gen_ai.request.model': model,
    'gen_ai.request.messages.count': messages.length,
    'gen_ai.request.tools.count': tools.length,
    'llm.model.name': model,
    'llm.model.provider': provider,
    'llm.model.type': type,
    model,
    provider,
  };
}

/** What a span tells of a model's answer. */
export function replyAttributes({ message, usage, finishReason }: ModelReply): SpanAttributes {
  const { content, toolCalls = [] } = message;
  return {
    'output.value': content || (toolCalls.length > 0 ? JSON.stringify(toolCalls) : ''),
    'gen_ai.completion.finish_reason': finishReason,
    ...(toolCalls.length > 0 && { 'tools.called': toolCalls.length, 'tools.functions': toolCalls[0]?.name }),
    ...(usage && tokenAttributes(usage)),
  };
}

/** One count under each of its names. */
export const tokenAttributes = ({
  promptTokens,
  completionTokens,
  totalTokens,
}: NonNullable<ModelReply['usage']>): SpanAttributes => ({
  'tokens.prompt': promptTokens,
  'tokens.completion': completionTokens,
  'tokens.total': totalTokens,
  ...Object.fromEntries(
    ['gen_ai.usage', 'usage'].flatMap((prefix) => [
      [`${prefix}.input_tokens`, promptTokens],
      [`${prefix}.output_tokens`, completionTokens],
      [`${prefix}.total_tokens`, totalTokens],
    ]),
  ),
});

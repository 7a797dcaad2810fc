import { replyAttributes, requestAttributes } from '../../../src/adapters/telemetry/model-attributes.ts';

const endpoint = { namespace: 'default', name: 'main', model: 'm1', baseUrl: 'http://llm', apiKey: 'canary' };

test.each([
  ['openai', 'openai', 'openai'],
  ['azure', 'azure', 'azure.ai.openai'],
  ['bedrock', 'aws', 'aws.bedrock'],
] as const)(
  'a model of type %s is of the provider %s (contract section 6.3)',
  (type, provider, convention) => {
    const asked = {
      endpoint: { ...endpoint, type, properties: { temperature: 0.5 } },
      messages: [],
      tools: [],
    };
    const attributes = requestAttributes(asked as never);
    expect(attributes).toEqual({
      'input.value': '[]',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': convention,
      'gen_ai.system': provider,
      'gen_ai.request.model': 'm1',
      'gen_ai.request.messages.count': 0,
      'gen_ai.request.tools.count': 0,
      'llm.model.name': 'm1',
      'llm.model.provider': provider,
      'llm.model.type': type,
      'llm.model.temperature': 0.5,
      model: 'm1',
      provider,
    });
  },
);

test('an answer without tokens or tools tells of neither', () => {
  expect(replyAttributes({ message: { role: 'assistant', content: 'yes' } })).toEqual({
    'output.value': 'yes',
  });
});

import type { BedrockEndpoint, ChatRequest } from '../../../src/activities/ports.ts';
import { createModels } from '../../../src/adapters/models/create-models.ts';
import type { ModelError } from '../../../src/adapters/models/model-error.ts';
import type { FailureType } from '../../../src/api/failures.ts';
import {
  startJournaledServer,
  type JournaledReply,
  type JournaledServer,
} from '../../../src/dev/journaled-server.ts';

const said = (...content: object[]) => ({
  body: JSON.stringify({ content, stop_reason: 'end_turn', usage: { input_tokens: 12, output_tokens: 3 } }),
});
const hello = said({ type: 'text', text: 'hello' });
let reply: JournaledReply = hello;
let server: JournaledServer;

const around = { ...process.env };
beforeAll(async () => {
  server = await startJournaledServer(() => reply);
  process.env['AWS_ENDPOINT_URL_BEDROCK_RUNTIME'] = server.url;
});
beforeEach(() => {
  reply = hello;
});
afterAll(async () => {
  process.env = around;
  await server.close();
});

const models = createModels();
const endpoint = (more: Partial<BedrockEndpoint> = {}): BedrockEndpoint => ({
  type: 'bedrock',
  namespace: 'default',
  name: 'main',
  model: 'anthropic.claude-v1:0',
  region: 'eu-west-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'canary-secret',
  properties: {},
  ...more,
});
const user = { role: 'user', content: 'Hi' } as const;
const ask = (
  request: Partial<ChatRequest> = {},
  options: Partial<Parameters<typeof models.complete>[1]> = {},
) =>
  models.complete(
    { endpoint: endpoint(), messages: [user], tools: [], ...request },
    { signal: new AbortController().signal, idempotencyKey: 'k', timeoutMs: 60_000, ...options },
  );
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error as ModelError,
  );
const lastRequest = () => server.requests.at(-1)!;
const lastBody = () => JSON.parse(lastRequest().body) as Record<string, unknown>;

describe('the request', () => {
  test('is an InvokeModel in Anthropic’s form, signed', async () => {
    await ask({ messages: [{ role: 'system', content: 'Be brief.' }, user] });
    expect(lastRequest()).toMatchObject({ method: 'POST', path: '/model/anthropic.claude-v1%3A0/invoke' });
    expect(lastRequest().headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=.*host.*, Signature=/,
    );
    expect(lastBody()).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      messages: [user],
      system: 'Be brief.',
      max_tokens: 4_096,
      temperature: 1,
    });
  });

  test('sends tool calls and all their results back as such', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    await ask({
      messages: [
        user,
        {
          role: 'assistant',
          content: 'Let me see.',
          toolCalls: [
            { id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
            { id: 'c2', name: 'weather', arguments: 'broken' },
          ],
        },
        { role: 'tool', toolCallId: 'c1', content: '4 degrees' },
        { role: 'tool', toolCallId: 'c2', content: '' },
      ],
      tools: [{ name: 'weather', description: 'Weather by city', parameters }],
    });
    expect(lastBody()['tools']).toEqual([
      { name: 'weather', description: 'Weather by city', input_schema: parameters },
    ]);
    expect(lastBody()['messages']).toEqual([
      user,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'c2', name: 'weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: '4 degrees' },
          { type: 'tool_result', tool_use_id: 'c2', content: '' },
        ],
      },
    ]);
  });

  test('speaks of no tools to a model that has none, and leaves the last word to the user', async () => {
    await ask({
      messages: [
        user,
        { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'weather', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'c1', content: '4 degrees' },
        { role: 'assistant', content: 'It is cold.', name: 'bot' },
      ],
    });
    expect(lastBody()['messages']).toEqual([
      { role: 'user', content: ['Hi', '4 degrees'].map((text) => ({ type: 'text', text })) },
      { role: 'assistant', content: 'It is cold.' },
      { role: 'user', content: 'Continue.' },
    ]);
  });

  test('asks for the shape of the answer', async () => {
    await ask({
      messages: [{ role: 'system', content: 'Be brief.' }, user],
      output: { name: 'n', schema: { type: 'object' } },
    });
    expect(lastBody()['system']).toBe(
      'Be brief.\n\nAnswer with JSON only, without any text around it. It must be valid by this JSON schema:\n{"type":"object"}',
    );
  });

  test('has the properties, and over them what the spec says itself', async () => {
    const properties = {
      max_tokens: '5',
      temperature: '0.9',
      top_k: '7',
      messages: '[]',
      stop_sequences: '["x"]',
    };
    await ask({ endpoint: endpoint({ model: 'other', properties, maxTokens: 100, temperature: '0.1' }) });
    expect(lastBody()).toEqual({
      messages: [user],
      max_tokens: 100,
      temperature: 0.1,
      top_k: 7,
      stop_sequences: ['x'],
    });
  });

  test('goes to the ARN where there is one, with the session’s token', async () => {
    await ask({
      endpoint: endpoint({ modelArn: 'arn:aws:bedrock:eu-west-1:1:profile/x', sessionToken: 'token' }),
    });
    expect(decodeURIComponent(lastRequest().path)).toBe(
      '/model/arn:aws:bedrock:eu-west-1:1:profile/x/invoke',
    );
    expect(lastRequest().headers['x-amz-security-token']).toBe('token');
  });

  test.each(['accessKeyId', 'secretAccessKey'])(
    'without its %s is signed as the worker’s surroundings say',
    async (half) => {
      process.env['AWS_ACCESS_KEY_ID'] = 'AROUND';
      process.env['AWS_SECRET_ACCESS_KEY'] = 'around';
      try {
        await ask({ endpoint: endpoint({ [half]: '' }) });
      } finally {
        delete process.env['AWS_ACCESS_KEY_ID'];
        delete process.env['AWS_SECRET_ACCESS_KEY'];
      }
      expect(lastRequest().headers['authorization']).toContain('Credential=AROUND/');
    },
  );

  test.each([
    ['anthropic.claude-v1:0', undefined, true],
    ['mine', 'arn:aws:bedrock:eu-west-1:1:profile/claude', true],
    ['mine', 'arn:aws:bedrock:eu-west-1:1:profile/x', false],
  ])('to %s at %s is of Anthropic’s version: %p', async (model, modelArn, isTheirs) => {
    await ask({ endpoint: endpoint({ model, modelArn }) });
    expect('anthropic_version' in lastBody()).toBe(isTheirs);
  });

  test('offers the tools in their order, and the last of several with one name', async () => {
    const face = (name: string, description: string) => ({ name, description, parameters: {} });
    await ask({ tools: [face('b', 'first'), face('a', 'other'), face('b', 'last')] });
    expect(lastBody()['tools']).toEqual([
      { name: 'b', description: 'last', input_schema: {} },
      { name: 'a', description: 'other', input_schema: {} },
    ]);
  });
});

const usage = { promptTokens: 12, completionTokens: 3, totalTokens: 15 };

test.each([
  ['text', [{ type: 'text', text: 'hello' }], { content: 'hello' }],
  [
    'the last text',
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
    { content: 'b' },
  ],
  [
    'a tool call',
    [
      { type: 'text', text: 'well' },
      { type: 'tool_use', id: 'c1', name: 't', input: { a: 1 } },
    ],
    { content: 'well', toolCalls: [{ id: 'c1', name: 't', arguments: '{"a":1}' }] },
  ],
  ['nothing', [], { content: '' }],
])('the answer is %s', async (_, content, message) => {
  reply = said(...content);
  expect(await ask()).toEqual({
    message: { role: 'assistant', ...message },
    finishReason: 'end_turn',
    usage,
  });
});

describe('a failure', () => {
  test.each<[number, string, string, FailureType]>([
    [429, 'ThrottlingException', 'Too many requests', 'ModelRateLimited'],
    [400, 'ServiceQuotaExceededException', 'Quota', 'ModelQuotaExceeded'],
    [403, 'AccessDeniedException', 'Not allowed', 'ModelUnauthorized'],
    [403, 'UnrecognizedClientException', 'Token invalid', 'ModelUnauthorized'],
    [400, 'ExpiredTokenException', 'Expired', 'ModelUnauthorized'],
    [400, 'ValidationException', 'Malformed input request', 'ModelBadRequest'],
    [400, 'ValidationException', 'Input is too long for requested model.', 'ModelContextLength'],
    [404, 'ResourceNotFoundException', 'No such model', 'ModelNotFound'],
    [408, 'ModelTimeoutException', 'Slow', 'ModelTimeout'],
    [429, 'ModelNotReadyException', 'Warming up', 'ModelUnavailable'],
    [424, 'ModelErrorException', 'Broken', 'ModelUnavailable'],
    [500, 'InternalServerException', 'Oops', 'ModelUnavailable'],
    [503, 'ServiceUnavailableException', 'Down', 'ModelUnavailable'],
  ])('%i %s (%s) is %s, after one attempt', async (status, name, message, type) => {
    const before = server.requests.length;
    reply = {
      status,
      headers: { 'x-amzn-errortype': name, 'retry-after': '7', 'x-amzn-requestid': 'r1' },
      body: JSON.stringify({ message }),
    };
    const failure = await failureOf(ask());
    expect(failure).toMatchObject({ type, status, code: name, retryAfterMs: 7_000, requestId: 'r1' });
    expect(failure?.message).toBe(`InvokeModel anthropic.claude-v1:0: ${status} ${name}: ${message}`);
    expect(server.requests).toHaveLength(before + 1);
  });

  test.each([['{"results":[]}'], ['no JSON']])('an answer %s is no answer', async (body) => {
    reply = { body };
    expect(await failureOf(ask())).toMatchObject({ type: 'ModelReplyInvalid' });
  });

  test('that nobody listens is told apart, without secrets', async () => {
    const nobody = createModels();
    process.env['AWS_ENDPOINT_URL_BEDROCK_RUNTIME'] = 'http://127.0.0.1:1';
    const failure = await failureOf(
      nobody.complete(
        { endpoint: endpoint(), messages: [user], tools: [] },
        { signal: new AbortController().signal, idempotencyKey: 'k', timeoutMs: 60_000 },
      ),
    );
    process.env['AWS_ENDPOINT_URL_BEDROCK_RUNTIME'] = server.url;
    expect(failure).toMatchObject({ type: 'ModelUnreachable', code: 'ECONNREFUSED' });
    expect(JSON.stringify(failure) + failure?.message).not.toContain('canary');
  });

  test('that it takes too long, or is no longer wanted', async () => {
    reply = 'hang';
    expect(await failureOf(ask({}, { timeoutMs: 2_000 }))).toMatchObject({
      type: 'ModelTimeout',
      message: 'InvokeModel anthropic.claude-v1:0: no answer within 2 s',
    });
    const wish = new AbortController();
    const end = failureOf(ask({}, { signal: wish.signal }));
    wish.abort(new Error('no longer wanted'));
    expect((await end)?.message).toBe('no longer wanted');
  });
});

import { createServer } from 'node:net';
import { once } from 'node:events';
import type { ChatRequest, OpenAiEndpoint } from '../../../src/activities/ports.ts';
import { createModels } from '../../../src/adapters/models/create-models.ts';
import type { ModelError } from '../../../src/adapters/models/model-error.ts';
import type { FailureType } from '../../../src/api/failures.ts';
import {
  startScriptedModel,
  type ScriptedAnswer,
  type ScriptedModel,
} from '../../../src/dev/scripted-model.ts';

let answer: ScriptedAnswer = { content: 'hello' };
let server: ScriptedModel;
beforeAll(async () => {
  server = await startScriptedModel({ script: () => answer });
});
beforeEach(() => {
  answer = { content: 'hello' };
});
afterAll(() => server.close());

const models = createModels();
const endpoint = (more: Partial<OpenAiEndpoint> = {}): OpenAiEndpoint => ({
  type: 'openai',
  namespace: 'default',
  name: 'main',
  model: 'm1',
  baseUrl: server.baseUrl,
  apiKey: 'canary-key',
  properties: {},
  ...more,
});
const ask = (
  request: Partial<ChatRequest> = {},
  options: Partial<Parameters<typeof models.complete>[1]> = {},
) =>
  models.complete(
    { endpoint: endpoint(), messages: [{ role: 'user', content: 'Hi' }], tools: [], ...request },
    {
      signal: new AbortController().signal,
      idempotencyKey: 'run:t001.bot.model.1',
      timeoutMs: 60_000,
      ...options,
    },
  );
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error as ModelError,
  );
const lastRequest = () => server.requests.at(-1)!;
const lastBody = () => JSON.parse(lastRequest().body) as Record<string, unknown>;

const face = (description: string) => ({ name: 't', description, parameters: {} });

describe('the request', () => {
  test('is that of contract section 14, to the byte', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    await ask({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather in Oslo?' },
        {
          role: 'assistant',
          content: '',
          name: 'bot',
          toolCalls: [{ id: 'c1', name: 'get-weather', arguments: '{"city":"Oslo"}' }],
        },
        { role: 'tool', toolCallId: 'c1', content: '{"t":4}' },
      ],
      tools: [{ name: 'get-weather', description: 'Weather by city', parameters }],
    });
    expect(lastRequest().body).toBe(
      '{"model":"m1","messages":[' +
        '{"role":"system","content":"Be brief."},' +
        '{"role":"user","content":"Weather in Oslo?"},' +
        '{"role":"assistant","name":"bot","tool_calls":[{"id":"c1","type":"function","function":{"name":"get-weather","arguments":"{\\"city\\":\\"Oslo\\"}"}}]},' +
        '{"role":"tool","tool_call_id":"c1","content":"{\\"t\\":4}"}],' +
        '"tools":[{"type":"function","function":{"name":"get-weather","description":"Weather by city","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}],' +
        '"temperature":1,"n":1}',
    );
  });

  test('holds a refusal beside an answer, the empty result of a tool, and no empty tool list', async () => {
    await ask({
      messages: [
        { role: 'assistant', content: 'No.', refusal: 'I must not' },
        { role: 'tool', toolCallId: 'c1', content: '' },
      ],
    });
    expect(lastBody()).toEqual({
      model: 'm1',
      messages: [
        { role: 'assistant', content: 'No.', refusal: 'I must not' },
        { role: 'tool', tool_call_id: 'c1', content: '' },
      ],
      temperature: 1,
      n: 1,
    });
  });

  test.each<[Record<string, string>, object]>([
    [{}, { temperature: 1, n: 1 }],
    [{ user: 'u' }, { temperature: 1, n: 1, user: 'u' }],
    [{ temperature: '0' }, { temperature: 0, n: 1 }],
    [{ temperature: '' }, { temperature: 1, n: 1 }],
    [{ n: '2' }, { temperature: 1, n: 2 }],
  ])('with properties %j has %j', async (properties, fields) => {
    await ask({ endpoint: endpoint({ properties }) });
    const { model: _, messages: __, ...others } = lastBody();
    expect(others).toEqual(fields);
  });

  test('asks for the shape of the answer', async () => {
    const schema = { type: 'object', properties: { score: { type: 'number' } } };
    await ask({ output: { name: 'namespace-default-agent-bot', schema } });
    expect(lastBody()['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'namespace-default-agent-bot', schema },
    });
  });

  test('carries the properties as the JSON a provider expects', async () => {
    const properties = {
      temperature: '0.1',
      n: '1',
      max_tokens: '200',
      seed: '-3',
      logprobs: 'true',
      user: '42',
      reasoning_effort: 'low',
      stop: '1',
      logit_bias: '{"50256":-100}',
      extra: '[not json',
      empty: '',
      stream: 'true',
      messages: '[]',
      model: 'other',
    };
    await ask({ endpoint: endpoint({ properties }) });
    expect(lastBody()).toEqual({
      model: 'm1',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0.1,
      n: 1,
      max_tokens: 200,
      seed: -3,
      logprobs: true,
      user: '42',
      reasoning_effort: 'low',
      stop: '1',
      logit_bias: { '50256': -100 },
      extra: '[not json',
    });
  });

  test('offers the tools in their order, and the last of several with one name', async () => {
    const other = { ...face('other'), name: 'a' };
    await ask({ tools: [face('first'), other, face('last')] });
    expect(lastBody()['tools']).toEqual(
      [face('last'), other].map((tool) => ({ type: 'function', function: tool })),
    );
  });

  test.each([
    ['/v1', '/v1/chat/completions'],
    ['/v1/', '/v1/chat/completions'],
    ['/a/b//', '/a/b/chat/completions'],
  ])('to OpenAI under %s goes to %s with a bearer token and an idempotency key', async (base, path) => {
    await ask({ endpoint: endpoint({ baseUrl: server.url + base }) });
    const { headers } = lastRequest();
    expect(lastRequest().path).toBe(path);
    expect(headers.authorization).toBe('Bearer canary-key');
    expect(headers['idempotency-key']).toBe('run:t001.bot.model.1');
    expect(headers).not.toHaveProperty('api-key');
  });

  test.each([
    ['2024-06-01', 'api-version=2024-06-01'],
    [undefined, 'api-version='],
  ])('to Azure names the deployment and the version %s, and sends both keys', async (apiVersion, query) => {
    await ask({
      endpoint: endpoint({ type: 'azure', baseUrl: `${server.url}/`, model: 'gpt-4o', apiVersion }),
    });
    const { path, headers } = lastRequest();
    expect(path).toBe(`/openai/deployments/gpt-4o/chat/completions?${query}`);
    expect(headers.authorization).toBe('Bearer canary-key');
    expect(headers['api-key']).toBe('canary-key');
  });

  test('sends no credentials where there are none, whatever the environment says', async () => {
    process.env['OPENAI_API_KEY'] = 'from-the-environment';
    process.env['OPENAI_ORG_ID'] = 'from-the-environment';
    try {
      await ask({ endpoint: endpoint({ apiKey: '' }) });
    } finally {
      delete process.env['OPENAI_API_KEY'];
      delete process.env['OPENAI_ORG_ID'];
    }
    expect(JSON.stringify(lastRequest().headers)).not.toContain('from-the-environment');
    expect(lastRequest().headers).not.toHaveProperty('authorization');
  });
});

describe('the answer', () => {
  test('is the first choice, with what it cost', async () => {
    answer = { content: 'Bonjour', usage: { promptTokens: 7, completionTokens: 2 } };
    expect(await ask()).toEqual({
      message: { role: 'assistant', content: 'Bonjour' },
      finishReason: 'stop',
      usage: { promptTokens: 7, completionTokens: 2, totalTokens: 9 },
    });
  });

  test.each([
    ['as the provider counts', { prompt_tokens: 7, completion_tokens: 2, total_tokens: 12 }, 12],
    ['the sum, where the provider does not', { prompt_tokens: 7, completion_tokens: 2 }, 9],
  ])('cost in all what it cost %s', async (_, usage, totalTokens) => {
    const choices = [{ message: { content: 'first' } }, { message: { content: 'second' } }];
    answer = { status: 200, body: { choices, usage } };
    expect(await ask()).toEqual({
      message: { role: 'assistant', content: 'first' },
      usage: { promptTokens: 7, completionTokens: 2, totalTokens },
    });
  });

  test('keeps tool calls and refusals', async () => {
    answer = { toolCalls: [{ id: 'c1', name: 'search', arguments: 'not json' }], refusal: 'half' };
    expect((await ask())?.message).toEqual({
      role: 'assistant',
      content: '',
      refusal: 'half',
      toolCalls: [{ id: 'c1', name: 'search', arguments: 'not json' }],
    });
  });

  test('is read leniently: parts, arguments as an object, no id, no usage', async () => {
    const message = {
      content: [{ type: 'text', text: 'a' }, { type: 'thinking' }, { type: 'text', text: 'b' }],
      tool_calls: [{ function: { name: 'f', arguments: { x: 1 } } }, { function: { name: 'g' } }, 'nonsense'],
    };
    answer = { status: 200, body: { choices: [{ message }] } };
    const reply = await ask();
    expect(reply).toEqual({
      message: {
        role: 'assistant',
        content: 'ab',
        toolCalls: [
          { id: expect.stringMatching(/^call_/), name: 'f', arguments: '{"x":1}' },
          { id: expect.stringMatching(/^call_/), name: 'g', arguments: '' },
        ],
      },
    });
    expect(reply?.message.toolCalls?.[0]?.id).not.toBe(reply?.message.toolCalls?.[1]?.id);
  });

  test('without a choice is none', async () => {
    answer = { status: 200, body: { choices: [] } };
    expect(await ask()).toBeUndefined();
  });
});

const error = (more: object) => ({ error: { message: 'the reason', ...more } });

describe('every way to fail has one name', () => {
  test.each<[string, ScriptedAnswer, FailureType, Partial<ModelError>]>([
    ['busy', { status: 429, body: error({}) }, 'ModelRateLimited', { status: 429 }],
    [
      'busy for 7 s',
      { status: 429, headers: { 'retry-after': '7' } },
      'ModelRateLimited',
      { retryAfterMs: 7_000 },
    ],
    [
      'busy for 1.5 s',
      { status: 429, headers: { 'retry-after-ms': '1500' } },
      'ModelRateLimited',
      { retryAfterMs: 1_500 },
    ],
    [
      'down for an hour',
      { status: 503, headers: { 'retry-after': '3600' } },
      'ModelUnavailable',
      { retryAfterMs: 300_000 },
    ],
    [
      'out of money',
      { status: 429, body: error({ code: 'insufficient_quota' }) },
      'ModelQuotaExceeded',
      { code: 'insufficient_quota' },
    ],
    ['busy for good', { status: 429, headers: { 'x-should-retry': 'false' } }, 'ModelQuotaExceeded', {}],
    ['payment required', { status: 402 }, 'ModelQuotaExceeded', {}],
    ['timed out over there', { status: 408 }, 'ModelUnavailable', {}],
    ['a conflict', { status: 409 }, 'ModelUnavailable', {}],
    [
      'broken',
      { status: 500, headers: { 'x-request-id': 'req-1' } },
      'ModelUnavailable',
      { requestId: 'req-1' },
    ],
    ['overloaded', { status: 529 }, 'ModelUnavailable', {}],
    ['broken for good', { status: 500, headers: { 'x-should-retry': 'false' } }, 'ModelBadRequest', {}],
    [
      'a refusal worth repeating',
      { status: 400, headers: { 'x-should-retry': 'true' } },
      'ModelUnavailable',
      {},
    ],
    ['a bad request', { status: 400, body: error({}) }, 'ModelBadRequest', { status: 400 }],
    ['unprocessable', { status: 422 }, 'ModelBadRequest', {}],
    ['too long', { status: 400, body: error({ code: 'context_length_exceeded' }) }, 'ModelContextLength', {}],
    ['a wrong key', { status: 401, body: error({}) }, 'ModelUnauthorized', {}],
    ['a forbidden model', { status: 403 }, 'ModelUnauthorized', {}],
    ['no such model', { status: 404 }, 'ModelNotFound', {}],
    ['a cut connection', 'cut', 'ModelUnreachable', { code: 'UND_ERR_SOCKET' }],
    ['an answer that is no completion', { status: 200, body: { detail: 'hello' } }, 'ModelReplyInvalid', {}],
    ['an answer without message', { status: 200, body: { choices: [{}] } }, 'ModelReplyInvalid', {}],
    ['an answer that is no JSON', { status: 200, body: '{"choices": [' }, 'ModelReplyInvalid', {}],
    [
      'a web page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>hi' },
      'ModelReplyInvalid',
      {},
    ],
    ['an answer without end', { status: 200, body: 'x'.repeat(17 * 1024 * 1024) }, 'PayloadTooLarge', {}],
  ])('%s', async (_, scripted, type, facts) => {
    answer = scripted;
    const before = server.total().started;
    const refusal = await refusalOf(ask());
    expect(refusal).toMatchObject({ name: 'ModelError', type, ...facts });
    expect(refusal?.message).toContain(`POST "${server.baseUrl}/chat/completions": `);
    expect(server.total().started).toBe(before + 1);
  });

  test('nobody listens', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    free.close();
    await once(free, 'close');
    const refusal = await refusalOf(ask({ endpoint: endpoint({ baseUrl: `http://127.0.0.1:${port}/v1` }) }));
    expect(refusal).toMatchObject({ type: 'ModelUnreachable', code: 'ECONNREFUSED' });
  });

  test('no answer in time', async () => {
    answer = 'hang';
    const refusal = await refusalOf(ask({}, { timeoutMs: 2_000 }));
    expect(refusal).toMatchObject({ type: 'ModelTimeout', message: expect.stringContaining('within 2 s') });
  });

  test.each(['not a url', 'ftp://host/v1', ''])('a base URL that is none: %j', async (baseUrl) => {
    expect(await refusalOf(ask({ endpoint: endpoint({ baseUrl }) }))).toMatchObject({
      type: 'ValueInvalid',
      message: expect.stringContaining('model default/main'),
    });
  });

  test('a key that cannot be sent is not quoted', async () => {
    const refusal = await refusalOf(ask({ endpoint: endpoint({ apiKey: 'canary\nkey' }) }));
    expect(refusal).toMatchObject({ type: 'ValueInvalid', message: expect.not.stringContaining('canary') });
  });
});

test.each<[string, ScriptedAnswer, string]>([
  [
    'an error object',
    { status: 401, body: error({ type: 'auth' }) },
    '401 Unauthorized {"message":"the reason","type":"auth"}',
  ],
  [
    'an object of its own',
    { status: 404, body: { detail: 'the reason' } },
    '404 Not Found {"detail":"the reason"}',
  ],
  ['a list', { status: 400, body: [error({})] }, '400 Bad Request [{"error":{"message":"the reason"}}]'],
  [
    'text',
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<p>the\n reason' },
    '502 Bad Gateway <p>the reason',
  ],
  ['nothing', { status: 503 }, '503 Service Unavailable status code (no body)'],
])('the reason is told as the provider gave it: %s', async (_, scripted, text) => {
  answer = scripted;
  expect((await refusalOf(ask()))?.message).toBe(`POST "${server.baseUrl}/chat/completions": ${text}`);
});

test('a cancelled call hangs up', async () => {
  const called = Promise.withResolvers<AbortSignal>();
  const model = await startScriptedModel({
    script: ({ signal }) => {
      called.resolve(signal);
      return 'hang';
    },
  });
  const caller = new AbortController();
  const refusal = refusalOf(
    ask({ endpoint: endpoint({ baseUrl: model.baseUrl }) }, { signal: caller.signal }),
  );
  const hungUp = await called.promise;
  caller.abort();
  expect(await refusal).toBeInstanceOf(Error);
  if (!hungUp.aborted) await once(hungUp, 'abort');
  expect(hungUp.aborted).toBe(true);
  await model.close();
});

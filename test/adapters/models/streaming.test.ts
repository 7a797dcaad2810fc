import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { OpenAiEndpoint } from '../../../src/activities/ports.ts';
import { createModels } from '../../../src/adapters/models/create-models.ts';
import type { ModelError } from '../../../src/adapters/models/model-error.ts';

type Answer = (response: ServerResponse, body: Readonly<Record<string, unknown>>) => void;

let answer: Answer;
const bodies: Readonly<Record<string, unknown>>[] = [];
let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((json) => {
      const body = JSON.parse(json) as Readonly<Record<string, unknown>>;
      bodies.push(body);
      answer(response, body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => void bodies.splice(0));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const models = createModels();
const endpoint = (): OpenAiEndpoint => ({
  type: 'openai',
  namespace: 'default',
  name: 'main',
  model: 'm1',
  baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  apiKey: 'k',
  properties: {},
});
const ask = (onChunk?: (chunk: object) => void, signal = new AbortController().signal, timeoutMs = 60_000) =>
  models.complete(
    {
      endpoint: endpoint(),
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [],
      ...(onChunk && { onChunk }),
    },
    { signal, idempotencyKey: 'k', timeoutMs },
  );
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error as ModelError,
  );

const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
const piece = (delta: object, finish_reason: string | null = null) => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const last = { object: 'chat.completion.chunk', choices: [], usage };
const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;

/** Sends the chunks a few bytes at a time, so that none comes in one piece. */
const streaming =
  (
    chunks: readonly object[],
    end: (response: ServerResponse) => void = (response) => response.end('data: [DONE]\n\n'),
  ): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = chunks.map(event).join('');
    for (let at = 0; at < bytes.length; at += 50) response.write(bytes.slice(at, at + 50));
    response.write('', () => end(response));
  };

const callPart = (index: number, part: object) => piece({ tool_calls: [{ index, ...part }] });
const conversations: [string, object[], object][] = [
  [
    'text',
    [piece({ role: 'assistant', content: '' }), piece({ content: 'Hel' }), piece({ content: 'lo ☃' })],
    { content: 'Hello ☃' },
  ],
  [
    'tool calls, their parts mixed',
    [
      piece({ role: 'assistant', content: null }),
      callPart(0, { id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }),
      callPart(1, { id: 'c2', type: 'function', function: { name: 'search', arguments: '{"q"' } }),
      callPart(0, { function: { arguments: '{"city":' } }),
      callPart(1, { function: { arguments: ':1}' } }),
      callPart(0, { function: { arguments: '"Oslo"}' } }),
    ],
    {
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
        { id: 'c2', type: 'function', function: { name: 'search', arguments: '{"q":1}' } },
      ],
    },
  ],
  [
    'a refusal',
    [piece({ refusal: 'I must ' }), piece({ refusal: 'not' })],
    { content: null, refusal: 'I must not' },
  ],
];

test.each(conversations)('%s streamed is what it is in one piece', async (_, deltas, message) => {
  answer = (response) => {
    const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices, usage }));
  };
  const whole = await ask();

  const sent = [...deltas, piece({}, 'stop'), last];
  answer = streaming(sent);
  const chunks: object[] = [];
  expect(await ask((chunk) => chunks.push(chunk))).toEqual(whole);
  expect(chunks).toEqual(sent);
  expect(bodies.map(({ stream }) => stream)).toEqual([undefined, true]);
  expect(bodies[1]).toMatchObject({ stream_options: { include_usage: true } });
});

test('no choice is no reply', async () => {
  answer = streaming([last]);
  expect(await ask(() => undefined)).toBeUndefined();
});

test('parts without an index belong to the call before them', async () => {
  const part = (more: object) => piece({ tool_calls: [more] });
  answer = streaming([
    part({ id: 'a', function: { name: 't', arguments: '{"x"' } }),
    part({ function: { arguments: ':1}' } }),
    part({ id: 'b', function: { name: 'u', arguments: '{}' } }),
    piece({}, 'tool_calls'),
  ]);
  expect(await ask(() => undefined)).toEqual({
    message: {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'a', name: 't', arguments: '{"x":1}' },
        { id: 'b', name: 'u', arguments: '{}' },
      ],
    },
    finishReason: 'tool_calls',
  });
});

test('a provider that does not know stream_options is asked once more, without', async () => {
  answer = (response, body) => {
    if (!body['stream_options']) return streaming([piece({ content: 'ok' }, 'stop')])(response, body);
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: "Unknown field 'stream_options'" } }));
  };
  expect(await ask(() => undefined)).toEqual({
    message: { role: 'assistant', content: 'ok' },
    finishReason: 'stop',
  });
  expect(bodies).toHaveLength(2);
});

test('a provider that answers in one piece all the same', async () => {
  answer = (response) => {
    const choices = [{ message: { role: 'assistant', content: 'whole' } }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices, usage }));
  };
  expect(await ask(() => undefined)).toMatchObject({ message: { content: 'whole' } });
});

const begun = [piece({ content: 'half an ans' })];

test.each<[string, Answer, string]>([
  ['that is cut', streaming(begun, (response) => response.destroy()), 'ModelUnreachable'],
  ['that ends before its end', streaming(begun, (response) => response.end()), 'ModelUnreachable'],
  [
    'in which the provider gives up',
    streaming([...begun, { error: { message: 'overloaded', type: 'server_error' } }]),
    'ModelUnavailable',
  ],
  [
    'that is refused',
    (response) => void response.writeHead(429, { 'retry-after': '3' }).end('{"error":{"message":"busy"}}'),
    'ModelRateLimited',
  ],
])('a stream %s is a failure', async (_, how, type) => {
  answer = how;
  expect(await failureOf(ask(() => undefined))).toMatchObject({ type });
});

test('a stream that stands still meets the timeout, and one nobody wants ends', async () => {
  answer = streaming(begun, () => undefined);
  expect(await failureOf(ask(() => undefined, undefined, 2_000))).toMatchObject({ type: 'ModelTimeout' });

  const wish = new AbortController();
  const failure = await failureOf(ask(() => wish.abort(new Error('no longer wanted')), wish.signal));
  expect(failure).toBeDefined();
  expect(failure?.type).toBeUndefined();
});

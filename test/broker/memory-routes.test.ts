import { createLogger } from '../../src/adapters/telemetry/logger.ts';
import { createBrokerMetrics, createRegistry } from '../../src/adapters/telemetry/metrics.ts';
import { brokerApp } from '../../src/broker/broker-app.ts';
import { Streams } from '../../src/broker/streams.ts';
import { runBrokerInTest, type RunningBroker } from './running-broker.ts';

let broker: RunningBroker;
beforeAll(async () => (broker = await runBrokerInTest()));
afterAll(() => broker.close());

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(broker.url + path, { method, headers, body: sent });
  return { status: response.status, text: await response.text() };
}
const asked = async (...words: Parameters<typeof ask>): Promise<unknown> =>
  JSON.parse((await ask(...words)).text) as unknown;

const user = (content: string) => ({ role: 'user', content });
const big = 'x'.repeat(10 * 1024 * 1024);

describe('the dialect of v0.1.31', () => {
  test('gives back what it was given, in order, through both routes', async () => {
    const messages = [
      user('Weather in Oslo?'),
      {
        role: 'assistant',
        name: 'bot',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'get-weather', arguments: '{"city":"Oslo"}' } },
        ],
      },
      { role: 'tool', content: '', tool_call_id: 'c1' },
      { role: 'assistant', content: '4 degrees', name: 'bot', refusal: 'no' },
    ];
    expect(await ask('PUT', '/messages/both', { messages })).toEqual({ status: 200, text: '' });
    expect(await ask('PUT', '/message/both', { message: user('Thanks') })).toEqual({ status: 200, text: '' });
    const all = JSON.stringify({ messages: [...messages, user('Thanks')] });
    expect(await ask('GET', '/messages/both')).toEqual({ status: 200, text: all });
    expect(await ask('GET', '/message/both')).toEqual({ status: 200, text: all });
  });

  test.each([
    ['GET', '/messages/unknown', undefined, 200, '{"messages":null}'],
    ['PUT', '/messages/empty', { messages: [] }, 200, ''],
    ['PUT', '/messages/empty', { messages: null }, 200, ''],
    ['PUT', '/messages/empty', {}, 200, ''],
    ['GET', '/messages/empty', undefined, 200, '{"messages":null}'],
    ['GET', '/messages/a.b', undefined, 400, 'Invalid session ID'],
    ['GET', '/messages/a+b', undefined, 400, 'Invalid session ID'],
    ['GET', '/messages/%2e%2e%2fetc', undefined, 400, 'Invalid session ID'],
    ['PUT', `/messages/${'a'.repeat(256)}`, { messages: [] }, 400, 'Invalid session ID'],
    ['GET', `/messages/${'a'.repeat(255)}`, undefined, 200, '{"messages":null}'],
    ['PUT', '/messages/s', '{"messages":[', 400, 'Invalid JSON'],
    ['PUT', '/messages/s', { messages: {} }, 400, 'Invalid JSON'],
    ['PUT', '/messages/s', '[]', 400, 'Invalid JSON'],
    ['PUT', '/message/s', {}, 400, 'Invalid JSON'],
    ['POST', '/messages/s', {}, 405, 'Method not allowed'],
    ['DELETE', '/message/s', undefined, 405, 'Method not allowed'],
    ['PUT', '/messages/s', { messages: [user(big)] }, 500, 'Internal server error'],
    [
      'PUT',
      '/messages/s',
      { messages: [big, big, big, big] },
      413,
      'Request body is larger than 33554432 bytes',
    ],
    ['GET', '/messages/s', undefined, 200, '{"messages":null}'],
    ['GET', '/health', undefined, 200, 'OK'],
    ['POST', '/health', undefined, 200, 'OK'],
    ['GET', '/ready', undefined, 200, 'ok'],
  ])('%s %.40s answers %#', async (method, path, body, status, text) => {
    expect(await ask(method, path, body)).toEqual({ status, text });
  });

  test('adds once for an Idempotency-Key', async () => {
    const put = (key: string) =>
      ask('PUT', '/messages/once', { messages: [user('hi')] }, { 'idempotency-key': key });
    await put('k1');
    expect((await put('k1')).status).toBe(200);
    await put('k2');
    expect(await asked('GET', '/messages/once')).toEqual({ messages: [user('hi'), user('hi')] });
    expect((await put('k'.repeat(256))).status).toBe(400);
    expect(await broker.metric('messages_total')).toContain('{outcome="repeated"} 1');
  });

  test('takes and returns a megabyte', async () => {
    const message = user('\u00e9'.repeat(500_000));
    await ask('PUT', '/messages/large', { messages: [message] });
    expect(await asked('GET', '/messages/large')).toEqual({ messages: [message] });
  });
});

describe('the newer dialect', () => {
  test('keeps conversations with their queries', async () => {
    const { conversation_id: id } = (await asked('POST', '/conversations')) as { conversation_id: string };
    expect(await asked('GET', `/conversations/${id}`)).toMatchObject({
      conversation_id: id,
      message_count: 0,
    });

    const of = (query: string, messages: unknown[], more = {}) =>
      ask('POST', '/messages', { conversation_id: id, query_id: query, messages, ...more });
    await of('q1', [user('a'), user('b')]);
    await of('q2', [user('c')], { ttl_seconds: 3600 });

    const first = (await asked('GET', `/messages?conversation_id=${id}&limit=2`)) as { messages: unknown[] };
    expect(first).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(first.messages).toEqual([
      expect.objectContaining({ conversation_id: id, query_id: 'q1', message: user('a') }),
      expect.objectContaining({ sequence: expect.any(Number), timestamp: expect.stringMatching(/^20.*Z$/) }),
    ]);
    expect(await asked('GET', `/messages?query_id=q2&offset=0`)).toMatchObject({
      messages: [{ message: user('c') }],
    });
    expect(await asked('GET', `/conversations?limit=1`)).toMatchObject({
      conversations: [{ conversation_id: id, message_count: 3 }],
    });

    expect(await asked('DELETE', '/queries/q1/messages')).toEqual({ deleted: 2 });
    expect(await asked('GET', `/messages/${id}`)).toEqual({ messages: [user('c')] });
  });

  test('adds once for an Idempotency-Key', async () => {
    const post = () =>
      ask('POST', '/messages', { conversation_id: 'c', messages: [user('x')] }, { 'idempotency-key': 'k' });
    await post();
    expect(JSON.parse((await post()).text)).toEqual({ conversation_id: 'c', messages: 0 });
    expect(await asked('GET', '/messages/c')).toEqual({ messages: [user('x')] });
  });

  test.each([
    ['GET', '/conversations/unknown', undefined, 404, 'There is no conversation unknown'],
    ['GET', '/conversations/a.b', undefined, 400, 'Invalid session ID'],
    ['GET', '/messages?limit=0', undefined, 400, 'limit must be a whole number from 1 to 1000'],
    ['GET', '/messages?limit=1001', undefined, 400, 'limit must be a whole number from 1 to 1000'],
    ['GET', '/messages?offset=-1', undefined, 400, 'offset must be a whole number from 0 to 1000000000'],
    ['POST', '/messages', { messages: [] }, 400, 'Invalid session ID'],
    ['POST', '/messages', 'no', 400, 'Invalid JSON'],
    [
      'POST',
      '/messages',
      { conversation_id: 'c', query_id: 7 },
      400,
      'query_id must be a text of at most 255 characters',
    ],
    [
      'POST',
      '/messages',
      { conversation_id: 'c', ttl_seconds: 0 },
      400,
      'ttl_seconds must be a number above 0 and at most 315360000',
    ],
  ])('%s %s answers %#', async (method, path, body, status, error) => {
    const answer = await ask(method, path, body);
    expect({ status: answer.status, said: JSON.parse(answer.text) as unknown }).toEqual({
      status,
      said: { error },
    });
  });
});

test('without its database it says so, and a request fails without a word about why', async () => {
  const lost = () => Promise.reject(new Error('password authentication failed for user canary-77'));
  const app = brokerApp({
    conversations: { ...broker.conversations, check: lost, newest: lost, messages: lost },
    streams: new Streams(),
    logger: createLogger({ level: 'silent', name: 'test' }),
    metrics: createBrokerMetrics(createRegistry()),
    stopping: new AbortController().signal,
  });
  const answer = async (path: string) => {
    const response = await app.request(path);
    return [response.status, await response.text()];
  };
  expect(await answer('/health')).toEqual([503, 'Database unavailable']);
  expect(await answer('/ready')).toEqual([503, 'Database unavailable']);
  expect(await answer('/messages/s')).toEqual([500, 'Internal server error']);
  expect(await answer('/messages')).toEqual([500, '{"error":"Internal server error"}']);
});

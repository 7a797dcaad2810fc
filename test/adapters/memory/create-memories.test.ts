import { createMemories } from '../../../src/adapters/memory/create-memories.ts';
import { historyBytesMax } from '../../../src/adapters/memory/recent.ts';
import { RemoteError } from '../../../src/adapters/remote-error.ts';
import type { Message } from '../../../src/api/transcript.ts';
import {
  startJournaledServer,
  type JournaledReply,
  type JournaledServer,
} from '../../../src/dev/journaled-server.ts';
import { runBrokerInTest, type RunningBroker } from '../../broker/running-broker.ts';

const memories = createMemories();
const signal = new AbortController().signal;
const servers: JournaledServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
afterAll(() => memories.close());

const notFound: JournaledReply = { status: 404, body: '404 page not found\n' };

/** A service of v0.1.31, which answers `/messages/…` as it is told to, and knows nothing else. */
async function oldService(answer: JournaledReply | ((n: number) => JournaledReply) = { body: '' }) {
  let asked = 0;
  const server = await startJournaledServer(({ path }) => {
    if (!path.startsWith('/messages/')) return notFound;
    asked += 1;
    return typeof answer === 'function' ? answer(asked) : answer;
  });
  servers.push(server);
  return { server, sessions: () => server.requests.filter(({ path }) => path.startsWith('/messages/')) };
}

const at = (address: string, session = 's1') => ({ address, session, query: 'q1' });
const append = (address: string, messages: readonly Message[], isRepeated = false, idempotencyKey = 'k1') =>
  memories.append(at(address), messages, { signal, idempotencyKey, isRepeated });
const messagesAt = async (address: string, session?: string) =>
  (await memories.read(at(address, session), signal)).messages;

const failureOf = async (promise: Promise<unknown>): Promise<RemoteError> => {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(RemoteError);
  return failure as RemoteError;
};

const user = (content: string): Message => ({ role: 'user', content });
const calls: readonly Message[] = [
  user('Weather in Oslo?'),
  {
    role: 'assistant',
    content: '',
    name: 'bot',
    toolCalls: [{ id: 'c1', name: 'get-weather', arguments: '{"city":"Oslo"}' }],
  },
  { role: 'tool', content: '', toolCallId: 'c1' },
  { role: 'assistant', content: '4 degrees', refusal: 'partly' },
];
const wire = [
  { role: 'user', content: 'Weather in Oslo?' },
  {
    role: 'assistant',
    name: 'bot',
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'get-weather', arguments: '{"city":"Oslo"}' } },
    ],
  },
  { role: 'tool', content: '', tool_call_id: 'c1' },
  { role: 'assistant', content: '4 degrees', refusal: 'partly' },
];

describe('the wire of v0.1.31', () => {
  test('an append is one PUT of the messages as OpenAI writes them', async () => {
    const { server, sessions } = await oldService();
    await memories.append(at(`${server.url}/`, 'my session/1'), calls, {
      signal,
      idempotencyKey: 'run/append',
      isRepeated: false,
    });
    expect(sessions()).toMatchObject([
      {
        method: 'PUT',
        path: '/messages/my+session%2F1',
        key: 'run/append',
        headers: { 'user-agent': 'ark-memory-client/1.0', 'content-type': 'application/json' },
      },
    ]);
    expect(JSON.parse(sessions()[0]?.body ?? '')).toEqual({ messages: wire });
  });

  test('a read is one GET, in the order of the conversation', async () => {
    const { server, sessions } = await oldService({ body: JSON.stringify({ messages: wire }) });
    expect(await memories.read(at(server.url), signal)).toEqual({ messages: calls, held: calls.length });
    expect(sessions()).toMatchObject([
      {
        method: 'GET',
        path: '/messages/s1',
        headers: { 'user-agent': 'ark-memory-client/1.0', accept: 'application/json' },
      },
    ]);
  });

  test.each([200, 201, 204])('whatever a service answers with %i, the messages are kept', async (status) => {
    const { server, sessions } = await oldService({ status, body: '' });
    await append(server.url, calls);
    expect(sessions()).toHaveLength(1);
  });

  test('a read is any success', async () => {
    const { server } = await oldService({ status: 203, body: JSON.stringify({ messages: wire }) });
    expect(await messagesAt(server.url)).toEqual(calls);
  });

  test('an empty append is not sent', async () => {
    const { server } = await oldService();
    await append(server.url, []);
    expect(server.requests).toEqual([]);
  });

  test.each([
    ['null', []],
    ['{"messages":null}', []],
    ['{}', []],
    ['{"messages":[{"role":"developer","content":"Be brief."}]}', [{ role: 'system', content: 'Be brief.' }]],
    ['{"messages":[{"role":"ui","content":"clicked"},{"role":"user"}]}', [user('')]],
    [
      '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"text":"b"}]}]}',
      [user('ab')],
    ],
    [
      '{"messages":[{"role":"assistant","content":null,"tool_calls":null}]}',
      [{ role: 'assistant', content: '' }],
    ],
  ])('%s is read as what it means', async (body, messages) => {
    const { server } = await oldService({ body });
    expect(await messagesAt(server.url)).toEqual(messages);
  });

  test.each([
    [
      { status: 503, headers: { 'retry-after': '2' } },
      'HTTP status 503',
      { kind: 'status', retryAfterMs: 2_000 },
    ],
    [{ status: 400, body: 'Invalid session ID' }, 'HTTP status 400', { kind: 'status', status: 400 }],
    [{ body: 'OK' }, 'failed to decode response: ', { kind: 'protocol' }],
    [
      { body: '{"messages":[{"role":"user"},7]}' },
      'failed to unmarshal message at index 1: ',
      { kind: 'protocol' },
    ],
    [
      { body: '{"messages":[{}]}' },
      'failed to unmarshal message at index 0: it has no role',
      { kind: 'protocol' },
    ],
    ['cut' as const, 'HTTP request failed: ', { kind: 'network', sent: true }],
  ])('%j fails a read with "%s"', async (answer, message, facts) => {
    const { server } = await oldService(answer);
    const failure = await failureOf(memories.read(at(server.url), signal));
    expect(failure.message.startsWith(message)).toBe(true);
    expect(failure).toMatchObject(facts);
  });

  test('a service that is not there fails a call, which then certainly did not arrive', async () => {
    const failure = await failureOf(append('http://127.0.0.1:1', calls));
    expect(failure).toMatchObject({ kind: 'network', sent: false });
    expect(failure.message).toMatch(/^HTTP request failed: .*ECONNREFUSED/);
    expect((await failureOf(append('ftp://memory', calls))).kind).toBe('template');
  });

  test('whoever gives up hears their own reason', async () => {
    const { server } = await oldService('hang');
    const giving = new AbortController();
    const reading = memories.read(at(server.url), giving.signal);
    giving.abort(new Error('no longer wanted'));
    await expect(reading).rejects.toThrow('no longer wanted');
  });
});

describe('an append that may have arrived before', () => {
  const other = [
    { role: 'user', content: 'Weather in Oslo?' },
    { role: 'assistant', name: 'eve', content: 'Cold.' },
  ];
  const disordered = [wire[1], wire[0], wire[3], wire[2]];

  test.each<[string, unknown[], number, 'PUT'[]]>([
    ['ends with it: it is not sent again', [...wire, ...wire], 4, []],
    ['has it, and what another target said after it', [...other, ...wire, ...other], 2, []],
    ['has it in another order, as v0.1.31 may give it', [...other, ...disordered, ...other], 2, []],
    ['had it before this run: what is said again is kept again', [...wire], 4, ['PUT']],
    ['had it before this run, and has something else since', [...wire, ...other], 4, ['PUT']],
    ['has only a part of it', [...wire.slice(0, 3), ...other], 0, ['PUT']],
    ['is empty', [], 0, ['PUT']],
  ])('where the session %s', async (_, messages, heldBefore, puts) => {
    const { server, sessions } = await oldService({ body: JSON.stringify({ messages }) });
    const options = { signal, idempotencyKey: 'k1', isRepeated: true, heldBefore };
    await memories.append(at(server.url), calls, options);
    expect(sessions().map(({ method }) => method)).toEqual(['GET', ...puts]);
  });

  test('is looked for in the newer dialect too, where the service knows no keys', async () => {
    const record = (message: unknown, sequence: number) => ({ message, sequence });
    let kept = [...other, ...wire, ...other].map(record);
    const server = await startJournaledServer(({ path }) => {
      const { searchParams, pathname } = new URL(path, 'http://memory');
      if (pathname === '/conversations') return { body: '{"conversations":[]}' };
      const offset = Number(searchParams.get('offset'));
      const messages = kept.slice(offset, offset + Number(searchParams.get('limit')));
      return { body: JSON.stringify({ messages, total: kept.length }) };
    });
    servers.push(server);
    const posts = () => server.requests.filter(({ method }) => method === 'POST').length;
    const again = (heldBefore: number) =>
      memories.append(at(server.url), calls, { signal, idempotencyKey: 'k1', isRepeated: true, heldBefore });

    expect(await memories.read(at(server.url), signal)).toMatchObject({ held: 8 });
    await again(2);
    expect(posts()).toBe(0);
    await again(6);
    expect(posts()).toBe(1);
    kept = [];
    await again(0);
    expect(posts()).toBe(2);
  });
});

test('a service is asked once which dialect it speaks, unless it did not answer', async () => {
  const { server } = await oldService({ body: '{}' });
  await memories.read(at(server.url), signal);
  await memories.read(at(`${server.url}/`), signal);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/conversations?limit=1',
    '/messages/s1',
    '/messages/s1',
  ]);

  const moody = await startJournaledServer(({ path, n }) =>
    path.startsWith('/conv') ? { status: n === 1 ? 503 : 200, body: '{"conversations":[]}' } : { body: '{}' },
  );
  servers.push(moody);
  await memories.read(at(moody.url), signal);
  await memories.read(at(moody.url), signal);
  expect(moody.requests.map(({ path }) => path.split('?')[0])).toEqual([
    '/conversations',
    '/messages/s1',
    '/conversations',
    '/messages',
    '/messages',
  ]);
});

describe('with the broker, in the newer dialect', () => {
  let broker: RunningBroker;
  beforeAll(async () => (broker = await runBrokerInTest()));
  afterAll(() => broker.close());

  test('what was appended is read, and an append repeated with its key adds nothing', async () => {
    await append(broker.url, calls);
    await append(broker.url, calls, true);
    expect(await memories.read(at(broker.url), signal)).toEqual({ messages: calls, held: calls.length });

    // Said twice is said twice: only the key tells a repetition.
    await append(broker.url, calls, true, 'k2');
    expect(await messagesAt(broker.url)).toHaveLength(2 * calls.length);
    expect(await memories.read(at(broker.url, 'other'), signal)).toEqual({ messages: [], held: 0 });
  });

  test('a long conversation is cut to its newest part, from a question on', async () => {
    const exchange = (n: number): Message[] => [
      user(`${n} ${'?'.repeat(400)}`),
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'tool', content: 'x'.repeat(3_000), toolCallId: 'c' },
      { role: 'assistant', content: '!' },
    ];
    const memory = at(broker.url, 'long');
    const all = Array.from({ length: 300 }, (_, n) => exchange(n)).flat();
    await memories.append(memory, all, { signal, idempotencyKey: 'long', isRepeated: false });

    const { messages: read, held } = await memories.read(memory, signal);
    expect(held).toBe(all.length);
    expect(read[0]?.role).toBe('user');
    expect(read).toEqual(all.slice(-read.length));
    const bytes = Buffer.byteLength(JSON.stringify(read));
    expect(bytes).toBeLessThan(historyBytesMax * 1.1);
    expect(bytes).toBeGreaterThan(historyBytesMax * 0.9);
  });
});

import { readCard } from '../../../src/adapters/a2a/agent-card.ts';
import { createA2a } from '../../../src/adapters/a2a/create-a2a.ts';
import type { Http } from '../../../src/adapters/http/create-http.ts';
import { RemoteError } from '../../../src/adapters/remote-error.ts';
import {
  echoCard,
  messageOf,
  startA2aServer,
  type A2aReply,
  type A2aRequest,
  type A2aServer,
  type A2aServerOptions,
} from '../../fakes/a2a-server.ts';

const a2a = createA2a({ pollMs: 20 });
const started: A2aServer[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
});
afterAll(() => a2a.close());

async function server(options?: A2aServerOptions): Promise<A2aServer> {
  const each = await startA2aServer(options);
  started.push(each);
  return each;
}

const replying = (reply: A2aReply) => server({ reply: () => reply });
const at = (url: string, headers: readonly { name: string; value: string }[] = []) => ({
  address: url,
  headers,
});

const send = (url: string, more: { signal?: AbortSignal; timeoutMs?: number; key?: string } = {}) =>
  a2a.send(at(url), 'Hi', {
    signal: more.signal ?? new AbortController().signal,
    timeoutMs: more.timeoutMs ?? 60_000,
    idempotencyKey: more.key ?? 'run:t001',
  });

const methods = ({ requests }: A2aServer) => requests.map(({ method }) => method);

describe('a message', () => {
  test('goes to the base address, as ARK writes it', async () => {
    const { url, requests } = await server();
    const headers = [{ name: 'Authorization', value: 'Bearer t' }];
    const options = { signal: new AbortController().signal, timeoutMs: 60_000, idempotencyKey: 'k' };
    expect(await a2a.send(at(`${url}/base/`, headers), 'Hi "you"', options)).toBe('Echo: Hi "you"');

    const [{ http }] = requests as [A2aRequest];
    const { messageId } = requests[0]?.params.message ?? { messageId: '' };
    expect(http).toMatchObject({ method: 'POST', path: '/base', key: 'k' });
    expect(http.headers).toMatchObject({ authorization: 'Bearer t', 'content-type': 'application/json' });
    expect(http.body).toBe(
      `{"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"${messageId}","role":"user",` +
        `"parts":[{"kind":"text","text":"Hi \\"you\\""}]}},"id":1}`,
    );
    expect(messageId).toMatch(/^msg-[0-9a-f]{32}$/);
  });

  test('keeps its id in every attempt at the same call', async () => {
    const { url, requests } = await server();
    for (const key of ['a', 'a', 'b']) await send(url, { key });
    const [first, again, other] = requests.map(({ params }) => params.message?.messageId);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('carries metadata where there is some', async () => {
    const { url, requests } = await server();
    const options = { signal: new AbortController().signal, timeoutMs: 60_000, idempotencyKey: 'k' };
    await a2a.send(at(url), 'Hi', { ...options, metadata: { history: [] } });
    expect(requests).toMatchObject([{ params: { message: { metadata: { history: [] } } } }]);
  });
});

const text = (value: string) => ({ kind: 'text', text: value });
const task = (state: string, more: object = {}, id = 'task-1') => ({
  result: { kind: 'task', id, contextId: 'c', status: { state, ...more } },
});

describe('an answer', () => {
  test.each<[string, unknown, string]>([
    ['a string', 'Hello', 'Hello'],
    ['an empty string', '', ''],
    ['a Message', messageOf('Hello'), 'Hello'],
    ['a Message that does not say so', { parts: [text('Hello')] }, 'Hello'],
    ['several parts', messageOf('Hel', 'lo'), 'Hello'],
    ['other parts among them', { parts: [{ kind: 'data', data: {} }, text('Hello')] }, 'Hello'],
    ['a part without kind', { parts: [{ text: 'Hello' }] }, 'Hello'],
    [
      'a Task with artifacts',
      {
        ...task('completed', { message: messageOf('Finished.') }).result,
        artifacts: [
          { parts: [text('One,'), text(' two')] },
          { parts: [{ kind: 'data', data: 1 }] },
          { parts: [text('three')] },
        ],
      },
      'One, two\nthree',
    ],
    ['a Task with a message', task('completed', { message: messageOf('Hello') }).result, 'Hello'],
    [
      'a Task that asks back',
      task('input-required', { message: messageOf('Which city?') }).result,
      'Which city?',
    ],
  ])('%s', async (_, result, answer) => {
    const { url } = await replying({ result });
    expect(await send(url)).toBe(answer);
  });
});

describe('a failure', () => {
  test.each<[string, A2aReply, object, string]>([
    ['status 401', { status: 401 }, { kind: 'status', status: 401 }, 'A2A server returned HTTP status 401'],
    [
      'status 503',
      { status: 503, headers: { 'retry-after': '2' } },
      { kind: 'status', status: 503, retryAfterMs: 2_000 },
      'A2A server returned HTTP status 503',
    ],
    ['status 202', { status: 202, body: '{}' }, { kind: 'status' }, 'A2A server returned HTTP status 202'],
    [
      'an error of JSON-RPC',
      { error: { code: -32602, message: 'Invalid parameters' } },
      { kind: 'refused' },
      'A2A server returned error: Invalid parameters (code -32602)',
    ],
    ['no result', { body: '{"jsonrpc":"2.0","id":1}' }, { kind: 'protocol' }, 'response result is not a map'],
    ['a list', { result: [1] }, { kind: 'protocol' }, 'response result is not a map'],
    ['null', { body: 'null' }, { kind: 'protocol' }, 'response result is not a map'],
    ['no parts', { result: { parts: [] } }, { kind: 'protocol' }, 'parts is missing or not a non-empty list'],
    [
      'no text',
      { result: { parts: [{ kind: 'file' }, { kind: 'text', text: 7 }] } },
      { kind: 'protocol' },
      "no parts with kind 'text' and valid text field found",
    ],
    [
      'a failed Task',
      task('failed', { message: messageOf('out of paper') }),
      { kind: 'refused' },
      'A2A server ended the task as failed: out of paper',
    ],
    ['a rejected Task', task('rejected'), { kind: 'refused' }, 'A2A server ended the task as rejected'],
    ['a Task without id', task('working', {}, ''), { kind: 'protocol' }, 'task has no id'],
    ['no JSON', { body: 'oops' }, { kind: 'protocol' }, 'POST URL/: the answer is not JSON (4 characters)'],
  ])('%s', async (_, reply, facts, message) => {
    const { url } = await replying(reply);
    await expect(send(url)).rejects.toMatchObject({
      ...facts,
      sent: true,
      message: `A2A agent execution failed: ${message.replace('URL', url)}`,
    });
  });

  test('of the network', async () => {
    const { url, stop } = await server();
    await stop();
    await expect(send(url)).rejects.toMatchObject({
      kind: 'network',
      sent: false,
      message: `A2A agent execution failed: POST ${url}/: connect ECONNREFUSED ${url.slice('http://'.length)}`,
    });
  });

  test('to answer in time', async () => {
    const { url } = await replying('hang');
    await expect(send(url, { timeoutMs: 2_000 })).rejects.toMatchObject({ kind: 'timeout', sent: true });
  });
});

/** Answers `message/send` by a task and each `tasks/get` by the next of `polls`; the last of them stays. */
function working(...polls: readonly A2aReply[]): (request: A2aRequest) => A2aReply {
  let next = 0;
  return ({ method }) => {
    if (method !== 'tasks/get') return task('submitted');
    next += 1;
    return polls[next - 1] ?? polls.at(-1) ?? 'hang';
  };
}

describe('a task that is not finished', () => {
  test('is asked for until it is, through hiccups', async () => {
    const fake = await server({
      reply: working(
        { status: 502 },
        'cut',
        task('working'),
        task('completed', { message: messageOf('Done') }),
      ),
    });
    expect(await send(fake.url)).toBe('Done');
    expect(methods(fake)).toEqual(['message/send', 'tasks/get', 'tasks/get', 'tasks/get', 'tasks/get']);
    expect(fake.requests.at(-1)?.params).toEqual({ id: 'task-1' });
  });

  test('is given up when the server has forgotten it', async () => {
    const { url } = await server({ reply: working({ error: { code: -32001, message: 'Task not found' } }) });
    await expect(send(url)).rejects.toMatchObject({
      kind: 'refused',
      message: 'A2A agent execution failed: A2A server returned error: Task not found (code -32001)',
    });
  });

  test('is given up when its server stays away, known to have been sent', async () => {
    const fake = await server({ reply: working({ status: 503 }) });
    await expect(send(fake.url)).rejects.toMatchObject({ kind: 'status', status: 503, sent: true });
    expect(methods(fake).filter((method) => method === 'tasks/get')).toHaveLength(4);
  });

  test('is cancelled when the time is up', async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
    const { url } = await server({
      reply: ({ method, params }) => {
        if (method === 'tasks/cancel') resolve(params);
        return task('working');
      },
    });
    await expect(send(url, { timeoutMs: 3_000 })).rejects.toMatchObject({
      kind: 'timeout',
      sent: true,
      message: 'A2A agent execution failed: A2A task did not end within 3 s',
    });
    expect(await cancelled).toEqual({ id: 'task-1' });
  });

  test('is cancelled when nobody wants it any longer', async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
    const controller = new AbortController();
    const reason = new Error('the run was cancelled');
    const { url } = await server({
      reply: ({ method, params }) => {
        if (method === 'tasks/get') controller.abort(reason);
        if (method === 'tasks/cancel') resolve(params);
        return method === 'tasks/get' ? 'hang' : task('working');
      },
    });
    await expect(send(url, { signal: controller.signal })).rejects.toBe(reason);
    expect(await cancelled).toEqual({ id: 'task-1' });
  });
});

describe('a card', () => {
  const fetched = (url: string) => a2a.card(at(url), new AbortController().signal);
  const { name, description, skills } = echoCard;

  test.each([
    ['/.well-known/agent.json', ['/.well-known/agent.json']],
    ['/.well-known/agent-card.json', ['/.well-known/agent.json', '/.well-known/agent-card.json']],
  ])('is found at %s', async (cardPath, asked) => {
    const { url, cards } = await server({ cardPath });
    expect(await fetched(`${url}/`)).toEqual({ name, description, skills });
    expect(cards.map(({ path }) => path)).toEqual(asked);
  });

  test('is asked for with the server’s headers', async () => {
    const { url, cards } = await server();
    const headers = [{ name: 'Authorization', value: 'Bearer t' }];
    await a2a.card(at(url, headers), new AbortController().signal);
    expect(cards).toMatchObject([{ headers: { authorization: 'Bearer t' } }]);
  });

  test('may be without description and skills', async () => {
    const { url } = await server({ card: { name: 'a' } });
    expect(await fetched(url)).toEqual({ name: 'a', description: '', skills: null });
  });

  test.each<[string, A2aServerOptions, object]>([
    ['is nowhere', { cardPath: '/else' }, { kind: 'status', message: 'A2A server returned status 404' }],
    [
      'comes with another status',
      { cardStatus: 203 },
      { kind: 'status', message: 'A2A server returned status 203' },
    ],
    ['has no name', { card: {} }, { kind: 'protocol', message: 'failed to read agent card: it has no name' }],
    ['is null', { card: null }, { kind: 'protocol' }],
  ])('that %s is an error', async (_, options, facts) => {
    const { url } = await server(options);
    await expect(fetched(url)).rejects.toMatchObject(facts);
  });

  test('is waited for half a minute', async () => {
    const waited: number[] = [];
    const http: Http = {
      async send(_request, _read, { timeoutMs }) {
        waited.push(timeoutMs);
        throw new RemoteError('timeout', 'no answer', { sent: true });
      },
      close: () => Promise.resolve(),
    };
    await expect(readCard(http, 'http://a', [], new AbortController().signal)).rejects.toThrow(
      'failed to fetch agent card: no answer',
    );
    expect(waited).toEqual([30_000]);
  });

  test('of a server that is away is an error', async () => {
    const { url, stop } = await server();
    await stop();
    const message = expect.stringMatching(/^failed to fetch agent card: GET http.*ECONNREFUSED/) as string;
    await expect(fetched(url)).rejects.toMatchObject({ kind: 'network', message });
  });
});

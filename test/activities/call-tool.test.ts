import { createServer } from 'node:net';
import { once } from 'node:events';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { HttpToolDefinition, ToolDefinition } from '../../src/api/snapshot.ts';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import type { JournaledReply, JournaledServer } from '../../src/dev/journaled-server.ts';
import { cancellation, FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';
import { startCountingTool } from '../fakes/counting-tool.ts';
import { access, portsWith } from '../fakes/ports.ts';

let answer: JournaledReply;
let server: JournaledServer;
beforeAll(async () => {
  server = await startCountingTool(() => answer);
});
beforeEach(() => {
  answer = { body: '{"t":4}' };
});
afterAll(() => server.close());

const weather = (more: Partial<HttpToolDefinition> = {}): HttpToolDefinition => ({
  type: 'http',
  name: 'weather',
  description: 'Weather by city',
  parameters: { type: 'object' },
  url: `${server.url}/weather?city={city}`,
  method: 'GET',
  headers: [{ name: 'X-Key', value: { secret: { namespace: 'default', name: 'keys', key: 'tool' } } }],
  timeoutMs: 60_000,
  bodyParameters: {},
  repeatable: true,
  ...more,
});

function world(tool: ToolDefinition, wish = '{"city":"Oslo"}', question = 'Hi') {
  const call = { id: 'c1', name: tool.name, arguments: wish };
  const run = fakeRun('run-1', [{ role: 'assistant', name: 'bot', content: '', toolCalls: [call] }]);
  const endpoint = { namespace: 'default', name: 'main', type: 'openai', properties: {} } as const;
  const value = { value: 'unused' };
  run.definitions['agent'] = {
    kind: 'agent',
    namespace: 'default',
    name: 'bot',
    prompt: { text: '' },
    model: { ...endpoint, model: value, baseUrl: value, apiKey: value },
    tools: [{ ...builtInTools.noop, name: tool.name }, tool],
    access,
  };
  run.definitions['tool'] = { kind: 'tool', tool, access };
  const runs = new FakeRuns(run);
  const { callTool } = createActivities(portsWith({ 'default/keys/tool': 'canary-key' }));
  const attempted = { run: run.ref, runs, activityId: 't001.bot.tool.1.weather' };
  return {
    runs,
    byAgent: (attempt: Partial<Attempt> = {}, name = tool.name, index = 0) =>
      inActivity({ ...attempted, ...attempt }, () =>
        callTool({
          definition: 'agent',
          call: { tool: name, slot: 0, index },
          question: { hash: 'q' },
          slot: 1,
        }),
      ),
    byQuery: () =>
      inActivity(attempted, () =>
        callTool({ definition: 'tool', question: { hash: 'q', text: question }, slot: 0 }),
      ),
  };
}

test('an agent is answered under the id of its call; the tool is told which call it is', async () => {
  expect(await world(weather()).byAgent()).toEqual({
    message: { role: 'tool', toolCallId: 'c1', content: '{"t":4}' },
  });
  expect(server.requests.at(-1)).toMatchObject({
    path: '/weather?city=Oslo',
    key: 'query:run-1:t001.bot.tool.1.weather',
    headers: { 'x-key': 'canary-key' },
  });
});

test.each([
  ['{"city":"Oslo"}', '/weather?city=Oslo'],
  ['["Oslo"]', '/weather?city={city}'],
  ['Oslo', '/weather?city={city}'],
])('a Query uses a tool with its input as arguments: %s', async (question, path) => {
  expect(await world(weather(), '', question).byQuery()).toEqual({
    message: { role: 'assistant', content: '{"t":4}' },
  });
  expect(decodeURI(server.requests.at(-1)?.path ?? '')).toBe(path);
});

test('input that is no object becomes the argument `input`', async () => {
  await world(weather({ url: `${server.url}/echo?q={input}` }), '', 'plain text').byQuery();
  expect(server.requests.at(-1)?.path).toBe('/echo?q=plain+text');
});

test.each(['', ' ', 'null', '{}'])('a wish without arguments (%j) is a wish', async (wish) => {
  expect(await world(weather(), wish).byAgent()).toMatchObject({ message: { content: '{"t":4}' } });
});

test('terminate ends the conversation with its response; noop does nothing', async () => {
  expect(await world(builtInTools.terminate, '{"response":"bye"}').byAgent()).toEqual({
    message: { role: 'tool', toolCallId: 'c1', content: 'bye' },
    ends: true,
  });
  expect(await world(builtInTools.noop, 'not json').byAgent()).toEqual({
    message: { role: 'tool', toolCallId: 'c1', content: 'map[]' },
  });
});

const broken = (status: number, headers = {}): JournaledReply => ({ status, headers });

describe('failures', () => {
  test.each<[string, JournaledReply, object]>([
    [
      'busy',
      broken(429, { 'retry-after': '3' }),
      { type: 'ToolRateLimited', nonRetryable: false, nextRetryDelay: 3_000 },
    ],
    [
      'down',
      broken(503),
      {
        type: 'ToolUnavailable',
        nonRetryable: false,
        message: 'tool weather: HTTP error 503: 503 Service Unavailable',
      },
    ],
    ['a refusal', broken(404), { type: 'ToolRejected', nonRetryable: true, details: [{ status: 404 }] }],
    ['a cut connection', 'cut', { type: 'ToolUnreachable', nonRetryable: false }],
  ])('%s', async (_, scripted, failure) => {
    answer = scripted;
    await expect(world(weather()).byAgent()).rejects.toMatchObject(failure);
  });

  test('of a tool asked directly say so', async () => {
    answer = broken(500);
    await expect(world(weather()).byQuery()).rejects.toMatchObject({
      message: 'tool execution failed: HTTP error 500: 500 Internal Server Error',
    });
  });

  test.each([
    [
      '[1]',
      'ToolArgumentsInvalid',
      'failed to parse arguments: the model sent "[1]", which is not a JSON object',
    ],
    ['{"city":', 'ToolArgumentsInvalid', 'failed to parse arguments'],
  ])('arguments %j are refused', async (wish, type, message) => {
    await expect(world(weather(), wish).byAgent()).rejects.toMatchObject({
      type,
      nonRetryable: true,
      message: expect.stringContaining(message),
    });
  });

  test('a tool the agent does not have, and terminate without a response', async () => {
    await expect(world(weather()).byAgent({}, 'search')).rejects.toMatchObject({
      type: 'ToolNotFound',
      message: 'tool search not found',
    });
    await expect(world(builtInTools.terminate, '{}').byAgent()).rejects.toMatchObject({
      type: 'ToolArgumentsInvalid',
      message: 'tool terminate: no response',
    });
  });

  test('a value for its body that is not there', async () => {
    const bodyParameters = { token: { secret: { namespace: 'default', name: 'keys', key: 'gone' } } };
    const tool = weather({ method: 'POST', body: '{{.token}}', bodyParameters });
    const before = server.total().started;
    await expect(world(tool).byAgent()).rejects.toMatchObject({
      type: 'SecretUnavailable',
      message:
        'tool weather: failed to resolve body template: failed to resolve body parameters: ' +
        'failed to resolve parameter token: key gone not found in secret default/keys',
    });
    expect(server.total().started).toBe(before);
  });

  test('a wish that nobody made is a bug', async () => {
    await expect(world(weather()).byAgent({}, 'weather', 7)).rejects.toMatchObject({
      type: 'InternalError',
      nonRetryable: true,
    });
  });
});

const onlyOnce = () => weather({ repeatable: false });
/** Makes attempts as the server would: each finds what the one before left in its last heartbeat. */
function attempts(tool: HttpToolDefinition) {
  const { byAgent, runs } = world(tool);
  let heartbeatDetails: unknown;
  return {
    runs,
    make: (attempt: number, more: Partial<Attempt> = {}) =>
      byAgent({ attempt, heartbeatDetails, heartbeat: (details) => (heartbeatDetails = details), ...more }),
  };
}

describe('a tool that must not be repeated', () => {
  const uncertain = {
    type: 'ToolUncertain',
    nonRetryable: true,
    message: expect.stringContaining('idempotentHint'),
  };

  test.each<[string, JournaledReply]>([
    ['a cut connection', 'cut'],
    ['an error of the server', { status: 502 }],
  ])('is not, after %s', async (_, scripted) => {
    answer = scripted;
    await expect(attempts(onlyOnce()).make(1)).rejects.toMatchObject(uncertain);
  });

  test('is not, after an attempt that ended without a word', async () => {
    const before = server.total().started;
    await expect(attempts(onlyOnce()).make(2)).rejects.toMatchObject(uncertain);
    expect(server.total().started).toBe(before);
  });

  test('is asked again as long as each attempt says that it did nothing', async () => {
    const { make, runs } = attempts(onlyOnce());
    runs.failing = () => new Error('no worker');
    await expect(make(1)).rejects.toMatchObject({ type: 'TranscriptUnavailable', nonRetryable: false });
    runs.failing = () => undefined;
    answer = { status: 429 };
    await expect(make(2)).rejects.toMatchObject({ type: 'ToolRateLimited', nonRetryable: false });
    answer = { body: 'done' };
    expect(await make(3)).toMatchObject({ message: { content: 'done' } });
  });

  test('is asked again where nobody listened', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    free.close();
    await once(free, 'close');
    const { make } = attempts(weather({ repeatable: false, url: `http://127.0.0.1:${port}/` }));
    await expect(make(1)).rejects.toMatchObject({ type: 'ToolUnreachable', nonRetryable: false });
    await expect(make(2)).rejects.toMatchObject({ type: 'ToolUnreachable', nonRetryable: false });
  });

  test('is not, where the attempt in between was lost', async () => {
    const { make } = attempts(onlyOnce());
    answer = { status: 429 };
    await expect(make(1)).rejects.toMatchObject({ type: 'ToolRateLimited' });
    await expect(make(3)).rejects.toMatchObject(uncertain);
  });

  test('is not, after its worker stopped in mid-call', async () => {
    const { make } = attempts(onlyOnce());
    const caller = new AbortController();
    answer = 'hang';
    const before = server.total().started;
    const cancelled = make(1, { signal: caller.signal }).catch((error: unknown) => error);
    while (server.total().started === before) await new Promise(setImmediate);
    const reason = cancellation();
    caller.abort(reason);
    expect(await cancelled).toBe(reason);
    await expect(make(2)).rejects.toMatchObject(uncertain);
  });
});

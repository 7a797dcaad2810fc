import { createActivities } from '../../src/activities/create-activities.ts';
import type {
  A2aEngineDefinition,
  EngineAgentDefinition,
  EngineDefinition,
  ExecuteEngineDefinition,
  OpenAiModelDefinition,
} from '../../src/api/snapshot.ts';
import type { EngineCall } from '../../src/api/run.ts';
import type { Message } from '../../src/api/transcript.ts';
import type { JournaledReply } from '../../src/dev/journaled-server.ts';
import { startA2aServer, messageOf, type A2aReply, type A2aServer } from '../fakes/a2a-server.ts';
import { FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';
import { startEngineServer, type EngineServer } from '../fakes/engine-server.ts';
import { access, portsWith } from '../fakes/ports.ts';

let engineReply: JournaledReply;
let a2aReply: A2aReply;
let engine: EngineServer;
let a2a: A2aServer;
beforeAll(async () => {
  engine = await startEngineServer(() => engineReply);
  a2a = await startA2aServer({ reply: () => a2aReply });
});
beforeEach(() => {
  engineReply = answering({ messages: [{ role: 'assistant', content: 'Hello', name: 'bot' }], error: '' });
  a2aReply = { result: messageOf('Hel', 'lo') };
});
afterAll(() => Promise.all([engine.stop(), a2a.stop()]));

const answering = (answer: object): JournaledReply => ({ body: JSON.stringify(answer) });
const secret = (key: string) => ({ secret: { namespace: 'default', name: 'keys', key } });
const secrets = { 'default/keys/model': 'canary-key', 'default/keys/a2a': 'canary-token' };

const modelWith = (key: string): OpenAiModelDefinition => ({
  namespace: 'default',
  name: 'main',
  type: 'openai',
  model: { value: 'm1' },
  baseUrl: { value: 'http://llm/v1' },
  apiKey: secret(key),
  properties: { temperature: { value: '0.1' } },
});
const engineAt = (more: Partial<ExecuteEngineDefinition> = {}): ExecuteEngineDefinition => ({
  type: 'engine',
  namespace: 'default',
  name: 'langchain',
  address: { value: engine.url },
  protocol: 'execute',
  model: modelWith('model'),
  description: '',
  parameters: [],
  ...more,
});
const a2aAt = (address: string, key = 'a2a'): A2aEngineDefinition => ({
  type: 'a2a',
  namespace: 'default',
  name: 'poet',
  address: { value: address },
  headers: [{ name: 'X-Token', value: secret(key) }],
});

/** A run in which four messages were said, asked to let an engine answer. */
function world(of: EngineDefinition, more: Partial<EngineAgentDefinition> = {}) {
  const said: Message[] = [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', name: 'ann', content: '', toolCalls: [{ id: 'c1', name: 't', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c1', content: '4' },
    { role: 'assistant', name: 'ann', content: '4 degrees' },
  ];
  const run = fakeRun('run-1', said);
  run.definitions['agent'] = {
    kind: 'engine-agent',
    namespace: 'default',
    name: 'bot',
    prompt: { text: 'Be brief.' },
    engine: of,
    tools: [],
    access,
    ...more,
  };
  const runs = new FakeRuns(run);
  const activities = createActivities(portsWith(secrets));
  return {
    runs,
    activities,
    run,
    call: (input: Partial<EngineCall> = {}, attempt: Partial<Attempt> = {}) =>
      inActivity({ run: run.ref, runs, activityId: 't001.bot.engine.1', ...attempt }, () =>
        activities.callEngine({
          definition: 'agent',
          question: { hash: 'q', text: 'Hi' },
          slot: 4,
          ...input,
        }),
      ),
  };
}

describe('an execution engine', () => {
  test('is posted, byte for byte, what ARK posts, the model’s key included', async () => {
    await world(engineAt()).call();
    expect(engine.requests.at(-1)?.body).toBe(
      '{"agent":{"name":"bot","namespace":"default","prompt":"Be brief.","description":"",' +
        '"model":{"name":"m1","type":"openai","config":{"openai":{"baseUrl":"http://llm/v1","apiKey":"canary-key"}}}},' +
        '"userInput":{"role":"user","content":"Hi"},"history":[]}',
    );
  });

  test('hears what was said before, and is told of parameters, tools and the schema', async () => {
    const face = { name: 'noop', description: 'Nothing', parameters: { type: 'object' } };
    const { call } = world(
      engineAt({ description: 'A bot', parameters: [{ name: 'city', value: 'Oslo' }] }),
      {
        tools: [{ ...face, type: 'built-in', builtIn: 'noop', filters: ['.'] }],
        outputSchema: { type: 'string' },
      },
    );
    await call({ before: [{ from: 0, to: 4 }] });
    expect(engine.calls.at(-1)).toMatchObject({
      agent: {
        description: 'A bot',
        parameters: [{ name: 'city', value: 'Oslo' }],
        outputSchema: { type: 'string' },
      },
      history: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: '' },
        { role: 'tool', content: '4' },
        { role: 'assistant', content: '4 degrees' },
      ],
    });
    expect(engine.calls.at(-1)?.tools).toEqual([face]);
  });

  test('answers with messages and what they cost; the next call of the run hears them without asking', async () => {
    const token_usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
    engineReply = answering({
      messages: [
        { role: 'tool', content: 'looked' },
        { role: 'assistant', content: 'done' },
      ],
      error: '',
      token_usage,
    });
    const { call, runs } = world(engineAt());
    expect(await call()).toEqual({
      messages: [
        { role: 'assistant', content: 'looked' },
        { role: 'assistant', content: 'done' },
      ],
      usage: { promptTokens: 3, completionTokens: 1, totalTokens: 4 },
    });
    runs.queries.length = 0;
    await call({ slot: 5, before: [{ from: 4, to: 5 }] });
    expect(runs.queries).toEqual([]);
    expect(engine.calls.at(-1)?.history).toEqual([
      { role: 'assistant', content: 'looked' },
      { role: 'assistant', content: 'done' },
    ]);
  });

  test('can tell a repeated call, also after a re-run of the turn', async () => {
    const { call } = world(engineAt());
    await call();
    await call({}, { attempt: 2 });
    expect(engine.requests.slice(-2).map(({ key }) => key)).toEqual([
      'query:run-1:t001.bot.engine.1',
      'query:run-1:t001.bot.engine.1',
    ]);
  });

  test.each<[JournaledReply, string, string]>([
    [{ status: 500 }, 'EngineUnavailable', 'execution engine returned error status: 500'],
    [{ status: 429 }, 'EngineUnavailable', 'execution engine returned error status: 429'],
    ['cut', 'EngineUnavailable', 'execution engine request failed: '],
    [{ status: 404 }, 'EngineRejected', 'execution engine returned error status: 404'],
    [{ body: 'oops' }, 'EngineRejected', 'failed to decode response: '],
    [{ body: '{"messages":[]}' }, 'EngineRejected', 'execution engine langchain answered without a message'],
    [
      { body: '{"messages":[],"error":"bad key canary-key"}' },
      'EngineRejected',
      'execution engine error: bad key [redacted]',
    ],
  ])('%j is %s: %s', async (scripted, type, message) => {
    engineReply = scripted;
    await expect(world(engineAt()).call()).rejects.toMatchObject({
      type,
      nonRetryable: type === 'EngineRejected',
      message: expect.stringContaining(message),
    });
  });

  test.each<[string, Partial<ExecuteEngineDefinition>, string]>([
    [
      'address',
      { address: secret('gone') },
      'failed to resolve execution engine address: key gone not found',
    ],
    [
      'model',
      { model: modelWith('gone') },
      'failed to load model default/main: key gone not found in secret default/keys',
    ],
  ])('whose %s cannot be read says so', async (_, more, message) => {
    await expect(world(engineAt(more)).call()).rejects.toMatchObject({
      type: 'SecretUnavailable',
      nonRetryable: true,
      message: expect.stringContaining(message),
    });
  });

  test('may be spoken to over A2A: the question is the message, the rest goes beside it', async () => {
    const { call } = world(engineAt({ address: { value: a2a.url }, protocol: 'a2a' }));
    expect(await call({ before: [{ from: 0, to: 1 }] })).toEqual({
      messages: [{ role: 'assistant', content: 'Hello' }],
    });
    expect(a2a.requests.at(-1)?.params.message).toMatchObject({
      parts: [{ kind: 'text', text: 'Hi' }],
      metadata: {
        agent: { name: 'bot', model: { config: { openai: { apiKey: 'canary-key' } } } },
        history: [{ role: 'user', content: 'Weather?' }],
      },
    });
  });
});

describe('an A2A server', () => {
  test('hears the question alone, with its headers; its answer bears no name', async () => {
    const { call } = world(a2aAt(`${a2a.url}/`));
    expect(await call({ before: [{ from: 0, to: 4 }] })).toEqual({
      messages: [{ role: 'assistant', content: 'Hello' }],
    });
    const { http } = a2a.requests.at(-1) ?? {};
    expect(http).toMatchObject({
      path: '/',
      headers: { 'x-token': 'canary-token', 'content-type': 'application/json' },
      key: 'query:run-1:t001.bot.engine.1',
    });
    expect(http?.body).toMatch(
      /^\{"jsonrpc":"2\.0","method":"message\/send","params":\{"message":\{"messageId":"msg-[0-9a-f]{32}","role":"user","parts":\[\{"kind":"text","text":"Hi"\}\]\}\},"id":1\}$/,
    );
  });

  test('is told by the message’s id that it was asked before', async () => {
    const { call } = world(a2aAt(a2a.url));
    await call();
    await call({}, { attempt: 2 });
    await call({}, { activityId: 't002.bot.engine.1' });
    const [first, again, other] = a2a.requests.slice(-3).map(({ params }) => params.message?.messageId);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test.each<[A2aReply, string, string]>([
    [
      { error: { code: -32000, message: 'no canary-token here' } },
      'EngineRejected',
      'A2A agent execution failed: A2A server returned error: no [redacted] here (code -32000)',
    ],
    [{ status: 503 }, 'EngineUnavailable', 'A2A agent execution failed: A2A server returned HTTP status 503'],
    [{ status: 401 }, 'EngineRejected', 'A2A agent execution failed: A2A server returned HTTP status 401'],
    [
      { result: { kind: 'message', parts: [] } },
      'EngineRejected',
      'A2A agent execution failed: parts is missing or not a non-empty list',
    ],
  ])('%j is %s: %s', async (scripted, type, message) => {
    a2aReply = scripted;
    await expect(world(a2aAt(a2a.url)).call()).rejects.toMatchObject({
      type,
      nonRetryable: type === 'EngineRejected',
      message: expect.stringContaining(message),
    });
  });

  test('whose header cannot be read says so', async () => {
    await expect(world(a2aAt(a2a.url, 'gone')).call()).rejects.toMatchObject({
      type: 'SecretUnavailable',
      message: 'A2A agent execution failed: key gone not found in secret default/keys',
    });
  });
});

import type { EngineRequest } from '../../../src/activities/ports.ts';
import { createA2a } from '../../../src/adapters/a2a/create-a2a.ts';
import { createEngines } from '../../../src/adapters/engines/create-engines.ts';
import type { JournaledReply } from '../../../src/dev/journaled-server.ts';
import { startA2aServer } from '../../fakes/a2a-server.ts';
import { startEngineServer, type EngineServer } from '../../fakes/engine-server.ts';

const a2a = createA2a();
const engines = createEngines(a2a);
const started: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
});
afterAll(() => Promise.all([a2a.close(), engines.close()]));

async function engine(...replies: Parameters<typeof startEngineServer>): Promise<EngineServer> {
  const server = await startEngineServer(...replies);
  started.push(server);
  return server;
}

const options = () => ({ signal: new AbortController().signal, timeoutMs: 60_000, idempotencyKey: 'k' });

const openAi = {
  namespace: 'default',
  name: 'default',
  model: 'm1',
  baseUrl: 'http://llm/v1',
  apiKey: 'k',
  properties: { temperature: '0' },
} as const;

const least: EngineRequest = {
  agent: { namespace: 'default', name: 'bot', prompt: 'Be brief.', description: '', parameters: [] },
  model: { ...openAi, type: 'openai' },
  userInput: 'Hi',
  history: [],
  tools: [],
};

const most: EngineRequest = {
  ...least,
  agent: {
    ...least.agent,
    description: 'A bot',
    parameters: [{ name: 'city', value: 'Oslo' }],
    outputSchema: { type: 'object' },
  },
  model: { ...openAi, type: 'azure', apiVersion: '2024-06-01' },
  history: [
    { role: 'user', content: 'Weather?' },
    {
      role: 'assistant',
      name: 'bot',
      content: '',
      toolCalls: [{ id: 'c1', name: 'weather', arguments: '{}' }],
    },
    { role: 'tool', content: '4', toolCallId: 'c1' },
  ],
  tools: [{ name: 'weather', description: 'By city', parameters: { type: 'object' } }],
};

const run = (address: string, request = least, more: object = {}) =>
  engines.execute({ address, protocol: 'execute' }, request, { ...options(), ...more });

describe('a request', () => {
  test('has the fields of ARK', async () => {
    const { url, requests } = await engine();
    await run(url);
    expect(requests).toMatchObject([{ method: 'POST', path: '/execute', key: 'k' }]);
    expect(requests[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      agent: {
        name: 'bot',
        namespace: 'default',
        prompt: 'Be brief.',
        description: '',
        model: { name: 'm1', type: 'openai', config: { openai: { baseUrl: 'http://llm/v1', apiKey: 'k' } } },
      },
      userInput: { role: 'user', content: 'Hi' },
      history: [],
    });
  });

  test('goes to the address with /execute behind it, whatever the address ends in', async () => {
    const { url, requests } = await engine();
    await run(`${url}/v1/`).catch(() => undefined);
    expect(requests.map(({ path }) => path)).toEqual(['/v1//execute']);
  });

  test('has parameters, tools, schema and history where there are some', async () => {
    const { url, calls } = await engine();
    await run(url, most);
    expect(calls).toEqual([
      {
        agent: {
          name: 'bot',
          namespace: 'default',
          prompt: 'Be brief.',
          description: 'A bot',
          parameters: [{ name: 'city', value: 'Oslo' }],
          model: {
            name: 'm1',
            type: 'azure',
            config: { azure: { baseUrl: 'http://llm/v1', apiVersion: '2024-06-01', apiKey: 'k' } },
          },
          outputSchema: { type: 'object' },
        },
        userInput: { role: 'user', content: 'Hi' },
        history: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: '' },
          { role: 'tool', content: '4' },
        ],
        tools: [{ name: 'weather', description: 'By city', parameters: { type: 'object' } }],
      },
    ]);
  });
});

describe('a model goes with its key', () => {
  const { baseUrl, apiKey } = openAi;
  const bedrock = {
    namespace: 'default',
    name: 'default',
    model: 'm1',
    type: 'bedrock',
    properties: {},
  } as const;
  const keys = { accessKeyId: 'a', secretAccessKey: 's' };
  const more = { sessionToken: 't', modelArn: 'arn' };

  test.each<[string, EngineRequest['model'], object]>([
    ['openai, without its properties', { ...openAi, type: 'openai' }, { openai: { baseUrl, apiKey } }],
    ['azure without a version', { ...openAi, type: 'azure' }, { azure: { baseUrl, apiKey } }],
    [
      'azure',
      { ...openAi, type: 'azure', apiVersion: '2024-06-01' },
      { azure: { baseUrl, apiVersion: '2024-06-01', apiKey } },
    ],
    ['bedrock with what there is', { ...bedrock, region: 'eu-west-1' }, { bedrock: { region: 'eu-west-1' } }],
    [
      'bedrock, with its properties',
      { ...bedrock, ...keys, ...more, properties: { top_k: '5' } },
      { bedrock: { ...keys, ...more, top_k: '5' } },
    ],
  ])('%s', async (_, model, config) => {
    const { url, calls } = await engine();
    await run(url, { ...least, model });
    expect(calls[0]?.agent.model).toEqual({ name: 'm1', type: model.type, config });
  });
});

const body = (content: object): JournaledReply => ({ body: JSON.stringify(content) });

describe('an answer', () => {
  test('has messages and tokens', async () => {
    const { url } = await engine();
    expect(await run(url)).toEqual({
      messages: [{ role: 'assistant', content: 'Echo: Hi' }],
      usage: { promptTokens: 3, completionTokens: 1, totalTokens: 4 },
    });
  });

  test.each([
    ['user', 'user'],
    ['assistant', 'assistant'],
    ['system', 'system'],
    ['tool', 'assistant'],
    ['function', 'user'],
    [undefined, 'user'],
  ])('of the role %s is one of the %s', async (role, heard) => {
    const { url } = await engine(() => body({ messages: [{ role, content: 'x', name: 'n' }] }));
    expect(await run(url)).toEqual({ messages: [{ role: heard, content: 'x' }] });
  });

  test.each([{}, { messages: null, token_usage: null }, { messages: [] }])(
    'may be empty: %j',
    async (content) => {
      const { url } = await engine(() => body(content));
      expect(await run(url)).toEqual({ messages: [] });
    },
  );
});

describe('a failure', () => {
  test.each<[string, JournaledReply, object, string]>([
    [
      'status 500',
      { status: 500, headers: { 'retry-after': '1' } },
      { kind: 'status', status: 500, retryAfterMs: 1_000 },
      'execution engine returned error status: 500',
    ],
    ['status 204', { status: 204 }, { kind: 'status' }, 'execution engine returned error status: 204'],
    [
      'an error of the engine',
      body({ messages: [], error: 'no such chain' }),
      { kind: 'refused' },
      'execution engine error: no such chain',
    ],
    [
      'no JSON',
      { body: 'oops' },
      { kind: 'protocol' },
      'failed to decode response: POST URL/execute: the answer is not JSON (4 characters)',
    ],
    ['a list', body([]), { kind: 'protocol' }, 'failed to decode response: the answer is not an object'],
    [
      'no list',
      body({ messages: {} }),
      { kind: 'protocol' },
      'failed to decode response: messages is not a list',
    ],
    [
      'no text',
      body({ messages: [{ role: 'user', content: [] }] }),
      { kind: 'protocol' },
      'failed to decode response: the content of message 0 is no text',
    ],
  ])('%s', async (_, reply, facts, message) => {
    const { url } = await engine(() => reply);
    const failure = { ...facts, sent: true, message: message.replace('URL', url) };
    await expect(run(url)).rejects.toMatchObject(failure);
  });

  test('of the network', async () => {
    const { url, stop } = await engine();
    await stop();
    const message = expect.stringMatching(
      /^execution engine request failed: POST http.*ECONNREFUSED/,
    ) as string;
    await expect(run(url)).rejects.toMatchObject({ kind: 'network', sent: false, message });
  });

  test('to answer in time', async () => {
    const { url } = await engine(() => 'hang');
    await expect(run(url, least, { timeoutMs: 2_000 })).rejects.toMatchObject({
      kind: 'timeout',
      sent: true,
      message: `execution engine request failed: POST ${url}/execute: no answer within 2 s`,
    });
  });

  test.each([
    [600_000, 300_000],
    [20_000, 20_000],
  ])('to answer is waited for five minutes at most: of %i ms, %i', async (timeoutMs, waitedMs) => {
    const waited: number[] = [];
    const patient = createEngines({
      async send(_server, _text, limits) {
        waited.push(limits.timeoutMs);
        return 'Hello';
      },
    });
    await patient.execute({ address: 'http://a', protocol: 'a2a' }, least, { ...options(), timeoutMs });
    expect(waited).toEqual([waitedMs]);
    await patient.close();
  });

  test('that is a cancellation has its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const { url } = await engine(() => {
      controller.abort(reason);
      return 'hang';
    });
    await expect(run(url, least, { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('an engine that speaks A2A', () => {
  test('hears the question, and all else as metadata', async () => {
    const server = await startA2aServer();
    started.push(server);
    const reply = await engines.execute({ address: server.url, protocol: 'a2a' }, most, options());

    expect(reply).toEqual({ messages: [{ role: 'assistant', content: 'Echo: Hi' }] });
    expect(server.requests[0]?.params.message).toMatchObject({
      parts: [{ text: 'Hi' }],
      metadata: {
        agent: { name: 'bot', prompt: 'Be brief.', model: { type: 'azure' } },
        history: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }],
        tools: [{ name: 'weather' }],
      },
    });
    expect(server.requests[0]?.params.message?.metadata).not.toHaveProperty('userInput');
  });

  test('fails in the words of A2A', async () => {
    const server = await startA2aServer({ reply: () => ({ status: 500 }) });
    started.push(server);
    await expect(
      engines.execute({ address: server.url, protocol: 'a2a' }, least, options()),
    ).rejects.toMatchObject({ message: 'A2A agent execution failed: A2A server returned HTTP status 500' });
  });
});
